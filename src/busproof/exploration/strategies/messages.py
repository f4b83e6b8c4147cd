"""Generators of commands about messages of queues: send, schedule, receive, settle and peek."""

from collections.abc import Iterator
from typing import Any, Final

from hypothesis import stateful
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import ANY_SESSION, GENERAL, Receipt, Scope, Theme, World
from busproof.exploration.strategies.row import QUEUES, RECEIPTS, Generator, Made

__all__ = ["FEW", "SHAPES", "rows_of_messages", "schedule", "send", "settle"]

_INDEX: Final = st.integers(0, 2)
SHAPES: Final = st.integers(0, 3)
"""Numbers of the shapes of messages, which determine keys, ids and bodies."""
_SENDS: Final = st.sampled_from((1, 1, 1, 1, 1, 1, 2, 2, 3, 6, 24))
_RECEIVES: Final = st.sampled_from((1, 1, 1, 2, 6, 40))
FEW: Final = st.sampled_from((1, 1, 1, 2, 3))
"""Number of times to repeat a command, mostly once."""


def rows_of_messages(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that send, schedule, cancel, receive, settle and peek."""
    timeouts = [seconds * v.MICROSECONDS for seconds in (60, 60, 60, 15, 10)]
    once = {"receipt": stateful.consumes(RECEIPTS)}
    yield Generator(
        kind=v.Send,
        draws={"queue": QUEUES, "shape": SHAPES, "timeout": st.sampled_from(timeouts)},
        make=send,
        weight=4,
        times=_SENDS,
    )
    delays = (0, scope.lock // 2, scope.lock, 2 * scope.lock)
    yield Generator(
        kind=v.Schedule,
        draws={"queue": QUEUES, "shape": SHAPES, "delay": st.sampled_from(delays)},
        make=schedule,
        times=FEW,
        themes=GENERAL,
    )
    yield Generator(kind=v.CancelScheduled, draws={"number": SHAPES}, make=_cancel, themes=GENERAL)
    yield Generator(
        kind=v.Receive,
        draws={"queue": QUEUES, "mode": st.sampled_from(_modes(scope)), "session": _INDEX},
        make=_receive,
        weight=4,
        times=_RECEIVES,
        into=(RECEIPTS,),
    )
    yield Generator(kind=v.Complete, draws=once, make=settle(v.Complete), weight=3)
    yield Generator(kind=v.Abandon, draws=once, make=settle(v.Abandon), weight=3)
    for kind in (v.DeadLetter, v.Defer):
        yield Generator(kind=kind, draws=once, make=settle(kind))
    yield Generator(kind=v.RenewLock, draws={"receipt": RECEIPTS}, make=settle(v.RenewLock))
    yield Generator(
        kind=v.Complete,
        draws={"receipt": RECEIPTS},
        make=settle(v.Complete),
        name="completeagain",
    )
    modes = st.sampled_from(_modes(scope))
    if v.Capability.DEAD_LETTER in scope.capabilities:
        yield Generator(
            kind=v.Receive,
            draws={"queue": QUEUES, "mode": modes},
            make=_receive_dead_letter,
            into=(RECEIPTS,),
            themes=(*GENERAL, Theme.DELIVERIES),
            name="receivedeadletter",
        )
    yield Generator(
        kind=v.ReceiveDeferred,
        draws={"number": SHAPES, "several": st.booleans(), "mode": modes},
        make=_receive_by_number,
        themes=(*GENERAL, Theme.DELIVERIES, Theme.SESSIONS),
    )
    if v.Capability.PEEK_LOCK in scope.capabilities:
        yield Generator(
            kind=v.Receive,
            draws={"queue": QUEUES},
            make=_deliver_again,
            times=st.sampled_from((2, 4, 21)),
            themes=(Theme.DELIVERIES, Theme.SESSIONS),
            name="deliveragain",
        )
    yield Generator(
        kind=v.Peek,
        draws={"queue": QUEUES, "count": st.sampled_from((1, 2, 8)), "session": _INDEX},
        make=_peek,
    )
    if v.Capability.PEEK_FROM in scope.capabilities:
        yield Generator(
            kind=v.Peek,
            draws={"count": st.sampled_from((1, 2, 8)), "back": _INDEX},
            make=_peek_on,
            times=FEW,
            themes=GENERAL,
            name="peekon",
        )


def send(
    world: World,
    queue: v.CreateQueue,
    shape: int,
    timeout: int = 60 * v.MICROSECONDS,
    transaction: str | None = None,
) -> v.Send:
    """Send a message of one of the shapes to a queue, or to an entity that forwards to it."""
    return v.Send(
        queue=world.sent_to(queue),
        message=world.message(queue, shape),
        timeout=timeout,
        transaction=transaction,
    )


def schedule(
    world: World, queue: v.CreateQueue, shape: int, delay: int, transaction: str | None = None
) -> v.Schedule:
    """Schedule a message of one of the shapes."""
    return v.Schedule(
        queue=queue.queue,
        message=world.message(queue, shape),
        delay=delay,
        transaction=transaction,
    )


def _cancel(world: World, number: int) -> v.CancelScheduled | None:
    """Cancel a recently scheduled message, whether or not it is due."""
    if not world.scheduled:
        return None
    queue, one = world.scheduled[-1 - number % len(world.scheduled)]
    return v.CancelScheduled(queue=queue, sequence_number=one)


def _receive(world: World, queue: v.CreateQueue, mode: v.ReceiveMode, session: int) -> v.Receive:
    queue = world.received_from(queue)
    return v.Receive(
        queue=queue.queue,
        mode=mode,
        session_id=world.session_at_hand(queue.queue, session) if queue.requires_session else None,
    )


def _receive_dead_letter(world: World, queue: v.CreateQueue, mode: v.ReceiveMode) -> v.Receive:
    return v.Receive(queue=world.received_from(queue).queue + v.DEAD_LETTERS, mode=mode)


def _receive_by_number(
    world: World, number: int, several: bool, mode: v.ReceiveMode
) -> v.ReceiveDeferred | None:
    """Receive a recently received message by its sequence number, whether or not it is deferred."""
    if not world.received:
        return None
    queue, one, session = world.received[-1 - number % len(world.received)]
    others = [other for name, other, of in world.received if (name, of) == (queue, session)]
    required = any(with_session.queue == queue for with_session in world.with_sessions())
    return v.ReceiveDeferred(
        queue=queue,
        sequence_numbers=tuple(dict.fromkeys((one, others[0]) if several else (one,))),
        mode=mode,
        session_id=session if required else None,
    )


def settle(kind: type[v.Complete | v.Abandon | v.DeadLetter | v.Defer | v.RenewLock]) -> Made:
    """Return a function that settles or renews a receipt's lock, perhaps in a transaction."""

    def make_command(world: World, receipt: Receipt, **transaction: Any) -> v.Command | None:
        lock = world.held(receipt)
        if lock is None or lock.lock_token is None:
            return None
        return kind(queue=lock.queue, lock_token=lock.lock_token, **transaction)

    return make_command


def _deliver_again(world: World, queue: v.CreateQueue) -> v.Receive | v.Abandon:
    """Abandon the latest lock; without one, receive a message."""
    if world.locks:
        lock = world.locks.pop()
        return v.Abandon(queue=lock.queue, lock_token=lock.lock_token or "")
    return _receive(world, queue, v.ReceiveMode.PEEK_LOCK, 0)


def _peek(world: World, queue: v.CreateQueue, count: int, session: int) -> v.Peek:
    """Peek at all messages, or at those of a session if the queue requires sessions."""
    queue = world.received_from(queue)
    of_session = queue.requires_session and session != ANY_SESSION
    return v.Peek(
        queue=queue.queue,
        count=count,
        session_id=world.session_at_hand(queue.queue, session) if of_session else None,
    )


def _peek_on(world: World, count: int, back: int) -> v.Peek | None:
    """Peek after the last message of the latest peek, or from a few numbers before."""
    if not world.shown:
        return None
    queue, number = world.shown[-1]
    return v.Peek(queue=queue, count=count, from_sequence_number=max(number + 1 - back, 0))


def _modes(scope: Scope) -> list[v.ReceiveMode]:
    if v.Capability.PEEK_LOCK in scope.capabilities:
        return [v.ReceiveMode.PEEK_LOCK] * 3 + [v.ReceiveMode.RECEIVE_AND_DELETE]
    return [v.ReceiveMode.RECEIVE_AND_DELETE]
