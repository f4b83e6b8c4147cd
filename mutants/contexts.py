"""Contexts in which a generated mutant is wrong, and outside of which it is right."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from busproof.model.state import Entity, Namespace
from busproof.model.values import EntityKind

__all__ = ["CONTEXTS", "applies"]

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
    "second": lambda call: call == 2,  # noqa: PLR2004
    "late": lambda call: call > MANY,
}

CONTEXTS: Final = (*OF_NAMESPACES, *OF_ENTITIES, *OF_CALLS)


def applies(context: str, namespace: Namespace, args: tuple[Any, ...], call: int) -> bool:
    """Whether a call of a rule is in a context.

    Args:
        context: one of `CONTEXTS`.
        namespace: of the call.
        args: the other arguments, the first entity among which is the one concerned.
        call: how many calls of this rule there were in the namespace, with this one.
    """
    if context in OF_NAMESPACES:
        return OF_NAMESPACES[context](namespace)
    if context in OF_CALLS:
        return OF_CALLS[context](call)
    entity = next((found for arg in args if (found := _entity(namespace, arg)) is not None), None)
    return entity is not None and OF_ENTITIES[context](entity)


def _entity(namespace: Namespace, arg: Any) -> Entity | None:
    if isinstance(arg, Entity):
        return arg
    entity = getattr(arg, "entity", None)
    if isinstance(entity, Entity):
        return entity
    path = getattr(arg, "queue", None)
    return namespace.entities.get(path) if isinstance(path, str) else None
