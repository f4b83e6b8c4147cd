"""Prologues about managing entities: creating again, updating, and deleting in an outage."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.prologues.actions import make_topic, paths_of, send_identified
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import make_unkeyed, ordinary, take_messages
from busproof.exploration.prologues.topics import create_two_subscriptions
from busproof.exploration.state import Theme, World

__all__ = ["OPENINGS"]

LATER: Final = "later"
"""A name that no other entity has."""


def change_fixed(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Try to change sessions and duplicate detection by updates, then use the queue."""
    plain = ordinary(world, queue)
    name = plain.queue
    yield plain
    for wanted in (True, False):
        yield v.UpdateQueue(queue=name, requires_session=wanted)
        yield v.UpdateQueue(queue=name, duplicate_detection=wanted)
        yield v.GetQueue(queue=name)
        yield from (send_identified(world, name), send_identified(world, name))
        yield from take_messages(name, 2)
    held_in = ordinary(world, queue, requires_session=True)
    yield held_in
    yield v.UpdateQueue(queue=held_in.queue, requires_session=False)
    yield v.GetQueue(queue=held_in.queue)
    yield v.AcceptSession(queue=held_in.queue, session_id=world.session(0))


def change_fixed_of_topic(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Try to enable a topic's duplicate detection and a subscription's sessions by updates.

    Then update the topic's time to live, which applies to later messages.
    """
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue)
    name, life = topic.topic, max(1, world.scope.lock // 5)
    yield from create_two_subscriptions(world, topic)
    one, _ = paths_of(world)
    yield v.UpdateTopic(topic=name, duplicate_detection=True)
    yield v.GetTopic(topic=name)
    yield v.UpdateQueue(queue=one, requires_session=True)
    yield v.GetQueue(queue=one)
    yield from (send_identified(world, name), send_identified(world, name))
    yield from take_messages(one, 2)
    yield v.UpdateTopic(topic=name, time_to_live=life)
    yield v.GetTopic(topic=name)
    yield v.Send(queue=name, message=make_unkeyed(world))
    yield v.AdvanceClock(duration=2 * life)
    yield from take_messages(one)


def create_again(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Delete a queue with messages in all partitions, and create it again.

    The new queue must be empty, and must not know any MessageId of the old one.
    """
    detecting = ordinary(world, queue, duplicate_detection=True)
    name = detecting.queue
    yield detecting
    yield send_identified(world, name)
    for _ in range(world.scope.partitions if queue.partitioned else 1):
        yield v.Send(queue=name, message=make_unkeyed(world))
    yield from (v.DeleteQueue(queue=name), detecting, *take_messages(name))
    yield from (send_identified(world, name), *take_messages(name, 2))


def topic_made_again(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Delete a topic that has accepted a MessageId, and create it again with a subscription.

    A name that differs from the subscription's only in case names the same subscription.
    """
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue, duplicate_detection=True)
    name = topic.topic
    yield from create_two_subscriptions(world, topic)
    one, _ = paths_of(world)
    yield send_identified(world, name)
    yield from (v.DeleteTopic(topic=name), topic)
    for spelling in ("s0", "S0"):
        yield v.CreateSubscription(
            topic=name, subscription=spelling, lock_duration=world.scope.lock
        )
    yield v.ListSubscriptions(topic=name)
    yield from (send_identified(world, name), *take_messages(one, 2))


def _outage(name: str) -> tuple[v.Command, v.Command]:
    """Return commands that take down and bring up partition 0, which every entity has."""
    down, up = (kind(queue=name, partition=0) for kind in (v.TakePartitionDown, v.BringPartitionUp))
    return down, up


def delete_in_outage(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Delete a queue during an outage and again after it, then create it again, empty."""
    plain = ordinary(world, queue)
    gone = v.DeleteQueue(queue=plain.queue)
    down, up = _outage(plain.queue)
    yield plain
    yield v.Send(queue=plain.queue, message=make_unkeyed(world))
    yield from (down, gone, up, gone)
    yield from (plain, v.GetQueue(queue=plain.queue), *take_messages(plain.queue))


def creation_in_outage(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Create a queue during an outage and again after it, then use it."""
    creation = v.CreateQueue(
        queue=LATER, partitioned=queue.partitioned, lock_duration=world.scope.lock
    )
    down, up = _outage(LATER)
    yield from (down, creation, up, creation)
    yield v.Send(queue=LATER, message=make_unkeyed(world))
    yield from (v.GetQueue(queue=LATER), *take_messages(LATER, 2))


def topic_refused_in_outage(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Delete a topic during an outage and again after it; the new topic has no outage."""
    world.theme = Theme.TOPICS
    topic = make_topic(world, queue)
    yield from create_two_subscriptions(world, topic)
    gone, get = v.DeleteTopic(topic=topic.topic), v.GetTopic(topic=topic.topic)
    down, up = _outage(topic.topic)
    yield from (down, get, gone, up, gone)
    yield from (topic, get)
    for name in ("s0", "s1"):
        yield v.CreateSubscription(
            topic=topic.topic, subscription=name, lock_duration=world.scope.lock
        )
    yield v.Send(queue=topic.topic, message=make_unkeyed(world))
    for path in paths_of(world):
        yield from (v.GetQueue(queue=path), *take_messages(path))


OPENINGS: Final = (
    opening("fixed", change_fixed, v.Capability.MANAGEMENT),
    opening(
        "fixed of topic", change_fixed_of_topic, v.Capability.TOPICS, v.Capability.TOPIC_MANAGEMENT
    ),
    opening("made again", create_again, v.Capability.MANAGEMENT, v.Capability.DUPLICATE_DETECTION),
    opening(
        "topic made again",
        topic_made_again,
        v.Capability.TOPICS,
        v.Capability.TOPIC_MANAGEMENT,
        v.Capability.DUPLICATE_DETECTION,
    ),
    opening("refused in outage", delete_in_outage, v.Capability.MANAGEMENT, v.Capability.OUTAGES),
    opening(
        "creation in outage", creation_in_outage, v.Capability.MANAGEMENT, v.Capability.OUTAGES
    ),
    opening(
        "topic refused in outage",
        topic_refused_in_outage,
        v.Capability.TOPICS,
        v.Capability.TOPIC_MANAGEMENT,
        v.Capability.OUTAGES,
    ),
)
