"""Make the pages about the reproduction and about wrong priors, and the first one's figure.

python -m reproduction           writes docs/reproduction.md, .png and docs/misspecification.md
python -m reproduction --check   only checks that the pages agree with the results
"""

import argparse
import sys
from pathlib import Path

from . import wrong_priors
from .figure import draw
from .page import make_page

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page is outdated"
    )
    check = parser.parse_args().check
    pages = {"reproduction": make_page(), "misspecification": wrong_priors.make_page()}
    for name, page in pages.items():
        place = DOCS / f"{name}.md"
        if not check:
            place.write_text(page)
        elif place.read_text() != page:
            sys.exit(f"{place.name} does not agree with the results: run python -m reproduction")
    if not check:
        (DOCS / "reproduction.png").write_bytes(draw())
        print(f"wrote {', '.join(f'{name}.md' for name in pages)} and reproduction.png to docs")


if __name__ == "__main__":
    main()
