"""Read by Python as it starts: hides every package that only an extra brings."""

import os
import sys

HIDDEN = os.environ.get("BUSPROOF_TEST_HIDDEN", "").split()


class Hiding:
    """A finder that does not find the hidden packages, as if they were not installed.

    `None` in `sys.modules` would hide them, too, but Hypothesis takes it for an imported numpy.
    """

    def __init__(self, finder):
        self._finder = finder

    def __getattr__(self, name):
        return getattr(self._finder, name)

    def find_spec(self, fullname, *where):
        """Return what the other finder finds."""
        hidden = fullname.partition(".")[0] in HIDDEN
        return None if hidden else self._finder.find_spec(fullname, *where)


sys.meta_path[:] = map(Hiding, sys.meta_path)
