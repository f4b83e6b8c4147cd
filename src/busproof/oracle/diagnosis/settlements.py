"""Diagnosis of events that break rules on settling, and on batches."""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue

OF_DELETIONS: Final = ("BATCH-15", "BATCH-16", "BATCH-17")
"""Rules that a deletion of several messages may break, or a later answer about them."""
_OF_BATCHES: Final = (
    *("BATCH-01", "BATCH-02", "BATCH-03", "BATCH-04", "BATCH-08"),
    *("BATCH-09", "BATCH-10", "BATCH-11", "BATCH-14"),
)

_TELLING_OF_SETTLEMENTS: Final = v.Receive | v.Peek | v.ReceiveDeferred | v.RenewLock | v.Settlement
"""Requests whose answers may show whether a message was settled."""
_TELLING_OF_LOCKS: Final = _TELLING_OF_SETTLEMENTS | v.ReceiveBatch | v.SettleBatch | v.RenewLocks
_TELLING_OF_BATCHES: Final = v.Receive | v.ReceiveBatch | v.ReceiveDeferred | v.Peek
"""Requests whose answers may show whether and where a message of a batch is."""

# An earlier request may have been answered rightly and yet have had a wrong effect, which shows
# only now. Its rules come last, because most violations have nearer reasons.
_EVER: Final[tuple[tuple[str, Any, tuple[v.RuleId, ...]], ...]] = (
    ("transactions", _TELLING_OF_SETTLEMENTS, ("LOCK-11", "LOCK-12", "LOCK-13")),
    ("batches", v.Settlement, ("BATCH-14",)),
    ("batches", _TELLING_OF_BATCHES, _OF_BATCHES),
    ("deletions", _TELLING_OF_LOCKS | v.DeleteBatch, OF_DELETIONS),
    ("locks", _TELLING_OF_LOCKS, ("LOCK-14", "LOCK-16", "LOCK-17", "LOCK-18")),
)
"""Kind of an earlier request; requests whose answers may show its effect; rules broken then."""


def blamed_for_earlier_requests(
    namespace: Namespace, queue: Queue | None, command: v.Command
) -> tuple[v.RuleId, ...]:
    """Return further rules that the event may break because of earlier requests to its entity.

    The effects of these requests, except those of batches, may also appear among its dead letters.
    """
    if queue is None:
        return ()
    owner = namespace.queues[v.owner_of(queue.settings.queue)]
    return tuple(
        rule
        for kind, telling, rules in _EVER
        if isinstance(command, telling)
        and (kind in queue.requests or (kind != "batches" and kind in owner.requests))
        for rule in rules
    )
