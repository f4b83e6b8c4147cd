"""What another namespace refuses of the entities in a configuration, before any message."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.history.moves import Move
from busproof.judging.moving.comparison import Comparison, Said
from busproof.judging.moving.targets import name_target, target_profile
from busproof.model import Namespace
from busproof.model.state import Entity
from busproof.model.values import SETTINGS, EntityKind
from busproof.spec import Catalogue

__all__ = ["compare_settings", "creations_of"]


def compare_settings(
    created: Sequence[v.Command],
    places: Mapping[Any, str],
    catalogue: Catalogue,
    source: v.Profile,
    target: str,
) -> Move:
    """Return what another namespace refuses of these entities and rules.

    Args:
        created: the requests that create them.
        places: request to its place in the file.
        catalogue: the catalogue of rules.
        source: the profile of the namespace that has them.
        target: the name of the other namespace.

    Raises:
        UsageError: there is no such namespace, or it is the one that has them.
    """
    comparison = Comparison(source, target_profile(catalogue, source, target))
    comparison.move.target = name_target(comparison.target, target)
    for command in _order(created):
        said = Said(client="settings", where=places.get(command, ""))
        comparison.saw(command, v.Done(), "settings", said)
    return comparison.move


def creations_of(namespace: Namespace) -> list[v.Command]:
    """Return the requests that would create the entities of a namespace, with their rules."""
    return _order(
        [command for entity in namespace.entities.values() for command in _creation_of(entity)]
    )


def _creation_of(entity: Entity) -> Iterator[v.Command]:
    if entity.kind is EntityKind.QUEUE:
        yield v.CreateQueue(queue=entity.path, **_settings(v.CreateQueue, entity))
    elif entity.kind is EntityKind.TOPIC:
        yield v.CreateTopic(topic=entity.path, **_settings(v.CreateTopic, entity))
    elif entity.kind is EntityKind.SUBSCRIPTION:
        topic, _, name = entity.path.partition(v.SUBSCRIPTIONS)
        place: dict[str, Any] = {"topic": topic, "subscription": name}
        yield v.CreateSubscription(**place, **_settings(v.CreateSubscription, entity))
        if v.DEFAULT_RULE not in [rule.name for rule in entity.rules]:
            yield v.RemoveRule(**place, rule=v.DEFAULT_RULE)
        for rule in entity.rules:
            if rule.name != v.DEFAULT_RULE:
                yield v.AddRule(**place, rule=rule.name, filter=rule.filter, action=rule.action)


def _settings(kind: Any, entity: Entity) -> dict[str, Any]:
    """Return the settings of an entity that a request to create one can have."""
    names = {field.name for field in attrs.fields(kind)}
    return {name: getattr(entity.settings, name) for name in SETTINGS if name in names}


def _order(created: Sequence[v.Command]) -> list[v.Command]:
    """Return the requests in an order in which what an entity forwards to comes before it.

    Those that forward to each other, or to what is missing, come last and are refused.
    """
    known: set[str] = set()
    ordered: list[v.Command] = []
    waiting = list(created)
    while waiting:
        ready = [each for each in waiting if set(_needs_of(each)) <= known]
        if not ready:
            break
        for command in ready:
            ordered.append(command)
            if isinstance(command, v.CreateQueue | v.CreateTopic | v.CreateSubscription):
                known.add(v.created_path(command))
        waiting = [each for each in waiting if each not in ready]
    return ordered + waiting


def _needs_of(command: v.Command) -> tuple[str, ...]:
    if isinstance(command, v.AddRule | v.RemoveRule):
        return (v.subscription_path(command.topic, command.subscription),)
    if isinstance(command, v.CreateSubscription):
        return (command.topic, *v.destinations(command))
    return tuple(v.destinations(command)) if isinstance(command, v.CreateQueue) else ()
