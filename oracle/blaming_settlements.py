"""Which rules on settling an answer breaks that nothing allowed."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue

__all__ = ["blamed_for_settlements", "wrongly_settled"]

_TELLING: Final = v.Receive | v.Peek | v.ReceiveDeferred | v.RenewLock | v.Settlement
"""What tells of a message whether it was settled."""


def wrongly_settled(outcome: v.Outcome) -> tuple[v.RuleId, ...]:
    """A lost lock settled something, or one that lasts did not."""
    if isinstance(outcome, v.Done):
        return ("LIFE-06", "LOCK-07")
    return ("LIFE-06", "LOCK-10", "LOCK-04", "LOCK-01", "LOCK-02")


def blamed_for_settlements(
    namespace: Namespace, queue: Queue | None, command: v.Command
) -> tuple[v.RuleId, ...]:
    """LOCK-11 to LOCK-13: what else is wrong where messages were settled in transactions."""
    if queue is None or not isinstance(command, _TELLING):
        return ()
    owner = namespace.queues[v.owner_of(queue.settings.queue)]
    return ("LOCK-11", "LOCK-12", "LOCK-13") if queue.pledged or owner.pledged else ()
