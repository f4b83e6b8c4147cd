"""Messages of the seeded bus that arrive later, and taking them back."""

import attrs

from busproof.adapters.seeded.queues import Held, Planned, Queue, Staged, Transaction
from busproof.adapters.seeded.sessions import Sessions
from busproof.adapters.seeded.transacting import Transacting
from busproof.vocabulary.commands import CancelScheduled, Schedule
from busproof.vocabulary.messages import SEQUENCE_BITS, Message, MessageState, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Peeked, Refused, Scheduled
from busproof.vocabulary.values import Error

__all__ = ["Scheduling"]

PLENTY = 60_000_000
"""A timeout with which an outage is gone round."""


class Scheduling(Sessions, Transacting):
    """Keeps messages until they are due; every method is a hook."""

    def schedule(self, queue: Queue, message: Message, command: Schedule) -> Outcome:
        """Take a message that is to come later, or refuse it as one that is sent at once."""
        if queue.dead is None or self.lacks_session(queue, message):
            return Refused(error=Error.INVALID_OPERATION)
        if command.transaction is not None:
            return self.schedule_in(queue, message, command, command.transaction)
        placed = self.place_scheduled(queue, message)
        if isinstance(placed, Error):
            return self.refuse_scheduled(queue, message, command, placed)
        return Scheduled(sequence_number=self.plan(queue, message, command, placed).number)

    def place_scheduled(self, queue: Queue, message: Message) -> int | Error:
        """The partition of a scheduled message, chosen when it is scheduled."""
        return self.place(queue, message, PLENTY)

    def refuse_scheduled(
        self,
        queue: Queue,  # noqa: ARG002 - for faults
        message: Message,  # noqa: ARG002
        command: Schedule,  # noqa: ARG002
        error: Error,
    ) -> Outcome:
        """Refuse to schedule a message, of which nothing stays."""
        return Refused(error=error)

    def plan(
        self,
        queue: Queue,
        message: Message,
        command: Schedule,
        partition: int,
        transaction: Transaction | None = None,
    ) -> Planned:
        """Keep a message until it is due, or until its transaction ends."""
        queue.numbered += 1
        planned = Planned(
            number=(partition << SEQUENCE_BITS) + queue.numbered,
            message=message,
            partition=partition,
            due=self.due_at(command),
            place=queue.arrivals,
        )
        if transaction is not None:
            staged = Staged(queue=queue, message=message, key=None, partition=partition)
            transaction.staged.append(attrs.evolve(staged, planned=planned))
        else:
            self.enter(queue, planned)
        return planned

    def due_at(self, command: Schedule) -> int:
        """When a message becomes active that is scheduled now."""
        return self.now + max(command.delay, 0)

    def enter(self, queue: Queue, planned: Planned) -> None:
        """Note a scheduled message, unless it is a copy of one accepted before."""
        key = self.key_of(queue, planned.message)
        if self.is_copy(queue, planned.message, key):
            return
        if queue.settings.duplicate_detection and planned.message.message_id is not None:
            queue.accepted[key, planned.message.message_id] = self.now
        queue.planned.append(planned)

    def schedule_in(self, queue: Queue, message: Message, command: Schedule, name: str) -> Outcome:
        """Schedule a message in a transaction, under the rules for sends."""
        transaction = self.transactions.get(name)
        if transaction is None:
            return Refused(error=Error.NOT_FOUND)
        error = self.objection(queue, message, transaction)
        if error is not None:
            return Refused(error=error)
        key = self.key_in_transaction(queue, message)
        placed = self.place_in_transaction(queue, key, transaction)
        if isinstance(placed, Error):
            return Refused(error=placed)
        planned = self.plan(queue, message, command, placed, transaction)
        return Scheduled(sequence_number=planned.number)

    def store_staged(self, staged: Staged) -> None:
        """Store what was sent in a transaction, or note what was scheduled in it."""
        if staged.planned is None:
            super().store_staged(staged)
        else:
            self.enter(staged.queue, staged.planned)

    def end_what_is_over(self, queue: Queue) -> None:
        """Let become active, too, what is due."""
        super().end_what_is_over(queue)
        self.let_due_ones_come(queue)

    def let_due_ones_come(self, queue: Queue) -> None:
        """Let become active whatever is due, which may go on to other queues."""
        for planned in sorted(queue.planned, key=lambda each: (each.due, each.number)):
            if self.is_due(queue, planned):
                queue.planned.remove(planned)
                self.activate(queue, planned)

    def is_due(self, queue: Queue, planned: Planned) -> bool:  # noqa: ARG002 - for faults
        """Whether the time of a scheduled message has come."""
        return planned.due <= self.now

    def activate(self, queue: Queue, planned: Planned) -> None:
        """Let a scheduled message arrive, behind what has come before."""
        self.append(queue, planned.message, planned.partition)

    def cancel(self, queue: Queue, command: CancelScheduled) -> Outcome:
        """Take a scheduled message back, if it is not due."""
        for planned in queue.planned:
            if planned.number == command.sequence_number:
                self.forget(queue, planned)
                return Done()
        return self.cancel_too_late(queue, command.sequence_number)

    def forget(self, queue: Queue, planned: Planned) -> None:
        """Let a scheduled message never come."""
        queue.planned.remove(planned)

    def cancel_too_late(self, queue: Queue, number: int) -> Outcome:  # noqa: ARG002 - for faults
        """What is answered to a number that no scheduled message has."""
        return Refused(error=Error.MESSAGE_NOT_FOUND)

    def peek(self, queue: Queue, count: int) -> Peeked:
        """Show what is scheduled behind what is there."""
        there = super().peek(queue, count).messages
        later = [self.shown_planned(queue, each) for each in self.planned_in_sight(queue)]
        return Peeked(messages=(*there, *later)[:count])

    def planned_in_sight(self, queue: Queue) -> list[Planned]:
        """The scheduled messages that a peek shows."""
        return [each for each in queue.planned if each.partition not in queue.down]

    def shown_planned(self, queue: Queue, planned: Planned) -> MessageView:
        """A scheduled message as a peek shows it."""
        held = Held(number=0, partition=planned.partition, message=planned.message)
        view = self.view(queue, held)
        return attrs.evolve(view, sequence_number=planned.number, state=MessageState.SCHEDULED)
