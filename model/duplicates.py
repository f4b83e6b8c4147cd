"""DUP: a second message with a known MessageId is accepted, and then dropped.

An entity with duplicate detection remembers each MessageId for the length of its window, together
with the partition key: on a partitioned entity all copies with one key reach the same broker. A
message that was refused or rolled back was never accepted. What became of the first message does
not matter: a copy is dropped even if the first was completed, dead-lettered or expired.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import DuplicateProlongs, EmptyKey
from busproof.model.family import Family
from busproof.model.state import DuplicateEntry, Entity
from busproof.model.values import Key, Refusal

__all__ = ["Duplicates"]

SHORTEST_WINDOW: Final = 20 * v.MICROSECONDS
LONGEST_WINDOW: Final = 7 * 86_400 * v.MICROSECONDS


class Duplicates(Family):
    """The rules of DUP."""

    def check_window(self, window: int) -> None:
        """DUP-03: check that a window lasts from 20 seconds to 7 days."""
        if not SHORTEST_WINDOW <= window <= LONGEST_WINDOW:
            raise Refusal(v.Error.INVALID_OPERATION, "DUP-03")

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        """DUP-01, DUP-04 to DUP-07, KEY-11: return whether a message is a copy, or remember it.

        The documents do not say whether a copy extends the window (DUPLICATE-PROLONGS), nor whether
        an empty MessageId counts (EMPTY-KEY).
        """
        message_id = message.message_id
        if message_id is None or not entity.settings.duplicate_detection:
            return False
        if not message_id and self.namespace.reading(EmptyKey) is EmptyKey.UNSET:
            return False
        name = (key, message_id)
        if name not in entity.duplicates:
            self.remember(entity, name)
            return False
        if self.namespace.reading(DuplicateProlongs) is DuplicateProlongs.LAST:
            self.remember(entity, name)
        return True

    def remember(self, entity: Entity, name: tuple[Key | None, str]) -> None:
        """DUP-01, DUP-02: remember a MessageId for a full window from now."""
        entry = DuplicateEntry(entity, name, self.namespace.now + entity.settings.duplicate_window)
        self.namespace.journal.put(entity.duplicates, name, entry)
        entry.index()

    def forget(self, entry: DuplicateEntry) -> None:
        """DUP-01: forget a MessageId whose window has ended."""
        if entry.entity.duplicates.get(entry.name) is entry and self.namespace.has_passed(
            entry.until
        ):
            self.namespace.journal.drop(entry.entity.duplicates, entry.name)
