"""Diagnosis of events that break rules on settling and on batches."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue

__all__ = [
    "OF_DELETIONS",
    "blamed_for_batches",
    "blamed_for_deletions",
    "blamed_for_locks_together",
    "blamed_for_settlements",
    "wrongly_settled",
]


_TELLING_OF_SETTLEMENTS: Final = v.Receive | v.Peek | v.ReceiveDeferred | v.RenewLock | v.Settlement
"""Requests whose answers reveal whether a message was settled."""


def wrongly_settled(outcome: v.Outcome) -> tuple[v.RuleId, ...]:
    """Diagnose a settlement under a lost lock, or the refusal of one under a valid lock."""
    if isinstance(outcome, v.Done):
        return ("LIFE-06", "LOCK-07")
    return ("LIFE-06", "LOCK-10", "LOCK-04", "LOCK-01", "LOCK-02")


def blamed_for_settlements(
    namespace: Namespace, queue: Queue | None, command: v.Command
) -> tuple[v.RuleId, ...]:
    """LOCK-11 to LOCK-13: return further broken rules about settlements in transactions."""
    if queue is None or not isinstance(command, _TELLING_OF_SETTLEMENTS):
        return ()
    owner = namespace.queues[v.owner_of(queue.settings.queue)]
    asked = "transactions" in queue.requests | owner.requests
    return ("LOCK-11", "LOCK-12", "LOCK-13") if asked else ()


_TELLING_OF_LOCKS: Final = _TELLING_OF_SETTLEMENTS | v.ReceiveBatch | v.SettleBatch | v.RenewLocks
_OF_LOCKS_TOGETHER: Final = ("LOCK-14", "LOCK-16", "LOCK-17", "LOCK-18")


def blamed_for_locks_together(
    namespace: Namespace, queue: Queue | None, command: v.Command
) -> tuple[v.RuleId, ...]:
    """Return further broken rules if one request was about several locks of the entity."""
    if queue is None or not isinstance(command, _TELLING_OF_LOCKS):
        return ()
    owner = namespace.queues[v.owner_of(queue.settings.queue)]
    return _OF_LOCKS_TOGETHER if "locks" in queue.requests | owner.requests else ()


OF_DELETIONS: Final = ("BATCH-15", "BATCH-16", "BATCH-17")
"""Rules that an answer may break after messages were deleted in one request, or by doing so."""


def blamed_for_deletions(
    namespace: Namespace, queue: Queue | None, command: v.Command
) -> tuple[v.RuleId, ...]:
    """Return further broken rules if messages of the entity were deleted in one request."""
    if queue is None or not isinstance(command, _TELLING_OF_LOCKS | v.DeleteBatch):
        return ()
    owner = namespace.queues[v.owner_of(queue.settings.queue)]
    return OF_DELETIONS if "deletions" in queue.requests | owner.requests else ()


_TELLING_OF_BATCHES: Final = v.Receive | v.ReceiveBatch | v.ReceiveDeferred | v.Peek
"""Requests whose answers reveal whether and where a message of a batch is."""
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
    """Return further broken rules if an entity's messages were sent or received in batches."""
    if queue is None or "batches" not in queue.requests:
        return ()
    if isinstance(command, v.Settlement):
        return ("BATCH-14",)
    return (*_OF_BATCHES, "BATCH-14") if isinstance(command, _TELLING_OF_BATCHES) else ()
