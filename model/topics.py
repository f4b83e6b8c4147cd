"""TOPIC: topics, their subscriptions, and which requests an entity accepts.

A topic stores no messages: an accepted message is copied, within the partition that took it, into
each subscription with a matching rule. A subscription is read like a queue, and shares its topic's
partitions and outages. Senders address topics and queues. Receivers address queues, subscriptions
and dead-letter queues.
"""

from collections.abc import Callable
from typing import Final, NoReturn

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.state import Entity, Namespace
from busproof.model.values import EntityKind, EntitySettings, InTransit, Refusal

__all__ = ["Topics"]

ACTIVE: Final = v.EntityStatus.ACTIVE
DEFAULT_RULE: Final = v.SubscriptionRule(name=v.DEFAULT_RULE, filter=v.TrueFilter())


def missing(namespace: Namespace, path: str) -> NoReturn:
    """MGMT-10: refuse a request for an entity that does not exist."""
    owner = namespace.entities.get(v.owner_of(path))
    if owner is not None and owner.kind is EntityKind.TOPIC:
        raise Refusal(v.Error.INVALID_OPERATION, "TOPIC-05")
    raise Refusal(v.Error.NOT_FOUND, "MGMT-10")


def addressed(namespace: Namespace, path: str) -> Entity:
    """TOPIC-06, DLQ-11: return the queue or topic with this path; refuse other entities."""
    entity = namespace.entities.get(path) or missing(namespace, path)
    if entity.base is not entity:
        subscription = entity.kind is EntityKind.SUBSCRIPTION
        raise Refusal(v.Error.INVALID_OPERATION, "TOPIC-06" if subscription else "DLQ-11")
    return entity


def sendable(namespace: Namespace, path: str) -> Entity:
    """MGMT-26, MGMT-28: return the queue or topic with this path, unless sending is disabled."""
    entity = addressed(namespace, path)
    if entity.status is not ACTIVE and not entity.status.takes:
        raise Refusal(v.Error.ENTITY_DISABLED, "MGMT-26")
    return entity


def readable(namespace: Namespace, path: str) -> Entity:
    """TOPIC-05: return the entity with this path, unless it is a topic, which has no messages."""
    entity = namespace.entities.get(path) or missing(namespace, path)
    if entity.kind is EntityKind.TOPIC:
        raise Refusal(v.Error.INVALID_OPERATION, "TOPIC-05")
    return entity


def receivable(namespace: Namespace, path: str) -> Entity:
    """MGMT-27, MGMT-28: return the entity with this path, unless receiving is disabled."""
    entity = namespace.rules.topics.readable(namespace, path)
    if entity.status is not ACTIVE and not entity.status.gives:
        raise Refusal(v.Error.ENTITY_DISABLED, "MGMT-27")
    return entity


def distribute(
    namespace: Namespace, topic: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """TOPIC-01, TOPIC-04, TOPIC-08, TOPIC-25: copy a message to each matching subscription.

    DISABLED-COPIES decides whether a disabled subscription gets copies.
    """
    rules = namespace.rules
    onward = transit._replace(lifetime=topic.settings.time_to_live)
    for subscription in topic.subscriptions or ():
        disabled = subscription.status is v.EntityStatus.DISABLED
        if disabled and namespace.reading("DISABLED-COPIES", "collected", "missed") == "missed":
            continue
        for copy in rules.subscription_rules.copies(namespace, subscription, message):
            rules.messages.arrive(namespace, subscription, copy, partition, onward)


def create_topic(namespace: Namespace, command: v.CreateTopic, connection: str) -> Answer:
    """MGMT-02, MGMT-03, MGMT-09, SIZE-01, QUOTA-03: create a topic."""
    rules, management = namespace.rules, namespace.rules.management
    management.check_name(namespace, command.topic)
    management.check_basic(namespace)
    partitioned = rules.premium.partitioned(namespace, command.partitioned, command.api_version)
    size = rules.sizes.granted_size(namespace, command.max_size)
    settings = EntitySettings.of(command, partitioned=partitioned, max_size=size)
    management.create(namespace, command.topic, EntityKind.TOPIC, settings)
    return Answer(DONE, rules=("MGMT-02",))


def create_subscription(
    namespace: Namespace, command: v.CreateSubscription, connection: str
) -> Answer:
    """TOPIC-17 to TOPIC-19, TOPIC-21, FILTER-01: create a subscription of a topic."""
    rules = namespace.rules
    topic = namespace.entities.get(command.topic) or missing(namespace, command.topic)
    if topic.subscriptions is None:
        raise Refusal(v.Error.NOT_FOUND, "TOPIC-19")
    rules.limits.check_short_name(namespace, command.subscription, "TOPIC-18")
    path = v.subscription_path(command.topic, command.subscription)
    known = {rules.topics.folded(other.path) for other in topic.subscriptions}
    if rules.topics.folded(path) in known:
        raise Refusal(v.Error.ALREADY_EXISTS, "TOPIC-21")
    own = topic.settings
    settings = EntitySettings.of(command, partitioned=own.partitioned, max_size=own.max_size)
    kind = EntityKind.SUBSCRIPTION
    subscription = rules.management.create(namespace, path, kind, settings, topic)
    subscription.rules = (DEFAULT_RULE,)
    namespace.journal.touch(topic)
    topic.subscriptions += (subscription,)
    return Answer(DONE, rules=("TOPIC-03",))


def folded(name: str) -> str:
    """TOPIC-21: return the name of a subscription in the form in which names are compared."""
    return name.lower()


def topic_of(namespace: Namespace, path: str) -> Entity:
    """MGMT-10: return the topic with this path."""
    topic = namespace.entities.get(path) or missing(namespace, path)
    if topic.kind is not EntityKind.TOPIC:
        raise Refusal(v.Error.INVALID_OPERATION)
    return topic


def get_topic(namespace: Namespace, command: v.GetTopic, connection: str) -> Answer:
    """MGMT-11, MGMT-21, SIZE-04, TOPIC-24: describe a topic."""
    topic = topic_of(namespace, command.topic)
    namespace.rules.management.count(namespace, topic)
    settings = topic.settings
    description = v.TopicDescription(
        topic=topic.path,
        partitioned=settings.partitioned,
        duplicate_detection=settings.duplicate_detection,
        duplicate_window=settings.duplicate_window,
        time_to_live=settings.time_to_live,
        max_size=namespace.rules.sizes.greatest_size(namespace, topic),
        subscription_count=len(topic.subscriptions or ()),
        availability=namespace.rules.management.availability(namespace, topic),
    )
    return Answer(v.TopicDescribed(description=description), rules=("MGMT-11",))


def update_topic(namespace: Namespace, command: v.UpdateTopic, connection: str) -> Answer:
    """MGMT-04, MGMT-12, MGMT-14: change the settings of a topic."""
    topic = topic_of(namespace, command.topic)
    if command.status is v.EntityStatus.RECEIVE_DISABLED:
        raise Refusal(v.Error.INVALID_OPERATION)
    settings = attrs.asdict(command)
    update = v.UpdateQueue(queue=settings.pop("topic"), **settings)
    namespace.rules.management.apply_update(namespace, topic, update)
    return Answer(DONE, rules=("MGMT-12",))


def delete_topic(namespace: Namespace, command: v.DeleteTopic, connection: str) -> Answer:
    """MGMT-15, TOPIC-22: delete a topic with its subscriptions."""
    topic = topic_of(namespace, command.topic)
    namespace.rules.management.delete(namespace, topic)
    return Answer(DONE, rules=("TOPIC-22",))


def list_topics(namespace: Namespace, command: v.ListTopics, connection: str) -> Answer:
    """MGMT-16: return the name of each topic once."""
    names = (path for path, topic in namespace.entities.items() if topic.kind is EntityKind.TOPIC)
    return Answer(v.Listed(names=tuple(sorted(names))), rules=("MGMT-16",))


def list_subscriptions(
    namespace: Namespace, command: v.ListSubscriptions, connection: str
) -> Answer:
    """MGMT-16: return the name of each subscription of a topic, spelt as at its creation."""
    topic = topic_of(namespace, command.topic)
    before = len(v.subscription_path(topic.path, ""))
    names = sorted(subscription.path[before:] for subscription in topic.subscriptions or ())
    return Answer(v.Listed(names=tuple(names)), rules=("MGMT-16",))


@attrs.frozen
class Topics:
    """Functions that decide the TOPIC rules; a mutant replaces one of them."""

    addressed: Callable[[Namespace, str], Entity] = addressed
    sendable: Callable[[Namespace, str], Entity] = sendable
    readable: Callable[[Namespace, str], Entity] = readable
    receivable: Callable[[Namespace, str], Entity] = receivable
    distribute: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = distribute
    create_topic: Callable[[Namespace, v.CreateTopic, str], Answer] = create_topic
    create_subscription: Callable[..., Answer] = create_subscription
    folded: Callable[[str], str] = folded
    get_topic: Callable[[Namespace, v.GetTopic, str], Answer] = get_topic
    update_topic: Callable[[Namespace, v.UpdateTopic, str], Answer] = update_topic
    delete_topic: Callable[[Namespace, v.DeleteTopic, str], Answer] = delete_topic
    list_topics: Callable[[Namespace, v.ListTopics, str], Answer] = list_topics
    list_subscriptions: Callable[[Namespace, v.ListSubscriptions, str], Answer] = list_subscriptions
