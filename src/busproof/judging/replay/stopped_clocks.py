"""Clocks that may stand still while a partition is down (OUTAGE-CLOCK).

The documents do not say whether locks, times to live and windows of duplicates end during an
outage. One that would have ended in it may last for its whole duration after the outage; one that
had ended before stays ended.
"""

from typing import Final

from busproof.judging.replay.evidence import base_path
from busproof.model.rules import Namespace

__all__ = ["StoppedClocks"]

EVER: Final = 1 << 62


class StoppedClocks:
    """The outages of a replay, as far as clocks may have stood still in them.

    Args:
        namespace: the model's namespace.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._run_on = namespace.profile.readings.get("OUTAGE-CLOCK") == "runs"
        # Path of a queue or topic to the beginning of its first outage and the end of its last one.
        self._outages: dict[str, tuple[int, int]] = {}

    def switched(self, path: str) -> None:
        """Note that a partition of an entity went down or came up."""
        if self._run_on:
            return
        base = base_path(path)
        now = self._namespace.now
        first, _ = self._outages.get(base, (now, EVER))
        end = EVER if self._namespace.down.get(base) else now
        self._namespace.journal.put(self._outages, base, (first, end))

    def length(self, path: str, moment: int) -> int:
        """Return how long a clock may have stood still before a moment, in microseconds."""
        outage = self._outages.get(base_path(path))
        if outage is None or moment < outage[0]:
            return 0
        return outage[1] - outage[0]

    def lateness(self, path: str, moment: int, life: int) -> int:
        """Return how much later something may end that ends at a moment if clocks run on.

        Args:
            path: its entity.
            moment: when it ends if clocks run on.
            life: its whole duration.
        """
        if not self._outages:
            return 0
        outage = self._outages.get(base_path(path))
        if outage is None or moment < outage[0]:
            return 0
        return EVER if outage[1] == EVER else max(0, outage[1] + life - moment)
