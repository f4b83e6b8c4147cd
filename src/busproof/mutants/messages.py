"""Mutants of LIFE: the life of a message."""

from itertools import chain
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import ACTIVE, Action, State
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.mutants.entities import find_once_locked, partitions_up
from busproof.mutants.locks import has_run_out, lock_again
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    complete,
    create,
    over,
    receive,
    send,
    wait,
)
from busproof.mutants.sessions import session_of
from busproof.mutants.views import Views, changes_view
from busproof.mutants.wrappers import alters, instead, tells, with_other

PEEK: Final = v.Peek(queue=QUEUE)
PEEK_TWO: Final = v.Peek(queue=QUEUE, count=2)
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
LOCKED: Final[Run] = (create(), send("m1", message_id="1"), receive())
EXPIRED: Final[Run] = (*LOCKED, wait(61))
PEEKED: Final[Run] = (create(), send("m1"), PEEK, receive())
HELD: Final[Run] = (create(requires_session=True), send("m1", session_id="s"), ACCEPT)
TWO: Final[Run] = (create(), *(send(body, partition_key="a") for body in ("m1", "m2")))
CACHED: Final[Run] = (
    *(create(), send("m1"), send("m2"), receive(), complete(0), over("c2", receive()), wait(61)),
    over("c2", receive()),
)
SENT_EACH: Final[Run] = (create(), *(send(f"m{number}") for number in range(PARTITIONS)))
ONE_EACH: Final[Run] = (*SENT_EACH, *(receive(),) * PARTITIONS)


@changes_view("LIFE-01", (create(), send("m1", partition_key="a"), receive()))
def property_lost(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A received message lacks its PartitionKey."""
    return attrs.evolve(view, partition_key=None)


@changes_view("LIFE-01", (*LOCKED, abandon(0), receive()), deep=True)
def property_lost_at_redelivery(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A redelivered message loses its MessageId."""
    return view if queued.deliveries < 2 else attrs.evolve(view, message_id=None)


@changes_view("LIFE-01", (create(), send("m1", properties={"n": 2**53 + 1}), receive()))
def large_numbers_rounded(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Integers beyond 2^53 are received as the nearest floating-point number."""
    greatest = 2**63 - 1024  # the greatest of these that fits into 64 bits
    rounded = {
        name: min(int(float(value)), greatest) if type(value) is int else value
        for name, value in view.properties.items()
    }
    return attrs.evolve(view, properties=rounded)


@mutant("LIFE-02", (*LOCKED, receive()))
class LockedGivenAgain(Messages):
    """A locked message is given to the next receive as well."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        for queued in entity.messages.values():
            locked = queued.state is State.LOCKED and queued.session is session
            if locked and queued.partition not in entity.base.down:
                self.rules.locks.unlock(queued, Action.LOCK_ENDS)
                queued.line.give_back(queued)
                return self.give(queued, mode)
        return super().give_next(entity, session, mode, connection)


@mutant("LIFE-03", (*LOCKED, complete(0), receive()))
class CompletedComesBack(Locks):
    """A completed message can be received again."""

    @with_other("action")
    def apply(self, action: Action) -> Action:
        return Action.ABANDON if action is Action.COMPLETE else action


@mutant("LIFE-03", (create(), send("m1"), receive(delete=True), receive()))
class DeletedComesBack(Messages):
    """A message received in ReceiveAndDelete can be received once more."""

    def consume(self, queued: QueuedMessage, action: Action) -> None:
        before = memory(self.rules.namespace, set[tuple[str, int]])
        name = (queued.entity.path, queued.number)
        if action is Action.EXPIRE or name in before:
            super().consume(queued, action)
        before.add(name)


@mutant("LIFE-04", (*LOCKED, abandon(0), receive()))
class AbandonedIsLost(Locks):
    """An abandoned message is lost."""

    @with_other("action")
    def apply(self, action: Action) -> Action:
        return Action.COMPLETE if action is Action.ABANDON else action


@mutant("LIFE-05", (*EXPIRED, receive()))
class ExpiredIsLost(Locks):
    """A message whose lock expires is lost."""

    @instead
    def release(self, queued: QueuedMessage, action: Action) -> bool | None:
        if action is not Action.LOCK_ENDS or not has_run_out(self.rules.namespace, queued):
            return None
        self.unlock(queued, Action.COMPLETE)
        self.rules.messages.remove(queued)
        return True


@mutant("LIFE-06", (*EXPIRED, complete(0)))
class SettlesAfterExpiry(Locks):
    """A lock that has expired still settles its message."""

    def settle(self, command: v.Settlement, connection: str) -> Answer:
        queued = find_once_locked(self.rules.namespace, command)
        if queued is not None and queued.token is None:
            lock_again(self.rules.namespace, queued, command.lock_token)
        elif queued is not None and queued.token is not None:
            command = attrs.evolve(command, lock_token=queued.token)
        return super().settle(command, connection)


@mutant("LIFE-06", (*LOCKED, complete(0), complete(0)))
class SettlesTwice(Locks):
    """A lock token that has settled its message settles it again, without effect."""

    def settle(self, command: v.Settlement, connection: str) -> Answer:
        used = memory(self.rules.namespace, set[tuple[str, str]])
        name = (command.queue, command.lock_token)
        if name in used:
            return Answer(DONE)
        answer = super().settle(command, connection)
        if command.transaction is None:
            used.add(name)
        return answer


def _find_peeked(namespace: Namespace, command: v.Peek, answer: Answer) -> list[QueuedMessage]:
    views = answer.outcome.messages if isinstance(answer.outcome, v.Peeked) else ()
    there = namespace.entities[command.queue].messages
    peeked = (there.get(view.sequence_number or 0) for view in views)
    return [queued for queued in peeked if queued is not None]


@mutant("LIFE-07", PEEKED)
class PeekRemoves(Partitions):
    """A peek removes the messages that it shows."""

    @alters
    def peek(self, usual: Answer, command: v.Peek) -> Answer:
        for queued in _find_peeked(self.rules.namespace, command, usual):
            self.rules.messages.remove(queued)
        return usual


@mutant("LIFE-07", PEEKED)
class PeekLocks(Partitions):
    """A peek locks the messages that it shows."""

    @alters
    def peek(self, usual: Answer, command: v.Peek) -> Answer:
        for queued in _find_peeked(self.rules.namespace, command, usual):
            if queued.state is ACTIVE:
                self.rules.locks.lock(queued, Action.RECEIVE)
        return usual


@mutant("LIFE-07", (*TWO, PEEK_TWO))
class PeekOutOfOrder(Partitions):
    """A peek shows the newest message first."""

    @tells("messages")
    def peek(self, usual: Views) -> Views:
        return usual[::-1]


@mutant("LIFE-13", CACHED)
class CacheNeverExpires(Messages):
    """A message cached for one connection is never given to another."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        if session is not None:
            return super().give_next(entity, session, mode, connection)
        cached = memory(self.rules.namespace, dict[tuple[str, int], str])
        lines = (self.offered(entity, partition) for partition in partitions_up(entity))
        offered = list(chain.from_iterable(lines))
        for queued in offered:
            cached.setdefault((entity.path, queued.number), connection)
        mine = (queued for queued in offered if cached[entity.path, queued.number] == connection)
        first = next(mine, None)
        return None if first is None else self.give(first, mode)


@mutant("LIFE-09", ONE_EACH)
class LastPartitionNeverRead(Messages):
    """Messages in the last partition are never received."""

    def next_available(self, entity: Entity) -> QueuedMessage | None:
        last = len(entity.partitions) - 1
        for _ in entity.partitions:
            queued = super().next_available(entity)
            if queued is None or last == 0 or queued.partition < last:
                return queued
        return None


@mutant("LIFE-10", (*HELD, over("c2", ACCEPT)))
class SessionGivenTwice(Sessions):
    """A locked session can be locked by another connection."""

    def accept(self, command: v.AcceptSession, connection: str) -> Answer:
        session = session_of(self.rules.namespace, command)
        holder = None if session is None else session.holder
        answer = super().accept(command, holder or connection)
        if session is not None and holder is not None:
            session.holder = connection
        return answer


@mutant("LIFE-10", (*HELD, over("c2", receive("s"))))
class SessionReadWithoutLock(Sessions):
    """Any connection can receive from a locked session."""

    def of_receive(self, entity: Entity, name: str | None, connection: str) -> Session | None:
        session = entity.sessions.get(name or "")
        holder = None if session is None else session.holder
        return super().of_receive(entity, name, holder or connection)
