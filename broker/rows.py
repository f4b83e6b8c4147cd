"""The rows that are written of one entity."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

import attrs
from immutables import Map

from busproof.broker.changes import NAMESPACE, Changes, Statement, row_id
from busproof.broker.durable import TRACKED
from busproof.broker.messages import Content
from busproof.broker.packing import packed, told
from busproof.broker.wording import written
from busproof.oracle.stored import SessionData, SessionLock

__all__ = ["Kept", "Rows"]

MESSAGES: Final = TRACKED.index("messages")
WAITING: Final = TRACKED.index("calendar.entries")


class Kept(Protocol):
    """What is kept beside the model's state, and written with it."""

    def content(self, name: str) -> Content | None:
        """What the model is not told of a message."""

    def more(self, path: str, name: str) -> Mapping[str, bytes]:
        """The properties that a message of an entity was given by who settled it."""

    def stated(self, path: str, session_id: str) -> int | None:
        """When the state of a session was last set, in milliseconds since 1970."""


@attrs.frozen
class Rows:
    """Writes rows of an entity.

    Attributes:
        found: the commit.
        kept: what is kept beside the model's state.
        path: of the entity.
        number: its id.
    """

    found: Changes
    kept: Kept
    path: str
    number: int

    def put(self, place: int, field: int, key: Any, old: Any, new: Any) -> None:
        """Write what is under a key of a map of `TRACKED`; `None` is nothing."""
        if new is None:
            self.drop(place, field, key)
        elif field == MESSAGES:
            self._message(place, key, old, new)
        elif field == WAITING:
            row = row_id(self.number, key)
            self.found.add(place, Statement.PUT_WAITING, row, *self._sent(new))
        else:
            text = written(self._piece(key, new))
            self.found.add(place, Statement.PUT_PIECE, self.number, field, written(key), text)

    def drop(self, place: int, field: int, key: Any) -> None:
        """Do away with what is under a key."""
        if field == MESSAGES:
            self.found.add(place, Statement.DROP_MESSAGE, row_id(self.number, key))
        elif field == WAITING:
            self.found.add(place, Statement.DROP_WAITING, row_id(self.number, key))
        else:
            self.found.add(place, Statement.DROP_PIECE, self.number, field, written(key))

    def entity(self, text: str) -> None:
        """Write the entity itself."""
        self.found.add(NAMESPACE, Statement.PUT_ENTITY, self.number, self.path, text)

    def rest(self, place: int, text: str) -> None:
        """Write what there is of the entity beside what it holds."""
        self.found.add(place, Statement.PUT_REST, self.number, self.found.number, text)

    def _message(self, place: int, key: int, old: Any, new: Any) -> None:
        row, more = row_id(self.number, key), told(self.kept.more(self.path, new.message.body))
        if old is not None and old.message is new.message:
            standing = written(new, without=("message",))
            self.found.add(place, Statement.SET_STANDING, row, standing, more)
        else:
            self.found.add(place, Statement.PUT_MESSAGE, row, *self._sent(new), more)

    def _sent(self, held: Any) -> tuple[str, str, bytes | None]:
        """How a message stands, what the model knows of it, and all the rest."""
        content = self.kept.content(held.message.body)
        standing = written(held, without=("message",))
        return standing, written(held.message), None if content is None else packed(content)

    def _piece(self, key: Any, value: Any) -> Any:
        if isinstance(value, SessionLock):
            return attrs.evolve(value, taken=Map())
        if isinstance(value, SessionData):
            return value, self.kept.stated(self.path, key)
        return value
