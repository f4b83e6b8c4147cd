"""Faults of scheduling: the SCHED rules."""

from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Planned, Queue
from busproof.vocabulary.commands import (
    BringPartitionUp,
    CancelScheduled,
    Schedule,
    TakePartitionDown,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, Message, MessageState, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Refused, SessionAccepted
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("scheduled-comes-at-once", "SCHED-01", "A scheduled message can be received at once.")
class _ScheduledComesAtOnce(SeededBus):
    def due_at(self, command: Schedule) -> int:  # noqa: ARG002
        return self.now


@faulty(
    "recovery-brings-forward",
    "SCHED-01",
    "What is scheduled becomes active when a partition comes up again.",
    deep=True,
)
class _RecoveryBringsForward(SeededBus):
    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, BringPartitionUp):
            queue.planned = [attrs.evolve(each, due=self.now) for each in queue.planned]
        return super().switch(queue, command)


@faulty(
    "scheduled-never-comes",
    "SCHED-02",
    "A scheduled message never becomes active.",
    literal=True,
)
class _ScheduledNeverComes(SeededBus):
    def is_due(self, queue: Queue, planned: Planned) -> bool:  # noqa: ARG002
        return False


@faulty("cancel-refused", "SCHED-03", "Cancelling by the number that was told is refused.")
class _CancelRefused(SeededBus):
    def cancel(self, queue: Queue, command: CancelScheduled) -> Outcome:
        return self.cancel_too_late(queue, command.sequence_number)


@faulty("cancelled-comes", "SCHED-04", "A cancelled message comes all the same.")
class _CancelledComes(SeededBus):
    def forget(self, queue: Queue, planned: Planned) -> None:
        pass


@faulty(
    "cancelled-comes-after-outage",
    "SCHED-04",
    "A cancelled message comes if its partition was down after that.",
    deep=True,
)
class _CancelledComesAfterOutage(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.forgotten: list[Planned] = []

    def forget(self, queue: Queue, planned: Planned) -> None:
        super().forget(queue, planned)
        self.forgotten.append(planned)

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, BringPartitionUp):
            back = [each for each in self.forgotten if each.partition == command.partition]
            queue.planned += back
            self.forgotten = [each for each in self.forgotten if each not in back]
        return super().switch(queue, command)


@faulty(
    "late-cancel-removes",
    "SCHED-05",
    "Cancelling by the number of a message that has become active removes it.",
)
class _LateCancelRemoves(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.come: dict[int, Held] = {}

    def activate(self, queue: Queue, planned: Planned) -> None:
        super().activate(queue, planned)
        if queue.messages:
            self.come[planned.number] = queue.messages[-1]

    def cancel_too_late(self, queue: Queue, number: int) -> Outcome:
        held = self.come.get(number)
        if held is not None and held in queue.messages:
            queue.messages.remove(held)
            return Done()
        return super().cancel_too_late(queue, number)


@faulty("number-stays", "SCHED-06", "A message keeps the number it was scheduled under.")
class _NumberStays(SeededBus):
    def activate(self, queue: Queue, planned: Planned) -> None:
        super().activate(queue, planned)
        number = planned.number - (planned.partition << SEQUENCE_BITS)
        if queue.messages:
            queue.messages[-1].number = number


@faulty(
    "scheduled-keeps-its-place",
    "SCHED-07",
    "A scheduled message comes before what was sent after its scheduling.",
)
class _ScheduledKeepsItsPlace(SeededBus):
    def activate(self, queue: Queue, planned: Planned) -> None:
        super().activate(queue, planned)
        later = [held for held in queue.messages if held.number > planned.place]
        if later:
            queue.messages.insert(queue.messages.index(later[0]), queue.messages.pop())


@faulty("scheduled-shown-as-active", "SCHED-08", "A peek tells that a scheduled message is active.")
class _ScheduledShownAsActive(SeededBus):
    def shown_planned(self, queue: Queue, planned: Planned) -> MessageView:
        return attrs.evolve(super().shown_planned(queue, planned), state=MessageState.ACTIVE)


@faulty(
    "scheduled-not-shown", "SCHED-08", "A peek shows nothing of what is scheduled.", literal=True
)
class _ScheduledNotShown(SeededBus):
    def planned_in_sight(self, queue: Queue) -> list[Planned]:  # noqa: ARG002
        return []


@faulty(
    "scheduled-goes-anywhere",
    "SCHED-09",
    "A scheduled message takes the next partition by turns, whatever its key.",
)
class _ScheduledGoesAnywhere(SeededBus):
    def activate(self, queue: Queue, planned: Planned) -> None:
        queue.turn = (queue.turn + 1) % queue.partitions
        super().activate(queue, attrs.evolve(planned, partition=queue.turn))


@faulty(
    "refused-in-outage-comes",
    "SCHED-10",
    "A message whose scheduling was refused in an outage comes later.",
    deep=True,
)
class _RefusedInOutageComes(SeededBus):
    def refuse_scheduled(
        self, queue: Queue, message: Message, command: Schedule, error: Error
    ) -> Outcome:
        if error is Error.UNAVAILABLE:
            self.plan(queue, message, command, min(queue.down))
        return super().refuse_scheduled(queue, message, command, error)


@faulty(
    "due-in-outage-is-lost",
    "SCHED-11",
    "A message that is due while its partition is down never comes.",
    deep=True,
    literal=True,
)
class _DueInOutageIsLost(SeededBus):
    def activate(self, queue: Queue, planned: Planned) -> None:
        if planned.partition not in queue.down:
            super().activate(queue, planned)

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        self.end_what_is_over(queue)
        return super().switch(queue, command)


@faulty(
    "conflicting-is-scheduled",
    "SCHED-12",
    "A message whose SessionId and PartitionKey differ can be scheduled.",
)
class _ConflictingIsScheduled(SeededBus):
    def place_scheduled(self, queue: Queue, message: Message) -> int | Error:
        return super().place_scheduled(queue, attrs.evolve(message, partition_key=None))


@faulty(
    "refused-conflict-comes",
    "SCHED-12",
    "A message that is refused for its keys comes when it would have been due.",
    deep=True,
)
class _RefusedConflictComes(SeededBus):
    def refuse_scheduled(
        self, queue: Queue, message: Message, command: Schedule, error: Error
    ) -> Outcome:
        if error is Error.INVALID_OPERATION:
            self.plan(queue, message, command, 0)
        return super().refuse_scheduled(queue, message, command, error)


@faulty(
    "scheduled-session-is-next",
    "SCHED-13",
    "A session of which nothing but a scheduled message is there is accepted as the next.",
)
class _ScheduledSessionIsNext(SeededBus):
    def accept_next(self, queue: Queue, connection: str) -> Outcome:
        for planned in queue.planned:
            session_id = planned.message.session_id
            if session_id is not None and self.may_be_next(queue, session_id):
                self.give_session(queue, session_id, connection)
                return SessionAccepted(session_id=session_id)
        return super().accept_next(queue, connection)


@faulty(
    "holder-is-given-scheduled",
    "SCHED-13",
    "The holder of a session is given what is scheduled in it.",
)
class _HolderIsGivenScheduled(SeededBus):
    def is_due(self, queue: Queue, planned: Planned) -> bool:
        return planned.message.session_id in queue.sessions or super().is_due(queue, planned)


@faulty(
    "past-is-refused",
    "SCHED-14",
    "Scheduling a message for a time that has passed is refused.",
)
class _PastIsRefused(SeededBus):
    def schedule(self, queue: Queue, message: Message, command: Schedule) -> Outcome:
        if command.delay < 0:
            return Refused(error=Error.INVALID_OPERATION)
        return super().schedule(queue, message, command)


@faulty(
    "past-never-comes",
    "SCHED-14",
    "A message that is scheduled for a time that has passed never comes.",
    literal=True,
)
class _PastNeverComes(SeededBus):
    def due_at(self, command: Schedule) -> int:
        return super().due_at(command) if command.delay >= 0 else 1 << 60


@faulty(
    "scheduled-outside-transaction",
    "SCHED-15",
    "What is scheduled in a transaction comes although it was rolled back.",
)
class _ScheduledOutsideTransaction(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        transaction = self.transactions.get(name)
        for staged in transaction.staged if transaction is not None else ():
            if staged.planned is not None:
                self.enter(staged.queue, staged.planned)
        return super().roll_back(name)


FAULTS: Final = faulty.all()
