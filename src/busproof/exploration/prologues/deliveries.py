"""Prologues about deliveries: locks, duplicates, dead letters, and scheduled messages."""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import IN_SESSIONS, opening
from busproof.exploration.prologues.queues import (
    OTHER,
    await_message,
    interrupt_partition,
    make_keyed,
    ordinary,
)
from busproof.exploration.state import World

__all__ = ["OPENINGS"]


def lose_lock(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Let a lock expire, receive the message again, and settle it with the expired lock."""
    plain = ordinary(world, queue)
    yield plain
    yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
    yield v.Receive(queue=plain.queue)
    locks = world.locks[-1:]
    yield v.AdvanceClock(duration=2 * world.scope.lock)
    yield v.Receive(queue=plain.queue)
    for lost in locks:
        yield v.Complete(queue=plain.queue, lock_token=lost.lock_token or "")


def expiry(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Receive a message only after its time to live has passed."""
    message = make_keyed(world, queue, 0)
    life = max(1, world.scope.lock // 5)
    yield v.Send(queue=queue.queue, message=attrs.evolve(message, time_to_live=life))
    yield v.AdvanceClock(duration=2 * life)
    if message.session_id is not None:
        yield v.AcceptSession(queue=queue.queue, session_id=message.session_id)
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    yield v.Receive(queue=queue.queue, mode=mode, session_id=message.session_id)


def copies(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send a MessageId twice in three ways: at once, within the window, and after the window."""
    name = f"q{len(world.queues) + 1}"
    window = 2 * world.scope.lock
    detecting = attrs.evolve(
        queue, queue=name, duplicate_detection=True, duplicate_window=window, forward_to=None
    )
    if not world.scope.allows(detecting):
        return
    world.queues.append(detecting)
    yield detecting
    for wait in (0, window // 2, window + 1):
        if wait:
            yield v.AdvanceClock(duration=wait)
        for _ in range(2):
            message = make_keyed(world, detecting, 0)
            yield v.Send(queue=name, message=attrs.evolve(message, message_id=OTHER))


def dead_letters(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Dead-letter one message, abandon another too often, and receive both dead letters.

    Before the receives, the partition of the second message goes down and comes up.
    """
    plain = ordinary(world, queue, max_delivery_count=1)
    dead = plain.queue + v.DEAD_LETTERS
    yield plain
    for ending in (v.DeadLetter, v.Abandon):
        yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
        yield v.Receive(queue=plain.queue)
        for lock in world.locks[-1:]:
            yield ending(queue=plain.queue, lock_token=lock.lock_token or "")
    yield v.AdvanceClock(duration=world.scope.lock)
    yield v.Peek(queue=dead, count=2)
    yield from interrupt_partition(world, plain)
    for _ in range(2):
        yield v.Receive(queue=dead, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def deferral(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Defer two messages with one key, and receive them by sequence number after an outage."""
    plain = ordinary(world, queue)
    yield plain
    numbers: list[int] = []
    for _ in range(2):
        yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
        yield v.Receive(queue=plain.queue)
        for lock, (_, number, _) in zip(world.locks[-1:], world.received[-1:], strict=False):
            yield v.Defer(queue=plain.queue, lock_token=lock.lock_token or "")
            numbers.append(number)
    yield from interrupt_partition(world, plain)
    if numbers:
        yield v.ReceiveDeferred(queue=plain.queue, sequence_numbers=tuple(dict.fromkeys(numbers)))


def deferral_in_session(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Defer a message in a session, then request it in another session and in its own."""
    held_in = ordinary(world, queue, requires_session=True)
    name, session = held_in.queue, world.session(0)
    yield held_in
    yield v.Send(queue=name, message=make_keyed(world, held_in, 0))
    yield v.Send(queue=name, message=make_keyed(world, held_in, 1))
    yield v.AcceptSession(queue=name, session_id=session)
    yield v.Receive(queue=name, session_id=session)
    for lock, (_, number, _) in zip(world.locks[-1:], world.received[-1:], strict=False):
        yield v.Defer(queue=name, lock_token=lock.lock_token or "")
        yield v.AcceptSession(queue=name, session_id=OTHER)
        for session_id in (OTHER, session):
            yield v.ReceiveDeferred(queue=name, sequence_numbers=(number,), session_id=session_id)


def renewals(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Renew a lock repeatedly, and use another one shortly before its end."""
    plain = ordinary(world, queue)
    lock = world.scope.lock
    yield plain
    for waits in ((lock * 2 // 3,) * 3, (lock * 9 // 10,)):
        yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
        yield v.Receive(queue=plain.queue)
        token = world.locks[-1].lock_token or "" if world.locks else ""
        for number, wait in enumerate(waits):
            if number:
                yield v.RenewLock(queue=plain.queue, lock_token=token)
            yield v.AdvanceClock(duration=wait)
        yield v.Complete(queue=plain.queue, lock_token=token)
        yield v.AdvanceClock(duration=lock)
        yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def session_state(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Renew a session while a message is locked; read its state after an outage and a close."""
    held_in = ordinary(world, queue, requires_session=True)
    name, session = held_in.queue, world.session(0)
    of_session = {"queue": name, "session_id": session}
    yield held_in
    yield v.Send(queue=name, message=make_keyed(world, held_in, 0))
    yield v.AcceptSession(**of_session)
    yield v.Receive(queue=name, session_id=session)
    yield v.AdvanceClock(duration=world.scope.lock * 2 // 3)
    yield v.RenewSessionLock(**of_session)
    yield v.AdvanceClock(duration=world.scope.lock * 2 // 3)
    for lock in world.locks[-1:]:
        yield v.Complete(queue=name, lock_token=lock.lock_token or "")
    yield v.SetSessionState(**of_session, state="one")
    yield from interrupt_partition(world, held_in)
    yield v.CloseSession(**of_session)
    yield v.AcceptSession(**of_session)
    yield v.GetSessionState(**of_session)


def schedule_messages(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Cancel one of two scheduled messages, and receive the other when it is due.

    A third message is scheduled for a time in the past.
    """
    plain = ordinary(world, queue)
    yield plain
    wait = max(1, world.scope.lock // 5)
    for place in (0, 1):
        message = make_keyed(world, plain, place)
        yield v.Schedule(queue=plain.queue, message=message, delay=wait)
    for name, number in world.scheduled[-1:]:
        yield v.CancelScheduled(queue=name, sequence_number=number)
    yield v.AdvanceClock(duration=2 * wait)
    yield from await_message(world, plain.queue)
    yield v.Schedule(queue=plain.queue, message=make_keyed(world, plain, 0), delay=-wait)
    yield from await_message(world, plain.queue)
    yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def schedule_in_outage(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Check that refused and cancelled scheduled messages never arrive, even after an outage."""
    plain = ordinary(world, queue)
    yield plain
    wait = max(1, world.scope.lock // 5)
    yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
    yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    yield v.Schedule(queue=plain.queue, message=make_keyed(world, plain, 0), delay=wait)
    for name, number in world.scheduled[-1:]:
        yield v.CancelScheduled(queue=name, sequence_number=number)
    down, up = interrupt_partition(world, plain)
    yield v.Schedule(queue=plain.queue, message=make_keyed(world, plain, 0), delay=wait)
    yield down
    yield v.Schedule(queue=plain.queue, message=make_keyed(world, plain, 0), delay=wait)
    yield v.AdvanceClock(duration=2 * wait)
    yield up
    yield from await_message(world, plain.queue)
    for _ in range(2):
        yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


OPENINGS: Final = (
    opening("lock", lose_lock, v.Capability.PEEK_LOCK),
    opening("copies", copies, v.Capability.DUPLICATE_DETECTION),
    opening("dead letters", dead_letters, v.Capability.DEAD_LETTER),
    opening("deferral", deferral, v.Capability.DEFERRAL),
    opening("deferral in session", deferral_in_session, *IN_SESSIONS, v.Capability.DEFERRAL),
    opening("renewals", renewals, v.Capability.LOCK_RENEWAL),
    opening("session state", session_state, *IN_SESSIONS, v.Capability.SESSION_STATE),
    opening("scheduled", schedule_messages, v.Capability.SCHEDULING),
    opening(
        "scheduled in outage", schedule_in_outage, v.Capability.SCHEDULING, v.Capability.OUTAGES
    ),
    opening("expiry", expiry, v.Capability.TIME_TO_LIVE),
)
