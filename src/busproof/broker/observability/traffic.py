"""Counts of requests, and of messages sent and delivered."""

from collections import Counter
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.broker.names import belongs_to

__all__ = ["Asked", "Moved", "Traffic"]

UNKNOWN: Final = ""
"""Name for entities that do not exist, because clients could name any number of them."""


@attrs.frozen
class Asked:
    """Requests of one kind to one entity with the same result.

    Attributes:
        entity: the entity; empty if the command has none, or it does not exist.
        command: the name of the command in the vocabulary.
        error: the error that refused them; empty if they were not refused.
    """

    entity: str
    command: str
    error: str


@attrs.frozen
class Moved:
    """Messages into an entity or out of it."""

    entity: str
    direction: str


class Traffic:
    """The counts of a namespace since its beginning."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, type[v.Command], str]] = Counter()
        self._came: Counter[str] = Counter()
        self._went: Counter[str] = Counter()

    @property
    def asked(self) -> dict[Asked, int]:
        """The number of requests by entity, command and error."""
        return {
            Asked(entity, kind.__name__, error): count
            for (entity, kind, error), count in self._asked.items()
        }

    @property
    def moved(self) -> dict[Moved, int]:
        """The number of messages by entity and direction; redeliveries count again."""
        ways = (("in", self._came), ("out", self._went))
        return {Moved(name, way): count for way, counts in ways for name, count in counts.items()}

    def count(self, command: v.Command, outcome: v.Outcome, times: int = 1) -> None:
        """Count a request and its outcome; with `times=-1`, take the count back."""
        entity = getattr(command, "queue", None) or v.concerned(command) or UNKNOWN
        kind, result = type(command), type(outcome)
        if isinstance(outcome, v.Refused):
            error = outcome.error
            # A queue that could not be created does not exist either.
            is_new = kind is v.CreateQueue and error is not v.Error.ALREADY_EXISTS
            where = UNKNOWN if is_new or error is v.Error.NOT_FOUND else entity
            self._asked[where, kind, error.value] += times
            return
        self._asked[entity, kind, ""] += times
        if kind in (v.Send, v.Schedule):
            self._came[entity] += times
        elif isinstance(command, v.SendBatch):
            self._came[entity] += times * len(command.messages)
        elif result is v.Received:
            self._went[entity] += times
        elif isinstance(outcome, v.ReceivedSeveral):
            self._went[entity] += times * len(outcome.messages)

    def forget(self, path: str) -> None:
        """Remove the counts of a deleted entity and of its subscriptions."""
        for counts in (self._came, self._went):
            for name in [entity for entity in counts if belongs_to(entity, path)]:
                del counts[name]
        for key in [known for known in self._asked if belongs_to(known[0], path)]:
            del self._asked[key]
