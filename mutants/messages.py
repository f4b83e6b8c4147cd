"""Mutants of LIFE: the life of a message."""

from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import ACTIVE, Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.mutants.entities import once_locked, partitions_up
from busproof.mutants.locks import has_run_out, lock_again
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.own_rules import RULES
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
from busproof.mutants.views import Views, shown
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


@shown("LIFE-01", (create(), send("m1", partition_key="a"), receive()))
def property_lost(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A received message lacks its PartitionKey."""
    return attrs.evolve(view, partition_key=None)


@shown("LIFE-01", (*LOCKED, abandon(0), receive()), deep=True)
def property_lost_at_redelivery(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """A redelivered message loses its MessageId."""
    return view if queued.deliveries < 2 else attrs.evolve(view, message_id=None)


@shown("LIFE-01", (create(), send("m1", properties={"n": 2**53 + 1}), receive()))
def large_numbers_rounded(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    """Integers beyond 2^53 are received as the nearest floating-point number."""
    greatest = 2**63 - 1024  # the greatest of these that fits into 64 bits
    rounded = {
        name: min(int(float(value)), greatest) if type(value) is int else value
        for name, value in view.properties.items()
    }
    return attrs.evolve(view, properties=rounded)


@mutant("LIFE-02", "messages.give_next", (*LOCKED, receive()))
def locked_given_again(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A locked message is given to the next receive as well."""
    for queued in entity.messages.values():
        locked = queued.state is State.LOCKED and queued.session is session
        if locked and queued.partition not in entity.base.down:
            RULES.locks.unlock(namespace, queued, Action.LOCK_ENDS)
            queued.line.give_back(queued)
            return namespace.rules.messages.give(queued, mode)
    return RULES.messages.give_next(namespace, entity, session, mode, *rest)


@mutant("LIFE-03", "locks.apply", (*LOCKED, complete(0), receive()), with_other("action"))
def completed_comes_back(action: Action) -> Action:
    """A completed message can be received again."""
    return Action.ABANDON if action is Action.COMPLETE else action


@mutant("LIFE-03", "messages.consume", (create(), send("m1"), receive(delete=True), receive()))
def deleted_comes_back(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A message received in ReceiveAndDelete can be received once more."""
    before, name = memory(namespace, set[tuple[str, int]]), (queued.entity.path, queued.number)
    if action is Action.EXPIRE or name in before:
        RULES.messages.consume(namespace, queued, action)
    before.add(name)


@mutant("LIFE-04", "locks.apply", (*LOCKED, abandon(0), receive()), with_other("action"))
def abandoned_is_lost(action: Action) -> Action:
    """An abandoned message is lost."""
    return Action.COMPLETE if action is Action.ABANDON else action


@mutant("LIFE-05", "locks.release", (*EXPIRED, receive()), instead)
def expired_is_lost(namespace: Namespace, queued: QueuedMessage, action: Action) -> bool | None:
    """A message whose lock expires is lost."""
    if action is not Action.LOCK_ENDS or not has_run_out(namespace, queued):
        return None
    RULES.locks.unlock(namespace, queued, Action.COMPLETE)
    namespace.rules.messages.remove(queued)
    return True


@mutant("LIFE-06", "locks.settle", (*EXPIRED, complete(0)))
def settles_after_expiry(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """A lock that has expired still settles its message."""
    queued = once_locked(namespace, command)
    if queued is not None and queued.token is None:
        lock_again(namespace, queued, command.lock_token)
    elif queued is not None and queued.token is not None:
        command = attrs.evolve(command, lock_token=queued.token)
    return RULES.locks.settle(namespace, command, connection)


@mutant("LIFE-06", "locks.settle", (*LOCKED, complete(0), complete(0)))
def settles_twice(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """A lock token that has settled its message settles it again, without effect."""
    used, name = memory(namespace, set[tuple[str, str]]), (command.queue, command.lock_token)
    if name in used:
        return Answer(DONE)
    answer = RULES.locks.settle(namespace, command, connection)
    if command.transaction is None:
        used.add(name)
    return answer


def _peeked_messages(namespace: Namespace, command: v.Peek, answer: Answer) -> list[QueuedMessage]:
    views = answer.outcome.messages if isinstance(answer.outcome, v.Peeked) else ()
    there = namespace.entities[command.queue].messages
    peeked = (there.get(view.sequence_number or 0) for view in views)
    return [queued for queued in peeked if queued is not None]


@mutant("LIFE-07", "partitions.peek", PEEKED, alters)
def peek_removes(usual: Answer, namespace: Namespace, command: v.Peek) -> Answer:
    """A peek removes the messages that it shows."""
    for queued in _peeked_messages(namespace, command, usual):
        namespace.rules.messages.remove(queued)
    return usual


@mutant("LIFE-07", "partitions.peek", PEEKED, alters)
def peek_locks(usual: Answer, namespace: Namespace, command: v.Peek) -> Answer:
    """A peek locks the messages that it shows."""
    for queued in _peeked_messages(namespace, command, usual):
        if queued.state is ACTIVE:
            namespace.rules.locks.lock(queued, Action.RECEIVE)
    return usual


@mutant("LIFE-07", "partitions.peek", (*TWO, PEEK_TWO), tells("messages"))
def peek_out_of_order(usual: Views) -> Views:
    """A peek shows the newest message first."""
    return usual[::-1]


@mutant("LIFE-13", "messages.give_next", CACHED)
def cache_never_expires(
    namespace: Namespace,
    entity: Entity,
    session: Session | None,
    mode: v.ReceiveMode,
    connection: str,
) -> v.MessageView | None:
    """A message cached for one connection is never given to another."""
    if session is not None:
        return RULES.messages.give_next(namespace, entity, session, mode, connection)
    cached = memory(namespace, dict[tuple[str, int], str])
    lines = (
        RULES.messages.offered(namespace, entity, partition) for partition in partitions_up(entity)
    )
    offered = list(chain.from_iterable(lines))
    for queued in offered:
        cached.setdefault((entity.path, queued.number), connection)
    mine = (queued for queued in offered if cached[entity.path, queued.number] == connection)
    first = next(mine, None)
    return None if first is None else namespace.rules.messages.give(first, mode)


@mutant("LIFE-09", "messages.next_available", ONE_EACH)
def last_partition_never_read(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """Messages in the last partition are never received."""
    last = len(entity.partitions) - 1
    for _ in entity.partitions:
        queued = RULES.messages.next_available(namespace, entity)
        if queued is None or last == 0 or queued.partition < last:
            return queued
    return None


@mutant("LIFE-10", "sessions.accept", (*HELD, over("c2", ACCEPT)))
def session_given_twice(namespace: Namespace, command: v.AcceptSession, connection: str) -> Answer:
    """A locked session can be locked by another connection."""
    session = session_of(namespace, command)
    holder = None if session is None else session.holder
    answer = RULES.sessions.accept(namespace, command, holder or connection)
    if session is not None and holder is not None:
        session.holder = connection
    return answer


@mutant("LIFE-10", "sessions.of_receive", (*HELD, over("c2", receive("s"))))
def session_read_without_lock(
    namespace: Namespace, entity: Entity, name: str | None, connection: str
) -> Session | None:
    """Any connection can receive from a locked session."""
    session = entity.sessions.get(name or "")
    holder = None if session is None else session.holder
    return RULES.sessions.of_receive(namespace, entity, name, holder or connection)
