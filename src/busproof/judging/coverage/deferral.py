"""DEFER: deferred messages, and why one is not given."""

from busproof import vocabulary as v
from busproof.judging.coverage.messages import is_placed, key_of
from busproof.judging.coverage.notes import Coverage, coverage_of
from busproof.model.deferral import Deferral
from busproof.model.life_cycle import ACTIVE, State
from busproof.model.state import Entity, QueuedMessage

__all__ = ["SeenDeferral", "of_delivery", "of_refusal"]


class SeenDeferral(Deferral):
    """Observer of deferred messages."""

    def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """Note a deferred message that is given."""
        coverage = coverage_of(self)
        coverage.given.append(queued)
        return super().give(queued, mode)


def of_delivery(
    coverage: Coverage, command: v.ReceiveDeferred, queued: QueuedMessage, view: v.MessageView
) -> None:
    """DEFER-02, DEFER-06, DEFER-08, DEFER-12, DEFER-13, TTL-11: show the rules on a delivery."""
    notes = coverage.message(queued)
    entity = queued.entity
    expired = queued.expires_at is not None and queued.expires_at <= coverage.now
    recovered = coverage.at(entity).recovered
    everywhere = len(recovered) == len(entity.partitions)
    back = queued.partition in recovered and (everywhere or is_placed(coverage, view))
    coverage.show_if(
        (expired, "TTL-11"),
        (notes.released == "DEFER-06", "DEFER-06"),
        (view.sequence_number is not None, "DEFER-08"),
        (command.session_id is not None, "DEFER-12"),
        (back, "DEFER-13"),
    )


def of_given(coverage: Coverage, command: v.ReceiveDeferred) -> None:
    """DEFER-10, DEFER-11: show the rule on a request for several messages."""
    if len(command.sequence_numbers) > 1 and coverage.given:
        coverage.show("DEFER-10" if _may_span(coverage) else "DEFER-11")


def _may_span(coverage: Coverage) -> bool:
    """Return whether the messages that were given may be in several partitions."""
    if not coverage.given[0].entity.settings.partitioned:
        return False
    if coverage.strict:
        return len({queued.partition for queued in coverage.given}) > 1
    keys = {key_of(queued) for queued in coverage.given}
    return None in keys or len(keys) > 1


def of_refusal(coverage: Coverage, entity: Entity, command: v.ReceiveDeferred) -> None:
    """DEFER-03 to DEFER-05, DEFER-07, DEFER-10, DEFER-12: show why a request is refused."""
    wanted = [entity.messages.get(number) for number in command.sequence_numbers]
    partitions = {queued.partition for queued in wanted if queued is not None}
    coverage.show_if((len(partitions) > 1 and coverage.strict, "DEFER-10"))
    others = command.session_id is not None and any(
        queued is not None and queued.message.session_id != command.session_id for queued in wanted
    )
    coverage.show_if((others, "DEFER-12"))
    for number, queued in zip(command.sequence_numbers, wanted, strict=True):
        if queued is None:
            deferred = number in coverage.at(entity).deferred
            coverage.show_if((deferred, "DEFER-07"), (True, "DEFER-03"))
        else:
            coverage.show_if(
                (queued.state in (ACTIVE, State.LOCKED), "DEFER-04"),
                (queued.state is State.DEFERRED_LOCKED, "DEFER-05"),
            )
