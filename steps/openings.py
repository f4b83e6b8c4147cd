"""How sequences of an exploration may begin: by what is needed in each run, and is rarely drawn.

Each of several situations needs some commands in a row. Their frequency would fall with each kind
of command that is added; so some sequences begin with one of them, and go on at random. The first
sequences of an exploration go through all of them, for what has to happen is not left to chance.
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from busproof.adapters.base import Capability
from busproof.model.commands import (
    Abandon,
    AcceptSession,
    AddRule,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteQueue,
    Receive,
    ReceiveDeferred,
    RemoveRule,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.model.filters import DEFAULT_RULE, CorrelationFilter
from busproof.model.values import DEAD_LETTERS, Message, ReceiveMode, Tier
from busproof.steps.conditions import marked
from busproof.steps.needing import needs
from busproof.steps.worlds import FOCUSED, MOST_QUEUES, Scope, Theme, World

__all__ = ["Opening", "begun_with", "openings", "themes"]

OTHER: Final = "other"
HOPS: Final = 3
CROWD: Final = 101
"""How many partitioned queues a namespace does not take."""
GB: Final = 2**30
LARGE: Final = 100_000_000
"""Bytes of the largest message that any tier takes; others refuse it as too large."""

Commands = Callable[[World, CreateQueue], Iterator[Command]]


@attrs.frozen
class Opening:
    """A way to begin, as far as an implementation has what it needs.

    Attributes:
        name: of the situation that it comes to; empty if the sequence begins at random.
        needed: what an implementation has to declare.
        commands: what is asked; it may look at what the world has learned from its last command.
    """

    name: str
    needed: frozenset[Capability]
    commands: Commands


def _keyed(world: World, queue: CreateQueue, place: int) -> Message:
    """A message with one of two keys, its session's id too if the queue requires sessions."""
    key = (world.session(0), OTHER)[place]
    world.bodies += 1
    session = key if queue.requires_session else None
    return Message(body=f"m{world.bodies}", session_id=session, partition_key=key)


def _ordinary(world: World, queue: CreateQueue) -> CreateQueue:
    """A new queue without sessions, partitioned like this one."""
    name = f"q{len(world.queues) + 1}"
    lock = world.scope.lock
    plain = CreateQueue(queue=name, partitioned=queue.partitioned, lock_duration=lock)
    world.queues.append(plain)
    return plain


def _outage(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A key's partition goes down and comes up again, and the key is used all the while."""
    yield Send(queue=queue.queue, message=_keyed(world, queue, 0))
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield TakePartitionDown(queue=queue.queue, partition=partition)
    yield Send(queue=queue.queue, message=_keyed(world, queue, 0))
    yield BringPartitionUp(queue=queue.queue, partition=partition)
    yield Send(queue=queue.queue, message=_keyed(world, queue, 0))


def _around(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Messages without key are sent while a partition is down."""
    name = f"q{len(world.queues) + 1}"
    plain = CreateQueue(queue=name, lock_duration=world.scope.lock)
    there = plain if world.scope.tier is not Tier.PREMIUM else queue
    if there is plain:
        world.queues.append(plain)
        yield plain
    yield TakePartitionDown(queue=there.queue, partition=0)
    for _ in range(2):
        world.bodies += 1
        yield Send(queue=there.queue, message=Message(body=f"m{world.bodies}"))
    yield BringPartitionUp(queue=there.queue, partition=0)


def _two_keys(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Transactions are sent messages with two keys, and of two sessions; a message has both."""
    sessions = attrs.evolve(queue, queue=f"q{len(world.queues) + 1}", requires_session=True)
    if world.scope.allows(sessions):
        world.queues.append(sessions)
        yield sessions
    for each in dict.fromkeys((queue, world.queues[-1])):
        world.transactions += 1
        name = f"t{world.transactions}"
        yield BeginTransaction(transaction=name)
        for place in (0, 0, 1):
            yield Send(queue=each.queue, message=_keyed(world, each, place), transaction=name)
        yield CommitTransaction(transaction=name)
    torn = attrs.evolve(_keyed(world, queue, 0), session_id=world.session(0), partition_key=OTHER)
    yield Send(queue=queue.queue, message=torn)


def _lost_lock(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A lock ends, whoever had it settles too late, and the message is received again."""
    plain = _ordinary(world, queue)
    yield plain
    yield Send(queue=plain.queue, message=_keyed(world, plain, 0))
    yield Receive(queue=plain.queue)
    held = world.locks[-1:]
    yield AdvanceClock(duration=2 * world.scope.lock)
    yield Receive(queue=plain.queue)
    for lost in held:
        yield Complete(queue=plain.queue, lock_token=lost.lock_token or "")


def _copies(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A MessageId is sent twice, within the window and after it, without and with a key."""
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
            message = _keyed(world, detecting, 0)
            yield Send(queue=name, message=attrs.evolve(message, message_id=OTHER))


def _chain(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A message goes on from queue to queue, as often as it may."""
    world.theme = Theme.FORWARDING
    last = queue
    for _ in range(HOPS):
        name = f"q{len(world.queues) + 1}"
        last = CreateQueue(queue=name, partitioned=queue.partitioned, forward_to=last.queue)
        world.queues.append(last)
        yield last
    yield Send(queue=last.queue, message=_keyed(world, queue, 0))
    if not queue.requires_session:
        yield Receive(queue=queue.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def _subscriptions(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Of two subscriptions one takes only what has a certain key."""
    world.theme = Theme.TOPICS
    topic = f"n{len(world.topics) + 1}"
    world.topics.append(topic)
    yield CreateTopic(topic=topic, partitioned=bool(queue.partitioned))
    paths = []
    for name in ("s0", "s1"):
        yield CreateSubscription(topic=topic, subscription=name, lock_duration=world.scope.lock)
        paths.append(f"{topic}/subscriptions/{name}")
        world.subscriptions.append(CreateQueue(queue=paths[-1]))
    rule = {"topic": topic, "subscription": "s0"}
    yield RemoveRule(rule=DEFAULT_RULE, **rule)
    wanted = CorrelationFilter(session_id=world.session(0))
    yield AddRule(rule="r", filter=wanted, **rule)
    for key in (world.session(0), OTHER):
        world.bodies += 1
        yield Send(queue=topic, message=Message(body=f"m{world.bodies}", session_id=key))
    for path in (*paths, *paths):
        yield Receive(queue=path, mode=ReceiveMode.RECEIVE_AND_DELETE)


def _conditions(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Subscriptions with one filter each take what they want of some messages."""
    world.theme = Theme.TOPICS
    topic = f"n{len(world.topics) + 1}"
    world.topics.append(topic)
    yield CreateTopic(topic=topic, partitioned=bool(queue.partitioned))
    paths = []
    for number, wanted in enumerate(world.filters):
        rule = {"topic": topic, "subscription": f"f{number}"}
        lock = world.scope.lock
        yield CreateSubscription(topic=topic, subscription=f"f{number}", lock_duration=lock)
        yield RemoveRule(rule=DEFAULT_RULE, **rule)
        yield AddRule(rule="r", filter=wanted, **rule)
        paths.append(f"{topic}/subscriptions/f{number}")
        world.subscriptions.append(CreateQueue(queue=paths[-1]))
    for number, marks in enumerate(world.marks):
        message = marked(world.message(world.subscriptions[-1], number), marks)
        yield Send(queue=topic, message=message)
    for path in paths:
        for _ in world.marks:
            yield Receive(queue=path, mode=ReceiveMode.RECEIVE_AND_DELETE)


def _expiry(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A message is received only when its time to live is over."""
    message = _keyed(world, queue, 0)
    life = max(1, world.scope.lock // 5)
    yield Send(queue=queue.queue, message=attrs.evolve(message, time_to_live=life))
    yield AdvanceClock(duration=2 * life)
    if message.session_id is not None:
        yield AcceptSession(queue=queue.queue, session_id=message.session_id)
    mode = ReceiveMode.RECEIVE_AND_DELETE
    yield Receive(queue=queue.queue, mode=mode, session_id=message.session_id)


def _dead_letters(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A receiver dead-letters a message, another one is abandoned once too often; both are got."""
    plain = attrs.evolve(_ordinary(world, queue), max_delivery_count=1)
    yield plain
    for ending in (DeadLetter, Abandon):
        yield Send(queue=plain.queue, message=_keyed(world, plain, 0))
        yield Receive(queue=plain.queue)
        for held in world.locks[-1:]:
            yield ending(queue=plain.queue, lock_token=held.lock_token or "")
    for _ in range(2):
        yield AdvanceClock(duration=world.scope.lock)
        yield Receive(queue=plain.queue + DEAD_LETTERS, mode=ReceiveMode.RECEIVE_AND_DELETE)


def _deferral(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A message is deferred, and received by its sequence number."""
    plain = _ordinary(world, queue)
    yield plain
    yield Send(queue=plain.queue, message=_keyed(world, plain, 0))
    yield Receive(queue=plain.queue)
    for held, (_, number, _) in zip(world.locks[-1:], world.received[-1:], strict=False):
        yield Defer(queue=plain.queue, lock_token=held.lock_token or "")
        yield ReceiveDeferred(queue=plain.queue, sequence_numbers=(number,))


def _scheduled(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Of two scheduled messages one is cancelled, and the other is received when it is due."""
    plain = _ordinary(world, queue)
    yield plain
    wait = max(1, world.scope.lock // 5)
    for place in (0, 1):
        message = _keyed(world, plain, place)
        yield Schedule(queue=plain.queue, message=message, delay=wait)
    for name, number in world.scheduled[-1:]:
        yield CancelScheduled(queue=name, sequence_number=number)
    yield AdvanceClock(duration=2 * wait)
    for _ in range(2):
        yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def _full(world: World, queue: CreateQueue) -> Iterator[Command]:
    """More of one key than a partition holds, between two messages of another key.

    By the first of them it is known where the second has to go.
    """
    for place in (1, *(0,) * (GB // LARGE + 2), 1):
        message = attrs.evolve(_keyed(world, queue, place), size=LARGE)
        yield Send(queue=queue.queue, message=message)


def _crowd(world: World, queue: CreateQueue) -> Iterator[Command]:
    """More queues than there may be with partitions, some of which are deleted again."""
    partitioned = world.scope.tier is not Tier.PREMIUM
    kinds = attrs.evolve(queue, forward_to=None, partitioned=partitioned)
    names = [f"{queue.queue}-{number}" for number in range(CROWD)]
    for name in names:
        yield attrs.evolve(kinds, queue=name)
    for name in names[:MOST_QUEUES]:
        yield DeleteQueue(queue=name)
    yield attrs.evolve(kinds, queue=f"{queue.queue}-{CROWD}")
    yield DeleteQueue(queue=f"{queue.queue}-{CROWD}")


_OPENINGS: Final = (
    Opening("", frozenset(), lambda _world, _queue: iter(())),
    Opening("outage", frozenset({Capability.OUTAGES}), _outage),
    Opening("around", frozenset({Capability.OUTAGES}), _around),
    Opening("transaction", frozenset({Capability.TRANSACTIONS}), _two_keys),
    Opening("lock", frozenset({Capability.PEEK_LOCK}), _lost_lock),
    Opening("copies", frozenset({Capability.DUPLICATE_DETECTION}), _copies),
    Opening("dead letters", frozenset({Capability.DEAD_LETTER}), _dead_letters),
    Opening("deferral", frozenset({Capability.DEFERRAL}), _deferral),
    Opening("scheduled", frozenset({Capability.SCHEDULING}), _scheduled),
    Opening("full", frozenset({Capability.DISPOSABLE_NAMESPACE}), _full),
    Opening("crowd", frozenset({Capability.DISPOSABLE_NAMESPACE, Capability.MANAGEMENT}), _crowd),
    Opening("chain", frozenset({Capability.FORWARDING}), _chain),
    Opening("expiry", frozenset({Capability.TIME_TO_LIVE}), _expiry),
    Opening("subscriptions", frozenset({Capability.TOPICS, Capability.FILTERS}), _subscriptions),
    Opening("conditions", frozenset({Capability.TOPICS, Capability.FILTERS}), _conditions),
)


_THEMES: Final = {
    Theme.TOPICS: Capability.TOPICS,
    Theme.FORWARDING: Capability.FORWARDING,
    Theme.SESSIONS: Capability.SESSIONS,
    Theme.DELIVERIES: Capability.PEEK_LOCK,
    Theme.TRANSACTIONS: Capability.TRANSACTIONS,
}
"""What an implementation has to declare for a sequence to be about this."""


def openings(scope: Scope) -> tuple[str, ...]:
    """The names of the ways to begin; that at random comes first, and as often as all others."""
    there = [each.name for each in _OPENINGS if each.needed <= scope.capabilities]
    return ("",) * (len(there) - 2) + tuple(there)


def begun_with(name: str, world: World, queue: CreateQueue) -> Iterator[Command]:
    """The commands of an opening that an implementation can be asked.

    A sequence about one matter begins at random.
    """
    if world.theme in FOCUSED:
        return iter(())
    (found,) = [each for each in _OPENINGS if each.name == name]
    asked = found.commands(world, queue)
    return (each for each in asked if all(need in world.scope.capabilities for need in needs(each)))


def themes(scope: Scope) -> tuple[Theme, ...]:
    """What a sequence may be about, most often anything about queues."""
    there = (theme for theme, need in _THEMES.items() if need in scope.capabilities)
    return (Theme.QUEUES, Theme.QUEUES, *there)
