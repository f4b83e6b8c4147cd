"""Generators of commands about several messages in one request."""

from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import GENERAL, Scope, Theme, World
from busproof.exploration.strategies.row import QUEUES, TRANSACTIONS, Generator

__all__ = ["rows_of_batches"]

_SHAPES: Final = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)
_ALIKE: Final = st.tuples(st.integers(0, 3), st.integers(1, 4)).map(lambda one: one[:1] * one[1])


def rows_of_batches(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that send batches, of equal or different shapes, and receive batches."""
    yield Generator(
        kind=v.SendBatch,
        draws={"queue": QUEUES, "shapes": st.one_of(_ALIKE, _SHAPES)},
        make=_send,
        themes=(*GENERAL, Theme.SESSIONS),
    )
    if v.Capability.TRANSACTIONS in scope.capabilities:
        yield Generator(
            kind=v.SendBatch,
            draws={"queue": QUEUES, "shapes": _ALIKE, "transaction": TRANSACTIONS},
            make=_send,
            themes=(*GENERAL, Theme.TRANSACTIONS),
            name="sendbatchintransaction",
        )
    yield Generator(
        kind=v.ReceiveBatch,
        draws={
            "queue": QUEUES,
            "count": st.integers(1, 5),
            "mode": st.sampled_from(_modes(scope)),
            "session": st.integers(0, 3),
        },
        make=_receive,
        themes=(*GENERAL, Theme.SESSIONS),
    )
    yield Generator(
        kind=v.SettleBatch,
        draws={
            "count": st.integers(1, 4),
            "disposition": st.sampled_from(_dispositions(scope)),
            "again": st.integers(0, 7),
        },
        make=_settle,
        themes=(*GENERAL, Theme.SESSIONS, Theme.DELIVERIES),
    )
    yield Generator(
        kind=v.RenewLocks,
        draws={"count": st.integers(1, 4), "again": st.integers(0, 7)},
        make=_renew,
        themes=(*GENERAL, Theme.DELIVERIES),
    )
    yield Generator(
        kind=v.DeleteBatch,
        draws={
            "queue": QUEUES,
            "count": st.integers(1, 5),
            "age": st.sampled_from((None, None, 0, 20 * v.MICROSECONDS)),
        },
        make=_delete,
        themes=(Theme.QUEUES, Theme.DELIVERIES),
    )


def _send(
    world: World, queue: v.CreateQueue, shapes: tuple[int, ...], transaction: str | None = None
) -> v.SendBatch:
    messages = tuple(world.message(queue, shape) for shape in shapes)
    return v.SendBatch(queue=world.sent_to(queue), messages=messages, transaction=transaction)


def _receive(
    world: World, queue: v.CreateQueue, count: int, mode: v.ReceiveMode, session: int
) -> v.ReceiveBatch:
    queue = world.received_from(queue)
    return v.ReceiveBatch(
        queue=queue.queue,
        count=count,
        mode=mode,
        session_id=world.session_at_hand(queue.queue, session) if queue.requires_session else None,
    )


def _settle(
    world: World, count: int, disposition: v.Disposition, again: int
) -> v.SettleBatch | None:
    queue, tokens = _latest_locks(world, count, again)
    if not tokens:
        return None
    return v.SettleBatch(queue=queue, lock_tokens=tokens, disposition=disposition)


def _renew(world: World, count: int, again: int) -> v.RenewLocks | None:
    queue, tokens = _latest_locks(world, count, again)
    return v.RenewLocks(queue=queue, lock_tokens=tokens) if tokens else None


def _delete(world: World, queue: v.CreateQueue, count: int, age: int | None) -> v.DeleteBatch:
    return v.DeleteBatch(queue=world.received_from(queue).queue, count=count, age=age)


def _latest_locks(world: World, count: int, again: int) -> tuple[str, tuple[str, ...]]:
    """Return an entity and its latest locks, sometimes with a token that was never issued."""
    if not world.locks:
        return "", ()
    queue = world.locks[-1].queue
    tokens = [lock.lock_token or "" for lock in world.locks if lock.queue == queue]
    strange = ("never given",) if again == 0 else ()
    return queue, (*tokens[-count:], *strange)


def _dispositions(scope: Scope) -> list[v.Disposition]:
    """Return the dispositions that the implementation supports, completion first."""
    ways = [
        (v.Capability.PEEK_LOCK, v.Disposition.COMPLETE),
        (v.Capability.PEEK_LOCK, v.Disposition.ABANDON),
        (v.Capability.DEFERRAL, v.Disposition.DEFER),
        (v.Capability.DEAD_LETTER, v.Disposition.DEAD_LETTER),
    ]
    dispositions = [way for capability, way in ways if capability in scope.capabilities]
    return dispositions or [v.Disposition.COMPLETE]


def _modes(scope: Scope) -> list[v.ReceiveMode]:
    if v.Capability.PEEK_LOCK in scope.capabilities:
        return [v.ReceiveMode.PEEK_LOCK] * 3 + [v.ReceiveMode.RECEIVE_AND_DELETE]
    return [v.ReceiveMode.RECEIVE_AND_DELETE]
