"""Prologues about subscriptions: actions, names, duplicates, sessions, and partition outages."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof.exploration.prologues.prologue import IN_SESSIONS, opening
from busproof.exploration.prologues.queues import OTHER, keyed, taken, unkeyed
from busproof.exploration.prologues.topics import with_two_subscriptions
from busproof.exploration.state import Theme, World
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AddRule,
    AdvanceClock,
    BringPartitionUp,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    ListRules,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.subscription_rules import FalseFilter, TrueFilter
from busproof.vocabulary.values import MICROSECONDS, ReceiveMode

__all__ = ["OPENINGS", "identified", "paths_of", "topic_like"]

LONGEST: Final = 50
"""Most characters in the name of a subscription or rule."""

WHOLE: Final = {"a": 1, "color": "red", "size": 2}
"""Properties that actions set and remove."""

HASTY: Final = 15 * MICROSECONDS
"""A send timeout too short for a retry on another partition to be required."""


def topic_like(world: World, queue: CreateQueue, **settings: Any) -> CreateTopic:
    """Return a topic that is partitioned like this queue, with no other settings than these."""
    name = f"n{len(world.topics) + 1}"
    return CreateTopic(topic=name, partitioned=bool(queue.partitioned), **settings)


def paths_of(world: World) -> list[str]:
    """Return the paths of the two latest subscriptions."""
    return [each.queue for each in world.subscriptions[-2:]]


def identified(world: World, name: str) -> Send:
    """Return a send of a message with a MessageId that other messages have, too."""
    return Send(queue=name, message=unkeyed(world, message_id=OTHER))


def actions(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send through two rules with actions, a rule that does not match, and one without an action.

    Each action changes only the copy of its own rule: neither the other copies in the subscription
    nor those in the other subscription. The second message has no property to remove.
    """
    world.theme = Theme.TOPICS
    topic = topic_like(world, queue)
    yield from with_two_subscriptions(world, topic)
    one, other = paths_of(world)
    there = {"topic": topic.topic, "subscription": "s0"}
    yield AddRule(rule="r", filter=TrueFilter(), action="SET a = 3; SET b = 1", **there)
    yield AddRule(rule="s", filter=TrueFilter(), action="REMOVE color", **there)
    yield AddRule(rule="t", filter=FalseFilter(), action="SET a = 4", **there)
    yield Send(queue=topic.topic, message=unkeyed(world, properties=WHOLE))
    yield from (*taken(other, 2), *taken(one, 4))
    yield Send(queue=topic.topic, message=unkeyed(world))
    yield from (*taken(one, 4), *taken(other, 2))


def long_names(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Give subscriptions and rules names of the maximum length, and of one character more."""
    world.theme = Theme.TOPICS
    topic = topic_like(world, queue)
    yield from with_two_subscriptions(world, topic)
    for more in (0, 1):
        name = "x" * (LONGEST + more)
        lock = world.scope.lock
        yield CreateSubscription(topic=topic.topic, subscription=name, lock_duration=lock)
        yield AddRule(topic=topic.topic, subscription="s0", rule=name, filter=TrueFilter())
        yield ListRules(topic=topic.topic, subscription="s0")
    yield Send(queue=topic.topic, message=unkeyed(world))
    for name in ("s0", "x" * LONGEST, "x" * (LONGEST + 1)):
        yield from taken(f"{topic.topic}/subscriptions/{name}")


def topic_around(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Take down every other partition of a topic, and send messages without a key around them.

    One of two neighbouring partitions is always down. The last send has a short timeout.
    """
    world.theme = Theme.TOPICS
    topic = topic_like(world, queue)
    yield from with_two_subscriptions(world, topic)
    down = range(0, world.scope.partitions, 2) if topic.partitioned else (0,)
    yield from (TakePartitionDown(queue=topic.topic, partition=each) for each in down)
    for _ in range(3):
        yield Send(queue=topic.topic, message=unkeyed(world))
    yield Send(queue=topic.topic, message=unkeyed(world), timeout=HASTY)
    yield from (BringPartitionUp(queue=topic.topic, partition=each) for each in down)
    for path in paths_of(world):
        yield from taken(path, 4)


def copies_of_topic(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send a MessageId again while both, one, and none of the subscriptions hold its first message.

    At last the window is over, and a message with this MessageId is not a duplicate.
    """
    world.theme = Theme.TOPICS
    window = 2 * world.scope.lock
    topic = topic_like(world, queue, duplicate_detection=True, duplicate_window=window)
    yield from with_two_subscriptions(world, topic)
    one, other = paths_of(world)
    yield from (identified(world, topic.topic), identified(world, topic.topic), *taken(one, 2))
    yield from (identified(world, topic.topic), *taken(one), *taken(other, 2))
    yield from (identified(world, topic.topic), *taken(one), *taken(other))
    yield AdvanceClock(duration=window + 1)
    yield from (identified(world, topic.topic), *taken(one), *taken(other))


def session_of_subscription(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Receive a subscription's session in order, although its first message is abandoned twice."""
    world.theme = Theme.TOPICS
    topic = topic_like(world, queue)
    yield from with_two_subscriptions(world, topic, requires_session=True)
    held_in, session = world.subscriptions[-1], world.session(0)
    place = attrs.evolve(held_in, queue=topic.topic)
    for _ in range(3):
        yield Send(queue=topic.topic, message=keyed(world, place, 0))
    yield AcceptSession(queue=held_in.queue, session_id=session)
    for _ in range(2):
        yield Receive(queue=held_in.queue, session_id=session)
        for held in world.locks[-1:]:
            yield Abandon(queue=held.queue, lock_token=held.lock_token or "")
    mode = ReceiveMode.RECEIVE_AND_DELETE
    for _ in range(3):
        yield Receive(queue=held_in.queue, mode=mode, session_id=session)


OPENINGS: Final = (
    opening("actions", actions, Capability.TOPICS, Capability.RULE_ACTIONS),
    opening(
        "long names of rules", long_names, Capability.TOPICS, Capability.FILTERS, Capability.LIMITS
    ),
    opening("topic around", topic_around, Capability.TOPICS, Capability.OUTAGES),
    opening("session of subscription", session_of_subscription, Capability.TOPICS, *IN_SESSIONS),
    opening("copies of topic", copies_of_topic, Capability.TOPICS, Capability.DUPLICATE_DETECTION),
)
