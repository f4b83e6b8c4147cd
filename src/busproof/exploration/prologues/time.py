"""Prologues about time: duplicate windows, scheduled messages, and expiry."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import (
    OTHER,
    interrupt_partition,
    make_keyed,
    ordinary,
    take_messages,
)
from busproof.exploration.state import World

__all__ = ["OPENINGS"]

DAY: Final = 86_400 * v.MICROSECONDS
DEFAULT_WINDOW: Final = 600 * v.MICROSECONDS
SHORTEST_WINDOW: Final = 20 * v.MICROSECONDS
LONGEST_WINDOW: Final = 7 * DAY


def _send_known(
    world: World, queue: v.CreateQueue, identity: str, key: str | None = None
) -> v.Send:
    """Return a send of a message with this MessageId and, if given, this PartitionKey."""
    world.bodies += 1
    message = v.Message(body=f"m{world.bodies}", message_id=identity, partition_key=key)
    return v.Send(queue=queue.queue, message=message)


def _detecting(world: World, queue: v.CreateQueue, **settings: Any) -> v.CreateQueue:
    return ordinary(world, queue, duplicate_detection=True, **settings)


def repeat_message_ids(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Repeat MessageIds within and after their window, and after sends without effect."""
    yield from _windows(world, queue)
    yield from _no_copies(world, queue)


def _windows(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Repeat a MessageId within its window and after it, with other messages in between."""
    window = 2 * world.scope.lock
    detecting = _detecting(world, queue, duplicate_window=window)
    yield detecting
    for wait, identity in ((window - 1, "within"), (window + 1, "beyond")):
        yield _send_known(world, detecting, identity)
        yield v.AdvanceClock(duration=wait // 2)
        yield _send_known(world, detecting, OTHER)
        yield v.AdvanceClock(duration=wait - wait // 2)
        yield _send_known(world, detecting, identity)
    yield from take_messages(detecting.queue, 5)


def limits_of_windows(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Create queues with the default window, one too short and one too long; wait past each."""
    if world.scope.clock is v.Clock.REAL:
        return
    for requested, effective in (
        (None, DEFAULT_WINDOW),
        (SHORTEST_WINDOW // 2, SHORTEST_WINDOW),
        (LONGEST_WINDOW + DAY, LONGEST_WINDOW),
    ):
        named = {} if requested is None else {"duplicate_window": requested}
        detecting = _detecting(world, queue, **named)
        yield detecting
        for wait, identity in ((effective * 9 // 10, "within"), (effective + 1, "beyond")):
            yield _send_known(world, detecting, identity)
            yield v.AdvanceClock(duration=wait)
            yield _send_known(world, detecting, identity)
        yield from take_messages(detecting.queue, 4)


def _other_keys(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Repeat a MessageId with another key, on a partitioned queue and on a regular one."""
    regular = attrs.evolve(queue, partitioned=False)
    for variant in (queue, regular):
        detecting = _detecting(world, variant)
        yield detecting
        for key in (world.session(0), OTHER, None, OTHER):
            yield _send_known(world, detecting, world.session(0), key)
        yield from take_messages(detecting.queue, 4)


def _no_copies(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Repeat MessageIds of refused, rolled-back and accepted sends; only the last are known."""
    detecting = _detecting(world, queue)
    key = world.session(0)
    yield detecting
    yield _send_known(world, detecting, "known", key)
    yield from take_messages(detecting.queue, 1)
    down, up = interrupt_partition(world, detecting)
    yield down
    yield _send_known(world, detecting, "refused", key)
    yield up
    world.transactions += 1
    within = f"t{world.transactions}"
    yield v.BeginTransaction(transaction=within)
    yield attrs.evolve(_send_known(world, detecting, "withdrawn", key), transaction=within)
    yield v.RollBackTransaction(transaction=within)
    for identity in ("known", "refused", "withdrawn"):
        yield _send_known(world, detecting, identity, key)
    yield from take_messages(detecting.queue, 3)


def elsewhere(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Repeat a MessageId in other queues, and with another key."""
    yield from _other_queues(world, queue)
    yield from _other_keys(world, queue)


def _other_queues(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send and receive a MessageId in a queue, then send it twice to each of two others."""
    of_session = world.session(0) if queue.requires_session else None
    message = attrs.evolve(make_keyed(world, queue, 0), message_id=OTHER)
    yield v.Send(queue=queue.queue, message=message)
    if of_session is not None:
        yield v.AcceptSession(queue=queue.queue, session_id=of_session)
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    yield v.Receive(queue=world.received_from(queue).queue, mode=mode, session_id=of_session)
    others = [_detecting(world, queue) for _ in range(2)]
    yield from others
    for detecting in (*others, *others):
        yield _send_known(world, detecting, OTHER, world.session(0))
        yield from take_messages(detecting.queue, 1)


def overtaken(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Check that scheduled messages are unavailable before they are due, also in a session."""
    yield from _schedule_among_sends(world, queue)
    yield from _schedule_in_session(world, queue)


def _schedule_among_sends(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Schedule a message, and send others with its key before and after it is due."""
    plain = ordinary(world, queue)
    wait = max(2, world.scope.lock // 5)
    yield plain
    yield v.Schedule(queue=plain.queue, message=make_keyed(world, plain, 0), delay=wait)
    yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
    yield v.Peek(queue=plain.queue, count=4)
    yield v.AdvanceClock(duration=wait // 2)
    yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
    yield v.AdvanceClock(duration=wait)
    yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
    yield v.Peek(queue=plain.queue, count=4)
    yield from take_messages(plain.queue, 4)


def _schedule_in_session(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Schedule the only message of a session, which cannot be the next session until it is due."""
    held_in = ordinary(world, queue, requires_session=True)
    name, session = held_in.queue, world.session(0)
    wait = max(2, world.scope.lock // 5)
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    yield held_in
    yield v.Schedule(queue=name, message=make_keyed(world, held_in, 0), delay=wait)
    yield v.AcceptNextSession(queue=name)
    yield v.Send(queue=name, message=make_keyed(world, held_in, 1))
    yield v.AcceptNextSession(queue=name)
    yield v.AcceptSession(queue=name, session_id=session)
    yield v.Receive(queue=name, mode=mode, session_id=session)
    yield v.CloseSession(queue=name, session_id=session)
    yield v.AdvanceClock(duration=2 * wait)
    yield v.AcceptNextSession(queue=name)
    yield v.Receive(queue=name, mode=mode, session_id=session)


def lifetimes(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send messages with and without a time to live to entities that have one."""
    yield from _queue_lifetimes(world, queue)
    yield from _subscription_lifetimes(world, queue)


def _queue_lifetimes(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send messages with a longer, a shorter and no time to live to a queue that has one."""
    life = max(4, world.scope.lock // 2)
    mortal = ordinary(world, queue, time_to_live=life)
    yield mortal
    yield from _outlive(world, mortal, mortal.queue, life)


def _subscription_lifetimes(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Do the same where the subscription has a time to live, and where the topic has one."""
    life = max(4, world.scope.lock // 2)
    for of_topic, of_subscription in ((None, life), (life, None)):
        topic = f"n{len(world.topics) + 1}"
        world.topics.append(topic)
        partitioned = bool(queue.partitioned)
        yield v.CreateTopic(topic=topic, partitioned=partitioned, time_to_live=of_topic)
        yield v.CreateSubscription(
            topic=topic,
            subscription="s0",
            lock_duration=world.scope.lock,
            time_to_live=of_subscription,
        )
        path = f"{topic}/subscriptions/s0"
        world.subscriptions.append(v.CreateQueue(queue=path))
        place = v.CreateQueue(queue=topic, partitioned=partitioned)
        yield from _outlive(world, place, path, life)


def _outlive(world: World, place: v.CreateQueue, path: str, life: int) -> Iterator[v.Command]:
    """Send messages with each kind of lifetime; receive some in time, and others too late."""
    for wait, times in ((life + 1, 2), (life * 3 // 4, 3)):
        for own in (None, 4 * life, life // 2):
            message = attrs.evolve(make_keyed(world, place, 0), time_to_live=own)
            yield v.Send(queue=place.queue, message=message)
        yield v.AdvanceClock(duration=wait)
        yield from take_messages(path, times)


def expire_messages(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Let messages expire while locked, deferred, scheduled, or in a partition that is down."""
    yield from _expire_while_locked(world, queue)
    yield from _dead_letter_expired(world, queue)
    yield from _expire_in_outage(world, queue)


def _expire_while_locked(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Let messages expire while locked, and then settle each in a different way."""
    plain = ordinary(world, queue)
    life = max(1, world.scope.lock // 6)
    yield plain
    for settling in (v.Complete, v.DeadLetter, v.Defer):
        yield _mortal(world, plain, life)
        yield v.Receive(queue=plain.queue)
        yield v.AdvanceClock(duration=2 * life)
        for lock in world.locks[-1:]:
            yield settling(queue=plain.queue, lock_token=lock.lock_token or "")
    yield v.AdvanceClock(duration=world.scope.lock)
    yield from take_messages(plain.queue, 1)
    yield from take_messages(plain.queue + v.DEAD_LETTERS, 2)


def _dead_letter_expired(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Dead-letter expired messages, one deferred and one active; a third one is scheduled."""
    burying = ordinary(world, queue, dead_letter_expired=True)
    life = max(1, world.scope.lock // 5)
    yield burying
    yield _mortal(world, burying, life)
    yield v.Receive(queue=burying.queue)
    numbers = [number for _, number, _ in world.received[-1:]]
    for lock in world.locks[-1:]:
        yield v.Defer(queue=burying.queue, lock_token=lock.lock_token or "")
    yield _mortal(world, burying, life)
    mortal = _mortal(world, burying, life).message
    yield v.Schedule(queue=burying.queue, message=mortal, delay=4 * life)
    yield v.AdvanceClock(duration=2 * life)
    yield from take_messages(burying.queue, 1)
    yield from take_messages(burying.queue + v.DEAD_LETTERS, 2)
    for number in numbers:
        yield v.ReceiveDeferred(queue=burying.queue, sequence_numbers=(number,))


def _expire_in_outage(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Let one of two messages expire while their partition is down."""
    plain = ordinary(world, queue)
    life = max(1, world.scope.lock // 5)
    yield plain
    for own in (life, 10 * life):
        yield _mortal(world, plain, own)
    down, up = interrupt_partition(world, plain)
    yield down
    yield v.AdvanceClock(duration=2 * life)
    yield up
    yield from take_messages(plain.queue, 2)


def _mortal(world: World, queue: v.CreateQueue, life: int) -> v.Send:
    message = attrs.evolve(make_keyed(world, queue, 0), time_to_live=life)
    return v.Send(queue=queue.queue, message=message)


OPENINGS: Final = (
    opening("remembered", repeat_message_ids, v.Capability.DUPLICATE_DETECTION),
    opening("elsewhere", elsewhere, v.Capability.DUPLICATE_DETECTION),
    opening("overtaken", overtaken, v.Capability.SCHEDULING),
    opening("lifetimes", lifetimes, v.Capability.TIME_TO_LIVE),
    opening("expired", expire_messages, v.Capability.TIME_TO_LIVE, v.Capability.PEEK_LOCK),
    opening(
        "limits of windows",
        limits_of_windows,
        v.Capability.DUPLICATE_DETECTION,
        v.Capability.LIMITS,
    ),
)
