"""Descriptions of entities as administration clients wrote them, in addition to the model's."""

from collections.abc import Mapping
from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.broker.names import belongs_to

__all__ = ["Descriptions", "Written"]


@attrs.frozen(kw_only=True)
class Written:
    """Settings of an entity as clients wrote them.

    Attributes:
        said: properties that the model does not have.
        keys: XML of the entity's authorization rules, whose keys have no effect; may be empty.
        rules: name of a subscription rule to the rule and its XML.
        created: when the entity was created; empty if no client created it.
        updated: when the entity was last updated.
    """

    said: Mapping[str, str] = Map()
    keys: str = ""
    rules: Mapping[str, tuple[v.SubscriptionRule, str]] = Map()
    created: str = ""
    updated: str = ""


NOTHING: Final = Written()


class Descriptions:
    """The descriptions, by path of the entity.

    Args:
        known: the initial descriptions.
        stored: whether changes are written to a store.
    """

    def __init__(self, known: Mapping[str, Written] | None = None, *, stored: bool = False) -> None:
        self._written = dict(known or {})
        self._stored = stored
        self.changed: set[str] = set()
        """Paths whose descriptions must still be written to the store; empty without a store."""

    def __contains__(self, path: str) -> bool:
        """Return whether there is a description of an entity."""
        return path in self._written

    def get(self, path: str) -> Written:
        """Return what clients wrote about an entity; empty settings if they wrote nothing."""
        return self._written.get(path, NOTHING)

    def change(self, path: str, **changes: Any) -> None:
        """Replace some settings in a description."""
        self._written[path] = attrs.evolve(self.get(path), **changes)
        self._note(path)

    def write_rule(self, path: str, rule: v.SubscriptionRule, text: str) -> None:
        """Record the XML of a subscription rule."""
        rules = Map(self.get(path).rules).set(rule.name, (rule, text))
        self.change(path, rules=rules)

    def forget_rule(self, path: str, name: str) -> None:
        """Remove the XML of a deleted rule."""
        rules = Map(self.get(path).rules)
        if name in rules:
            self.change(path, rules=rules.delete(name))

    def forget(self, path: str) -> None:
        """Remove a deleted entity and its subscriptions."""
        self._remove([known for known in self._written if belongs_to(known, path)])

    def clear(self) -> None:
        """Remove all descriptions, because the broker serves another namespace from now on."""
        self._remove(list(self._written))

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            del self._written[path]
            self._note(path)

    def _note(self, path: str) -> None:
        if self._stored:
            self.changed.add(path)
