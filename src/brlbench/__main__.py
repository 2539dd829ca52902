"""`python -m brlbench` is the command line."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder: nothing is imported from there unasked

    from .cli import main

    main()
