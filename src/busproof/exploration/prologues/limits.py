"""Prologues about requests at a limit of size or length, and beyond it."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import IN_SESSIONS, opening
from busproof.exploration.prologues.queues import make_keyed, ordinary, take_messages
from busproof.exploration.state import World

__all__ = ["OPENINGS"]

FITTING: Final = {v.Tier.BASIC: 250_000, v.Tier.STANDARD: 250_000, v.Tier.PREMIUM: 990_000}
"""Size of a body just within the limit of each tier, whether a KB is 1,000 or 1,024 bytes."""

TOO_LARGE: Final = 256 * 1024 + 1
"""Size of a body that Basic and Standard refuse, in bytes; Premium accepts far larger ones."""

THIRD: Final = 100 * 1024
"""Size of a body that fits twice into one request, but not three times, in bytes."""

FITTING_STATE: Final = 62_000
"""Length of a session state that is within the limit in any encoding, in characters."""

LONGEST_NAME: Final = 260
FITTING_PROPERTY, LARGE_PROPERTY = 7_000, 22_000
"""Sizes of properties, in bytes: two of the first fit, and three of the second never do."""

IN_TRANSACTION: Final = 100
AT_ONCE: Final = 20
"""Number of messages in each batch that fills a transaction to its limit."""

MANY: Final = 24
"""Number of small messages in a batch."""


def _carrying(world: World, queue: v.CreateQueue, **carried: Any) -> v.Message:
    return attrs.evolve(make_keyed(world, queue, 0), **carried)


def _together(
    world: World, queue: v.CreateQueue, number: int, **carried: Any
) -> tuple[v.Message, ...]:
    return tuple(_carrying(world, queue, **carried) for _ in range(number))


def large_messages(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send bodies within the limit and beyond, and properties that are too large only together.

    Then receive exactly the messages that were accepted.
    """
    plain = ordinary(world, queue)
    yield plain
    for size in (FITTING[world.scope.tier], TOO_LARGE):
        yield v.Send(queue=plain.queue, message=_carrying(world, plain, size=size))
    yield from take_messages(plain.queue, 3)
    for number, size in ((2, FITTING_PROPERTY), (3, LARGE_PROPERTY)):
        properties = {f"p{place}": "v" * size for place in range(number)}
        yield v.Send(queue=plain.queue, message=_carrying(world, plain, properties=properties))
    yield from take_messages(plain.queue, 2)


def later_or_together(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Schedule and batch a body that is too large, also in a transaction, besides one that fits."""
    plain = ordinary(world, queue)
    yield plain
    world.transactions += 1
    within = f"t{world.transactions}"
    wait = max(1, world.scope.lock // 5)
    yield v.BeginTransaction(transaction=within)
    for size in (TOO_LARGE, None):
        for transaction in (None, within):
            message = _carrying(world, plain, size=size)
            yield v.Schedule(
                queue=plain.queue, message=message, delay=wait, transaction=transaction
            )
        message = _carrying(world, plain, size=size)
        yield v.Send(queue=plain.queue, message=message, transaction=within)
    yield v.CommitTransaction(transaction=within)
    yield v.AdvanceClock(duration=2 * wait)
    yield from take_messages(plain.queue, 4)


def large_batches(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send batches of many messages, of large ones, and of ones too large together.

    The batch of many is received in order. The documents state no limit for batches on Premium.
    """
    plain = ordinary(world, queue)
    yield plain
    yield v.SendBatch(queue=plain.queue, messages=_together(world, plain, MANY))
    yield from take_messages(plain.queue, MANY + 1)
    if world.scope.tier is v.Tier.PREMIUM:
        return
    for number in (2, 3):
        yield v.SendBatch(queue=plain.queue, messages=_together(world, plain, number, size=THIRD))
    yield from take_messages(plain.queue, 3)


def long_transactions(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send as many messages in a transaction as it may have, and one more in another."""
    plain = ordinary(world, queue)
    yield plain
    for ending, more in ((v.CommitTransaction, 0), (v.RollBackTransaction, 1)):
        world.transactions += 1
        within = f"t{world.transactions}"
        yield v.BeginTransaction(transaction=within)
        for _ in range(IN_TRANSACTION // AT_ONCE):
            batch = _together(world, plain, AT_ONCE)
            yield v.SendBatch(queue=plain.queue, messages=batch, transaction=within)
        for _ in range(more):
            yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0), transaction=within)
        yield ending(transaction=within)
    yield from take_messages(plain.queue, 2)


def long_names(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Create queues and topics with names of the maximum length, and longer ones."""
    for length in (LONGEST_NAME, LONGEST_NAME + 1):
        named = ("q" * length, "n" * length)
        yield v.CreateQueue(queue=named[0], partitioned=queue.partitioned)
        yield v.CreateTopic(topic=named[1], partitioned=bool(queue.partitioned))
        for name in named:
            yield v.Send(queue=name, message=make_keyed(world, v.CreateQueue(queue=name), 0))


def large_states(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Set a session state within the limit; refuse a larger one, which must not change anything."""
    held_in = ordinary(world, queue, requires_session=True)
    of_session = {"queue": held_in.queue, "session_id": world.session(0)}
    yield held_in
    yield v.AcceptSession(**of_session)
    for size in (FITTING_STATE, TOO_LARGE):
        yield v.SetSessionState(**of_session, state="s" * size)
        yield v.GetSessionState(**of_session)


OPENINGS: Final = (
    opening("large messages", large_messages, v.Capability.DISPOSABLE_NAMESPACE),
    opening(
        "large, later or together",
        later_or_together,
        v.Capability.LIMITS,
        v.Capability.DISPOSABLE_NAMESPACE,
    ),
    opening("large batches", large_batches, v.Capability.BATCHES),
    opening(
        "long transactions", long_transactions, v.Capability.TRANSACTIONS, v.Capability.BATCHES
    ),
    opening("long names", long_names, v.Capability.LIMITS),
    opening("large states", large_states, *IN_SESSIONS, v.Capability.SESSION_STATE),
)
