"""DUP: copies that are dropped, and messages that are none."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage, Rules, coverage_of
from busproof.model.duplicates import LONGEST_WINDOW, SHORTEST_WINDOW, Duplicates
from busproof.model.state import Entity
from busproof.model.values import Key

__all__ = ["SeenDuplicates", "declined"]

DEFAULT_WINDOW: Final = 600 * v.MICROSECONDS
"""DUP-02: duplicate window in microseconds of an entity that is created without one."""


class SeenDuplicates(Duplicates):
    """Observer of copies."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        """KEY-11, DUP-01 to DUP-09: note what keeping or dropping a message shows."""
        coverage = coverage_of(self)
        message_id = message.message_id
        if message_id is None or not entity.settings.duplicate_detection:
            return super().is_duplicate(entity, message, key)
        notes = coverage.at(entity)
        now = self.namespace.now
        sends = notes.copies.get(message_id, {})
        copy = super().is_duplicate(entity, message, key)
        if copy:
            self._note_dropped(coverage, entity, message, sends.get(key))
            return True
        coverage.kept = self._rules_of_delivery(coverage, entity, message, key, sends)
        recent = any(
            other != key and now - at < entity.settings.duplicate_window
            for other, (at, _, _) in sends.items()
        )
        coverage.show_if((recent and entity.settings.partitioned, "DUP-06"))
        down = coverage.at(entity.base).recovered
        send = (now, (message.session_id, message.partition_key, message.body), down)
        coverage.journal.put(notes.copies, message_id, {**sends, key: send})
        return False

    def _note_dropped(
        self, coverage: Coverage, entity: Entity, message: v.Message, first: "Sent | None"
    ) -> None:
        if coverage.is_forwarding:
            coverage.keep_away(entity, "FWD-13")
        elif coverage.committing is not None:
            coverage.keep_away(entity, "DUP-11")
        if coverage.is_forwarding or not coverage.is_sending:
            return
        coverage.show("KEY-11", "DUP-04")
        if first is None:
            return
        at, (session_id, partition_key, body), recovered = first
        window = entity.settings.duplicate_window
        age = self.namespace.now - at
        other = (session_id, partition_key) != (message.session_id, message.partition_key)
        home = coverage.partition
        back = coverage.at(entity.base).recovered - recovered
        partitioned = entity.settings.partitioned
        coverage.show_if(
            (coverage.at(entity).beyond, "DUP-03"),
            (other and not partitioned, "DUP-05"),
            (coverage.is_gone(entity, body), "DUP-07"),
            (home in back if partitioned else back, "DUP-09"),
            # A bus with too short a window drops an early copy as well, so only a late one is
            # evidence.
            (window == DEFAULT_WINDOW and 2 * age >= DEFAULT_WINDOW, "DUP-02"),
        )

    def _rules_of_delivery(
        self,
        coverage: Coverage,
        entity: Entity,
        message: v.Message,
        key: Key | None,
        sends: "dict[Key | None, Sent]",
    ) -> Rules:
        """DUP-01 to DUP-03, DUP-08, DUP-10: return what the delivery of a message shows.

        A send with its MessageId came before: too long ago, or refused.
        """
        message_id = message.message_id or ""
        notes = coverage.at(entity)
        again = key in sends
        default = entity.settings.duplicate_window == DEFAULT_WINDOW
        refused = notes.declined.get(message_id)
        cases = (
            (again, "DUP-01"),
            (again and notes.beyond, "DUP-03"),
            (again and default, "DUP-02"),
            (not sends and refused, refused or ""),
        )
        return tuple(rule for holds, rule in cases if holds)


Sent = tuple[int, tuple[str | None, str | None, str], frozenset[int]]
"""When a message was sent, its keys and body, and the partitions that were up again by then."""


def declined(coverage: Coverage, entity: Entity, message: v.Message, rule: v.RuleId) -> None:
    """DUP-08, DUP-10: note a MessageId that is not to be remembered."""
    if message.message_id is not None and entity.settings.duplicate_detection:
        coverage.journal.put(coverage.at(entity).declined, message.message_id, rule)


def is_beyond(window: int) -> bool:
    """DUP-03: return whether a duplicate window is beyond its limits."""
    return not SHORTEST_WINDOW <= window <= LONGEST_WINDOW
