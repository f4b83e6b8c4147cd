"""Topics and their subscriptions, when one is deleted: the vocabulary deletes queues only."""

import attrs

from busproof.model.dead_letters import graves_of
from busproof.model.state import Namespace, Queue, Subscription, Topic, with_queue

__all__ = ["without_relations"]


def without_relations(namespace: Namespace, gone: Queue) -> Namespace:
    """The namespace without the subscriptions of a topic that is gone, or with one fewer."""
    path = gone.settings.queue
    if isinstance(gone.role, Topic):
        queues = namespace.queues
        for name in gone.role.subscriptions:
            for each in (name, *graves_of(name)):
                if each in queues:
                    queues = queues.delete(each)
        return attrs.evolve(namespace, queues=queues)
    if not isinstance(gone.role, Subscription):
        return namespace
    topic = namespace.queues.get(gone.role.topic)
    if topic is None or not isinstance(topic.role, Topic):
        return namespace
    rest = tuple(each for each in topic.role.subscriptions if each != path)
    role = attrs.evolve(topic.role, subscriptions=rest, revision=topic.role.revision + 1)
    return with_queue(namespace, attrs.evolve(topic, role=role))
