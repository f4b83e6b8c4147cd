"""Prologues about deliveries: locks, duplicates, dead letters, and scheduled messages."""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof.exploration.prologues.prologue import IN_SESSIONS, opening
from busproof.exploration.prologues.queues import OTHER, awaited, interrupted, keyed, ordinary
from busproof.exploration.state import World
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    CancelScheduled,
    CloseSession,
    Command,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    GetSessionState,
    Peek,
    Receive,
    ReceiveDeferred,
    RenewLock,
    RenewSessionLock,
    Schedule,
    Send,
    SetSessionState,
)
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.values import ReceiveMode

__all__ = ["OPENINGS"]


def lost_lock(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Let a lock expire, receive the message again, and settle it with the expired lock."""
    plain = ordinary(world, queue)
    yield plain
    yield Send(queue=plain.queue, message=keyed(world, plain, 0))
    yield Receive(queue=plain.queue)
    held = world.locks[-1:]
    yield AdvanceClock(duration=2 * world.scope.lock)
    yield Receive(queue=plain.queue)
    for lost in held:
        yield Complete(queue=plain.queue, lock_token=lost.lock_token or "")


def expiry(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Receive a message only after its time to live is over."""
    message = keyed(world, queue, 0)
    life = max(1, world.scope.lock // 5)
    yield Send(queue=queue.queue, message=attrs.evolve(message, time_to_live=life))
    yield AdvanceClock(duration=2 * life)
    if message.session_id is not None:
        yield AcceptSession(queue=queue.queue, session_id=message.session_id)
    mode = ReceiveMode.RECEIVE_AND_DELETE
    yield Receive(queue=queue.queue, mode=mode, session_id=message.session_id)


def copies(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send a MessageId twice, three times over: at once, within the window, and after it."""
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
            yield AdvanceClock(duration=wait)
        for _ in range(2):
            message = keyed(world, detecting, 0)
            yield Send(queue=name, message=attrs.evolve(message, message_id=OTHER))


def dead_letters(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Dead-letter one message, abandon another once too often, and receive both dead letters.

    Before the receives, the partition of the second message goes down and comes up.
    """
    plain = ordinary(world, queue, max_delivery_count=1)
    dead = plain.queue + DEAD_LETTERS
    yield plain
    for ending in (DeadLetter, Abandon):
        yield Send(queue=plain.queue, message=keyed(world, plain, 0))
        yield Receive(queue=plain.queue)
        for held in world.locks[-1:]:
            yield ending(queue=plain.queue, lock_token=held.lock_token or "")
    yield AdvanceClock(duration=world.scope.lock)
    yield Peek(queue=dead, count=2)
    yield from interrupted(world, plain)
    for _ in range(2):
        yield Receive(queue=dead, mode=ReceiveMode.RECEIVE_AND_DELETE)


def deferral(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Defer two messages of a key, and receive them by number after an outage."""
    plain = ordinary(world, queue)
    yield plain
    numbers: list[int] = []
    for _ in range(2):
        yield Send(queue=plain.queue, message=keyed(world, plain, 0))
        yield Receive(queue=plain.queue)
        for held, (_, number, _) in zip(world.locks[-1:], world.received[-1:], strict=False):
            yield Defer(queue=plain.queue, lock_token=held.lock_token or "")
            numbers.append(number)
    yield from interrupted(world, plain)
    if numbers:
        yield ReceiveDeferred(queue=plain.queue, sequence_numbers=tuple(dict.fromkeys(numbers)))


def deferral_in_session(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Defer a message in one session, and request it in another session and in its own."""
    held_in = ordinary(world, queue, requires_session=True)
    name, session = held_in.queue, world.session(0)
    yield held_in
    yield Send(queue=name, message=keyed(world, held_in, 0))
    yield Send(queue=name, message=keyed(world, held_in, 1))
    yield AcceptSession(queue=name, session_id=session)
    yield Receive(queue=name, session_id=session)
    for held, (_, number, _) in zip(world.locks[-1:], world.received[-1:], strict=False):
        yield Defer(queue=name, lock_token=held.lock_token or "")
        yield AcceptSession(queue=name, session_id=OTHER)
        for each in (OTHER, session):
            yield ReceiveDeferred(queue=name, sequence_numbers=(number,), session_id=each)


def renewals(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Renew a lock repeatedly, and use another one shortly before its end."""
    plain = ordinary(world, queue)
    lock = world.scope.lock
    yield plain
    for waits in ((lock * 2 // 3,) * 3, (lock * 9 // 10,)):
        yield Send(queue=plain.queue, message=keyed(world, plain, 0))
        yield Receive(queue=plain.queue)
        token = world.locks[-1].lock_token or "" if world.locks else ""
        for number, wait in enumerate(waits):
            if number:
                yield RenewLock(queue=plain.queue, lock_token=token)
            yield AdvanceClock(duration=wait)
        yield Complete(queue=plain.queue, lock_token=token)
        yield AdvanceClock(duration=lock)
        yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def session_state(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Renew a session while a message is locked; read its state after an outage and a close."""
    held_in = ordinary(world, queue, requires_session=True)
    name, session = held_in.queue, world.session(0)
    of_session = {"queue": name, "session_id": session}
    yield held_in
    yield Send(queue=name, message=keyed(world, held_in, 0))
    yield AcceptSession(**of_session)
    yield Receive(queue=name, session_id=session)
    yield AdvanceClock(duration=world.scope.lock * 2 // 3)
    yield RenewSessionLock(**of_session)
    yield AdvanceClock(duration=world.scope.lock * 2 // 3)
    for held in world.locks[-1:]:
        yield Complete(queue=name, lock_token=held.lock_token or "")
    yield SetSessionState(**of_session, state="one")
    yield from interrupted(world, held_in)
    yield CloseSession(**of_session)
    yield AcceptSession(**of_session)
    yield GetSessionState(**of_session)


def scheduled(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Cancel one of two scheduled messages, and receive the other when it is due.

    A third message is scheduled for a time in the past.
    """
    plain = ordinary(world, queue)
    yield plain
    wait = max(1, world.scope.lock // 5)
    for place in (0, 1):
        message = keyed(world, plain, place)
        yield Schedule(queue=plain.queue, message=message, delay=wait)
    for name, number in world.scheduled[-1:]:
        yield CancelScheduled(queue=name, sequence_number=number)
    yield AdvanceClock(duration=2 * wait)
    yield from awaited(world, plain.queue)
    yield Schedule(queue=plain.queue, message=keyed(world, plain, 0), delay=-wait)
    yield from awaited(world, plain.queue)
    yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def scheduled_in_outage(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Check that refused and cancelled scheduled messages never arrive, even after an outage."""
    plain = ordinary(world, queue)
    yield plain
    wait = max(1, world.scope.lock // 5)
    yield Send(queue=plain.queue, message=keyed(world, plain, 0))
    yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)
    yield Schedule(queue=plain.queue, message=keyed(world, plain, 0), delay=wait)
    for name, number in world.scheduled[-1:]:
        yield CancelScheduled(queue=name, sequence_number=number)
    down, up = interrupted(world, plain)
    yield Schedule(queue=plain.queue, message=keyed(world, plain, 0), delay=wait)
    yield down
    yield Schedule(queue=plain.queue, message=keyed(world, plain, 0), delay=wait)
    yield AdvanceClock(duration=2 * wait)
    yield up
    yield from awaited(world, plain.queue)
    for _ in range(2):
        yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


OPENINGS: Final = (
    opening("lock", lost_lock, Capability.PEEK_LOCK),
    opening("copies", copies, Capability.DUPLICATE_DETECTION),
    opening("dead letters", dead_letters, Capability.DEAD_LETTER),
    opening("deferral", deferral, Capability.DEFERRAL),
    opening("deferral in session", deferral_in_session, *IN_SESSIONS, Capability.DEFERRAL),
    opening("renewals", renewals, Capability.LOCK_RENEWAL),
    opening("session state", session_state, *IN_SESSIONS, Capability.SESSION_STATE),
    opening("scheduled", scheduled, Capability.SCHEDULING),
    opening("scheduled in outage", scheduled_in_outage, Capability.SCHEDULING, Capability.OUTAGES),
    opening("expiry", expiry, Capability.TIME_TO_LIVE),
)
