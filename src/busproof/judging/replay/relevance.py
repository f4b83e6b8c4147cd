"""Which earlier choices may matter to an event that fits nowhere.

The search goes back only to choices that may have caused a dead end. Most choices have a tag: an
entity, whose independent part of the history alone they touch, or an entity and a partition, for
what a front end has cached of it. The tag of a choice of what has moved by now names the messages,
too, and that of a choice of a message's partition the message. A choice without a tag, such as a
reading, may matter to everything.
"""

from collections.abc import Hashable
from typing import Final, TypeVar

import attrs

from busproof.judging.decompose import Name
from busproof.judging.replay.choices_made import Moves, Placing
from busproof.judging.replay.evidence import Evidence

__all__ = ["NOTHING", "Relevance"]

T = TypeVar("T")
Caches = frozenset[tuple[str, int]]


@attrs.frozen
class Relevance:
    """What a dead end depends on.

    Attributes:
        parts: the independent parts of the events that failed.
        caches: the entities and partitions whose caches may have caused it; `None` for all.
        bodies: the bodies of the messages whose moves may have caused it; `None` for all.
        places: the queues and topics to whose partitions those may have gone; `None` for all.
    """

    parts: frozenset[Name | None] = frozenset()
    caches: Caches | None = frozenset()
    bodies: frozenset[str] | None = frozenset()
    places: frozenset[str] | None = frozenset()

    def __or__(self, other: "Relevance") -> "Relevance":
        """Return what either depends on."""
        return Relevance(
            self.parts | other.parts,
            _either(self.caches, other.caches),
            _either(self.bodies, other.bodies),
            _either(self.places, other.places),
        )

    def includes(self, tag: Hashable, evidence: Evidence) -> bool:
        """Return whether a choice with this tag may matter."""
        if isinstance(tag, Moves | Placing):
            if not self._concerns(tag):
                return False
            tag = tag.path
        if tag is None:
            return True
        if isinstance(tag, tuple):
            if self.caches is not None and tag not in self.caches:
                return False
            tag, _ = tag
        return evidence.part_of_path(str(tag)) in self.parts

    def _concerns(self, tag: Moves | Placing) -> bool:
        """Return whether a choice is about one of the messages."""
        if isinstance(tag, Moves):
            return self.bodies is None or bool(tag.timers_about(self.bodies))
        if self.places is not None and tag.path not in self.places:
            return False
        return self.bodies is None or tag.body is None or tag.body in self.bodies


def _either(one: frozenset[T] | None, other: frozenset[T] | None) -> frozenset[T] | None:
    return None if one is None or other is None else one | other


NOTHING: Final = Relevance()
