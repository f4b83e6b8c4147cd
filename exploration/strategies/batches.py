"""Generators for several messages in one request."""

from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from busproof.exploration.state import GENERAL, Scope, Theme, World
from busproof.exploration.strategies.row import QUEUES, TRANSACTIONS, Generator
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    CreateQueue,
    DeleteBatch,
    ReceiveBatch,
    RenewLocks,
    SendBatch,
    SettleBatch,
)
from busproof.vocabulary.values import MICROSECONDS, Disposition, ReceiveMode

__all__ = ["rows_of_batches"]

_SHAPES: Final = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)
_ALIKE: Final = st.tuples(st.integers(0, 3), st.integers(1, 4)).map(lambda one: one[:1] * one[1])


def rows_of_batches(scope: Scope) -> Iterator[Generator]:
    """Yield the rows that send batches, of equal or different shapes, and receive batches."""
    yield Generator(
        kind=SendBatch,
        draws={"queue": QUEUES, "shapes": st.one_of(_ALIKE, _SHAPES)},
        make=_sent,
        themes=(*GENERAL, Theme.SESSIONS),
    )
    if Capability.TRANSACTIONS in scope.capabilities:
        yield Generator(
            kind=SendBatch,
            draws={"queue": QUEUES, "shapes": _ALIKE, "transaction": TRANSACTIONS},
            make=_sent,
            themes=(*GENERAL, Theme.TRANSACTIONS),
            name="sendbatchintransaction",
        )
    yield Generator(
        kind=ReceiveBatch,
        draws={
            "queue": QUEUES,
            "count": st.integers(1, 5),
            "mode": st.sampled_from(_modes(scope)),
            "session": st.integers(0, 3),
        },
        make=_received,
        themes=(*GENERAL, Theme.SESSIONS),
    )
    yield Generator(
        kind=SettleBatch,
        draws={
            "count": st.integers(1, 4),
            "disposition": st.sampled_from(_dispositions(scope)),
            "again": st.integers(0, 7),
        },
        make=_settled,
        themes=(*GENERAL, Theme.SESSIONS, Theme.DELIVERIES),
    )
    yield Generator(
        kind=RenewLocks,
        draws={"count": st.integers(1, 4), "again": st.integers(0, 7)},
        make=_renewed,
        themes=(*GENERAL, Theme.DELIVERIES),
    )
    yield Generator(
        kind=DeleteBatch,
        draws={
            "queue": QUEUES,
            "count": st.integers(1, 5),
            "age": st.sampled_from((None, None, 0, 20 * MICROSECONDS)),
        },
        make=_deleted,
        themes=(Theme.QUEUES, Theme.DELIVERIES),
    )


def _sent(
    world: World, queue: CreateQueue, shapes: tuple[int, ...], transaction: str | None = None
) -> SendBatch:
    messages = tuple(world.message(queue, shape) for shape in shapes)
    return SendBatch(queue=world.sent_to(queue), messages=messages, transaction=transaction)


def _received(
    world: World, queue: CreateQueue, count: int, mode: ReceiveMode, session: int
) -> ReceiveBatch:
    queue = world.received_from(queue)
    return ReceiveBatch(
        queue=queue.queue,
        count=count,
        mode=mode,
        session_id=world.session_at_hand(queue.queue, session) if queue.requires_session else None,
    )


def _settled(world: World, count: int, disposition: Disposition, again: int) -> SettleBatch | None:
    queue, tokens = _latest_locks(world, count, again)
    if not tokens:
        return None
    return SettleBatch(queue=queue, lock_tokens=tokens, disposition=disposition)


def _renewed(world: World, count: int, again: int) -> RenewLocks | None:
    queue, tokens = _latest_locks(world, count, again)
    return RenewLocks(queue=queue, lock_tokens=tokens) if tokens else None


def _deleted(world: World, queue: CreateQueue, count: int, age: int | None) -> DeleteBatch:
    return DeleteBatch(queue=world.received_from(queue).queue, count=count, age=age)


def _latest_locks(world: World, count: int, again: int) -> tuple[str, tuple[str, ...]]:
    """Return an entity and its latest locks; seldom with one that nobody was given among them."""
    if not world.locks:
        return "", ()
    queue = world.locks[-1].queue
    tokens = [each.lock_token or "" for each in world.locks if each.queue == queue]
    strange = ("never given",) if again == 0 else ()
    return queue, (*tokens[-count:], *strange)


def _dispositions(scope: Scope) -> list[Disposition]:
    """Return the dispositions that the implementation supports, completion first."""
    ways = [
        (Capability.PEEK_LOCK, Disposition.COMPLETE),
        (Capability.PEEK_LOCK, Disposition.ABANDON),
        (Capability.DEFERRAL, Disposition.DEFER),
        (Capability.DEAD_LETTER, Disposition.DEAD_LETTER),
    ]
    found = [way for capability, way in ways if capability in scope.capabilities]
    return found or [Disposition.COMPLETE]


def _modes(scope: Scope) -> list[ReceiveMode]:
    if Capability.PEEK_LOCK in scope.capabilities:
        return [ReceiveMode.PEEK_LOCK] * 3 + [ReceiveMode.RECEIVE_AND_DELETE]
    return [ReceiveMode.RECEIVE_AND_DELETE]
