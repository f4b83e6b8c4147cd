"""Decomposition of a history into parts that can be judged independently.

**Independent parts.** A request concerns one queue with its dead letters, a topic with its
subscriptions, or a transaction and the queues of its sends. What is known of one queue does
not depend on another queue unless a transaction or forwarding relates them. So a history has an
order in which every answer was allowed exactly if each part has one. An order of the whole gives an
order of each part by leaving out the other events. The orders of the parts can be merged by the
earliest times at which events took effect (`merged`): two events keep their order if one returned
before the other was called.

Three things are common to all queues and keep them together: the reading of empty properties
(EMPTY-KEY) once it was observed; commands that may concern everything;
and the number of entities once a quota may be reached.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, get_args

import attrs

from busproof import vocabulary as v
from busproof.model.quotas import MOST_PARTITIONED

__all__ = ["Connections", "Groups", "Name", "concerned", "is_crowded", "merged", "parts"]

_COUNTED: Final = frozenset((*get_args(v.Creation), v.DeleteQueue, v.DeleteTopic))
_SENDING: Final = (v.Send, v.Schedule)

Name = tuple[str, ...]
"""Something that a command concerns: its kind and, if there are several, its name."""


class Groups:
    """Disjoint sets of related names, as a union-find structure."""

    def __init__(self) -> None:
        self._parents: dict[Any, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        """Iterate over all names."""
        return iter(tuple(self._parents))

    def root(self, name: Any) -> Any:
        """Return the name that represents the set of this one."""
        parents = self._parents
        root = name
        while (parent := parents.setdefault(root, root)) != root:
            root = parent
        # Path compression: later look-ups of these names take one step.
        while parents[name] != root:
            parents[name], name = root, parents[name]
        return root

    def join(self, one: Any, other: Any) -> None:
        """Join the sets of two names."""
        self._parents[self.root(one)] = self.root(other)


@attrs.define
class Connections:
    """Relations between the entities of a history, added command by command in any order.

    Attributes:
        groups: the sets of related names.
        entities: the names of all entities.
        counted: the names of entities that are created or deleted, because quotas count them, and
            that are not joined for it yet.
        whole: whether some command may concern everything.
    """

    groups: Groups = attrs.field(factory=Groups)
    entities: set[str] = attrs.field(factory=set)
    counted: set[Name] = attrs.field(factory=set)
    whole: bool = False

    def add(self, command: v.Command) -> Name:
        """Add the relations that a command makes; return one of the names that it concerns."""
        entities = _entities(command)
        first, *others = _names(command, entities)
        if others:
            for other in others:
                self.groups.join(first, other)
        else:
            self.groups.root(first)
        self.entities.update(entities)
        kind = type(command)
        if kind in _COUNTED:
            # Quotas depend on the number of entities, which creations and deletions change.
            self.counted.add(first)
            self.entities.update(_names_in(command))
        self.whole = self.whole or command.extent is v.Extent.EVERYTHING
        return first

    def finish(self) -> None:
        """Join the entities that a quota relates; call it after commands were added."""
        # Below the least quota no creation can be refused for it, so creations are independent.
        if len(self.entities) >= MOST_PARTITIONED:
            for name in self.counted:
                self.groups.join(name, ("number of entities",))
            self.counted.clear()

    def part(self, name: Name) -> Name | None:
        """Return the part of commands about this name; call `finish` first."""
        return None if self.whole else self.groups.root(name)


def parts(events: Sequence[v.Event]) -> list[list[int]]:
    """Return the indices of the events, divided into independent parts."""
    connections = Connections()
    names = [connections.add(event.command) for event in events]
    connections.finish()
    by_part: dict[Name | None, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        by_part[connections.part(name)].append(index)
    return list(by_part.values())


def is_crowded(events: Iterable[v.Event]) -> bool:
    """Return whether the entities may ever reach a quota."""
    names = {name for event in events for name in _names_in(event.command)}
    return len(names) >= MOST_PARTITIONED


def _names_in(command: v.Command) -> Iterator[str]:
    """Yield the names of entities in a command, with that of the one that it creates."""
    yield from _entities(command)
    created = _name_created(command)
    if created is not None:
        yield created


def _name_created(command: v.Command) -> str | None:
    return v.created_path(command) if isinstance(command, v.Creation) else None


def _entities(command: v.Command) -> list[str]:
    """Return the names of existing entities and of destinations in a command."""
    kind: Any = type(command)
    named = [getattr(command, field) for field in _fields(kind)]
    return [*(name for name in named if name is not None), *v.destinations(command)]


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """Return the fields that name entities in this kind of command; cached for speed."""
    return tuple(field for field in ("queue", "topic") if hasattr(kind, field))


def concerned(command: v.Command) -> Iterator[Name]:
    """Yield the names that a command concerns; there is at least one."""
    return _names(command, _entities(command))


def _names(command: v.Command, entities: Sequence[str]) -> Iterator[Name]:
    transaction = getattr(command, "transaction", None)
    for name in entities:
        yield ("entity", _owner(name))
    # A commit takes effect on all entities of its transaction at once, so it relates them.
    if transaction is not None:
        yield ("transaction", transaction)
    # EMPTY-KEY is read alike on a whole bus: what one queue shows of it decides for all queues.
    for message in _messages(command):
        if "" in (message.session_id, message.partition_key, message.message_id):
            yield ("empty properties",)
            break
    if not entities and transaction is None:
        yield ("nothing",)


def _messages(command: v.Command) -> tuple[v.Message, ...]:
    """Return the messages that a command sends."""
    if isinstance(command, _SENDING):
        return (command.message,)
    return command.messages if isinstance(command, v.SendBatch) else ()


def _owner(name: str) -> str:
    """Return the queue or topic that an entity belongs to: the first part of its path.

    Queues whose paths begin alike stay together, which is safe but not necessary.
    """
    return name.partition("/")[0]


def merged(events: Sequence[v.Event], orders: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return an order of all events that agrees with the orders of the parts and with the times."""
    moments: list[tuple[int, int, int, int]] = []
    for part, order in enumerate(orders):
        # An event takes effect after its call, and after the events before it in its part.
        latest = 0
        for place, index in enumerate(order):
            latest = max(latest, events[index].called)
            moments.append((latest, part, place, index))
    return tuple(index for *_, index in sorted(moments))
