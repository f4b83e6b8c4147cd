"""What may have become available to waiting links, so that only those are looked at."""

from collections.abc import Collection, Iterable, Mapping

from busproof.model.journal import Record
from busproof.model.life_cycle import ACTIVE
from busproof.model.management import parts
from busproof.model.state import Entity, QueuedMessage, Session

__all__ = ["Place", "Stirred"]

Place = tuple[str, str | None]
"""The path of an entity, and the id of a session or `None`."""


class Stirred:
    """The entities, and the sessions of them, in which something may have become available."""

    def __init__(self) -> None:
        self._places: dict[str, set[str | None]] = {}
        """Path to session ids, with `None` for the links that name no session."""
        self._whole: set[str] = set()
        """Paths of entities all of whose links may find something."""

    def __bool__(self) -> bool:
        return bool(self._places or self._whole)

    def note(self, record: Record) -> None:
        """Note the change of a record."""
        if isinstance(record, QueuedMessage):
            # A message that was locked or settled is available to nobody; this is most changes.
            if record.cached_by is not None or (record.state is ACTIVE and record.is_there):
                session = record.session
                self._note(record.entity, None if session is None else session.name)
        elif isinstance(record, Session):
            self._note(record.entity, record.name)
        elif isinstance(record, Entity):
            self._whole.update(part.path for part in parts(record))

    def _note(self, entity: Entity, session_id: str | None) -> None:
        # Links that wait for any session are told of each.
        self._places.setdefault(entity.path, set()).update((None, session_id))

    def add(self, places: Iterable[Place]) -> None:
        """Note places that are still to be served."""
        for path, session_id in places:
            self._places.setdefault(path, set()).add(session_id)

    def places(self, waiting: Mapping[str, Collection[str | None]]) -> list[Place]:
        """Return the places in which links wait, in the order of their entities' paths."""
        found: list[Place] = []
        for path in sorted({*self._places, *self._whole} & waiting.keys()):
            line = waiting[path]
            if path in self._whole:
                found += [(path, session_id) for session_id in line]
            else:
                ids = sorted(self._places[path], key=lambda one: (one is not None, one or ""))
                found += [(path, session_id) for session_id in ids if session_id in line]
        return found
