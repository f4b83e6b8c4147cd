"""Names of messages, locks and numbers: those of the bus, and the records of a model for them."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.model.journal import Change
from busproof.model.state import QueuedMessage, ScheduledMessage

__all__ = ["Records", "name_of", "views_in"]

Numbered = QueuedMessage | ScheduledMessage
Place = tuple[str, str]
UNKNOWN: Final = "unknown "
"""Beginning of a token that no lock of the model has."""
LEAST: Final = 10_000
"""Number of known numbers up to which none is forgotten."""


def is_there(record: Numbered) -> bool:
    """Return whether a message is still in its entity, or still scheduled there."""
    if isinstance(record, QueuedMessage):
        return record.is_there
    return record.entity.scheduled.get(record.number) is record


def name_of(message: v.Message | v.MessageView) -> Hashable:
    """Return what tells a message from others, wherever it is."""
    return message.body, message.message_id


def views_in(outcome: v.Outcome) -> tuple[v.MessageView, ...]:
    """Return the messages that a receive returned."""
    if isinstance(outcome, v.Received):
        return (outcome.message,)
    return outcome.messages if isinstance(outcome, v.ReceivedSeveral) else ()


class Records:
    """The messages of a model by the names that the bus gave them."""

    def __init__(self) -> None:
        self._by_body: dict[Place, list[QueuedMessage]] = {}
        self._numbers: dict[tuple[str, int], Numbered] = {}
        self._tokens: dict[Place, tuple[QueuedMessage, str]] = {}
        self._bound: set[Numbered] = set()
        self._most = LEAST

    def note(self, changes: Sequence[Change]) -> list[QueuedMessage]:
        """Note the messages that a step has enqueued, and return them."""
        enqueued = []
        for table, key, _ in changes:
            record = table.get(key) if type(table) is dict and type(key) is int else None
            if isinstance(record, QueuedMessage):
                place = record.entity.path, record.message.body
                known = self._by_body.setdefault(place, [])
                if record not in known:
                    known.append(record)
                    enqueued.append(record)
        return enqueued

    def find(self, path: str, view: v.MessageView) -> QueuedMessage | None:
        """Return the message of an entity that a view shows; `None` if the model has none."""
        known = self._numbers.get((path, view.sequence_number or -1))
        if isinstance(known, QueuedMessage) and known.is_there and known.entity.path == path:
            return known
        alike = list(self._alike(path, view))
        # Of several that are alike, one whose number is not known yet is the next one.
        unbound = (queued for queued in alike if queued not in self._bound)
        return next(unbound, alike[0] if alike else None)

    def _alike(self, path: str, view: v.MessageView) -> Iterator[QueuedMessage]:
        place = path, view.body
        there = [queued for queued in self._by_body.get(place, ()) if queued.is_there]
        if place in self._by_body:
            self._by_body[place] = there
        for queued in there:
            if view.message_id is None or queued.message.message_id in (None, view.message_id):
                yield queued

    def bind(self, path: str, view: v.MessageView, queued: QueuedMessage) -> None:
        """Note the number and the lock that the bus has shown for a message."""
        self.number(path, view.sequence_number, queued)
        if view.lock_token is not None and queued.token is not None:
            self._tokens[path, view.lock_token] = queued, queued.token

    def number(self, path: str, number: int | None, record: Numbered) -> None:
        """Note the number that the bus has given to a message."""
        if number is None:
            return
        self._numbers[path, number] = record
        self._bound.add(record)
        if len(self._numbers) > self._most:
            self._forget_gone()
            self._most = max(LEAST, 2 * len(self._numbers))

    def _forget_gone(self) -> None:
        """Forget messages that are gone, so that a long history needs little memory."""
        numbers = self._numbers.items()
        self._numbers = {place: record for place, record in numbers if is_there(record)}
        tokens = self._tokens.items()
        self._tokens = {place: lock for place, lock in tokens if lock[0].is_there}
        self._by_body = {
            place: left
            for place, known in self._by_body.items()
            if (left := [queued for queued in known if queued.is_there])
        }
        self._bound = set(self._numbers.values())

    def find_numbered(self, path: str, number: int) -> Numbered | None:
        """Return the message for which the bus has shown a number."""
        return self._numbers.get((path, number))

    def find_locked(self, path: str, token: str) -> tuple[QueuedMessage, str] | None:
        """Return the message that the bus locked under a token, and the model's own token."""
        return self._tokens.get((path, token))

    def token(self, path: str, token: str) -> str:
        """Return the model's token for one of the bus's; if it is unknown, one of no lock."""
        known = self._tokens.get((path, token))
        return UNKNOWN + token if known is None else known[1]
