"""Generators that depend on state: commands on the accepted session or the current lock.

A random walk that draws each command independently rarely gets far, because most commands are
refused without a lock or a session.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import Receipt, Scope, Theme, World
from busproof.exploration.strategies.row import QUEUES, Generator, Made

__all__ = ["guided_rows"]

_WEIGHT: Final = 8
_OTHERS: Final = 6

_WITHIN_KEYS: Final = "aaabcdefghijklmnopqrst"
"""Keys, more than there are partitions, so that some share a partition."""

_Step = Callable[[World, str], v.Command]
_OnLock = Callable[[World, Receipt], v.Command]
_Within = Callable[[World, str, str], v.Command]


def guided_rows(scope: Scope) -> Iterator[Generator]:
    """Yield the rows for sequences about sessions, deliveries and transactions."""
    if v.Capability.TRANSACTIONS in scope.capabilities:
        yield Generator(
            kind=v.BeginTransaction,
            draws={
                "queue": QUEUES,
                "number": st.integers(0, len(_WITHIN) - 1),
                "key": st.sampled_from(_WITHIN_KEYS),
            },
            make=_omit_unsupported(_use_transaction),
            weight=_WEIGHT,
            themes=(Theme.TRANSACTIONS, Theme.COPIES),
            name="intransaction",
        )
    if v.Capability.PEEK_LOCK not in scope.capabilities:
        return
    if v.Capability.SESSIONS in scope.capabilities:
        yield Generator(
            kind=v.Receive,
            draws={"queue": QUEUES, "number": st.integers(0, len(_IN_SESSION) - 1)},
            make=_omit_unsupported(_use_session),
            weight=_WEIGHT,
            themes=(Theme.SESSIONS,),
            name="insession",
        )
    yield Generator(
        kind=v.Receive,
        draws={"queue": QUEUES, "number": st.integers(0, len(_ON_LOCK) - 1)},
        make=_omit_unsupported(_use_delivery),
        weight=_WEIGHT,
        themes=(Theme.DELIVERIES,),
        name="ondelivery",
    )
    yield Generator(
        kind=v.Receive,
        draws={"queue": QUEUES, "number": st.integers(0, len(_ON_LOCK) + _OTHERS)},
        make=_omit_unsupported(_use_copy),
        weight=_WEIGHT,
        themes=(Theme.COPIES,),
        name="oncopy",
    )


def _omit_unsupported(make: Made) -> Made:
    """Wrap a function to return `None` if the implementation does not support its command."""

    def make_command(world: World, **drawn: Any) -> v.Command | None:
        command = make(world, **drawn)
        return command if command is not None and world.scope.allows(command) else None

    return make_command


def _use_session(world: World, queue: v.CreateQueue, number: int) -> v.Command | None:
    """Return a command in the session that this connection holds, or one that accepts a session."""
    session = world.accepted.get((queue.queue, world.connection))
    if session is None:
        return v.AcceptSession(queue=queue.queue, session_id=world.session(number % 2))
    if number < len(_SETTLED) and world.locks:
        return _SETTLED[number](world, world.locks[-1])
    return _IN_SESSION[number](world, queue.queue)


def _session_held(world: World, queue: str) -> str:
    return world.accepted[queue, world.connection]


def _receive_in_session(world: World, queue: str) -> v.Receive:
    return v.Receive(queue=queue, session_id=_session_held(world, queue))


def _set_state(state: str | None) -> _Step:
    return lambda world, queue: v.SetSessionState(
        queue=queue, session_id=_session_held(world, queue), state=state
    )


def _get_state(world: World, queue: str) -> v.GetSessionState:
    return v.GetSessionState(queue=queue, session_id=_session_held(world, queue))


def _renew(world: World, queue: str) -> v.RenewSessionLock:
    return v.RenewSessionLock(queue=queue, session_id=_session_held(world, queue))


def _close(world: World, queue: str) -> v.CloseSession:
    return v.CloseSession(queue=queue, session_id=_session_held(world, queue))


def _time_passed(world: World, _queue: object) -> v.AdvanceClock:
    return v.AdvanceClock(duration=2 * world.scope.lock // 3)


def _settle(kind: type[v.Abandon | v.Complete | v.DeadLetter | v.Defer | v.RenewLock]) -> _OnLock:
    return lambda _world, lock: kind(queue=lock.queue, lock_token=lock.lock_token or "")


_SETTLED: Final[tuple[_OnLock, ...]] = (_settle(v.Abandon), _settle(v.Complete))
_IN_SESSION: Final[tuple[_Step, ...]] = (
    _receive_in_session,
    _receive_in_session,
    _receive_in_session,
    _receive_in_session,
    _set_state("one"),
    _set_state("two"),
    _set_state(None),
    _get_state,
    _get_state,
    _renew,
    _renew,
    _close,
    _time_passed,
    _time_passed,
)


def _use_delivery(world: World, queue: v.CreateQueue, number: int) -> v.Command | None:
    """Return a command on the latest lock; without one, a receive."""
    if world.locks:
        return _ON_LOCK[number](world, world.locks[-1])
    return _next(world, queue, number)


def _use_copy(world: World, queue: v.CreateQueue, number: int) -> v.Command | None:
    """Return a command on the latest lock, or receive a copy from a subscription."""
    if world.locks and number < len(_ON_LOCK):
        return _ON_LOCK[number](world, world.locks[-1])
    return _next(world, queue, number)


def _next(world: World, queue: v.CreateQueue, number: int) -> v.Command:
    """Receive an active, a dead-lettered or a deferred message."""
    queue = world.received_from(queue)
    dead = v.Capability.DEAD_LETTER in world.scope.capabilities and (
        number in _FROM_DEAD or (number in _DEAD_AGAIN and _was_dead(world))
    )
    if dead:
        return v.Receive(queue=queue.queue + v.DEAD_LETTERS)
    if world.deferred and number in _BY_NUMBER:
        return _receive_by_number(world, most=1 + number % 2)
    if queue.requires_session:
        session = world.session_at_hand(queue.queue, 0)
        if (queue.queue, world.connection) not in world.accepted:
            return v.AcceptSession(queue=queue.queue, session_id=session)
        return v.Receive(queue=queue.queue, session_id=session)
    return v.Receive(queue=queue.queue)


def _receive_by_number(world: World, most: int) -> v.ReceiveDeferred:
    """Receive the latest deferred messages of one partition and session by sequence number."""
    last = world.deferred[-1]
    there = [receipt for receipt in world.deferred if _place(receipt) == _place(last)]
    numbers = [receipt.number for receipt in reversed(there) if receipt.number is not None][:most]
    return v.ReceiveDeferred(
        queue=last.queue, sequence_numbers=tuple(dict.fromkeys(numbers)), session_id=last.session
    )


def _place(receipt: Receipt) -> tuple[str, str | None, int]:
    return receipt.queue, receipt.session, (receipt.number or 0) >> v.SEQUENCE_BITS


def _was_dead(world: World) -> bool:
    return bool(world.received) and world.received[-1][0].endswith(v.DEAD_LETTERS)


def _another(world: World, receipt: Receipt) -> v.Receive:
    session = world.accepted.get((receipt.queue, world.connection))
    return v.Receive(queue=receipt.queue, session_id=session)


_ON_LOCK: Final[tuple[_OnLock, ...]] = (
    _settle(v.Abandon),
    _settle(v.Abandon),
    _settle(v.Abandon),
    _settle(v.Complete),
    _settle(v.DeadLetter),
    _settle(v.Defer),
    _settle(v.Defer),
    _settle(v.Defer),
    _settle(v.RenewLock),
    _settle(v.RenewLock),
    _settle(v.RenewLock),
    _another,
    _time_passed,
    _time_passed,
    _time_passed,
)
_BY_NUMBER: Final = (0, 1, 2, 3, 4, 5)
_FROM_DEAD: Final = (6, 7)
_DEAD_AGAIN: Final = (8, 9, 10, 11, 12)
"""Numbers that select other messages than the next one."""


def _use_transaction(world: World, queue: v.CreateQueue, number: int, key: str) -> v.Command:
    """Return a command in the latest transaction; without one, begin a transaction."""
    if not world.transactions:
        return _begin(world, "", key)
    return _WITHIN[number](world, world.sent_to(queue), key)


def _latest(world: World) -> str:
    return f"t{world.transactions}"


def _begin(world: World, _queue: str, _key: str) -> v.BeginTransaction:
    world.transactions += 1
    return v.BeginTransaction(transaction=_latest(world))


def _send(*fields: str, place: str = "") -> _Within:
    """Return a step that sends a message whose key is in the given properties."""

    def send(world: World, queue: str, key: str) -> v.Send:
        world.bodies += 1
        carried: dict[str, Any] = dict.fromkeys(fields, key)
        message = v.Message(body=f"m{world.bodies}", **carried)
        return v.Send(queue=queue + place, message=message, transaction=_latest(world))

    return send


def _commit(world: World, _queue: str, _key: str) -> v.CommitTransaction:
    return v.CommitTransaction(transaction=_latest(world))


def _roll_back(world: World, _queue: str, _key: str) -> v.RollBackTransaction:
    return v.RollBackTransaction(transaction=_latest(world))


def _receive(_world: World, queue: str, _key: str) -> v.Receive:
    return v.Receive(queue=queue)


def _settle_in_transaction(kind: type[v.Settlement]) -> _Within:
    """Return a step that settles the latest lock in the transaction, or receives without one."""

    def settle(world: World, queue: str, key: str) -> v.Command:
        if not world.locks:
            return _receive(world, queue, key)
        lock = world.locks[-1]
        token = lock.lock_token or ""
        return kind(queue=lock.queue, lock_token=token, transaction=_latest(world))

    return settle


_WITHIN: Final[tuple[_Within, ...]] = (
    _begin,
    _commit,
    _commit,
    _roll_back,
    _send("partition_key"),
    _send("partition_key"),
    _send("partition_key"),
    _send("session_id"),
    _send("session_id"),
    _send("session_id", "partition_key"),
    _send("message_id"),
    _send(),
    _send("partition_key", place=v.DEAD_LETTERS),
    _receive,
    _settle_in_transaction(v.Complete),
    _settle_in_transaction(v.Abandon),
    _settle_in_transaction(v.DeadLetter),
    _settle_in_transaction(v.Defer),
)
