"""What tests share: reference solutions, made studies and results, agents, processes."""

import os

# Tests read what is printed without colours, whatever the terminal or the environment asks for.
for _name in ("FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
    os.environ.pop(_name, None)
