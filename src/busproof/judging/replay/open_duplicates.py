"""Copies where the documents leave open what counts as one.

A MessageId that comes again under another key may be a copy (DUPLICATES-ACROSS-KEYS). A message of
a transaction may be compared, and its window may begin, at its send or at the commit
(DUPLICATE-IN-TRANSACTION). A bus that declares no limits may keep a window that is shorter than
the shortest (DUP-03).
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING

from busproof import vocabulary as v
from busproof.judging.floor import Floor
from busproof.judging.replay.guide import Guide
from busproof.model.duplicates import SHORTEST_WINDOW, Duplicates
from busproof.model.state import BufferedSend, DuplicateEntry, Entity, NamespaceState
from busproof.model.values import Key

if TYPE_CHECKING:
    from busproof.model.rules import Rules

__all__ = ["OpenDuplicates"]

Name = tuple[Key | None, str]


class OpenDuplicates(Duplicates):
    """Duplicates of a bus that may decide as it likes."""

    def __init__(self, namespace: NamespaceState, rules: "Rules") -> None:
        super().__init__(namespace, rules)
        # For each message of a transaction: whether it was a copy when it was sent.
        self._were_copies: dict[BufferedSend, bool] = {}
        # For a window that a commit has begun: when it began if the send began it.
        self._sent: dict[DuplicateEntry, int] = {}

    @property
    def _guide(self) -> Guide:
        guide = self.namespace.choices
        assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
        return guide

    def check_window(self, window: int) -> None:
        """DUP-03: let a bus without limits accept a window that is too short, and keep it."""
        guide = self._guide
        event = guide.event
        is_done = event is not None and not isinstance(event.outcome, v.Refused)
        if window >= SHORTEST_WINDOW or guide.keeps_limits or not is_done:
            super().check_window(window)

    def note_sent(self, buffered: BufferedSend) -> None:
        """DUPLICATE-IN-TRANSACTION: note whether a message is a copy when it is sent."""
        name = buffered.key, buffered.message.message_id
        was_copy = name in buffered.entity.duplicates
        self.namespace.journal.put(self._were_copies, buffered, was_copy)

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        """DUPLICATES-ACROSS-KEYS, DUPLICATE-IN-TRANSACTION: return whether a message is a copy."""
        if message.message_id is None:
            return super().is_duplicate(entity, message, key)
        name = key, message.message_id
        buffered = self._guide.delivered
        is_direct = buffered is not None and buffered.entity is entity
        sent = buffered if is_direct else None
        self._end_early(entity, name)
        # What was accepted between the send and the commit came earlier in any case.
        may_count = sent is not None and self._were_copies.get(sent, False)
        if (
            may_count
            and name not in entity.duplicates
            and self._guide.take("DUP-11", (False, True), entity.path)
        ):
            return True
        if super().is_duplicate(entity, message, key):
            return True
        if self._is_across_keys(entity, name):
            self.forget_new(entity, name)
            return True
        entry = entity.duplicates.get(name)
        if sent is not None and entry is not None:
            self.namespace.journal.put(self._sent, entry, sent.sent)
        return False

    @property
    def value(self) -> Hashable:
        """What is noted of messages in transactions, as a value."""
        return (
            frozenset(
                (one.entity.path, one.message, one.sent, was_copy)
                for one, was_copy in self._were_copies.items()
            ),
            frozenset(
                (entry.entity.path, entry.name, began) for entry, began in self._sent.items()
            ),
        )

    def forget_behind(self, floor: Floor) -> None:
        """Forget messages of transactions that are over, and windows that have ended."""
        floor.drop(self._were_copies, lambda buffered, _: buffered not in floor.sends)
        floor.drop(self._sent, lambda entry, _: floor.is_gone(entry))

    def _end_early(self, entity: Entity, name: Name) -> None:
        """DUPLICATE-IN-TRANSACTION: end a window that began with a send in a transaction."""
        entry = entity.duplicates.get(name)
        began = None if entry is None else self._sent.get(entry)
        if began is None or not self.namespace.has_passed(began + entity.settings.duplicate_window):
            return
        if self._guide.take("DUP-11", (False, True), entity.path):
            self.forget_new(entity, name)

    def _is_across_keys(self, entity: Entity, name: Name) -> bool:
        """DUPLICATES-ACROSS-KEYS: return whether a message is a copy of one with another key."""
        readings = self.namespace.profile.readings
        if readings.get("DUPLICATES-ACROSS-KEYS") == "per-key":
            return False
        names = self._guide.bindings.names_of_id(entity, name[1])
        is_used = any(other != name and other in entity.duplicates for other in names)
        return is_used and self._guide.take("DUPLICATES-ACROSS-KEYS", (False, True), entity.path)

    def forget_new(self, entity: Entity, name: Name) -> None:
        """Forget the window that a message would have begun if it were no copy."""
        self.namespace.journal.drop(entity.duplicates, name)

    def remember(self, entity: Entity, name: Name) -> None:
        """Note the keys under which a MessageId was used."""
        super().remember(entity, name)
        self._guide.bindings.note_name(entity, name)
