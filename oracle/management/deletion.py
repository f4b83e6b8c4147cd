"""What a deletion takes away, and what is remembered of it."""

import attrs

from busproof.oracle.forwarding.forward_retries import is_mere_destination
from busproof.oracle.outages import Outages
from busproof.oracle.registry import Buried
from busproof.oracle.state import (
    Namespace,
    Queue,
    Subscription,
    Topic,
    everywhere,
    with_queue,
    without_queue,
)
from busproof.oracle.unjudged import given_up, is_joined

__all__ = ["buried"]


def buried(namespace: Namespace, queue: Queue) -> Namespace:
    """MGMT-15, TOPIC-22, TOPIC-23: the namespace without a queue, a topic or a subscription.

    A topic takes its subscriptions with it; a subscription leaves its topic and the others.
    """
    role = queue.role
    if isinstance(role, Subscription):
        return _parted(namespace, queue, role)
    name = queue.settings.queue
    if isinstance(role, Topic):
        if _has_rules_in_transactions(namespace, name):
            namespace = given_up(namespace, name)
        namespace = _perhaps_given_up(namespace, queue)
        for path in role.subscriptions:
            namespace = _gone(namespace, namespace.queues[path], with_topic=True)
    return _lasting(_gone(namespace, queue), queue)


def _gone(namespace: Namespace, queue: Queue, *, with_topic: bool = False) -> Namespace:
    """The namespace without one entity; of what was given up nothing is told.

    What was to go on to it can do so no more (FWD-20); what becomes of messages that were to go on
    from it is left open.
    """
    namespace = _perhaps_given_up(namespace, queue)
    name, settings = queue.settings.queue, queue.settings
    namespace = without_queue(namespace, name)
    registry = namespace.registry
    restored = queue.managed.restored
    buried = Buried(queue.bodies, bool(settings.partitioned), restored, with_topic=with_topic)
    registry = attrs.evolve(registry, buried=registry.buried.set(name, buried))
    return attrs.evolve(namespace, registry=registry)


def _perhaps_given_up(namespace: Namespace, queue: Queue) -> Namespace:
    name = queue.settings.queue
    simple = not is_joined(namespace, name) or is_mere_destination(namespace, queue)
    if name in namespace.registry.haunted or not simple:
        return given_up(namespace, name)
    return namespace


def _lasting(namespace: Namespace, queue: Queue) -> Namespace:
    """Outages may last beyond a deletion: the entity's, and of partitions that it had not."""
    name, outages, registry = queue.settings.queue, queue.outages, namespace.registry
    before = registry.outages.get(name, Outages(outages.told))
    others = (before.down | before.doubt) & ~everywhere(namespace, queue.settings)
    lasting = Outages(outages.told, doubt=outages.down | outages.doubt | others)
    registry = attrs.evolve(registry, outages=registry.outages.set(name, lasting))
    return attrs.evolve(namespace, registry=registry)


def _parted(namespace: Namespace, queue: Queue, role: Subscription) -> Namespace:
    """TOPIC-23: the namespace without a subscription; its topic goes on with the others.

    What waits in a transaction may come to one that is created again under its name.
    """
    topic = namespace.queues[role.topic]
    if not isinstance(topic.role, Topic):
        raise AssertionError("a subscription is of a topic")  # noqa: TRY004
    path = queue.settings.queue
    if _is_awaited(namespace, role.topic):
        namespace = given_up(namespace, path)
    others = tuple(each for each in topic.role.subscriptions if each != path)
    parted = attrs.evolve(topic.role, subscriptions=others, parted=True)
    return with_queue(_gone(namespace, queue), attrs.evolve(topic, role=parted))


def _is_awaited(namespace: Namespace, topic: str) -> bool:
    """Whether anything waits in a transaction for a topic, or for its subscriptions' rules."""
    waits = any(
        transaction is not None and topic in transaction.queues
        for transaction in namespace.transactions.values()
    )
    return waits or _has_rules_in_transactions(namespace, topic)


def _has_rules_in_transactions(namespace: Namespace, topic: str) -> bool:
    return any(
        change.topic == topic
        for transaction in namespace.transactions.values()
        if transaction is not None
        for change in transaction.changes
    )
