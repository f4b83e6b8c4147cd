"""Prologues about subscriptions: actions, names, duplicates, sessions, and partition outages."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import IN_SESSIONS, opening
from busproof.exploration.prologues.queues import OTHER, make_keyed, make_unkeyed, take_messages
from busproof.exploration.prologues.topics import create_two_subscriptions
from busproof.exploration.state import Theme, World

__all__ = ["OPENINGS", "make_topic", "paths_of", "send_identified"]

LONGEST: Final = 50
"""Maximum length of the name of a subscription or rule, in characters."""

WHOLE: Final = {"a": 1, "color": "red", "size": 2}
"""Properties that actions set and remove."""

HASTY: Final = 15 * v.MICROSECONDS
"""A send timeout so short that a retry on another partition is not required, in microseconds."""


def make_topic(world: World, queue: v.CreateQueue, **settings: Any) -> v.CreateTopic:
    """Return a new topic, partitioned like a queue, with only the given settings."""
    name = f"n{len(world.topics) + 1}"
    return v.CreateTopic(topic=name, partitioned=bool(queue.partitioned), **settings)


def paths_of(world: World) -> list[str]:
    """Return the paths of the two latest subscriptions."""
    return [subscription.queue for subscription in world.subscriptions[-2:]]


def send_identified(world: World, name: str) -> v.Send:
    """Return a send of a message whose MessageId other messages have, too."""
    return v.Send(queue=name, message=make_unkeyed(world, message_id=OTHER))


def actions(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send through two rules with actions, one that does not match, and one without an action.

    Each action may change only the copy of its own rule: neither other copies in the subscription
    nor copies in the other subscription. The second message lacks the property to remove.
    """
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue)
    yield from create_two_subscriptions(world, topic)
    one, other = paths_of(world)
    there = {"topic": topic.topic, "subscription": "s0"}
    yield v.AddRule(rule="r", filter=v.TrueFilter(), action="SET a = 3; SET b = 1", **there)
    yield v.AddRule(rule="s", filter=v.TrueFilter(), action="REMOVE color", **there)
    yield v.AddRule(rule="t", filter=v.FalseFilter(), action="SET a = 4", **there)
    yield v.Send(queue=topic.topic, message=make_unkeyed(world, properties=WHOLE))
    yield from (*take_messages(other, 2), *take_messages(one, 4))
    yield v.Send(queue=topic.topic, message=make_unkeyed(world))
    yield from (*take_messages(one, 4), *take_messages(other, 2))


def long_names(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Give subscriptions and rules names of the maximum length, and of one character more."""
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue)
    yield from create_two_subscriptions(world, topic)
    for more in (0, 1):
        name = "x" * (LONGEST + more)
        lock = world.scope.lock
        yield v.CreateSubscription(topic=topic.topic, subscription=name, lock_duration=lock)
        yield v.AddRule(topic=topic.topic, subscription="s0", rule=name, filter=v.TrueFilter())
        yield v.ListRules(topic=topic.topic, subscription="s0")
    yield v.Send(queue=topic.topic, message=make_unkeyed(world))
    for name in ("s0", "x" * LONGEST, "x" * (LONGEST + 1)):
        yield from take_messages(f"{topic.topic}/subscriptions/{name}")


def topic_around(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Take down every other partition of a topic, and send messages without a key around them.

    Of any two neighbouring partitions, one is down. The last send has a short timeout.
    """
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue)
    yield from create_two_subscriptions(world, topic)
    down = range(0, world.scope.partitions, 2) if topic.partitioned else (0,)
    yield from (v.TakePartitionDown(queue=topic.topic, partition=partition) for partition in down)
    for _ in range(3):
        yield v.Send(queue=topic.topic, message=make_unkeyed(world))
    yield v.Send(queue=topic.topic, message=make_unkeyed(world), timeout=HASTY)
    yield from (v.BringPartitionUp(queue=topic.topic, partition=partition) for partition in down)
    for path in paths_of(world):
        yield from take_messages(path, 4)


def copies_of_topic(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Repeat a MessageId while both, one and no subscription still has its first message.

    Finally the duplicate window has passed, and a message with this MessageId is new.
    """
    world.theme = Theme.TOPICS
    window = 2 * world.scope.lock
    topic = make_topic(world, queue, duplicate_detection=True, duplicate_window=window)
    yield from create_two_subscriptions(world, topic)
    one, other = paths_of(world)
    yield from (
        send_identified(world, topic.topic),
        send_identified(world, topic.topic),
        *take_messages(one, 2),
    )
    yield from (send_identified(world, topic.topic), *take_messages(one), *take_messages(other, 2))
    yield from (send_identified(world, topic.topic), *take_messages(one), *take_messages(other))
    yield v.AdvanceClock(duration=window + 1)
    yield from (send_identified(world, topic.topic), *take_messages(one), *take_messages(other))


def session_of_subscription(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Receive a subscription's session in order, although its first message is abandoned twice."""
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue)
    yield from create_two_subscriptions(world, topic, requires_session=True)
    held_in, session = world.subscriptions[-1], world.session(0)
    place = attrs.evolve(held_in, queue=topic.topic)
    for _ in range(3):
        yield v.Send(queue=topic.topic, message=make_keyed(world, place, 0))
    yield v.AcceptSession(queue=held_in.queue, session_id=session)
    for _ in range(2):
        yield v.Receive(queue=held_in.queue, session_id=session)
        for lock in world.locks[-1:]:
            yield v.Abandon(queue=lock.queue, lock_token=lock.lock_token or "")
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    for _ in range(3):
        yield v.Receive(queue=held_in.queue, mode=mode, session_id=session)


OPENINGS: Final = (
    opening("actions", actions, v.Capability.TOPICS, v.Capability.RULE_ACTIONS),
    opening(
        "long names of rules",
        long_names,
        v.Capability.TOPICS,
        v.Capability.FILTERS,
        v.Capability.LIMITS,
    ),
    opening("topic around", topic_around, v.Capability.TOPICS, v.Capability.OUTAGES),
    opening("session of subscription", session_of_subscription, v.Capability.TOPICS, *IN_SESSIONS),
    opening(
        "copies of topic", copies_of_topic, v.Capability.TOPICS, v.Capability.DUPLICATE_DETECTION
    ),
)
