"""PREM: what any answer in Premium shows."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage
from busproof.model.state import Entity

__all__ = ["of_answer"]

ON_MESSAGES: Final = v.Send | v.Receive | v.Peek | v.Complete


def of_answer(
    coverage: Coverage, entity: Entity | None, command: v.Command, outcome: v.Outcome
) -> None:
    """PREM-03, PREM-04, PREM-11 to PREM-13: show the rules on an answer in Premium."""
    if entity is None:
        if isinstance(command, v.ListQueues):
            entities = coverage.namespace.entities.values()
            coverage.show_if((any(coverage.at(one).restored for one in entities), "PREM-04"))
        return
    worked = isinstance(outcome, v.Received | v.Done | v.Peeked) and outcome != v.Peeked()
    before = coverage.at(entity.base).restored and isinstance(command, ON_MESSAGES)
    regular = not entity.settings.partitioned
    view = outcome.message if regular and isinstance(outcome, v.Received) else None
    coverage.show_if(
        (worked and before, "PREM-03"),
        (view is not None and entity.settings.requires_session, "PREM-11"),
        (view is not None and view.partition_key is not None, "PREM-12"),
        (regular and _need_no_key(coverage), "PREM-13"),
    )


def _need_no_key(coverage: Coverage) -> bool:
    """PREM-13: return whether the last two sends of a transaction have no key, or differ in it."""
    for transaction, buffered in coverage.noted.get("buffered", ()):
        if buffered not in transaction.sends:
            continue
        # Two sends suffice, because each send is compared with the one before it.
        sends = transaction.sends[: transaction.sends.index(buffered) + 1][-2:]
        keys = {send.message.session_id or send.message.partition_key for send in sends}
        if None in keys or len(keys) > 1:
            return True
    return False
