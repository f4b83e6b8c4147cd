"""Mutants of DEFER: messages that are set aside, and received by their numbers."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.deferral import Deferral
from busproof.model.life_cycle import ACTIVE, Action, State
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, Refusal
from busproof.mutants.entities import Switch, find_once_locked, find_switched, messages_in
from busproof.mutants.locks import has_run_out
from busproof.mutants.mutant import memory, mutant, run
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


@mutant("DEFER-01", (*ASIDE, receive()))
class DeferredGiven(Messages):
    """A deferred message is given to the next receive."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        for queued in _aside(entity, session):
            return self.rules.deferral.give(queued, mode)
        return super().give_next(entity, session, mode, connection)


class _NoteConnection(Locks):
    @beforehand
    def settle(self, command: v.Settlement, connection: str) -> None:
        queued = find_once_locked(self.rules.namespace, command)
        if queued is not None and isinstance(command, v.Defer):
            by = memory(self.rules.namespace, dict[tuple[str, int], str])
            by[queued.entity.path, queued.number] = connection


@mutant("DEFER-01", also=(_NoteConnection,), deep=True)
@run(*ELSEWHERE)
class DeferredGivenElsewhere(Messages):
    """A deferred message is given to a receive on another connection."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        by = memory(self.rules.namespace, dict[tuple[str, int], str])
        for queued in _aside(entity, session):
            if by.get((entity.path, queued.number), connection) != connection:
                return self.rules.deferral.give(queued, mode)
        return super().give_next(entity, session, mode, connection)


@mutant("DEFER-02", AGAIN)
class DeferredIsLost(Deferral):
    """A deferred message cannot be received by its number."""

    def find(self, entity: Entity, number: int, session: Session | None) -> QueuedMessage:
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-03")


@mutant("DEFER-03", (*LOCKED, complete(0), by_number(0)))
class UnknownNumberEmpty(Deferral):
    """Receiving by a number that no message has returns an empty list instead of a refusal."""

    def receive_deferred(self, command: v.ReceiveDeferred, connection: str) -> Answer:
        try:
            return super().receive_deferred(command, connection)
        except Refusal as refusal:
            there = (
                self.namespace.entities[command.queue].messages
                if "DEFER-03" in refusal.rules
                else None
            )
            if there is None or any(number in there for number in command.sequence_numbers):
                raise
            return Answer(v.ReceivedSeveral(messages=()))


class _GiveAny(Deferral):
    def give(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        if queued.state is ACTIVE:
            return self.rules.messages.give(queued, mode)
        return super().give(queued, mode)


@mutant("DEFER-04", ACTIVE_AGAIN, also=(_GiveAny,))
class ActiveGivenByNumber(Deferral):
    """A message that was not deferred can be received by its number."""

    @instead
    def find(self, entity: Entity, number: int, session: Session | None) -> QueuedMessage | None:
        queued = entity.messages.get(number)
        active = queued is not None and queued.state is ACTIVE and queued.session is session
        up = queued is not None and queued.partition not in entity.base.down
        return queued if active and up else None


@mutant("DEFER-05", (*AGAIN, by_number(0)))
class LockedGivenByNumber(Deferral):
    """A deferred message can be received by its number while it is locked."""

    @beforehand
    def find(self, entity: Entity, number: int) -> None:
        queued = entity.messages.get(number)
        if queued is not None and queued.state is State.DEFERRED_LOCKED:
            self.rules.locks.unlock(queued, Action.LOCK_ENDS)


def _forget_deferral(namespace: Namespace, queued: QueuedMessage) -> None:
    """Turn a locked deferred message into one that was never deferred."""
    if queued.state is State.DEFERRED_LOCKED:
        namespace.journal.touch(queued)
        queued.state = State.LOCKED


@mutant("DEFER-06", (*AGAIN, abandon(1), receive()))
class AbandonedIsActive(Locks):
    """An abandoned deferred message becomes active again."""

    @beforehand
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.ABANDON:
            _forget_deferral(self.rules.namespace, queued)


@mutant("DEFER-06", (*AGAIN, wait(61), receive()), deep=True)
class ExpiredIsActive(Locks):
    """A deferred message whose lock expires is active again."""

    @beforehand
    def release(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.LOCK_ENDS and has_run_out(self.rules.namespace, queued):
            _forget_deferral(self.rules.namespace, queued)


@mutant("DEFER-07", (*AGAIN, complete(1), by_number(0)))
class DeferredCompletedComesBack(Locks):
    """A deferred message that is completed stays, and can be received by its number."""

    @with_other("action")
    def apply(self, queued: QueuedMessage, action: Action) -> Action:
        if queued.state is State.DEFERRED_LOCKED and action is Action.COMPLETE:
            action = Action.DEFER
        return action


@mutant("DEFER-07", deep=True)
@run(*AGAIN, dead_letter(1), by_number(0))
class DeferredDeadLetteredStays(Locks):
    """A deferred message that is dead-lettered can still be received by its number."""

    @with_other("action")
    def apply(self, queued: QueuedMessage, action: Action, reason: str) -> Action:
        entity = queued.entity
        if queued.state is not State.DEFERRED_LOCKED or action is not Action.DEAD_LETTER:
            return action
        self.rules.dead_letters.check_source(entity)
        transit = DIRECT._replace(reason=reason)
        rules = self.rules
        message = queued.message
        rules.dead_letters.enqueue(entity, message, queued.partition, transit)
        return Action.DEFER


@mutant("DEFER-08", AGAIN)
class NumberChangesWhenDeferred(Deferral):
    """A deferred message is received with a new sequence number."""

    @alters
    def give(self, usual: v.MessageView, queued: QueuedMessage) -> v.MessageView:
        return attrs.evolve(usual, sequence_number=queued.number + 1000)


@mutant("DEFER-09", (*ASIDE, PEEK))
class DeferredShownAsActive(Partitions):
    """A peek shows a deferred message as active."""

    @tells("messages")
    def peek(self, usual: Views) -> Views:
        return as_active(usual, v.MessageState.DEFERRED)


@mutant("DEFER-09", (*ASIDE, PEEK), literal=True)
class DeferredNotShown(Partitions):
    """A peek leaves deferred messages out."""

    @tells("messages")
    def peek(self, usual: Views) -> Views:
        return without(usual, v.MessageState.DEFERRED)


@mutant("DEFER-11", (*TWO, by_number(0, 1)))
class OneNumberAtATime(Deferral):
    """A receive by several numbers returns only the first message."""

    @tells("messages")
    def receive_deferred(self, usual: Views) -> Views:
        return usual[:1]


@mutant("DEFER-12", OTHER_SESSION, deep=True)
class DeferredGivenInOtherSession(Deferral):
    """A deferred message is given to the holder of another session."""

    def find(self, entity: Entity, number: int, session: Session | None) -> QueuedMessage:
        queued = entity.messages.get(number)
        own = session if queued is None else queued.session
        return super().find(entity, number, own)


@mutant("DEFER-12", (*IN_SESSION, by_number(0)))
class DeferredGivenOutsideSession(DeferredGivenInOtherSession):
    """A deferred message of a session is given to a connection without the session."""

    def receive_deferred(self, command: v.ReceiveDeferred, connection: str) -> Answer:
        entity = self.rules.topics.receivable(command.queue)
        if command.session_id is not None or not entity.settings.requires_session:
            return super().receive_deferred(command, connection)
        deferred = [self.find(entity, number, None) for number in command.sequence_numbers]
        views = [self.give(queued, command.mode) for queued in deferred]
        return Answer(v.ReceivedSeveral(messages=tuple(views)))


@mutant("DEFER-13", RECOVERED, deep=True)
class DeferredForgottenInOutage(Partitions):
    """A deferred message can no longer be received after an outage of its partition."""

    @afterwards
    def switch(self, command: Switch) -> None:
        for entity in find_switched(self.rules.namespace, command):
            for queued in tuple(messages_in(entity, command.partition)):
                if queued.state in (State.DEFERRED, State.DEFERRED_LOCKED):
                    self.rules.messages.remove(queued)
