"""Mutants of DEFER: messages that are set aside, and received by their numbers."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import ACTIVE, Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.entities import Switch, held, once_locked, switched
from busproof.mutants.locks import has_run_out
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import (
    QUEUE,
    Run,
    abandon,
    by_number,
    complete,
    create,
    dead_letter,
    defer,
    down,
    home,
    over,
    receive,
    send,
    up,
    wait,
)
from busproof.mutants.views import Views, as_active, without
from busproof.mutants.wrappers import afterwards, alters, beforehand, instead, tells, with_other

PEEK: Final = v.Peek(queue=QUEUE)
LOCKED: Final[Run] = (create(), send("m1", partition_key="a"), receive())
ASIDE: Final[Run] = (*LOCKED, defer(0))
AGAIN: Final[Run] = (*ASIDE, by_number(0))
TWO: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    send("m2", partition_key="a"),
    receive(),
    receive(),
    defer(0),
    defer(1),
)
IN_SESSION: Final[Run] = (
    create(requires_session=True),
    send("m1", session_id="a"),
    v.AcceptSession(queue=QUEUE, session_id="a"),
    receive("a"),
    defer(0),
)
ELSEWHERE: Final[Run] = (*ASIDE, over("c2", receive()))
ACTIVE_AGAIN: Final[Run] = (*LOCKED, abandon(0), by_number(0))
OTHER_SESSION: Final[Run] = (
    *(*IN_SESSION, v.AcceptSession(queue=QUEUE, session_id="b"), by_number(0, session_id="b")),
)
RECOVERED: Final[Run] = (*ASIDE, down(home("a")), up(home("a")), by_number(0))


def _aside(entity: Entity, session: Session | None) -> list[QueuedMessage]:
    """Return the deferred messages of a session, or of none, in partitions that are up."""
    return [
        queued
        for queued in entity.messages.values()
        if queued.state is State.DEFERRED
        and queued.session is session
        and queued.partition not in entity.base.down
    ]


@mutant("DEFER-01", "messages.give_next", (*ASIDE, receive()))
def deferred_given(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A deferred message is given to the next receive."""
    for queued in _aside(entity, session):
        return namespace.rules.deferral.give(queued, mode)
    return RULES.messages.give_next(namespace, entity, session, mode, *rest)


@beside("locks.settle", beforehand)
def _note_connection(namespace: Namespace, command: v.Settlement, connection: str) -> None:
    queued = once_locked(namespace, command)
    if queued is not None and isinstance(command, v.Defer):
        by = memory(namespace, dict[tuple[str, int], str])
        by[queued.entity.path, queued.number] = connection


@mutant("DEFER-01", "messages.give_next", also=_note_connection, deep=True)
@run(*ELSEWHERE)
def deferred_given_elsewhere(
    namespace: Namespace,
    entity: Entity,
    session: Session | None,
    mode: v.ReceiveMode,
    connection: str,
) -> v.MessageView | None:
    """A deferred message is given to a receive on another connection."""
    by = memory(namespace, dict[tuple[str, int], str])
    for queued in _aside(entity, session):
        if by.get((entity.path, queued.number), connection) != connection:
            return namespace.rules.deferral.give(queued, mode)
    return RULES.messages.give_next(namespace, entity, session, mode, connection)


@mutant("DEFER-02", "deferral.find", AGAIN)
def deferred_is_lost() -> QueuedMessage:
    """A deferred message cannot be received by its number."""
    raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-03")


@mutant("DEFER-03", "deferral.receive_deferred", (*LOCKED, complete(0), by_number(0)))
def unknown_number_empty(namespace: Namespace, command: v.ReceiveDeferred, *rest: Any) -> Answer:
    """Receiving by a number that no message has returns an empty list instead of a refusal."""
    try:
        return RULES.deferral.receive_deferred(namespace, command, *rest)
    except Refusal as refusal:
        there = namespace.entities[command.queue].messages if "DEFER-03" in refusal.rules else None
        if there is None or any(number in there for number in command.sequence_numbers):
            raise
        return Answer(v.ReceivedSeveral(messages=()))


def _give_any(namespace: Namespace, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
    if queued.state is ACTIVE:
        return namespace.rules.messages.give(queued, mode)
    return RULES.deferral.give(namespace, queued, mode)


@mutant("DEFER-04", "deferral.find", ACTIVE_AGAIN, instead, also={"deferral.give": _give_any})
def active_given_by_number(
    entity: Entity, number: int, session: Session | None
) -> QueuedMessage | None:
    """A message that was not deferred can be received by its number."""
    queued = entity.messages.get(number)
    active = queued is not None and queued.state is ACTIVE and queued.session is session
    up = queued is not None and queued.partition not in entity.base.down
    return queued if active and up else None


@mutant("DEFER-05", "deferral.find", (*AGAIN, by_number(0)), beforehand)
def locked_given_by_number(namespace: Namespace, entity: Entity, number: int) -> None:
    """A deferred message can be received by its number while it is locked."""
    queued = entity.messages.get(number)
    if queued is not None and queued.state is State.DEFERRED_LOCKED:
        RULES.locks.unlock(namespace, queued, Action.LOCK_ENDS)


def _forget_deferral(namespace: Namespace, queued: QueuedMessage) -> None:
    """Turn a locked deferred message into one that was never deferred."""
    if queued.state is State.DEFERRED_LOCKED:
        namespace.journal.touch(queued)
        queued.state = State.LOCKED


@mutant("DEFER-06", "locks.apply", (*AGAIN, abandon(1), receive()), beforehand)
def abandoned_is_active(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """An abandoned deferred message becomes active again."""
    if action is Action.ABANDON:
        _forget_deferral(namespace, queued)


@mutant("DEFER-06", "locks.release", (*AGAIN, wait(61), receive()), beforehand, deep=True)
def expired_is_active(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A deferred message whose lock expires is active again."""
    if action is Action.LOCK_ENDS and has_run_out(namespace, queued):
        _forget_deferral(namespace, queued)


@mutant("DEFER-07", "locks.apply", (*AGAIN, complete(1), by_number(0)), with_other("action"))
def deferred_completed_comes_back(queued: QueuedMessage, action: Action) -> Action:
    """A deferred message that is completed stays, and can be received by its number."""
    if queued.state is State.DEFERRED_LOCKED and action is Action.COMPLETE:
        action = Action.DEFER
    return action


@mutant("DEFER-07", "locks.apply", how=with_other("action"), deep=True)
@run(*AGAIN, dead_letter(1), by_number(0))
def deferred_dead_lettered_stays(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> Action:
    """A deferred message that is dead-lettered can still be received by its number."""
    entity = queued.entity
    if queued.state is not State.DEFERRED_LOCKED or action is not Action.DEAD_LETTER:
        return action
    RULES.dead_letters.check_source(namespace, entity)
    transit = DIRECT._replace(reason=reason)
    rules, message = namespace.rules, queued.message
    rules.dead_letters.enqueue(entity, message, queued.partition, transit)
    return Action.DEFER


@mutant("DEFER-08", "deferral.give", AGAIN, alters)
def number_changes_when_deferred(usual: v.MessageView, queued: QueuedMessage) -> v.MessageView:
    """A deferred message is received with a new sequence number."""
    return attrs.evolve(usual, sequence_number=queued.number + 1000)


@mutant("DEFER-09", "partitions.peek", (*ASIDE, PEEK), tells("messages"))
def deferred_shown_as_active(usual: Views) -> Views:
    """A peek shows a deferred message as active."""
    return as_active(usual, v.MessageState.DEFERRED)


@mutant("DEFER-09", "partitions.peek", (*ASIDE, PEEK), tells("messages"), literal=True)
def deferred_not_shown(usual: Views) -> Views:
    """A peek leaves deferred messages out."""
    return without(usual, v.MessageState.DEFERRED)


@mutant("DEFER-11", "deferral.receive_deferred", (*TWO, by_number(0, 1)), tells("messages"))
def one_number_at_a_time(usual: Views) -> Views:
    """A receive by several numbers returns only the first message."""
    return usual[:1]


@mutant("DEFER-12", "deferral.find", OTHER_SESSION, deep=True)
def deferred_given_in_other_session(
    namespace: Namespace, entity: Entity, number: int, session: Session | None
) -> QueuedMessage:
    """A deferred message is given to the holder of another session."""
    queued = entity.messages.get(number)
    own = session if queued is None else queued.session
    return RULES.deferral.find(namespace, entity, number, own)


@mutant("DEFER-12", "deferral.receive_deferred", (*IN_SESSION, by_number(0)))
def deferred_given_outside_session(
    namespace: Namespace, command: v.ReceiveDeferred, connection: str
) -> Answer:
    """A deferred message of a session is given to a connection without the session."""
    entity = namespace.rules.topics.receivable(command.queue)
    if command.session_id is not None or not entity.settings.requires_session:
        return RULES.deferral.receive_deferred(namespace, command, connection)
    deferred = [
        deferred_given_in_other_session(namespace, entity, number, None)
        for number in command.sequence_numbers
    ]
    views = [namespace.rules.deferral.give(queued, command.mode) for queued in deferred]
    return Answer(v.ReceivedSeveral(messages=tuple(views)))


@mutant("DEFER-13", "partitions.switch", RECOVERED, afterwards, deep=True)
def deferred_forgotten_in_outage(namespace: Namespace, command: Switch) -> None:
    """A deferred message can no longer be received after an outage of its partition."""
    for entity in switched(namespace, command):
        for queued in tuple(held(entity, command.partition)):
            if queued.state in (State.DEFERRED, State.DEFERRED_LOCKED):
                namespace.rules.messages.remove(queued)
