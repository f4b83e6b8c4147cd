"""Topics and subscriptions: what they share with queues, and requests to the wrong entity.

A subscription is received from, settled and peeked like a queue, and a topic accepts sends like
one, so both are represented as queues. The differences are here and in `messages/enqueueing.py`.
"""

from typing import Any, Final, get_args

import attrs

from busproof import vocabulary as v
from busproof.oracle.registry import troubled_like
from busproof.oracle.state import Namespace, Queue, Subscription, Topic, with_queue
from busproof.oracle.transition import Observation, Transition, refusal

_ON_A_TOPIC: Final = (
    v.CreateSubscription,
    v.Send,
    v.SendBatch,
    v.Schedule,
    v.CancelScheduled,
    v.TakePartitionDown,
    v.BringPartitionUp,
    *get_args(v.TopicManagement),
)
_OF_SUBSCRIPTIONS: Final = (v.CreateSubscription, v.AddRule, v.RemoveRule, v.ListRules)
# The documents do not say whether a receive or peek from a topic is refused or finds nothing.
_NOTHING: Final[dict[type[v.Command], v.Outcome]] = {
    v.Receive: v.Empty(),
    v.ReceiveBatch: v.Empty(),
    v.Peek: v.Peeked(),
}


def topic_of(namespace: Namespace, role: Subscription) -> tuple[Queue, Topic]:
    """Return the topic of a subscription, as a queue and as a role."""
    return named_topic(namespace, role.topic)


def named_topic(namespace: Namespace, name: str) -> tuple[Queue, Topic]:
    """Return the topic of this name, as a queue and as a role; the entity must be a topic."""
    topic = namespace.queues[name]
    if not isinstance(topic.role, Topic):
        raise AssertionError(f"{name} has subscriptions, but is not a topic")  # noqa: TRY004 - no input gets here
    return topic, topic.role


def of_like_name(namespace: Namespace, path: str) -> Queue | None:
    """TOPIC-21: return a subscription whose name differs only in upper and lower case."""
    topic = namespace.queues.get(path.partition(v.SUBSCRIPTIONS)[0])
    if topic is None or not isinstance(topic.role, Topic):
        return None
    others = topic.role.subscriptions
    alike = (other for other in others if other != path and other.lower() == path.lower())
    return next((namespace.queues[other] for other in alike), None)


def shared_fields(value: object, *without: str) -> dict[str, Any]:
    """Return the fields of a topic's request or description that a queue's has, too."""
    names = (field.name for field in attrs.fields(type(value)))  # type: ignore[arg-type]  # always attrs'
    return {name: getattr(value, name) for name in names if name not in ("topic", *without)}


def misaddressed(
    namespace: Namespace, queue: Queue, command: v.Command, observed: Observation
) -> tuple[Transition, ...]:
    """TOPIC-05, TOPIC-06: return the answers to a request that this kind of entity cannot serve.

    The result is empty if the entity supports the command. A topic has no dead letters: a request
    for them is refused, or returns no message.
    """
    rules: tuple[v.RuleId, ...]
    if queue.role is None:
        # Subscriptions belong to topics, and rules to subscriptions; a queue has neither.
        of_subscriptions = isinstance(command, _OF_SUBSCRIPTIONS)
        owner = namespace.queues[v.owner_of(queue.settings.queue)]
        if not of_subscriptions and not isinstance(owner.role, Topic):
            return ()
        rules = ("TOPIC-06",) if of_subscriptions else ()
    else:
        is_topic = isinstance(queue.role, Topic)
        if is_topic is isinstance(command, _ON_A_TOPIC):
            return ()
        rules = ("TOPIC-05",) if is_topic else ("TOPIC-06",)
    # The documents name no error for requests that the kind of entity does not have.
    refused = refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
    if rules == ("TOPIC-06",) or type(command) not in _NOTHING:
        return (refused,)
    nothing = Transition(outcome=_NOTHING[type(command)], next=namespace, rules=rules)
    # What is scheduled at a topic waits there, and a peek of the topic was seen to show it.
    peeked = observed.outcome
    if isinstance(peeked, v.Peeked) and peeked.messages and _are_scheduled(queue, peeked):
        return (refused, nothing, Transition(outcome=peeked, next=namespace))
    return (refused, nothing)


def _are_scheduled(topic: Queue, peeked: v.Peeked) -> bool:
    """SCHED-08: return whether a peek of a topic shows only messages that are scheduled there."""
    bodies = [view.body for view in peeked.messages]
    states = {view.state for view in peeked.messages} <= {None, v.MessageState.SCHEDULED}
    calendar = topic.calendar
    waiting = (
        sum(place in calendar.entries for place in calendar.bodies.get(body, ())) for body in bodies
    )
    return states and all(
        bodies.count(body) <= count for body, count in zip(bodies, waiting, strict=True)
    )


def has_no_such_setting(queue: Queue, command: v.UpdateQueue) -> bool:
    """Return whether an update names a setting that no document gives this kind of entity.

    A topic can be disabled for sending and a subscription for receiving (ROLE-STATUS); duplicate
    detection and partitioning are the topic's.
    """
    if isinstance(queue.role, Topic):
        return command.status is v.EntityStatus.RECEIVE_DISABLED
    if isinstance(queue.role, Subscription):
        of_topic = (command.partitioned, command.duplicate_detection, command.max_size)
        return of_topic != (None, None, None) or command.status is v.EntityStatus.SEND_DISABLED
    return False


def with_partitions_of_topic(namespace: Namespace, name: str) -> Namespace:
    """Return the namespace in which a subscription has its topic's present outages.

    It also has the topic's evidence on partitions of keys, if copies are stored in the message's
    partition (SUBSCRIPTION-PARTITIONS).
    """
    queue = namespace.queues.get(v.owner_of(name))
    if queue is None or not isinstance(queue.role, Subscription):
        # Queues and topics have outages of their own.
        return namespace
    topic = namespace.queues[queue.role.topic]
    partitions: dict[str, Any] = {"outages": topic.outages, "recovered": topic.recovered}
    homes = topic.homes if shares_homes(namespace) else queue.homes
    managed = troubled_like(queue.managed, topic.managed)
    shared = attrs.evolve(queue, homes=homes, managed=managed, **partitions)
    namespace = with_queue(namespace, shared)
    # Dead letters of a subscription are in its partitions, so its outages reach them.
    for path in v.dead_letter_queues_of(queue.settings.queue):
        dead = namespace.queues.get(path)
        if dead is not None:
            managed = troubled_like(dead.managed, topic.managed)
            namespace = with_queue(namespace, attrs.evolve(dead, managed=managed, **partitions))
    return namespace


def returned(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace in which a topic has its subscription's evidence on partitions of keys.

    Both are the same if copies are stored in the message's partition (SUBSCRIPTION-PARTITIONS).
    """
    if not isinstance(queue.role, Subscription) or not shares_homes(namespace):
        return namespace
    topic = namespace.queues[queue.role.topic]
    # Comparing the identity is enough, because most requests leave the table as it is.
    if topic.homes is queue.homes:
        return namespace
    return with_queue(namespace, attrs.evolve(topic, homes=queue.homes))


def shares_homes(namespace: Namespace) -> bool:
    """Return whether a copy surely is in its message's partition (SUBSCRIPTION-PARTITIONS)."""
    return namespace.reading("SUBSCRIPTION-PARTITIONS") == "same"
