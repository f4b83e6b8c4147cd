"""Updating and deleting topics."""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.managing import deleted, lost_update, update_queue
from busproof.oracle.state import Namespace, Topic
from busproof.oracle.transition import Transition
from busproof.oracle.unknowable import given_up, is_joined

__all__ = ["delete_topic", "lost_delete_topic", "lost_update_topic", "update_topic"]


def update_topic(namespace: Namespace, command: v.UpdateTopic) -> Iterator[Transition]:
    """MGMT-04, MGMT-12, MGMT-14: what can change changes, as it does of a queue.

    Where it is open under which time to live a message comes, nothing is told of the topic any
    more: if an update may be in force in part, or something is on its way.
    """
    name = command.topic
    for transition in update_queue(namespace, _as_queue(command)):
        refused = isinstance(transition.outcome, v.Refused)
        if _is_other(namespace, transition, name) and (refused or _is_busy(namespace, name)):
            yield attrs.evolve(transition, next=given_up(transition.next, name))
        else:
            yield transition


def _as_queue(command: v.UpdateTopic) -> v.UpdateQueue:
    """A topic is changed as the queue that it is kept as."""
    return v.UpdateQueue(
        queue=command.topic,
        partitioned=command.partitioned,
        duplicate_detection=command.duplicate_detection,
        time_to_live=command.time_to_live,
        status=command.status,
    )


def _is_other(namespace: Namespace, transition: Transition, name: str) -> bool:
    """Whether messages may live for another time than before."""
    before, after = namespace.queues[name].managed, transition.next.queues[name].managed
    return after.lifetimes is not before.lifetimes


def _is_busy(namespace: Namespace, name: str) -> bool:
    """Whether a message may come that was sent before."""
    topic = namespace.queues[name]
    late = isinstance(topic.role, Topic) and topic.role.adrift
    waits = any(
        transaction is not None and name in transaction.queues
        for transaction in namespace.transactions.values()
    )
    scheduled = len(topic.calendar.entries)
    return bool(late or waits or scheduled or topic.managed.unsettled or is_joined(namespace, name))


def lost_update_topic(namespace: Namespace, command: v.UpdateTopic) -> Namespace:
    """The update may be in force, from now or later on."""
    after = lost_update(namespace, _as_queue(command))
    return after if command.time_to_live is None else given_up(after, command.topic)


def delete_topic(namespace: Namespace, command: v.DeleteTopic) -> Iterator[Transition]:
    """TOPIC-22, MGMT-18: the topic is gone with its subscriptions and all that these held."""
    yield from deleted(namespace, namespace.queues[command.topic])


def lost_delete_topic(namespace: Namespace, command: v.DeleteTopic) -> Namespace:
    """The topic may be gone, now or later, and so may one that is created again."""
    return given_up(namespace, command.topic)
