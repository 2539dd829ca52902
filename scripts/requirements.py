"""Print requirements from pyproject.toml, one per line: those of a dependency group, or `lowest`.

`lowest` pins what the package and its extras need to the lowest versions that they allow. pip knows
dependency groups from version 25.1 on; this works with every pip.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PROJECT: dict[str, Any] = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
EXTRAS = ("cluster", "gym")  # those that tests use


def group(name: str) -> list[str]:
    """The requirements of a dependency group, with those of the groups that it includes."""
    found = []
    for requirement in PROJECT["dependency-groups"][name]:
        if isinstance(requirement, str):
            found.append(requirement)
        else:
            found += group(requirement["include-group"])
    return found


def lowest() -> list[str]:
    """The lowest version of each requirement of the package and its extras."""
    project = PROJECT["project"]
    needed = [*project["dependencies"]]
    for extra in EXTRAS:
        needed += project["optional-dependencies"][extra]
    return [re.sub(r"(\[.*\])?>=", "==", requirement) for requirement in needed]


if __name__ == "__main__":
    print("\n".join(lowest() if sys.argv[1] == "lowest" else group(sys.argv[1])))
