"""A namespace as a store has it, with what is kept beside the model's state."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import attrs

from busproof.broker.changes import NAMESPACE, NUMBERS
from busproof.broker.databases import damaged
from busproof.broker.durable import PIECES, TRACKED, registry_of
from busproof.broker.packing import checked, given
from busproof.broker.rebuilding import Written, rebuilt
from busproof.broker.store import Store
from busproof.broker.wording import read
from busproof.oracle.state import Namespace, with_queue
from busproof.oracle.window import Window

__all__ = ["Loaded", "loaded"]

FIRST_PIECE: Final = TRACKED.index(PIECES[0])
STATES: Final = TRACKED.index("states")


@attrs.define
class Loaded:
    """What was read.

    Attributes:
        namespace: the model's state.
        written_as: path to the entity's id, and to the places of its pieces.
        contents: name to what the model is not told of a message, packed.
        more: path and name to the properties that a message was given.
        stated: path and session id to when its state was last set.
        strays: partition to the ids of entities that it has rows of and that there are none of.
    """

    namespace: Namespace
    written_as: dict[str, tuple[int, dict[tuple[int, Any], int]]] = attrs.field(factory=dict)
    contents: dict[str, bytes] = attrs.field(factory=dict)
    more: dict[tuple[str, str], dict[str, bytes]] = attrs.field(factory=dict)
    stated: dict[tuple[str, str], int] = attrs.field(factory=dict)
    strays: dict[int, set[int]] = attrs.field(factory=dict)


def loaded(store: Store, empty: Namespace) -> Loaded:
    """What a store has.

    Args:
        store: the store.
        empty: the namespace with nothing in it, held to what the store's is held to.

    Raises:
        UsageError: a row cannot be read.
    """
    return _Reading(store, Loaded(empty)).done()


class _Reading:
    def __init__(self, store: Store, found: Loaded) -> None:
        self._store = store
        self._found = found
        self._paths: dict[int, str] = {}
        self._written: dict[int, Written] = {}
        self._versions: dict[int, int] = {}

    def done(self) -> Loaded:
        with self._reading(NAMESPACE, "entities"):
            self._entities()
        for place in self._store.partitions:
            for table, reader in (
                ("rests", self._rests),
                ("pieces", self._pieces),
                ("messages", self._messages),
                ("waiting", self._waiting),
            ):
                with self._reading(place, table):
                    reader(place)
        with self._reading(NAMESPACE, "notes"):
            namespace, now = self._found.namespace, self._store.last[1]
            for number, known in self._written.items():
                namespace = with_queue(namespace, rebuilt(known, now))
                self._written[number] = Written("")
            self._found.namespace = attrs.evolve(
                namespace, registry=self._registry(), now=Window(now, now)
            )
        return self._found

    @contextmanager
    def _reading(self, place: int, table: str) -> Iterator[None]:
        """Says in which table something is that cannot be read."""
        try:
            yield
        except (TypeError, ValueError) as error:
            raise damaged(self._store.path(place), f"of its {table}, {error}") from None

    def _entities(self) -> None:
        rows = self._store.rows(NAMESPACE, "SELECT id, path, entity FROM entities ORDER BY id")
        for number, path, text in rows:
            self._paths[number] = path
            self._written[number] = Written(text)
            self._found.written_as[path] = (number, {})

    def _registry(self) -> Any:
        rows = self._store.rows(NAMESPACE, "SELECT value FROM notes WHERE name = 'registry'")
        for (text,) in rows:
            return registry_of(text)
        return self._found.namespace.registry

    def _known(self, place: int, number: int) -> Written | None:
        known = self._written.get(number)
        if known is None:
            self._found.strays.setdefault(place, set()).add(number)
        return known

    def _rests(self, place: int) -> None:
        for number, version, rest in self._store.rows(place, "SELECT * FROM rests"):
            known = self._known(place, number)
            if known is not None and version >= self._versions.get(number, 0):
                self._versions[number] = version
                self._written[number] = attrs.evolve(known, rest=rest)

    def _pieces(self, place: int) -> None:
        for number, field, name, value in self._store.rows(place, "SELECT * FROM pieces"):
            if (known := self._known(place, number)) is None:
                continue
            path, key, piece = self._paths[number], read(name), read(value)
            if field == STATES:
                piece, stated = piece
                if stated is not None:
                    self._found.stated[path, key] = stated
            known.pieces.setdefault(TRACKED[field], {})[key] = piece
            self._found.written_as[path][1][field, key] = place

    def _messages(self, place: int) -> None:
        sql = "SELECT id, standing, message, content, more FROM messages ORDER BY id"
        contents = self._found.contents
        for known, path, row in self._held(place, sql):
            standing, message, content, more = row
            stored = read(standing, message=read(message))
            known.messages.append(stored)
            body = stored.message.body
            if content is not None:
                contents[body] = checked(content)
            if more is not None:
                self._found.more[path, body] = given(more)

    def _waiting(self, place: int) -> None:
        sql = "SELECT id, standing, message, content FROM waiting ORDER BY id"
        for known, _, (standing, message, content) in self._held(place, sql):
            waiting = read(standing, message=read(message))
            known.waiting.append(waiting)
            if content is not None:
                self._found.contents[waiting.message.body] = checked(content)

    def _held(self, place: int, sql: str) -> Iterator[tuple[Written, str, tuple[Any, ...]]]:
        """The rows of entities that there are."""
        for row in self._store.rows(place, sql):
            number = row[0] >> NUMBERS
            if (known := self._known(place, number)) is not None:
                yield known, self._paths[number], row[1:]
