"""Contexts of generated mutants: such a mutant is wrong inside its context, and right outside."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = ["applies", "contexts_for", "may_arise"]

MANY: Final = 100

OF_NAMESPACES: Final[Mapping[str, Callable[[Namespace], bool]]] = {
    "outage": lambda namespace: any(namespace.down.values()),
    "recovered": lambda namespace: bool(namespace.down) and not any(namespace.down.values()),
    "transaction": lambda namespace: bool(namespace.transactions),
}
"""The last one begins with the first transaction, so that a commit is in it."""

OF_ENTITIES: Final[Mapping[str, Callable[[Entity], bool]]] = {
    "dead-letters": lambda entity: entity.owner is not entity,
    "sessions": lambda entity: entity.settings.requires_session,
    "subscription": lambda entity: entity.kind is EntityKind.SUBSCRIPTION,
    "regular": lambda entity: not entity.settings.partitioned,
}

OF_CALLS: Final[Mapping[str, Callable[[int], bool]]] = {
    "second": lambda call: call == 2,
    "late": lambda call: call > MANY,
}

CONCERNED: Final = frozenset({"entity", "queued", "session", "subscription", "topic", "command"})
"""Parameters of a rule that identify its entity."""

NEEDS: Final[Mapping[str, type]] = {
    "outage": v.TakePartitionDown,
    "recovered": v.BringPartitionUp,
    "transaction": v.BeginTransaction,
    "subscription": v.CreateSubscription,
}
"""The command without which there is no such context."""


def contexts_for(parameters: Sequence[str]) -> tuple[str, ...]:
    """Return the contexts in which a rule with these parameters can be wrong."""
    if parameters[:1] != ["self"]:
        return ()
    entities = () if CONCERNED.isdisjoint(parameters) else tuple(OF_ENTITIES)
    return (*OF_NAMESPACES, *entities, *OF_CALLS)


def may_arise(context: str, commands: Iterable[v.Command]) -> bool:
    """Return whether the commands can lead to the context."""
    needed = NEEDS.get(context)
    return needed is None or any(isinstance(command, needed) for command in commands)


def applies(context: str, namespace: Namespace, args: tuple[Any, ...], call: int) -> bool:
    """Return whether a call of a rule's function is in a context.

    Args:
        context: one of those that `contexts_for` returns for the rule.
        namespace: the namespace that the function is called with.
        args: its other arguments; the first entity among them is the one concerned.
        call: how many calls of this function there were in the namespace, including this one.
    """
    if context in OF_NAMESPACES:
        return OF_NAMESPACES[context](namespace)
    if context in OF_CALLS:
        return OF_CALLS[context](call)
    entities = (_entity(namespace, arg) for arg in args)
    entity = next((entity for entity in entities if entity is not None), None)
    return entity is not None and OF_ENTITIES[context](entity)


def _entity(namespace: Namespace, arg: Any) -> Entity | None:
    if isinstance(arg, Entity):
        return arg
    entity = getattr(arg, "entity", None)
    if isinstance(entity, Entity):
        return entity
    path = getattr(arg, "queue", None)
    return namespace.entities.get(path) if isinstance(path, str) else None
