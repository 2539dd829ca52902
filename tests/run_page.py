"""Runs the code of a documentation page, block by block, in the current folder.

Blocks with a file's name as their title are written to it; others run if they are Python, in one
namespace, or Bash. Text, the output of a block for example, is left alone.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

RUN = ("python", "bash")
SHOWN = ("text", "latex", "toml")


class Block(NamedTuple):
    line: int  # of its first line of code, from 1
    language: str
    title: str | None
    code: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, which must not be indented."""
    found = re.finditer(
        r'^```(\w*)(?: title="([^"]*)")?\n(.*?)^```$', page, re.DOTALL | re.MULTILINE
    )
    return [Block(page[: m.start(3)].count("\n") + 1, m[1], m[2], m[3]) for m in found]


def run(page: str, name: str) -> None:
    """Run all blocks; whatever fails raises."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.title is not None:
            Path(block.title).write_text(block.code)
        elif block.language == "bash":
            subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.code], check=True)
        elif block.language == "python":
            code = compile("\n" * (block.line - 1) + block.code, name, "exec")
            exec(code, namespace)
        elif block.language not in SHOWN:
            raise SystemExit(f"{name}, line {block.line}: {block.language!r} has no meaning here")


if __name__ == "__main__":
    sys.path.insert(0, "")
    run(sys.stdin.read(), sys.argv[1])
