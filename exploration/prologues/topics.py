"""Prologues about topics: copies for subscriptions, and their filters."""

from collections.abc import Iterator
from typing import Any, Final

from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import OTHER, interrupted, keyed
from busproof.exploration.state import Theme, World
from busproof.exploration.strategies.filters import MARKED, marked
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    AddRule,
    BeginTransaction,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Receive,
    RemoveRule,
    Send,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import DEFAULT_RULE, CorrelationFilter
from busproof.vocabulary.values import ReceiveMode

__all__ = ["OPENINGS", "with_two_subscriptions"]


def with_two_subscriptions(world: World, topic: CreateTopic, **settings: Any) -> Iterator[Command]:
    """Create a topic and two subscriptions with these settings."""
    world.topics.append(topic.topic)
    yield topic
    for name in ("s0", "s1"):
        yield CreateSubscription(
            topic=topic.topic, subscription=name, lock_duration=world.scope.lock, **settings
        )
        path = f"{topic.topic}/subscriptions/{name}"
        session = settings.get("requires_session", False)
        world.subscriptions.append(CreateQueue(queue=path, requires_session=session))


def topic_alike(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Create a topic with two subscriptions, all with the settings of this queue."""
    topic = CreateTopic(
        topic=f"n{len(world.topics) + 1}",
        partitioned=bool(queue.partitioned),
        duplicate_detection=queue.duplicate_detection,
        duplicate_window=queue.duplicate_window,
    )
    return with_two_subscriptions(
        world,
        topic,
        requires_session=queue.requires_session,
        max_delivery_count=queue.max_delivery_count,
    )


def copied(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send to two subscriptions: around a partition that is down, and in a transaction.

    Then lock and complete the copies of one subscription, and after it of the other.
    """
    topic = f"n{len(world.topics) + 1}"
    yield from with_two_subscriptions(
        world, CreateTopic(topic=topic, partitioned=bool(queue.partitioned))
    )
    paths = [each.queue for each in world.subscriptions[-2:]]
    place = CreateQueue(queue=topic, partitioned=queue.partitioned)
    yield Send(queue=topic, message=keyed(world, place, 0))
    down, up = interrupted(world, place)
    yield down
    world.bodies += 1
    yield Send(queue=topic, message=Message(body=f"m{world.bodies}"))
    yield up
    world.transactions += 1
    within = f"t{world.transactions}"
    yield BeginTransaction(transaction=within)
    for _ in range(2):
        yield Send(queue=topic, message=keyed(world, place, 0), transaction=within)
    yield CommitTransaction(transaction=within)
    for path in paths:
        for _ in range(4):
            yield Receive(queue=path)
            for held in world.locks[-1:]:
                yield Complete(queue=path, lock_token=held.lock_token or "")


def subscriptions(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send to two subscriptions, one of them with a filter for one SessionId."""
    world.theme = Theme.TOPICS
    yield CreateSubscription(topic="nowhere", subscription="s0")
    topic = CreateTopic(topic=f"n{len(world.topics) + 1}", partitioned=bool(queue.partitioned))
    yield from with_two_subscriptions(world, topic)
    paths = [each.queue for each in world.subscriptions[-2:]]
    rule = {"topic": topic.topic, "subscription": "s0"}
    yield RemoveRule(rule=DEFAULT_RULE, **rule)
    wanted = CorrelationFilter(session_id=world.session(0))
    yield AddRule(rule="r", filter=wanted, **rule)
    for key in (world.session(0), OTHER):
        world.bodies += 1
        message = Message(body=f"m{world.bodies}", session_id=key)
        yield Send(queue=topic.topic, message=message)
    for path in (*paths, *paths):
        yield Receive(queue=path, mode=ReceiveMode.RECEIVE_AND_DELETE)


def conditions(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send messages to subscriptions with one filter each, and receive from each."""
    world.theme = Theme.CONDITIONS
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
    for number in range(MARKED):
        message = world.message(world.subscriptions[-1], number)
        yield Send(queue=topic, message=marked(message, world.marks + number))
    for path in paths:
        for _ in range(MARKED):
            yield Receive(queue=path, mode=ReceiveMode.RECEIVE_AND_DELETE)


OPENINGS: Final = (
    opening("copied", copied, Capability.TOPICS, Capability.PEEK_LOCK),
    opening("subscriptions", subscriptions, Capability.TOPICS, Capability.FILTERS),
    opening("conditions", conditions, Capability.TOPICS, Capability.FILTERS),
)
