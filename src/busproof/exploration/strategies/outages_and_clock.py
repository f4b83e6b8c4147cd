"""Generators of outages, of passing time, and of waiting for delayed messages."""

from collections.abc import Iterator
from typing import Final

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.state import (
    FALLBACK,
    FOCUSED,
    GENERAL,
    Scope,
    Theme,
    World,
)
from busproof.exploration.strategies.row import QUEUES, Generator
from busproof.judging.liveness import PAUSE, TRIES

__all__ = ["rows_of_the_world"]

_LESS: Final = st.sampled_from((1, 1, 1, 2, 3))


def rows_of_the_world(scope: Scope) -> Iterator[Generator]:
    """Yield the rows for events that no client causes: outages of partitions, and passing time."""
    number = st.integers(0, max(FALLBACK, scope.partitions) - 1)
    yield Generator(
        kind=v.TakePartitionDown,
        draws={"queue": QUEUES, "number": number},
        make=_take_down,
        times=_LESS,
        themes=(*GENERAL, Theme.DELIVERIES, Theme.SESSIONS, Theme.COPIES),
    )
    yield Generator(
        kind=v.BringPartitionUp,
        draws={"number": number},
        make=_bring_up,
        times=_LESS,
        when=lambda world: bool(world.down),
    )
    yield Generator(
        kind=v.AdvanceClock,
        draws={"duration": st.sampled_from(_durations(scope.lock))},
        make=_advance,
        themes=GENERAL,
    )
    yield Generator(
        kind=v.Receive,
        draws={"queue": QUEUES},
        make=_await_message,
        times=st.just(2 * TRIES),
        themes=(Theme.FORWARDING,),
        name="waitfor",
        patient=True,
    )
    shorter = (scope.lock // 3, scope.lock // 3, scope.lock * 2 // 3, scope.lock + 1)
    yield Generator(
        kind=v.AdvanceClock,
        draws={"duration": st.sampled_from(shorter)},
        make=_advance,
        themes=FOCUSED,
        name="waitforlocks",
    )


def _await_message(world: World, queue: v.CreateQueue) -> v.Receive | v.AdvanceClock | None:
    """Wait and receive alternately, because messages may arrive with a delay."""
    end = world.received_from(queue)
    if end.requires_session:
        return None
    world.is_waiting = not world.is_waiting
    if world.is_waiting:
        return v.AdvanceClock(duration=PAUSE)
    return v.Receive(queue=end.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def _advance(_world: World, duration: int) -> v.AdvanceClock:
    return v.AdvanceClock(duration=duration)


def _take_down(world: World, queue: v.CreateQueue, number: int) -> v.TakePartitionDown:
    """Take down a partition, or the next one if it is down already."""
    partition = world.partition(number) if queue.partitioned else 0
    down = v.TakePartitionDown(queue=world.sent_to(queue), partition=partition)
    for _ in world.down:
        if queue.partitioned and down in world.down:
            after = (down.partition + 1) % world.scope.partitions
            down = attrs.evolve(down, partition=after)
    world.down.append(down)
    return down


def _bring_up(world: World, number: int) -> v.BringPartitionUp | None:
    if not world.down:
        return None
    down = world.down.pop(number % len(world.down))
    return v.BringPartitionUp(queue=down.queue, partition=down.partition)


def _durations(lock: int) -> tuple[int, ...]:
    """Return durations around the end of a lock, and one longer than a duplicate window."""
    return (lock + 1, 2 * lock + 1, lock, 1, lock // 3, 4 * lock)
