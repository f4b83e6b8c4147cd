"""Prologues about topics: copies for subscriptions, and their filters."""

from collections.abc import Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import OTHER, interrupt_partition, make_keyed
from busproof.exploration.state import Theme, World
from busproof.exploration.strategies.filters import MARKED, mark_message

__all__ = ["OPENINGS", "create_two_subscriptions"]


def create_two_subscriptions(
    world: World, topic: v.CreateTopic, **settings: Any
) -> Iterator[v.Command]:
    """Create a topic and two subscriptions with these settings."""
    world.topics.append(topic.topic)
    yield topic
    for name in ("s0", "s1"):
        yield v.CreateSubscription(
            topic=topic.topic, subscription=name, lock_duration=world.scope.lock, **settings
        )
        path = f"{topic.topic}/subscriptions/{name}"
        session = settings.get("requires_session", False)
        world.subscriptions.append(v.CreateQueue(queue=path, requires_session=session))


def topic_alike(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Create a topic with two subscriptions, all with the settings of a queue."""
    topic = v.CreateTopic(
        topic=f"n{len(world.topics) + 1}",
        partitioned=bool(queue.partitioned),
        duplicate_detection=queue.duplicate_detection,
        duplicate_window=queue.duplicate_window,
    )
    return create_two_subscriptions(
        world,
        topic,
        requires_session=queue.requires_session,
        max_delivery_count=queue.max_delivery_count,
    )


def send_copies(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send to two subscriptions, around a partition that is down and in a transaction.

    Then lock and complete the copies of one subscription, and afterwards those of the other.
    """
    topic = f"n{len(world.topics) + 1}"
    yield from create_two_subscriptions(
        world, v.CreateTopic(topic=topic, partitioned=bool(queue.partitioned))
    )
    paths = [subscription.queue for subscription in world.subscriptions[-2:]]
    place = v.CreateQueue(queue=topic, partitioned=queue.partitioned)
    yield v.Send(queue=topic, message=make_keyed(world, place, 0))
    down, up = interrupt_partition(world, place)
    yield down
    world.bodies += 1
    yield v.Send(queue=topic, message=v.Message(body=f"m{world.bodies}"))
    yield up
    world.transactions += 1
    within = f"t{world.transactions}"
    yield v.BeginTransaction(transaction=within)
    for _ in range(2):
        yield v.Send(queue=topic, message=make_keyed(world, place, 0), transaction=within)
    yield v.CommitTransaction(transaction=within)
    for path in paths:
        for _ in range(4):
            yield v.Receive(queue=path)
            for lock in world.locks[-1:]:
                yield v.Complete(queue=path, lock_token=lock.lock_token or "")


def subscriptions(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send to two subscriptions, one with a filter for a single SessionId."""
    world.theme = Theme.TOPICS
    yield v.CreateSubscription(topic="nowhere", subscription="s0")
    topic = v.CreateTopic(topic=f"n{len(world.topics) + 1}", partitioned=bool(queue.partitioned))
    yield from create_two_subscriptions(world, topic)
    paths = [subscription.queue for subscription in world.subscriptions[-2:]]
    rule = {"topic": topic.topic, "subscription": "s0"}
    yield v.RemoveRule(rule=v.DEFAULT_RULE, **rule)
    wanted = v.CorrelationFilter(session_id=world.session(0))
    yield v.AddRule(rule="r", filter=wanted, **rule)
    for key in (world.session(0), OTHER):
        world.bodies += 1
        message = v.Message(body=f"m{world.bodies}", session_id=key)
        yield v.Send(queue=topic.topic, message=message)
    for path in (*paths, *paths):
        yield v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def conditions(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send messages to subscriptions with one filter each, and receive from each of them."""
    world.theme = Theme.CONDITIONS
    topic = f"n{len(world.topics) + 1}"
    world.topics.append(topic)
    yield v.CreateTopic(topic=topic, partitioned=bool(queue.partitioned))
    paths = []
    for number, wanted in enumerate(world.filters):
        rule = {"topic": topic, "subscription": f"f{number}"}
        lock = world.scope.lock
        yield v.CreateSubscription(topic=topic, subscription=f"f{number}", lock_duration=lock)
        yield v.RemoveRule(rule=v.DEFAULT_RULE, **rule)
        yield v.AddRule(rule="r", filter=wanted, **rule)
        paths.append(f"{topic}/subscriptions/f{number}")
        world.subscriptions.append(v.CreateQueue(queue=paths[-1]))
    for number in range(MARKED):
        message = world.message(world.subscriptions[-1], number)
        yield v.Send(queue=topic, message=mark_message(message, world.marks + number))
    for path in paths:
        for _ in range(MARKED):
            yield v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


OPENINGS: Final = (
    opening("copied", send_copies, v.Capability.TOPICS, v.Capability.PEEK_LOCK),
    opening("subscriptions", subscriptions, v.Capability.TOPICS, v.Capability.FILTERS),
    opening("conditions", conditions, v.Capability.TOPICS, v.Capability.FILTERS),
)
