"""Messages of the seeded bus that were set aside, and receiving them by their numbers."""

from typing import Final

from busproof.adapters.seeded.life import Life
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import Receive, ReceiveDeferred
from busproof.vocabulary.outcomes import Outcome, ReceivedSeveral, Refused
from busproof.vocabulary.values import Error

__all__ = ["Deferring"]

_NOT_FOUND: Final = Refused(error=Error.MESSAGE_NOT_FOUND)


class Deferring(Life):
    """Sets messages aside and gives them by number; every method is a hook."""

    def defer(self, queue: Queue, held: Held) -> None:  # noqa: ARG002 - for faults
        """Set a message aside."""
        held.lock = None
        held.deferred = True

    def receive_deferred(self, queue: Queue, command: ReceiveDeferred, connection: str) -> Outcome:
        """Give all messages with these numbers, or none."""
        session_id = command.session_id
        if queue.settings.requires_session is not (session_id is not None):
            return self.outside_session(queue, command)
        if session_id is not None and not self.may_read_session(queue, session_id, connection):
            return Refused(error=Error.SESSION_LOCK_LOST)
        found = [self.by_number(queue, number) for number in command.sequence_numbers]
        there = [held for held in found if held is not None and self.may_give(held, session_id)]
        numbers = {held.sequence_number for held in there}
        if len(numbers) < len(command.sequence_numbers) and not self.gives_some(there):
            return _NOT_FOUND
        if self.spans(queue, there):
            return Refused(error=Error.INVALID_OPERATION)
        return self.give_several(queue, there, command)

    def outside_session(self, queue: Queue, command: ReceiveDeferred) -> Outcome:  # noqa: ARG002
        """What is answered to who names no session where one is required, or the reverse."""
        return Refused(error=Error.INVALID_OPERATION)

    def by_number(self, queue: Queue, number: int) -> Held | None:
        """The deferred message with this number that nobody has locked, if it can be reached."""
        for held in queue.messages:
            if held.sequence_number == number and self.is_set_aside(held):
                return None if held.partition in queue.down else held
        return None

    def is_set_aside(self, held: Held) -> bool:
        """Whether the message is deferred, and no receiver has it."""
        return held.deferred and held.lock is None

    def may_give(self, held: Held, session_id: str | None) -> bool:
        """Whether the message is of the session, where one is received from."""
        return session_id is None or held.message.session_id == session_id

    def gives_some(self, there: list[Held]) -> bool:  # noqa: ARG002 - for faults
        """Whether what is there is given where not every number has its message."""
        return False

    def spans(self, queue: Queue, there: list[Held]) -> bool:  # noqa: ARG002 - for faults
        """Whether these are in several partitions, which one request cannot have."""
        return len({held.partition for held in there}) > 1

    def give_several(
        self, queue: Queue, there: list[Held], command: ReceiveDeferred
    ) -> ReceivedSeveral:
        """Hand the messages out, locked or for good."""
        one = Receive(queue=command.queue, mode=command.mode, session_id=command.session_id)
        given = [self.give(queue, held, one).message for held in there]
        return ReceivedSeveral(messages=tuple(given))
