"""Table of generators: rows for every kind of command, with values from small sets.

To explore a new command, add its row below: the values to draw, and a function that makes the
command from them and the `World`. A test fails while a row is missing.

Drawn values must not depend on answers of the bus, because a bus may answer differently the next
time. A row draws numbers and indexes, and the world maps them to names.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs
from hypothesis import stateful
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import (
    ANY_SESSION,
    GENERAL,
    MOST_QUEUES,
    Receipt,
    Scope,
    Theme,
    World,
)
from busproof.exploration.strategies.batches import rows_of_batches
from busproof.exploration.strategies.guided import guided_rows
from busproof.exploration.strategies.management import rows_of_management
from busproof.exploration.strategies.outages_and_clock import rows_of_the_world
from busproof.exploration.strategies.row import QUEUES, RECEIPTS, TRANSACTIONS, Generator, Made
from busproof.exploration.strategies.sessions import rows_of_sessions
from busproof.exploration.strategies.sizes import rows_of_sizes
from busproof.exploration.strategies.topic_management import rows_of_topic_management
from busproof.exploration.strategies.topics import rows_of_topics
from busproof.judging.required_capabilities import NEEDED

__all__ = ["generators", "queue_kinds"]

_INDEX: Final = st.integers(0, 2)
_SHAPE: Final = st.integers(0, 3)
_SENDS: Final = st.sampled_from((1, 1, 1, 1, 1, 1, 2, 2, 3, 6, 24))
_RECEIVES: Final = st.sampled_from((1, 1, 1, 2, 6, 40))
_LESS: Final = st.sampled_from((1, 1, 1, 2, 3))


def queue_kinds(scope: Scope) -> tuple[v.CreateQueue, ...]:
    """Return the supported kinds of queues, simplest first, all with the name ``q``."""
    times: dict[str, Any] = {"lock_duration": scope.lock, "duplicate_window": 2 * scope.lock}
    mortal = {"time_to_live": scope.lock, "dead_letter_expired": True}
    too_long = {"lock_duration": 600 * v.MICROSECONDS}
    kinds = [
        v.CreateQueue(queue="q", **{**times, **settings})
        for settings in (*_KINDS, mortal, too_long)
    ]
    return tuple(
        kind
        for kind in kinds
        if scope.allows(kind) and not (kind.partitioned and not scope.may_partition)
    )


_KINDS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"duplicate_detection": True},
    {"requires_session": True},
    {},
    {"requires_session": True},
    {"duplicate_detection": True},
    {"max_delivery_count": 2},
    {"requires_session": True, "duplicate_detection": True},
    {"partitioned": False, "requires_session": True},
    {"partitioned": False},
)


def _created(world: World, settings: v.CreateQueue) -> v.CreateQueue | None:
    if len(world.queues) >= MOST_QUEUES:
        return None
    if world.theme is Theme.SESSIONS:
        settings = attrs.evolve(settings, requires_session=True)
    if world.theme is Theme.DELIVERIES and not settings.duplicate_detection:
        settings = attrs.evolve(settings, max_delivery_count=2)
    world.queues.append(attrs.evolve(settings, queue=f"q{len(world.queues) + 1}"))
    return world.queues[-1]


def _sent(
    world: World,
    queue: v.CreateQueue,
    shape: int,
    timeout: int = 60 * v.MICROSECONDS,
    transaction: str | None = None,
) -> v.Send:
    return v.Send(
        queue=world.sent_to(queue),
        message=world.message(queue, shape),
        timeout=timeout,
        transaction=transaction,
    )


def _scheduled(
    world: World, queue: v.CreateQueue, shape: int, delay: int, transaction: str | None = None
) -> v.Schedule:
    return v.Schedule(
        queue=queue.queue,
        message=world.message(queue, shape),
        delay=delay,
        transaction=transaction,
    )


def _cancelled(world: World, number: int) -> v.CancelScheduled | None:
    """Cancel a recently scheduled message, whether it is due or not."""
    if not world.scheduled:
        return None
    queue, one = world.scheduled[-1 - number % len(world.scheduled)]
    return v.CancelScheduled(queue=queue, sequence_number=one)


def _received(world: World, queue: v.CreateQueue, mode: v.ReceiveMode, session: int) -> v.Receive:
    queue = world.received_from(queue)
    return v.Receive(
        queue=queue.queue,
        mode=mode,
        session_id=world.session_at_hand(queue.queue, session) if queue.requires_session else None,
    )


def _received_dead_letter(world: World, queue: v.CreateQueue, mode: v.ReceiveMode) -> v.Receive:
    return v.Receive(queue=world.received_from(queue).queue + v.DEAD_LETTERS, mode=mode)


def _received_by_number(
    world: World, number: int, several: bool, mode: v.ReceiveMode
) -> v.ReceiveDeferred | None:
    """Receive a recently received message by its number, whether it is deferred or not."""
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


def _settled(kind: type[v.Complete | v.Abandon | v.DeadLetter | v.Defer | v.RenewLock]) -> Made:
    def settled(world: World, receipt: Receipt) -> v.Command | None:
        lock = world.held(receipt)
        if lock is None or lock.lock_token is None:
            return None
        return kind(queue=lock.queue, lock_token=lock.lock_token)

    return settled


def _settled_within(kind: type[v.Complete | v.Abandon | v.DeadLetter | v.Defer]) -> Made:
    def settled(world: World, receipt: Receipt, transaction: str) -> v.Command | None:
        lock = world.held(receipt)
        if lock is None or lock.lock_token is None:
            return None
        return kind(queue=lock.queue, lock_token=lock.lock_token, transaction=transaction)

    return settled


def _delivered_again(world: World, queue: v.CreateQueue) -> v.Receive | v.Abandon:
    """Abandon the latest lock; receive a message if nothing is locked."""
    if world.locks:
        lock = world.locks.pop()
        return v.Abandon(queue=lock.queue, lock_token=lock.lock_token or "")
    return _received(world, queue, v.ReceiveMode.PEEK_LOCK, 0)


def _peeked(world: World, queue: v.CreateQueue, count: int, session: int) -> v.Peek:
    """Peek at all messages, or at those of a session if the queue requires sessions."""
    queue = world.received_from(queue)
    of_session = queue.requires_session and session != ANY_SESSION
    return v.Peek(
        queue=queue.queue,
        count=count,
        session_id=world.session_at_hand(queue.queue, session) if of_session else None,
    )


def _peeked_on(world: World, count: int, back: int) -> v.Peek | None:
    """Peek after the last message of the latest peek, or a few numbers before."""
    if not world.shown:
        return None
    queue, number = world.shown[-1]
    return v.Peek(queue=queue, count=count, from_sequence_number=max(number + 1 - back, 0))


def _begun(world: World) -> v.BeginTransaction:
    world.transactions += 1
    return v.BeginTransaction(transaction=f"t{world.transactions}")


def generators(scope: Scope) -> tuple[Generator, ...]:
    """Return the rows that an implementation supports; none if it can have no queue."""
    kinds = queue_kinds(scope)
    if not kinds:
        return ()
    rows = (
        *_creations(kinds),
        *_of_messages(scope),
        *rows_of_sizes(scope),
        *rows_of_batches(scope),
        *_about((*GENERAL, Theme.SESSIONS), rows_of_sessions()),
        *_about((*GENERAL, Theme.TRANSACTIONS), _of_transactions(scope)),
        *_about(GENERAL, rows_of_management(scope)),
        *rows_of_the_world(scope),
        *rows_of_topics(scope),
        *rows_of_topic_management(scope),
        *guided_rows(scope),
    )
    return tuple(row for row in rows if _is_usable(row, scope))


def _about(themes: tuple[Theme, ...], rows: Iterable[Generator]) -> Iterator[Generator]:
    """Yield the rows, restricted to these themes."""
    return (attrs.evolve(row, themes=themes) for row in rows)


def _is_usable(row: Generator, scope: Scope) -> bool:
    return row.kind not in NEEDED or NEEDED[row.kind] in scope.capabilities


def _creations(kinds: tuple[v.CreateQueue, ...]) -> Iterator[Generator]:
    yield Generator(
        kind=v.CreateQueue,
        draws={"settings": st.sampled_from(kinds)},
        make=_created,
        into=(QUEUES,),
        when=lambda world: len(world.queues) < MOST_QUEUES,
        themes=(*GENERAL, Theme.TRANSACTIONS),
    )


def _of_messages(scope: Scope) -> Iterator[Generator]:
    timeouts = [seconds * v.MICROSECONDS for seconds in (60, 60, 60, 15, 10)]
    once = {"receipt": stateful.consumes(RECEIPTS)}
    yield Generator(
        kind=v.Send,
        draws={"queue": QUEUES, "shape": _SHAPE, "timeout": st.sampled_from(timeouts)},
        make=_sent,
        weight=4,
        times=_SENDS,
    )
    delays = (0, scope.lock // 2, scope.lock, 2 * scope.lock)
    yield Generator(
        kind=v.Schedule,
        draws={"queue": QUEUES, "shape": _SHAPE, "delay": st.sampled_from(delays)},
        make=_scheduled,
        times=_LESS,
        themes=GENERAL,
    )
    yield Generator(
        kind=v.CancelScheduled, draws={"number": _SHAPE}, make=_cancelled, themes=GENERAL
    )
    yield Generator(
        kind=v.Receive,
        draws={"queue": QUEUES, "mode": st.sampled_from(_modes(scope)), "session": _INDEX},
        make=_received,
        weight=4,
        times=_RECEIVES,
        into=(RECEIPTS,),
    )
    yield Generator(kind=v.Complete, draws=once, make=_settled(v.Complete), weight=3)
    yield Generator(kind=v.Abandon, draws=once, make=_settled(v.Abandon), weight=3)
    for kind in (v.DeadLetter, v.Defer):
        yield Generator(kind=kind, draws=once, make=_settled(kind))
    yield Generator(kind=v.RenewLock, draws={"receipt": RECEIPTS}, make=_settled(v.RenewLock))
    yield Generator(
        kind=v.Complete,
        draws={"receipt": RECEIPTS},
        make=_settled(v.Complete),
        name="completeagain",
    )
    modes = st.sampled_from(_modes(scope))
    if v.Capability.DEAD_LETTER in scope.capabilities:
        yield Generator(
            kind=v.Receive,
            draws={"queue": QUEUES, "mode": modes},
            make=_received_dead_letter,
            into=(RECEIPTS,),
            themes=(*GENERAL, Theme.DELIVERIES),
            name="receivedeadletter",
        )
    yield Generator(
        kind=v.ReceiveDeferred,
        draws={"number": _SHAPE, "several": st.booleans(), "mode": modes},
        make=_received_by_number,
        themes=(*GENERAL, Theme.DELIVERIES, Theme.SESSIONS),
    )
    if v.Capability.PEEK_LOCK in scope.capabilities:
        yield Generator(
            kind=v.Receive,
            draws={"queue": QUEUES},
            make=_delivered_again,
            times=st.sampled_from((2, 4, 21)),
            themes=(Theme.DELIVERIES, Theme.SESSIONS),
            name="deliveragain",
        )
    yield Generator(
        kind=v.Peek,
        draws={"queue": QUEUES, "count": st.sampled_from((1, 2, 8)), "session": _INDEX},
        make=_peeked,
    )
    if v.Capability.PEEK_FROM in scope.capabilities:
        yield Generator(
            kind=v.Peek,
            draws={"count": st.sampled_from((1, 2, 8)), "back": _INDEX},
            make=_peeked_on,
            times=_LESS,
            themes=GENERAL,
            name="peekon",
        )


def _of_transactions(scope: Scope) -> Iterator[Generator]:
    if v.Capability.TRANSACTIONS not in scope.capabilities:
        return
    over = {"transaction": stateful.consumes(TRANSACTIONS)}
    yield Generator(kind=v.BeginTransaction, draws={}, make=_begun, weight=2, into=(TRANSACTIONS,))
    yield Generator(
        kind=v.Send,
        draws={"queue": QUEUES, "shape": _SHAPE, "transaction": TRANSACTIONS},
        make=_sent,
        weight=4,
        times=_LESS,
        name="sendintransaction",
    )
    yield Generator(
        kind=v.Schedule,
        draws={
            "queue": QUEUES,
            "shape": _SHAPE,
            "delay": st.sampled_from((0, scope.lock)),
            "transaction": TRANSACTIONS,
        },
        make=_scheduled,
        name="scheduleintransaction",
    )
    if v.Capability.TRANSACTIONAL_SETTLEMENT in scope.capabilities:
        yield from _settlements_within()
    yield Generator(
        kind=v.CommitTransaction,
        draws=over,
        make=lambda _world, transaction: v.CommitTransaction(transaction=transaction),
    )
    yield Generator(
        kind=v.RollBackTransaction,
        draws=over,
        make=lambda _world, transaction: v.RollBackTransaction(transaction=transaction),
    )


def _settlements_within() -> Iterator[Generator]:
    """Yield the rows that settle in a transaction; the lock may also be settled outside of it."""
    for kind in (v.Complete, v.Abandon, v.DeadLetter, v.Defer):
        yield Generator(
            kind=kind,
            draws={"receipt": RECEIPTS, "transaction": TRANSACTIONS},
            make=_settled_within(kind),
            name=f"{kind.__name__.lower()}intransaction",
        )


def _modes(scope: Scope) -> list[v.ReceiveMode]:
    if v.Capability.PEEK_LOCK in scope.capabilities:
        return [v.ReceiveMode.PEEK_LOCK] * 3 + [v.ReceiveMode.RECEIVE_AND_DELETE]
    return [v.ReceiveMode.RECEIVE_AND_DELETE]
