"""Make the page about the reproduction, and its figure.

python -m reproduction           writes docs/reproduction.md and docs/reproduction.png
python -m reproduction --check   only checks that the page agrees with the results
"""

import argparse
import sys
from pathlib import Path

from .figure import draw
from .page import make_page

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if the page is outdated"
    )
    page, place = make_page(), DOCS / "reproduction.md"
    if parser.parse_args().check:
        if place.read_text() != page:
            sys.exit(f"{place.name} does not agree with the results: run python -m reproduction")
        return
    place.write_text(page)
    (DOCS / "reproduction.png").write_bytes(draw())
    print(f"wrote {place.name} and reproduction.png to {DOCS.name}")


if __name__ == "__main__":
    main()
