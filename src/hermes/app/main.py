"""The hermes command.

Milliseconds count here: nothing is imported that the command at hand does not need.
"""

import sys
from importlib import import_module

from hermes import __version__


def main() -> None:
    """Do what was typed and leave with its exit code.

    0 answered, 1 failed, 2 wrong usage or setting, 3 guard or budget, 4 refused, 130 interrupted.
    """
    argv = sys.argv[1:]
    if argv in (["--version"], ["-V"]):
        print(f"hermes {__version__}")
        return
    sys.exit(import_module("hermes.app.front").command(argv))
