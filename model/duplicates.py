"""DUP: a second message with a known MessageId is accepted, and then dropped.

An entity with duplicate detection remembers each MessageId for the length of its window, together
with the partition key: on a partitioned entity all copies with one key reach the same broker. A
message that was refused or rolled back was never accepted. What became of the first message does
not matter: a copy is dropped even if the first was completed, dead-lettered or expired.
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.state import DuplicateEntry, Entity, Namespace
from busproof.model.values import Key, Refusal

__all__ = ["Duplicates"]

SHORTEST_WINDOW: Final = 20 * v.MICROSECONDS
LONGEST_WINDOW: Final = 7 * 86_400 * v.MICROSECONDS


def check_window(namespace: Namespace, window: int) -> None:
    """DUP-03: check that a window lasts from 20 seconds to 7 days."""
    if not SHORTEST_WINDOW <= window <= LONGEST_WINDOW:
        raise Refusal(v.Error.INVALID_OPERATION, "DUP-03")


def is_duplicate(namespace: Namespace, entity: Entity, message: v.Message, key: Key | None) -> bool:
    """DUP-01, DUP-04 to DUP-07, KEY-11: return whether a message is a copy; if not, remember it.

    The documents do not say whether a copy extends the window (DUPLICATE-PROLONGS), nor whether an
    empty MessageId counts (EMPTY-KEY).
    """
    message_id = message.message_id
    if message_id is None or not entity.settings.duplicate_detection:
        return False
    if not message_id and namespace.reading("EMPTY-KEY", "set", "unset") == "unset":
        return False
    name = (key, message_id)
    if name not in entity.duplicates:
        namespace.rules.duplicates.remember(namespace, entity, name)
        return False
    if namespace.reading("DUPLICATE-PROLONGS", "first", "last") == "last":
        namespace.rules.duplicates.remember(namespace, entity, name)
    return True


def remember(namespace: Namespace, entity: Entity, name: tuple[Key | None, str]) -> None:
    """DUP-01, DUP-02: remember a MessageId for a full window from now."""
    entry = DuplicateEntry(entity, name, namespace.now + entity.settings.duplicate_window)
    namespace.journal.put(entity.duplicates, name, entry)
    entry.index()


def forget(namespace: Namespace, entry: DuplicateEntry) -> None:
    """DUP-01: forget a MessageId whose window has ended."""
    if entry.entity.duplicates.get(entry.name) is entry and entry.until <= namespace.now:
        namespace.journal.drop(entry.entity.duplicates, entry.name)


@attrs.frozen
class Duplicates:
    """Functions that decide the DUP rules; a mutant replaces one of them."""

    check_window: Callable[[Namespace, int], None] = check_window
    is_duplicate: Callable[[Namespace, Entity, v.Message, Key | None], bool] = is_duplicate
    remember: Callable[[Namespace, Entity, tuple[Key | None, str]], None] = remember
    forget: Callable[[Namespace, DuplicateEntry], None] = forget
