"""Deletion of entities, and the records that stay of them."""

import attrs

from busproof.oracle.changes import with_registry
from busproof.oracle.forwarding.forward_retries import is_mere_destination
from busproof.oracle.management.topics import topic_of
from busproof.oracle.outages import Outages
from busproof.oracle.registry import Tombstone
from busproof.oracle.state import (
    Namespace,
    Queue,
    Subscription,
    Topic,
    everywhere,
    with_queue,
    without_queue,
)
from busproof.oracle.transactions.limits import is_in_transaction
from busproof.oracle.unjudged import is_joined, stop_judging


def delete_entity(namespace: Namespace, queue: Queue) -> Namespace:
    """MGMT-15, TOPIC-22, TOPIC-23: return the namespace without this entity.

    A topic is deleted together with its subscriptions. If a subscription is deleted, its topic and
    the other subscriptions stay.
    """
    role = queue.role
    # A subscription's outages are its topic's, which stays, so they need no record.
    if isinstance(role, Subscription):
        return _parted(namespace, queue, role)
    name = queue.settings.queue
    if isinstance(role, Topic):
        # The documents do not say what a commit does with a changed rule whose topic is gone.
        if _has_rules_in_transactions(namespace, name):
            namespace = stop_judging(namespace, name)
        namespace = _perhaps_given_up(namespace, queue)
        for path in role.subscriptions:
            namespace = _gone(namespace, namespace.queues[path], with_topic=True)
    return _lasting(_gone(namespace, queue), queue)


def _gone(namespace: Namespace, queue: Queue, *, with_topic: bool = False) -> Namespace:
    """Return the namespace without one entity, and with a record of it.

    Names that are no longer judged stay so. Messages can no longer be forwarded to the entity
    (FWD-20); those in transit to it may be lost.
    """
    namespace = _perhaps_given_up(namespace, queue)
    name, settings = queue.settings.queue, queue.settings
    restored = queue.managed.restored
    # The bodies are kept so that a message of this entity that turns up in a later one of the same
    # name is recognised (MGMT-15).
    tombstone = Tombstone(queue.bodies, bool(settings.partitioned), restored, with_topic=with_topic)
    tombstones = namespace.registry.tombstones.set(name, tombstone)
    return with_registry(without_queue(namespace, name), tombstones=tombstones)


def _perhaps_given_up(namespace: Namespace, queue: Queue) -> Namespace:
    name = queue.settings.queue
    # A late request may act on a later entity of this name, and so may messages in transit to it.
    simple = not is_joined(namespace, name) or is_mere_destination(namespace, queue)
    if name in namespace.registry.pending_effects or not simple:
        return stop_judging(namespace, name)
    return namespace


def _lasting(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace with the outages that may outlast the deletion of the entity."""
    name, outages, known = queue.settings.queue, queue.outages, namespace.registry.outages
    before = known.get(name, Outages(outages.identified))
    # A later entity of this name may also have partitions that this one lacked.
    others = (before.down | before.doubt) & ~everywhere(namespace, queue.settings)
    # Whether an outage outlasts its entity is open, so none of them is certain any more.
    lasting = Outages(outages.identified, doubt=outages.down | outages.doubt | others)
    return with_registry(namespace, outages=known.set(name, lasting))


def _parted(namespace: Namespace, queue: Queue, role: Subscription) -> Namespace:
    """TOPIC-23: return the namespace without a subscription; its topic keeps the others.

    A message in a transaction may still reach a new subscription of the same name, so the name may
    no longer be judged.
    """
    topic, of_topic = topic_of(namespace, role)
    path = queue.settings.queue
    awaited = is_in_transaction(namespace, role.topic)
    if awaited or _has_rules_in_transactions(namespace, role.topic):
        namespace = stop_judging(namespace, path)
    others = tuple(subscription for subscription in of_topic.subscriptions if subscription != path)
    parted = attrs.evolve(of_topic, subscriptions=others, parted=True)
    return with_queue(_gone(namespace, queue), attrs.evolve(topic, role=parted))


def _has_rules_in_transactions(namespace: Namespace, topic: str) -> bool:
    return any(
        change.topic == topic
        for transaction in namespace.transactions.values()
        if transaction is not None
        for change in transaction.changes
    )
