"""Names of which nothing is told any more, and names that a lost request may still act on.

A request that was never answered may take effect when its queue is long deleted, on another one of
the same name: the name is *haunted*. Of what is called by it once its queue was deleted nothing is
told any more, nor of anything that forwards to it or that it forwards to: nothing that these do is
held against the bus, or shows a rule.
"""

from collections.abc import Iterator

import attrs

from busproof.model.commands import (
    Command,
    CreateTopic,
    GetQueue,
    GetSessionState,
    ListQueues,
    ListRules,
    ListSessions,
    Peek,
)
from busproof.model.dead_letters import owner_of
from busproof.model.entities import SUBSCRIPTIONS, concerned
from busproof.model.state import Namespace

__all__ = ["given_up", "haunted", "is_joined", "is_unknowable", "named"]

LOOKING = GetQueue | ListQueues | Peek | GetSessionState | ListSessions | ListRules
"""Requests that change nothing, however late they come."""


def named(command: Command) -> tuple[str, ...]:
    """The entities that the command names, first the one it is for; of dead letters, whose.

    Nothing where it names none.
    """
    created = command.topic if isinstance(command, CreateTopic) else getattr(command, "queue", "")
    names = (concerned(command) or created, getattr(command, "forward_to", None))
    return tuple(owner_of(name) for name in names if name)


def is_unknowable(namespace: Namespace, name: str) -> bool:
    """Whether nothing is told of this entity any more, or of the topic that it belongs to."""
    unknowable = namespace.registry.unknowable
    return name in unknowable or name.partition(SUBSCRIPTIONS)[0] in unknowable


def given_up(namespace: Namespace, *names: str) -> Namespace:
    """The namespace of which nothing is told under these names any more.

    Nor under those that forward to them, or that they forward to, however far.
    """
    unknowable = namespace.registry.unknowable
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in unknowable:
            unknowable = unknowable.set(name, None)
            waiting += _joined(namespace, name)
    return attrs.evolve(namespace, registry=attrs.evolve(namespace.registry, unknowable=unknowable))


def is_joined(namespace: Namespace, name: str) -> bool:
    """Whether something forwards to this entity, or did, or it forwards itself."""
    queue = namespace.queues.get(name)
    fed = queue is not None and queue.fed
    return fed or next(_joined(namespace, name), None) is not None


def _joined(namespace: Namespace, name: str) -> Iterator[str]:
    for each, queue in namespace.queues.items():
        if queue.settings.forward_to is None:
            continue
        destination = owner_of(queue.settings.forward_to)
        if destination == name:
            yield each
        elif each == name or each.startswith(name + SUBSCRIPTIONS):
            yield destination


def haunted(namespace: Namespace, command: Command, *names: str) -> Namespace:
    """The namespace that remembers a request which was never answered, and what it may act on."""
    registry = namespace.registry
    if isinstance(command, LOOKING) or all(name in registry.haunted for name in names):
        return namespace
    remembered = registry.haunted.update(dict.fromkeys(names))
    return attrs.evolve(namespace, registry=attrs.evolve(registry, haunted=remembered))
