"""Prologues about locks: settlement in transactions, redelivery, and closed sessions."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import IN_TRANSACTIONS, opening
from busproof.exploration.prologues.queues import make_keyed, ordinary
from busproof.exploration.state import World

__all__ = ["OPENINGS"]


def _lock_messages(world: World, queue: v.CreateQueue, times: int = 1) -> Iterator[v.Command]:
    """Send and receive this many messages with one key, and leave them locked."""
    for _ in range(times):
        yield v.Send(queue=queue.queue, message=make_keyed(world, queue, 0))
    for _ in range(times):
        yield v.Receive(queue=queue.queue)


def _begin(world: World) -> v.BeginTransaction:
    world.transactions += 1
    return v.BeginTransaction(transaction=f"t{world.transactions}")


def settle_in_transaction(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Settle several messages in one transaction; only the abandoned one is delivered again."""
    plain = ordinary(world, queue)
    yield plain
    kinds: tuple[type[v.Settlement], ...] = (v.Abandon, v.Complete, v.Complete)
    for settling in (kinds, tuple(reversed(kinds))):
        yield from _lock_messages(world, plain, len(settling))
        locks = world.locks[-len(settling) :]
        begun = _begin(world)
        yield begun
        within = begun.transaction
        for kind, lock in zip(settling, locks, strict=False):
            token = lock.lock_token or ""
            yield kind(queue=plain.queue, lock_token=token, transaction=within)
        yield v.CommitTransaction(transaction=within)
        yield v.AdvanceClock(duration=2 * world.scope.lock)
        yield v.Receive(queue=plain.queue)
        for lock in world.locks[-1:]:
            yield v.Complete(queue=plain.queue, lock_token=lock.lock_token or "")
        yield v.Receive(queue=plain.queue)


def undone(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Roll back a settlement; in another transaction, lose the lock before the commit."""
    yield from _withdrawn(world, queue)
    yield from _lose_before_commit(world, queue)


def _withdrawn(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Roll back a completion and an abandon: the lock stays valid, and neither takes effect."""
    plain = ordinary(world, queue, max_delivery_count=3)
    yield plain
    yield from _lock_messages(world, plain)
    kinds: tuple[type[v.Settlement], ...] = (v.Complete, v.Abandon)
    for kind in kinds:
        begun = _begin(world)
        yield begun
        token = _latest(world)
        yield kind(queue=plain.queue, lock_token=token, transaction=begun.transaction)
        yield v.RollBackTransaction(transaction=begun.transaction)
        yield v.RenewLock(queue=plain.queue, lock_token=token)
        yield v.Abandon(queue=plain.queue, lock_token=token)
        yield v.Receive(queue=plain.queue)
    yield v.Complete(queue=plain.queue, lock_token=_latest(world))


def _lose_before_commit(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Let a lock expire between settlement and commit, and receive the message again meanwhile."""
    plain = ordinary(world, queue)
    yield plain
    yield from _lock_messages(world, plain)
    begun = _begin(world)
    yield begun
    within = begun.transaction
    yield v.Complete(queue=plain.queue, lock_token=_latest(world), transaction=within)
    yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0), transaction=within)
    yield v.AdvanceClock(duration=world.scope.lock + 1)
    yield v.Receive(queue=plain.queue)
    yield v.CommitTransaction(transaction=within)
    yield v.Complete(queue=plain.queue, lock_token=_latest(world))
    yield v.Receive(queue=plain.queue)


def receive_again(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Receive a message again under a new lock, also after its session was closed."""
    yield from _abandon_and_lose(world, queue)
    if v.Capability.SESSIONS in world.scope.capabilities:
        yield from _close_with_locks(world, queue)


def _abandon_and_lose(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Abandon a message, then let its lock expire; only the lock of the next delivery is valid."""
    plain = ordinary(world, queue)
    name = plain.queue
    yield plain
    yield v.Send(queue=name, message=make_keyed(world, plain, 0))
    yield v.Receive(queue=name)
    for ending in (v.Abandon, None):
        older = _latest(world)
        if ending is None:
            yield v.AdvanceClock(duration=world.scope.lock + 1)
        else:
            yield ending(queue=name, lock_token=older)
        yield v.Receive(queue=name)
        yield v.RenewLock(queue=name, lock_token=older)
        yield v.Complete(queue=name, lock_token=older)
        yield v.RenewLock(queue=name, lock_token=_latest(world))
    yield v.Complete(queue=name, lock_token=_latest(world))
    yield v.Receive(queue=name)


def _close_with_locks(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Close a session with locked messages more often than the maximum delivery count."""
    held_in = ordinary(world, queue, requires_session=True, max_delivery_count=2)
    name, session = held_in.queue, world.session(0)
    yield held_in
    for _ in range(2):
        yield v.Send(queue=name, message=make_keyed(world, held_in, 0))
    for _ in range(3):
        yield v.AcceptSession(queue=name, session_id=session)
        yield v.Receive(queue=name, session_id=session)
        yield v.Receive(queue=name, session_id=session)
        yield v.CloseSession(queue=name, session_id=session)
    yield v.AcceptSession(queue=name, session_id=session)
    yield v.Receive(queue=name, session_id=session)
    yield v.Complete(queue=name, lock_token=_latest(world))
    yield v.Receive(queue=name, session_id=session)


def _latest(world: World) -> str:
    """Return the latest lock token; "none" if nothing is locked."""
    return world.locks[-1].lock_token or "none" if world.locks else "none"


OPENINGS: Final = (
    opening("settled within", settle_in_transaction, *IN_TRANSACTIONS),
    opening("undone", undone, *IN_TRANSACTIONS),
    opening("given again", receive_again, v.Capability.PEEK_LOCK),
)
