"""What of a namespace is durable, and in which form it is written down.

Every field of an entity's state is in exactly one of the lists here, as a test holds them to: what
is written for the entity, what is written by the key, the rest, what is derived of these, and what
is forgotten, because it only tells which rules an answer shows, or only who judges needs it.
"""

from typing import Any, Final

import attrs
from immutables import Map

from busproof.broker.wording import read, written
from busproof.oracle.entity import Queue, Subscription
from busproof.oracle.keys import SESSION_ID, home_name
from busproof.oracle.registry import Registry
from busproof.oracle.state import Namespace
from busproof.oracle.stored import Key, SessionLock

__all__ = [
    "DERIVED",
    "FORGOTTEN",
    "OF_ENTITY",
    "OF_REGISTRY",
    "OF_REST",
    "PIECES",
    "TRACKED",
    "entity_text",
    "pieces_of",
    "place_of",
    "registry_of",
    "registry_text",
    "rest_text",
    "same_piece",
]

OF_ENTITY: Final = ("settings", "outages", "role", "doubtful", "managed", "remembers")
"""Written when an entity comes or changes, in the namespace's own database."""

PIECES: Final = ("homes", "copies", "sessions", "states", "calendar.lines")
"""Written for each key, in a partition's database."""

TRACKED: Final = ("messages", "calendar.entries", *PIECES)
"""All that grows with what an entity holds, each a map."""

OF_REST: Final = (
    "arrivals",
    "receivers",
    "spread",
    "seekers",
    "recovered",
    "peeked",
    "spent",
    "settlements",
    "latest_number",
    "latest_deferred",
    "sought",
    "fed",
    "kept_away",
    "outlasted",
    "outage",
    "pledged",
    "batched",
    "calendar.scheduled",
    "calendar.loose",
    "calendar.cancelled",
    "calendar.doubted",
    "deaths.shown",
    "deaths.aside",
    "deaths.cached",
    "room.arrived",
    "room.taken",
    "room.largest",
    "room.full",
    "room.refused",
)
"""Written together, beside whatever else changes of the entity."""

DERIVED: Final = (
    "bodies",
    "ready",
    "lines",
    "tallies",
    "locks",
    "timers",
    "members",
    "numbers",
    "deferred",
    "fronts",
    "calendar.due",
    "calendar.bodies",
    "calendar.numbers",
    "calendar.sessions",
    "calendar.sizes",
    "calendar.mortal",
    "deaths.ahead",
    "deaths.due",
    "deaths.left",
    "room.held",
    "room.apart",
    "room.keys",
    "room.mortal",
)

FORGOTTEN: Final = ("declined", "namesakes", "latest_numbers", "tokens", "passed")

OF_REGISTRY: Final = (
    "creations",
    "haunted",
    "intended",
    "unknowable",
    "outages",
    "refused",
    "dark",
)
"""What of the registry is written; only who judges needs the rest."""


def field_of(queue: Queue, name: str) -> Any:
    """A field of an entity, or of what is within it: `calendar.lines`."""
    within, _, field = name.rpartition(".")
    return getattr(getattr(queue, within) if within else queue, field)


def pieces_of(queue: Queue) -> list[Any]:
    """The maps of `TRACKED`, in that order."""
    calendar = queue.calendar
    return [
        queue.messages,
        calendar.entries,
        queue.homes,
        queue.copies,
        queue.sessions,
        queue.states,
        calendar.lines,
    ]


def entity_text(queue: Queue) -> str:
    """What is written of an entity as such, whatever it holds."""
    role = queue.role
    if isinstance(role, Subscription):
        role = attrs.evolve(role, kept_out=Map(), taken=Map())
    managed = attrs.evolve(queue.managed, before=Map())
    changed = attrs.evolve(queue, role=role, managed=managed)
    return written(tuple(getattr(changed, name) for name in OF_ENTITY))


def rest_text(queue: Queue) -> str:
    """What is written of an entity beside what it holds."""
    return written(tuple(field_of(queue, name) for name in OF_REST))


def registry_text(registry: Registry) -> str:
    """What is written of a namespace besides its entities."""
    return written(tuple(getattr(registry, name) for name in OF_REGISTRY))


def registry_of(text: str) -> Registry:
    """The registry that a text was written of.

    Raises:
        ValueError: nothing was written like this.
    """
    return Registry(**dict(zip(OF_REGISTRY, read(text), strict=True)))


def same_piece(before: Any, after: Any) -> bool:
    """Whether what is written of a piece is the same; which messages a lock holds they say."""
    if before is after:
        return True
    if isinstance(before, SessionLock) and isinstance(after, SessionLock):
        return bool(attrs.evolve(before, taken=Map()) == attrs.evolve(after, taken=Map()))
    return bool(before == after)


def place_of(namespace: Namespace, queue: Queue, field: int, key: Any, value: Any) -> int:
    """The partition in whose database something is written."""
    name = TRACKED[field]
    if name in ("messages", "calendar.entries"):
        return _number(value.where)
    if name == "homes":
        return _number(value)
    if name in ("sessions", "states"):
        key = Key(SESSION_ID, key)
    elif name == "copies":
        key = value[0].key if value else None
    if not isinstance(key, Key):
        return 0
    return _number(queue.homes.get(home_name(namespace.profile, key), 0))


def _number(where: int) -> int:
    """The partition of a set of one; of a set of several, or of none, any."""
    return max(0, where.bit_length() - 1)
