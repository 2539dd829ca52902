"""Play RL²'s tables again, and make the page about them.

python -m reproduction.rl2           plays all, an hour on one core, and writes results and page
python -m reproduction.rl2 --page    writes the page
python -m reproduction.rl2 --check   only checks that the page agrees with the results
"""

import argparse
import sys
from itertools import chain

import polars

from . import library
from .audit import RESULTS
from .page import PAGE, make_page
from .replay import replay


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.rl2", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--page", action="store_true", help="play nothing; write the page")
    what.add_argument("--check", action="store_true", help="fail if the page is outdated")
    arguments = parser.parse_args()
    if arguments.check:
        if PAGE.read_text() != make_page():
            sys.exit(f"{PAGE.name} is outdated: run python -m reproduction.rl2 --page")
        return
    if not arguments.page:
        played = polars.concat(chain(replay(), library.play()))
        played.write_parquet(RESULTS, compression="zstd", compression_level=19)
    PAGE.write_text(make_page())
    print(f"wrote {PAGE.name} to docs")


if __name__ == "__main__":
    main()
