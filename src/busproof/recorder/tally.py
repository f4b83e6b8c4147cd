"""What was seen and cannot be said in a history: counted, and told at the end."""

from collections import Counter
from collections.abc import Callable

__all__ = ["Tally"]


class Tally:
    """Numbers of things that a recording leaves out, by what they are.

    Args:
        tell: called with a sentence at the first of each kind.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.left_out: Counter[str] = Counter()

    def count(self, what: str) -> None:
        """Count something that is left out."""
        self.left_out[what] += 1
        if self.left_out[what] == 1:
            self._tell(f"not in the recording, because no history can say it: {what}")
