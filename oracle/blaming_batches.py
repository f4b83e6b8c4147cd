"""Which rules on batches an answer breaks that nothing allowed."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.state import Queue

__all__ = ["blamed_for_batches"]

_TELLING: Final = v.Receive | v.ReceiveBatch | v.ReceiveDeferred | v.Peek
"""What tells of a message whether it came in a batch, and where it is."""
_OF_BATCHES: Final = (
    "BATCH-01",
    "BATCH-02",
    "BATCH-03",
    "BATCH-04",
    "BATCH-08",
    "BATCH-09",
    "BATCH-10",
    "BATCH-11",
)


def blamed_for_batches(queue: Queue | None, command: v.Command) -> tuple[v.RuleId, ...]:
    """What else is wrong with what comes of an entity to which, or from which, batches went."""
    if queue is None or not queue.batched:
        return ()
    if isinstance(command, v.Settlement):
        return ("BATCH-14",)
    return (*_OF_BATCHES, "BATCH-14") if isinstance(command, _TELLING) else ()
