"""Mutants of SCHED: scheduled messages, and their cancellation."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.scheduling import Scheduling
from busproof.model.sessions import Sessions
from busproof.model.state import (
    NO_PARTITIONS,
    Entity,
    QueuedMessage,
    ScheduledMessage,
    Session,
)
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.entities import Switch, find_switched
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import (
    QUEUE,
    Run,
    abandon,
    cancel,
    create,
    down,
    home,
    receive,
    schedule,
    send,
    up,
    wait,
)
from busproof.mutants.views import Views, as_active, showing, without
from busproof.mutants.wrappers import (
    afterwards,
    asks,
    beforehand,
    only_where,
    refuses,
    refuses_yet,
    tells,
)

PEEK: Final = v.Peek(queue=QUEUE)
LATER: Final[Run] = (create(), schedule("m1", 5, partition_key="a"))
DUE: Final[Run] = (*LATER, wait(6))
DOWN: Final = down(home("a"))
UP: Final = up(home("a"))
CONFLICTING: Final[Run] = (create(), schedule("m1", 5, session_id="a", partition_key="b"))
IN_SESSION: Final[Run] = (create(requires_session=True), schedule("m1", 5, session_id="a"))
PAST: Final[Run] = (create(), schedule("m1", -60))
Numbers = dict[tuple[str, int], int]
NEVER: Final = 1 << 60
"""Later than any test lasts."""
CANCELLED: Final[Run] = (*LATER, cancel(0), DOWN, UP, wait(6), receive())
LATE_CANCEL: Final[Run] = (*DUE, receive(), abandon(0), cancel(0), receive())
SENT_BETWEEN: Final[Run] = (*LATER, send("m2", partition_key="a"), wait(6), receive())
TWO_LATER: Final[Run] = (
    *(create(), send("m0", partition_key="a"), schedule("m1", 5, partition_key="a")),
    *(schedule("m2", 5, partition_key="a"), wait(6), receive(), receive(), receive()),
)
REFUSED: Final[Run] = (create(), DOWN, schedule("m1", 5, partition_key="a"), wait(6), UP, receive())
DUE_IN_OUTAGE: Final[Run] = (*LATER, DOWN, wait(6), UP, receive())
HELD: Final[Run] = (*IN_SESSION, v.AcceptSession(queue=QUEUE, session_id="a"), receive("a"))


@mutant("SCHED-01", (*LATER, receive()))
class ScheduledComesAtOnce(Scheduling):
    """A scheduled message can be received at once."""

    @asks
    def schedule(self, command: v.Schedule) -> v.Schedule:
        return attrs.evolve(command, delay=0)


def _is_up_again(namespace: Namespace, command: Switch) -> list[Entity]:
    """Return the entities with the partition that a command brings up."""
    return find_switched(namespace, command) if isinstance(command, v.BringPartitionUp) else []


@mutant("SCHED-01", (*LATER, DOWN, UP, receive()), deep=True)
class RecoveryBringsForward(Partitions):
    """A scheduled message becomes active early when a partition comes up again."""

    @afterwards
    def switch(self, command: Switch) -> None:
        for entity in _is_up_again(self.rules.namespace, command):
            for scheduled in entity.scheduled.values():
                self.namespace.journal.touch(scheduled)
                scheduled.due = self.namespace.now
                scheduled.index()


@mutant("SCHED-02", (*DUE, receive()), literal=True)
class ScheduledNeverComes(Scheduling):
    """A scheduled message never becomes active."""

    def activate(self, scheduled: ScheduledMessage) -> None:
        pass


@mutant("SCHED-03", (*LATER, cancel(0)))
class CancelRefused(Scheduling):
    """Cancelling by the number that scheduling returned is refused."""

    def cancel(self, command: v.CancelScheduled, connection: str) -> Answer:
        super().cancel(command, connection)
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "SCHED-05")


@mutant("SCHED-04", (*LATER, cancel(0), wait(6), receive()))
class CancelledComes(Scheduling):
    """A cancelled message arrives anyway."""

    @only_where
    def drop(self, action: Action) -> bool:
        return action is not Action.CANCEL


class _NoteCancelled(Scheduling):
    @afterwards
    def drop(self, scheduled: ScheduledMessage, action: Action) -> None:
        if action is Action.CANCEL:
            memory(self.rules.namespace, list[ScheduledMessage]).append(scheduled)


@mutant("SCHED-04", CANCELLED, also=(_NoteCancelled,), deep=True)
class CancelledComesAfterOutage(Partitions):
    """A cancelled message arrives if its partition goes down and up after the cancellation."""

    @afterwards
    def switch(self, command: Switch) -> None:
        entities = _is_up_again(self.rules.namespace, command)
        cancelled = memory(self.rules.namespace, list[ScheduledMessage])
        for scheduled in tuple(cancelled):
            if scheduled.entity in entities and scheduled.partition == command.partition:
                cancelled.remove(scheduled)
                self.namespace.journal.touch(scheduled)
                scheduled.state = State.SCHEDULED
                self.namespace.journal.put(scheduled.entity.scheduled, scheduled.number, scheduled)
                scheduled.index()


def _is_due(namespace: Namespace, scheduled: ScheduledMessage) -> bool:
    """Return whether a message is due, and still scheduled."""
    waits = scheduled.entity.scheduled.get(scheduled.number) is scheduled
    return waits and scheduled.due <= namespace.now


def _last_number(scheduled: ScheduledMessage) -> int:
    """Return the last number that a message's partition has assigned."""
    arrivals = scheduled.entity.partitions[scheduled.partition].arrivals
    return (scheduled.partition << v.SEQUENCE_BITS) + arrivals


class _NoteNumber(Scheduling):
    def activate(self, scheduled: ScheduledMessage) -> None:
        due = _is_due(self.rules.namespace, scheduled)
        super().activate(scheduled)
        if due:
            numbers = memory(self.namespace, Numbers)
            numbers[scheduled.entity.path, scheduled.number] = _last_number(scheduled)


@mutant("SCHED-05", LATE_CANCEL, also=(_NoteNumber,))
class LateCancelRemoves(Scheduling):
    """Cancelling a message that has become active removes it."""

    def cancel(self, command: v.CancelScheduled, connection: str) -> Answer:
        numbers = memory(self.rules.namespace, Numbers)
        number = numbers.get((command.queue, command.sequence_number), 0)
        entity = self.rules.topics.sendable(command.queue)
        if number not in entity.messages:
            return super().cancel(command, connection)
        self.rules.messages.remove(entity.messages[number])
        return Answer(DONE)


def _show_noted_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    numbers = memory(queued.entity.namespace, Numbers)
    number = numbers.get((queued.entity.path, queued.number), queued.number)
    return attrs.evolve(view, sequence_number=number)


@mutant("SCHED-06", (*DUE, receive()), also=showing(_show_noted_number))
class NumberStays(Scheduling):
    """An active message keeps the sequence number that it was scheduled under."""

    def activate(self, scheduled: ScheduledMessage) -> None:
        due = _is_due(self.rules.namespace, scheduled)
        super().activate(scheduled)
        if due:
            numbers = memory(self.namespace, Numbers)
            numbers[scheduled.entity.path, _last_number(scheduled)] = scheduled.number


@mutant("SCHED-07", SENT_BETWEEN, also=showing(_show_noted_number))
class ScheduledKeepsItsPlace(Scheduling):
    """A scheduled message comes before messages that were sent after it was scheduled."""

    def activate(self, scheduled: ScheduledMessage) -> None:
        if not _is_due(self.rules.namespace, scheduled):
            return
        # It is put where its number belongs, and shown under the one that it should have got.
        counters = scheduled.entity.partitions[scheduled.partition]
        after = counters.arrivals + 1
        self.namespace.journal.touch(counters)
        counters.arrivals = scheduled.number - (scheduled.partition << v.SEQUENCE_BITS) - 1
        super().activate(scheduled)
        counters.arrivals = after
        numbers = memory(self.namespace, Numbers)
        numbers[scheduled.entity.path, scheduled.number] = _last_number(scheduled)


@mutant("SCHED-08", (*LATER, PEEK))
class ScheduledShownAsActive(Partitions):
    """A peek shows a scheduled message as active."""

    @tells("messages")
    def peek(self, usual: Views) -> Views:
        return as_active(usual, v.MessageState.SCHEDULED)


@mutant("SCHED-08", (*LATER, PEEK), literal=True)
class ScheduledNotShown(Partitions):
    """A peek does not show scheduled messages."""

    @tells("messages")
    def peek(self, usual: Views) -> Views:
        return without(usual, v.MessageState.SCHEDULED)


@mutant("SCHED-09", TWO_LATER)
class ScheduledGoesAnywhere(Scheduling):
    """A scheduled message goes to the partitions in turn, whatever its key."""

    def activate(self, scheduled: ScheduledMessage) -> None:
        if _is_due(self.rules.namespace, scheduled):
            rules = self.rules
            entity = scheduled.entity
            rules.scheduling.drop(scheduled, Action.ACTIVATE)
            partition = rules.keys.any_partition(entity, NO_PARTITIONS) or 0
            rules.messages.arrive(entity, scheduled.message, partition, DIRECT)


def _plan(namespace: Namespace, command: v.Schedule, partition: int) -> ScheduledMessage:
    """Schedule a message whose scheduling was refused, in this partition."""
    rules = namespace.rules
    message = command.message
    entity = rules.topics.sendable(command.queue)
    key = rules.keys.effective_key(entity, message)
    due = namespace.now + max(command.delay, 0)
    scheduled = rules.scheduling.numbered(entity, message, key, partition, due)
    rules.scheduling.plan(scheduled)
    return scheduled


@mutant("LIFE-01", deep=True)
@run(*REFUSED)
class RefusedInOutageComes(Scheduling):
    """A message whose scheduling was refused in an outage arrives when it is due."""

    @refuses_yet(v.Error.UNAVAILABLE, in_transactions=False)
    def schedule(self, command: v.Schedule) -> None:
        _plan(self.rules.namespace, command, min(self.namespace.entities[command.queue].base.down))


@mutant("SCHED-11", DUE_IN_OUTAGE, deep=True, literal=True)
class DueInOutageIsLost(Scheduling):
    """A message that is due while its partition is down never arrives."""

    @beforehand
    def activate(self, scheduled: ScheduledMessage) -> None:
        if scheduled.partition in scheduled.entity.base.down and _is_due(
            self.rules.namespace, scheduled
        ):
            self.drop(scheduled, Action.ACTIVATE)


@mutant("SCHED-12", CONFLICTING)
class ConflictingIsScheduled(Scheduling):
    """A message whose SessionId and PartitionKey differ can be scheduled."""

    def schedule(self, command: v.Schedule, connection: str) -> Answer:
        try:
            return super().schedule(command, connection)
        except Refusal as refusal:
            if "KEY-08" not in refusal.rules or command.transaction is not None:
                raise
            entity = self.namespace.entities[command.queue]
            key = self.rules.keys.effective_key(entity, command.message)
            partition = 0 if key is None else self.rules.keys.home(entity, key)
            scheduled = _plan(self.rules.namespace, command, partition)
            return Answer(v.Scheduled(sequence_number=scheduled.number), partition)


@mutant("SCHED-12", deep=True)
@run(*CONFLICTING, wait(6), receive())
class RefusedConflictComes(Scheduling):
    """A message whose scheduling was refused for its keys arrives when it is due."""

    @refuses_yet("KEY-08", in_transactions=False)
    def schedule(self, command: v.Schedule) -> None:
        _plan(self.rules.namespace, command, 0)


@mutant("SCHED-13", (*IN_SESSION, v.AcceptNextSession(queue=QUEUE)))
class ScheduledSessionIsNext(Sessions):
    """A session with scheduled messages only is returned as the next session."""

    def free(self, entity: Entity) -> Iterator[Session]:
        known = self.rules.sessions.known
        scheduled = tuple(entity.scheduled.values())
        sessions = [
            known(entity, later.message.session_id, later.partition)
            for later in scheduled
            if later.message.session_id is not None
        ]
        free = (session for session in sessions if session.holder is None)
        return chain(free, super().free(entity))


@mutant("SCHED-13", HELD)
class HolderIsGivenScheduled(Messages):
    """The holder of a session receives its scheduled messages before they are due."""

    @beforehand
    def give_next(self, entity: Entity, session: Session | None) -> None:
        for scheduled in tuple(entity.scheduled.values()) if session is not None else ():
            if session is not None and scheduled.message.session_id == session.name:
                self.namespace.journal.touch(scheduled)
                scheduled.due = self.namespace.now
                self.rules.scheduling.activate(scheduled)


@mutant("SCHED-14", PAST)
class PastIsRefused(Scheduling):
    """Scheduling a message for a time that has passed is refused."""

    @refuses("SCHED-14")
    def schedule(self, command: v.Schedule) -> bool:
        return command.delay < 0


@mutant("SCHED-14", (*PAST, receive()), literal=True)
class PastNeverComes(Scheduling):
    """A message that is scheduled for a time that has passed never arrives."""

    @asks
    def schedule(self, command: v.Schedule) -> v.Schedule:
        if command.delay < 0:
            command = attrs.evolve(command, delay=NEVER)
        return command
