"""DEFER: a receiver sets a message aside, and receives it later by its sequence number.

A deferred message keeps its number, its position and its partition, and no ordinary receive returns
it. A receive by its number locks it like any other message; if that lock ends without a settlement,
the message is deferred as before. A request by numbers is for messages of one partition and returns
all of them or none.
"""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import DeferredExpiry
from busproof.model.answers import Answer, view_of
from busproof.model.family import Family, handles
from busproof.model.life_cycle import Action, State
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import Refusal

__all__ = ["Deferral"]

RULES_OF_STATES: Final[dict[State, tuple[v.RuleId, ...]]] = {
    State.ACTIVE: ("DEFER-03", "DEFER-04"),
    State.LOCKED: ("DEFER-03",),
    State.DEFERRED_LOCKED: ("DEFER-05",),
    State.SCHEDULED: ("DEFER-03",),  # on its way to the dead-letter queue, in a replay
}
"""State of a message that is not given by its number, to the rules that say so."""


class Deferral(Family):
    """The rules of DEFER."""

    @handles(v.ReceiveDeferred)
    def receive_deferred(self, command: v.ReceiveDeferred, connection: str) -> Answer:
        """DEFER-02, DEFER-10 to DEFER-12: give all messages with these numbers, or none."""
        entity = self.rules.topics.usable(command.queue)
        session = self.rules.sessions.of_receive(entity, command.session_id, connection)
        messages = [
            self.find(entity, number, session) for number in dict.fromkeys(command.sequence_numbers)
        ]
        if len(messages) < len(command.sequence_numbers):
            raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-03")
        several = len({queued.partition for queued in messages}) > 1
        if several and not self.namespace.prefers("DEFER-10", "given", to="refused"):
            raise Refusal(v.Error.INVALID_OPERATION, "DEFER-10")
        expired = [queued for queued in messages if self.rules.expiry.has_ended(queued)]
        if expired and (fate := self.fate_of_expired(entity)) != "given":
            if fate == "refused":
                raise Refusal(v.Error.MESSAGE_NOT_FOUND, "TTL-11")
            return self.expire(expired)
        views = [self.give(queued, command.mode) for queued in messages]
        rules: tuple[v.RuleId, ...] = ("DEFER-02",)
        if len(views) > 1 and not several:
            rules += ("DEFER-11",)
        if session is not None:
            rules += ("DEFER-12",)
        return Answer(v.ReceivedSeveral(messages=tuple(views)), rules=rules)

    def fate_of_expired(self, entity: Entity) -> str:
        """TTL-10, TTL-11: return what becomes of expired messages that are asked for.

        Only an entity that dead-letters what expires dead-letters them (DEFERRED-EXPIRY).
        """
        ends = entity.settings.dead_letter_expired
        if self.namespace.reading(DeferredExpiry) is DeferredExpiry.DEAD_LETTERED:
            return "dead-lettered" if ends else "given"
        fates = ("given", *(("dead-lettered",) if ends else ()), "refused")
        fate: str = self.namespace.choices.pick(DeferredExpiry.entry, fates)
        return fate

    def expire(self, messages: Sequence[QueuedMessage]) -> Answer:
        """TTL-10, TTL-11: dead-letter expired messages that were asked for, and refuse them."""
        for queued in messages:
            self.rules.expiry.expire(queued)
        return Answer(v.Refused(error=v.Error.MESSAGE_NOT_FOUND), rules=("TTL-11",))

    def find(self, entity: Entity, number: int, session: Session | None) -> QueuedMessage:
        """DEFER-03 to DEFER-05, DEFER-12: return the unlocked deferred message with this number."""
        queued = entity.messages.get(number)
        if queued is None:
            raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-03")
        if queued.state is not State.DEFERRED:
            raise Refusal(v.Error.MESSAGE_NOT_FOUND, *RULES_OF_STATES[queued.state])
        if queued.session is not session:
            raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-12")
        if queued.partition in entity.base.down:
            raise self.rules.partitions.outage("LIFE-11")
        return queued

    def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """DEFER-02: give a deferred message to a receiver, locked or removed."""
        if mode is v.ReceiveMode.RECEIVE_AND_DELETE:
            self.rules.messages.consume(queued, Action.RECEIVE_DEFERRED_AND_DELETE)
            return view_of(queued)
        self.rules.locks.lock(queued, Action.RECEIVE_DEFERRED)
        return view_of(queued, locked=True)
