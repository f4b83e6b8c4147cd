"""Mutants of SCHED: scheduled messages, and their cancellation."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import (
    NO_PARTITIONS,
    Entity,
    QueuedMessage,
    ScheduledMessage,
    Session,
)
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.entities import Switch, switched
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("SCHED-01", "scheduling.schedule", (*LATER, receive()), asks)
def scheduled_comes_at_once(command: v.Schedule) -> v.Schedule:
    """A scheduled message can be received at once."""
    return attrs.evolve(command, delay=0)


def _is_up_again(namespace: Namespace, command: Switch) -> list[Entity]:
    """Return the entities with the partition that a command brings up."""
    return switched(namespace, command) if isinstance(command, v.BringPartitionUp) else []


@mutant("SCHED-01", "partitions.switch", (*LATER, DOWN, UP, receive()), afterwards, deep=True)
def recovery_brings_forward(namespace: Namespace, command: Switch) -> None:
    """A scheduled message becomes active early when a partition comes up again."""
    for entity in _is_up_again(namespace, command):
        for scheduled in entity.scheduled.values():
            namespace.journal.touch(scheduled)
            scheduled.due = namespace.now
            scheduled.index()


@mutant("SCHED-02", "scheduling.activate", (*DUE, receive()), literal=True)
def scheduled_never_comes() -> None:
    """A scheduled message never becomes active."""


@mutant("SCHED-03", "scheduling.cancel", (*LATER, cancel(0)))
def cancel_refused(namespace: Namespace, command: v.CancelScheduled, connection: str) -> Answer:
    """Cancelling by the number that scheduling returned is refused."""
    RULES.scheduling.cancel(namespace, command, connection)
    raise Refusal(v.Error.MESSAGE_NOT_FOUND, "SCHED-05")


@mutant("SCHED-04", "scheduling.drop", (*LATER, cancel(0), wait(6), receive()), only_where)
def cancelled_comes(action: Action) -> bool:
    """A cancelled message arrives anyway."""
    return action is not Action.CANCEL


@beside("scheduling.drop", afterwards)
def _note_cancelled(namespace: Namespace, scheduled: ScheduledMessage, action: Action) -> None:
    if action is Action.CANCEL:
        memory(namespace, list[ScheduledMessage]).append(scheduled)


@mutant("SCHED-04", "partitions.switch", CANCELLED, afterwards, also=_note_cancelled, deep=True)
def cancelled_comes_after_outage(namespace: Namespace, command: Switch) -> None:
    """A cancelled message arrives if its partition goes down and up after the cancellation."""
    entities = _is_up_again(namespace, command)
    cancelled = memory(namespace, list[ScheduledMessage])
    for scheduled in tuple(cancelled):
        if scheduled.entity in entities and scheduled.partition == command.partition:
            cancelled.remove(scheduled)
            namespace.journal.touch(scheduled)
            scheduled.state = State.SCHEDULED
            namespace.journal.put(scheduled.entity.scheduled, scheduled.number, scheduled)
            scheduled.index()


def _is_due(namespace: Namespace, scheduled: ScheduledMessage) -> bool:
    """Return whether a message is due, and still scheduled."""
    waits = scheduled.entity.scheduled.get(scheduled.number) is scheduled
    return waits and scheduled.due <= namespace.now


def _last_number(scheduled: ScheduledMessage) -> int:
    """Return the last number that a message's partition has assigned."""
    arrivals = scheduled.entity.partitions[scheduled.partition].arrivals
    return (scheduled.partition << v.SEQUENCE_BITS) + arrivals


def _activated(namespace: Namespace, scheduled: ScheduledMessage) -> bool:
    """Activate a message, and return whether it was due."""
    due = _is_due(namespace, scheduled)
    RULES.scheduling.activate(namespace, scheduled)
    return due


def _note_number(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    if _activated(namespace, scheduled):
        numbers = memory(namespace, Numbers)
        numbers[scheduled.entity.path, scheduled.number] = _last_number(scheduled)


@mutant("SCHED-05", "scheduling.cancel", LATE_CANCEL, also={"scheduling.activate": _note_number})
def late_cancel_removes(namespace: Namespace, command: v.CancelScheduled, *rest: Any) -> Answer:
    """Cancelling a message that has become active removes it."""
    numbers = memory(namespace, Numbers)
    number = numbers.get((command.queue, command.sequence_number), 0)
    entity = namespace.rules.topics.sendable(command.queue)
    if number not in entity.messages:
        return RULES.scheduling.cancel(namespace, command, *rest)
    namespace.rules.messages.remove(entity.messages[number])
    return Answer(DONE)


def _show_noted_number(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    numbers = memory(queued.entity.namespace, Numbers)
    number = numbers.get((queued.entity.path, queued.number), queued.number)
    return attrs.evolve(view, sequence_number=number)


@mutant("SCHED-06", "scheduling.activate", (*DUE, receive()), also=showing(_show_noted_number))
def number_stays(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """An active message keeps the sequence number that it was scheduled under."""
    if _activated(namespace, scheduled):
        numbers = memory(namespace, Numbers)
        numbers[scheduled.entity.path, _last_number(scheduled)] = scheduled.number


@mutant("SCHED-07", "scheduling.activate", SENT_BETWEEN, also=showing(_show_noted_number))
def scheduled_keeps_its_place(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """A scheduled message comes before messages that were sent after it was scheduled."""
    if not _is_due(namespace, scheduled):
        return
    # It is put where its number belongs, and shown under the one that it should have got.
    counters = scheduled.entity.partitions[scheduled.partition]
    after = counters.arrivals + 1
    namespace.journal.touch(counters)
    counters.arrivals = scheduled.number - (scheduled.partition << v.SEQUENCE_BITS) - 1
    RULES.scheduling.activate(namespace, scheduled)
    counters.arrivals = after
    numbers = memory(namespace, Numbers)
    numbers[scheduled.entity.path, scheduled.number] = _last_number(scheduled)


@mutant("SCHED-08", "partitions.peek", (*LATER, PEEK), tells("messages"))
def scheduled_shown_as_active(usual: Views) -> Views:
    """A peek shows a scheduled message as active."""
    return as_active(usual, v.MessageState.SCHEDULED)


@mutant("SCHED-08", "partitions.peek", (*LATER, PEEK), tells("messages"), literal=True)
def scheduled_not_shown(usual: Views) -> Views:
    """A peek does not show scheduled messages."""
    return without(usual, v.MessageState.SCHEDULED)


@mutant("SCHED-09", "scheduling.activate", TWO_LATER)
def scheduled_goes_anywhere(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """A scheduled message goes to the partitions in turn, whatever its key."""
    if _is_due(namespace, scheduled):
        rules, entity = namespace.rules, scheduled.entity
        rules.scheduling.drop(scheduled, Action.ACTIVATE)
        partition = rules.keys.any_partition(entity, NO_PARTITIONS) or 0
        rules.messages.arrive(entity, scheduled.message, partition, DIRECT)


def _plan(namespace: Namespace, command: v.Schedule, partition: int) -> ScheduledMessage:
    """Schedule a message whose scheduling was refused, in this partition."""
    rules, message = namespace.rules, command.message
    entity = rules.topics.sendable(command.queue)
    key = rules.keys.effective_key(entity, message)
    due = namespace.now + max(command.delay, 0)
    scheduled = rules.scheduling.numbered(entity, message, key, partition, due)
    rules.scheduling.plan(scheduled)
    return scheduled


@mutant(
    "LIFE-01",
    "scheduling.schedule",
    how=refuses_yet(v.Error.UNAVAILABLE, in_transactions=False),
    deep=True,
)
@run(*REFUSED)
def refused_in_outage_comes(namespace: Namespace, command: v.Schedule) -> None:
    """A message whose scheduling was refused in an outage arrives when it is due."""
    _plan(namespace, command, min(namespace.entities[command.queue].base.down))


@mutant("SCHED-11", "scheduling.activate", DUE_IN_OUTAGE, beforehand, deep=True, literal=True)
def due_in_outage_is_lost(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """A message that is due while its partition is down never arrives."""
    if scheduled.partition in scheduled.entity.base.down and _is_due(namespace, scheduled):
        namespace.rules.scheduling.drop(scheduled, Action.ACTIVATE)


@mutant("SCHED-12", "scheduling.schedule", CONFLICTING)
def conflicting_is_scheduled(namespace: Namespace, command: v.Schedule, connection: str) -> Answer:
    """A message whose SessionId and PartitionKey differ can be scheduled."""
    try:
        return RULES.scheduling.schedule(namespace, command, connection)
    except Refusal as refusal:
        if "KEY-08" not in refusal.rules or command.transaction is not None:
            raise
        entity = namespace.entities[command.queue]
        key = namespace.rules.keys.effective_key(entity, command.message)
        partition = 0 if key is None else namespace.rules.keys.home(entity, key)
        scheduled = _plan(namespace, command, partition)
        return Answer(v.Scheduled(sequence_number=scheduled.number), partition)


@mutant(
    "SCHED-12", "scheduling.schedule", how=refuses_yet("KEY-08", in_transactions=False), deep=True
)
@run(*CONFLICTING, wait(6), receive())
def refused_conflict_comes(namespace: Namespace, command: v.Schedule) -> None:
    """A message whose scheduling was refused for its keys arrives when it is due."""
    _plan(namespace, command, 0)


@mutant("SCHED-13", "sessions.free", (*IN_SESSION, v.AcceptNextSession(queue=QUEUE)))
def scheduled_session_is_next(namespace: Namespace, entity: Entity) -> Iterator[Session]:
    """A session with scheduled messages only is returned as the next session."""
    known, scheduled = namespace.rules.sessions.known, tuple(entity.scheduled.values())
    sessions = [
        known(entity, later.message.session_id, later.partition)
        for later in scheduled
        if later.message.session_id is not None
    ]
    free = (session for session in sessions if session.holder is None)
    return chain(free, RULES.sessions.free(namespace, entity))


@mutant("SCHED-13", "messages.give_next", HELD, beforehand)
def holder_is_given_scheduled(
    namespace: Namespace, entity: Entity, session: Session | None
) -> None:
    """The holder of a session receives its scheduled messages before they are due."""
    for scheduled in tuple(entity.scheduled.values()) if session is not None else ():
        if session is not None and scheduled.message.session_id == session.name:
            namespace.journal.touch(scheduled)
            scheduled.due = namespace.now
            namespace.rules.scheduling.activate(scheduled)


@mutant("SCHED-14", "scheduling.schedule", PAST, refuses("SCHED-14"))
def past_is_refused(command: v.Schedule) -> bool:
    """Scheduling a message for a time that has passed is refused."""
    return command.delay < 0


@mutant("SCHED-14", "scheduling.schedule", (*PAST, receive()), asks, literal=True)
def past_never_comes(command: v.Schedule) -> v.Schedule:
    """A message that is scheduled for a time that has passed never arrives."""
    if command.delay < 0:
        command = attrs.evolve(command, delay=NEVER)
    return command
