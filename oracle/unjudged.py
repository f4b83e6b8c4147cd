"""Names of which nothing is told any more, and names that a lost request may still act on.

A request that was never answered may take effect when its queue is long deleted, on another one of
the same name: the name is *haunted*. Of what is called by it once its queue was deleted nothing is
told any more, nor of anything that forwards to it or that it forwards to: nothing that these do is
held against the bus, or shows a rule.
"""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.registry import Registry
from busproof.oracle.state import Namespace, Topic, forgotten, is_unknowable

__all__ = [
    "LOOKING",
    "given_up",
    "haunted",
    "is_about_unknowable",
    "is_joined",
    "is_unknowable",
    "made",
    "named",
    "topic_above",
]

LOOKING = (
    v.GetQueue
    | v.GetTopic
    | v.ListQueues
    | v.ListTopics
    | v.ListSubscriptions
    | v.Peek
    | v.GetSessionState
    | v.ListSessions
    | v.ListRules
)
"""Requests that change nothing, however late they come."""


def named(command: v.Command) -> tuple[str, ...]:
    """The entities that the command names, first the one it is for; of dead letters, whose.

    Nothing where it names none.
    """
    created = command.topic if isinstance(command, v.CreateTopic) else getattr(command, "queue", "")
    names = (v.concerned(command) or created, *v.destinations(command))
    return tuple(v.owner_of(name) for name in names if name)


def is_about_unknowable(namespace: Namespace, command: v.Command) -> bool:
    """Whether the command is for an entity of which nothing is told any more, or names one."""
    if not len(namespace.registry.unknowable):
        return False
    created = (v.created_path(command),) if isinstance(command, v.Creation) else ()
    return any(is_unknowable(namespace, name) for name in (*named(command), *created))


def topic_above(namespace: Namespace, command: v.Command) -> str | None:
    """The topic that has a subscription by the name of the queue or topic that is to be created."""
    if not isinstance(command, v.CreateQueue | v.RestoreQueue | v.CreateTopic):
        return None
    name, under, _ = v.created_path(command).partition(v.SUBSCRIPTIONS)
    known = namespace.queues.get(name) if under else None
    return name if known is not None and isinstance(known.role, Topic) else None


def given_up(namespace: Namespace, *names: str) -> Namespace:
    """The namespace of which nothing is told under these names any more.

    Nor under those that forward to them, or that they forward to, however far.
    """
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in namespace.registry.unknowable:
            namespace = forgotten(namespace, name)
            waiting += _joined(namespace, name)
    return namespace


def made(before: Namespace, after: Namespace, name: str) -> Namespace:
    """The namespace after an entity was created, as far as it can be told of.

    A request may have been lost that was sent to this name before there was anything, or the
    creation of something that was to forward to it, which can take effect from now on.
    """
    late = (name,) if name in before.registry.haunted and name not in before.queues else ()
    waiting = (
        source
        for source, targets in before.registry.intended.items()
        if name in targets and source not in before.queues
    )
    return given_up(after, *late, *waiting)


def is_joined(namespace: Namespace, name: str) -> bool:
    """Whether something forwards to this entity, or did, or it forwards itself."""
    queue = namespace.queues.get(name)
    fed = queue is not None and queue.fed
    return fed or next(_joined(namespace, name), None) is not None


def _joined(namespace: Namespace, name: str) -> Iterator[str]:
    for source, destination in _forwarding(namespace):
        if destination == name:
            yield source
        elif source == name or source.startswith(name + v.SUBSCRIPTIONS):
            yield destination


def _forwarding(namespace: Namespace) -> Iterator[tuple[str, str]]:
    """What forwards, or may, and where to."""
    for source, destination in namespace.forwarding.items():
        yield v.owner_of(source), v.owner_of(destination)
    for source, intended in namespace.registry.intended.items():
        for destination in intended:
            yield source, destination


def haunted(namespace: Namespace, command: v.Command, *names: str) -> Namespace:
    """The namespace that remembers a request which was never answered, and what it may act on."""
    if isinstance(command, LOOKING) or not names:
        return namespace
    registry = namespace.registry
    if isinstance(command, v.CreateQueue | v.CreateSubscription):
        for destination in v.destinations(command):
            registry = _with_intended(registry, v.created_path(command), v.owner_of(destination))
    remembered = registry.haunted.update(dict.fromkeys(names))
    return attrs.evolve(namespace, registry=attrs.evolve(registry, haunted=remembered))


def _with_intended(registry: Registry, source: str, destination: str) -> Registry:
    before = registry.intended.get(source, ())
    if destination in before:
        return registry
    return attrs.evolve(registry, intended=registry.intended.set(source, (*before, destination)))
