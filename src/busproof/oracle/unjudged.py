"""Entities that are no longer judged, and names that an unanswered request may still affect.

An unanswered request may take effect long after its queue was deleted, on another queue of the same
name. So the name is no longer judged after the deletion, nor are the entities that forward to it or
that it forwards to: no answer about them is a violation or exercises a rule.
"""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.state import Namespace, Topic, is_unjudged, stop_judging_name

_CREATING: Final = (v.CreateQueue, v.RestoreQueue, v.CreateTopic)

LOOKING: Final = (
    *(v.GetQueue, v.GetTopic, v.ListQueues, v.ListTopics, v.ListSubscriptions),
    *(v.Peek, v.GetSessionState, v.ListSessions, v.ListRules),
)
"""Requests that change nothing, however late they arrive."""


def named(command: v.Command) -> tuple[str, ...]:
    """Return the names of the entities in a command, the one that it concerns first.

    The name of a dead-letter queue is replaced by its owner's. The result is empty if the command
    names no entity.
    """
    name, destinations = v.concerned(command), v.destinations(command)
    if name and not destinations:
        return (v.owner_of(name),)
    created = command.topic if isinstance(command, v.CreateTopic) else getattr(command, "queue", "")
    return tuple(v.owner_of(path) for path in (name or created, *destinations) if path)


def is_about_unjudged(namespace: Namespace, command: v.Command) -> bool:
    """Return whether the command concerns or names an entity that is no longer judged."""
    created = (v.created_path(command),) if isinstance(command, v.Creation) else ()
    return any(is_unjudged(namespace, name) for name in (*named(command), *created))


def topic_above(namespace: Namespace, command: v.Command) -> str | None:
    """Return the topic whose subscription paths include the one that is to be created, if any."""
    if not isinstance(command, _CREATING):
        return None
    name, under, _ = v.created_path(command).partition(v.SUBSCRIPTIONS)
    known = namespace.queues.get(name) if under else None
    return name if known is not None and isinstance(known.role, Topic) else None


def stop_judging(namespace: Namespace, *names: str) -> Namespace:
    """Return the namespace that stops judging these names.

    This includes entities that forward to them, or to which they forward, at any distance.
    """
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in namespace.registry.unjudged:
            namespace = stop_judging_name(namespace, name)
            waiting += _joined(namespace, name)
    return namespace


def made(before: Namespace, after: Namespace, name: str) -> Namespace:
    """Return the namespace after an entity was created, as far as it can be judged.

    An unanswered request to this name, or an unanswered creation that forwards to it, may have come
    before the entity. Either can take effect from now on.
    """
    late = (name,) if name in before.registry.pending_effects and name not in before.queues else ()
    waiting = (
        source
        for source, targets in before.registry.pending_forwards.items()
        if name in targets and source not in before.queues
    )
    return stop_judging(after, *late, *waiting)


def is_joined(namespace: Namespace, name: str) -> bool:
    """Return whether this entity forwards, or another one forwards or ever forwarded to it."""
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
    """Yield each entity that forwards, or may, with each of its destinations."""
    for source, destination in namespace.forwarding.items():
        yield v.owner_of(source), v.owner_of(destination)
    for source, destinations in namespace.registry.pending_forwards.items():
        for destination in destinations:
            yield source, destination


def with_pending_effects(namespace: Namespace, command: v.Command, *names: str) -> Namespace:
    """Return the namespace after an unanswered request that may still affect these names."""
    if isinstance(command, LOOKING) or not names:
        return namespace
    registry = namespace.registry
    forwards = registry.pending_forwards
    if isinstance(command, v.CreateQueue | v.CreateSubscription):
        path = v.created_path(command)
        # The subscription may be deleted and then created once more by this request, so its own
        # name may be affected too.
        names = (*names, path)
        before, onward = forwards.get(path, ()), map(v.owner_of, v.destinations(command))
        if after := tuple(dict.fromkeys((*before, *onward))):
            forwards = forwards.set(path, after)
    effects = registry.pending_effects.update(dict.fromkeys(names))
    changed = evolve(registry, pending_effects=effects, pending_forwards=forwards)
    return evolve(namespace, registry=changed)
