"""The process of a run: `python -m busproof.cli.running FOLDER REQUEST`, as `session` says."""

import gc
import sys
from typing import Final

NEW_OBJECTS: Final = 50_000
"""Number of new objects between garbage collections; Python's default is 700."""

if __name__ == "__main__":
    # Modules make many objects, and no garbage: to look for some takes a fifth of the start.
    gc.set_threshold(NEW_OBJECTS)

    from busproof.cli.running.session import main

    sys.exit(main(sys.argv[1:]))
