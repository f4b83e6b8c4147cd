"""How sequences about single requests may begin: as large or as long as they may be, and more."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof.exploration.prologues.prologue import IN_SESSIONS, opening
from busproof.exploration.prologues.queues import keyed, ordinary, taken
from busproof.exploration.state import World
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    Command,
    CommitTransaction,
    CreateQueue,
    CreateTopic,
    GetSessionState,
    RollBackTransaction,
    Schedule,
    Send,
    SendBatch,
    SetSessionState,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import Tier

__all__ = ["OPENINGS"]

FITTING: Final = {Tier.BASIC: 250_000, Tier.STANDARD: 250_000, Tier.PREMIUM: 990_000}
"""Bytes of a body that is just within what a tier takes, whatever a KB is."""

TOO_LARGE: Final = 256 * 1024 + 1
"""Bytes of a body that Basic and Standard do not take; what Premium does not, is 100 MB more."""

THIRD: Final = 100 * 1024
"""Bytes of a body of which two can be sent in one request, and three cannot."""

FITTING_STATE: Final = 62_000
"""Characters of a state that fits in, however many bytes each of them takes."""

LONGEST_NAME: Final = 260
FITTING_PROPERTY, LARGE_PROPERTY = 7_000, 22_000
"""Two of the first fit in, however they are counted; three of the second are too large together."""

IN_TRANSACTION: Final = 100
AT_ONCE: Final = 20
"""A transaction is sent as many messages as it takes in batches of so many."""

MANY: Final = 24
"""Messages of a batch that has many, none of which is large."""


def _carrying(world: World, queue: CreateQueue, **carried: Any) -> Message:
    return attrs.evolve(keyed(world, queue, 0), **carried)


def _together(world: World, queue: CreateQueue, number: int, **carried: Any) -> tuple[Message, ...]:
    return tuple(_carrying(world, queue, **carried) for _ in range(number))


def large_messages(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A body is as large as it may be, and then larger; so are properties, each small enough.

    What was taken is received, and nothing else.
    """
    plain = ordinary(world, queue)
    yield plain
    for size in (FITTING[world.scope.tier], TOO_LARGE):
        yield Send(queue=plain.queue, message=_carrying(world, plain, size=size))
    yield from taken(plain.queue, 3)
    for number, size in ((2, FITTING_PROPERTY), (3, LARGE_PROPERTY)):
        properties = {f"p{place}": "v" * size for place in range(number)}
        yield Send(queue=plain.queue, message=_carrying(world, plain, properties=properties))
    yield from taken(plain.queue, 2)


def later_or_together(world: World, queue: CreateQueue) -> Iterator[Command]:
    """What is too large is scheduled, and sent and scheduled in a transaction, beside what fits."""
    plain = ordinary(world, queue)
    yield plain
    world.transactions += 1
    within = f"t{world.transactions}"
    wait = max(1, world.scope.lock // 5)
    yield BeginTransaction(transaction=within)
    for size in (TOO_LARGE, None):
        for transaction in (None, within):
            message = _carrying(world, plain, size=size)
            yield Schedule(queue=plain.queue, message=message, delay=wait, transaction=transaction)
        message = _carrying(world, plain, size=size)
        yield Send(queue=plain.queue, message=message, transaction=within)
    yield CommitTransaction(transaction=within)
    yield AdvanceClock(duration=2 * wait)
    yield from taken(plain.queue, 4)


def large_batches(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A batch has many messages, all of which come in their order; others are large, or too large.

    Of Premium nothing says how large a batch may be.
    """
    plain = ordinary(world, queue)
    yield plain
    yield SendBatch(queue=plain.queue, messages=_together(world, plain, MANY))
    yield from taken(plain.queue, MANY + 1)
    if world.scope.tier is Tier.PREMIUM:
        return
    for number in (2, 3):
        yield SendBatch(queue=plain.queue, messages=_together(world, plain, number, size=THIRD))
    yield from taken(plain.queue, 3)


def long_transactions(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A transaction takes as many messages as it may; another one is sent one more."""
    plain = ordinary(world, queue)
    yield plain
    for ending, more in ((CommitTransaction, 0), (RollBackTransaction, 1)):
        world.transactions += 1
        within = f"t{world.transactions}"
        yield BeginTransaction(transaction=within)
        for _ in range(IN_TRANSACTION // AT_ONCE):
            batch = _together(world, plain, AT_ONCE)
            yield SendBatch(queue=plain.queue, messages=batch, transaction=within)
        for _ in range(more):
            yield Send(queue=plain.queue, message=keyed(world, plain, 0), transaction=within)
        yield ending(transaction=within)
    yield from taken(plain.queue, 2)


def long_names(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Queues and topics have names that are as long as they may be, and longer."""
    for length in (LONGEST_NAME, LONGEST_NAME + 1):
        named = ("q" * length, "n" * length)
        yield CreateQueue(queue=named[0], partitioned=queue.partitioned)
        yield CreateTopic(topic=named[1], partitioned=bool(queue.partitioned))
        for name in named:
            yield Send(queue=name, message=keyed(world, CreateQueue(queue=name), 0))


def large_states(world: World, queue: CreateQueue) -> Iterator[Command]:
    """The state of a session is as large as it may be; a larger one leaves it as it was."""
    held_in = ordinary(world, queue, requires_session=True)
    of_session = {"queue": held_in.queue, "session_id": world.session(0)}
    yield held_in
    yield AcceptSession(**of_session)
    for size in (FITTING_STATE, TOO_LARGE):
        yield SetSessionState(**of_session, state="s" * size)
        yield GetSessionState(**of_session)


OPENINGS: Final = (
    opening("large messages", large_messages, Capability.DISPOSABLE_NAMESPACE),
    opening(
        "large, later or together",
        later_or_together,
        Capability.LIMITS,
        Capability.DISPOSABLE_NAMESPACE,
    ),
    opening("large batches", large_batches, Capability.BATCHES),
    opening("long transactions", long_transactions, Capability.TRANSACTIONS, Capability.BATCHES),
    opening("long names", long_names, Capability.LIMITS),
    opening("large states", large_states, *IN_SESSIONS, Capability.SESSION_STATE),
)
