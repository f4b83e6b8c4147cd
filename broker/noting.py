"""What has changed of a namespace since it was last written down."""

from collections.abc import Mapping
from typing import Any, Final

import attrs
from immutables import Map

from busproof.broker.changes import NAMESPACE, Changes, Statement
from busproof.broker.durable import (
    OF_ENTITY,
    OF_REGISTRY,
    PIECES,
    TRACKED,
    entity_text,
    pieces_of,
    place_of,
    registry_text,
    rest_text,
    same_piece,
)
from busproof.broker.rows import Kept, Rows
from busproof.broker.tracking import Tracked, Trail
from busproof.oracle.entity import Queue
from busproof.oracle.evolving import evolve
from busproof.oracle.registry import Registry
from busproof.oracle.state import Namespace

__all__ = ["Notes"]

FIRST_PIECE: Final = TRACKED.index(PIECES[0])
NOTHING: Final[Any] = Map()


@attrs.define
class Known:
    """One entity, as it is written and as it was when it was last looked at.

    Attributes:
        number: its id in the databases.
        written: the maps of `TRACKED`, as they are written.
        seen: the entity as it was last seen.
        trails: of each map, the trail, and how far it was followed.
        dirty: of each map, the keys whose values may not be written.
        entity: its own text, as it was last seen, and
        is_new: whether that is to be written.
        rest: the rest of it, as it is written.
        places: map and key to the partition in whose database a piece is.
    """

    number: int
    written: list[Any]
    seen: Queue
    trails: list[tuple[Any, int]]
    dirty: list[set[Any]]
    entity: str
    is_new: bool
    rest: str = ""
    places: dict[tuple[int, Any], int] = attrs.field(factory=dict)


class Notes:
    """Follows a namespace from command to command.

    Args:
        kept: what is kept beside the model's state.
        entities: how many entities there ever were.
    """

    def __init__(self, kept: Kept, entities: int = 0) -> None:
        self._kept = kept
        self._entities = entities
        self._known: dict[str, Known] = {}
        self._trail: tuple[Any, int] = (NOTHING, 0)
        self._gone: list[int] = []
        self._changed: set[str] = set()
        self._registry: Registry | None = None
        self._told = ""
        self._tells = False
        self._spans = False
        self._strays: dict[int, set[int]] = {}

    @property
    def any(self) -> bool:
        """Whether there is something to write."""
        return bool(self._changed or self._gone or self._tells or self._strays)

    def adopt(self, namespace: Namespace, written_as: Mapping[str, tuple[int, Any]]) -> Namespace:
        """Take a namespace for written that was read; returns it with maps that can be followed.

        Args:
            namespace: as it was read.
            written_as: path to the id of the entity, and to the places of its pieces.
        """
        namespace = _followed(namespace)
        self._trail = _end(namespace.queues)
        for path, queue in namespace.queues.items():
            number, places = written_as[path]
            self._known[path] = _known(number, queue, is_new=False)
            self._known[path].places.update(places)
        self._registry, self._told = namespace.registry, registry_text(namespace.registry)
        return namespace

    def look(self, namespace: Namespace) -> Namespace:
        """See what one command has changed; returns the namespace to go on with."""
        queues: Any = namespace.queues
        before, place = self._trail
        trail = getattr(queues, "trail", None)
        if trail is None or trail is not before:
            return self._look_at_all(namespace)
        paths = trail.since(place) if trail.end > place else ()
        if paths is None:
            return self._look_at_all(namespace)
        if not paths and namespace.registry is self._registry:
            return namespace
        namespace, touched = self._look_at(namespace, paths)
        self._trail = _end(namespace.queues)
        trail.shorten()
        self._spans |= len(touched) > 1
        return namespace

    def clear(self, strays: Mapping[int, set[int]]) -> None:
        """Do away with rows of entities that there are none of."""
        self._strays = dict(strays)

    def changes(self, number: int, now: int, namespace: Namespace) -> Changes:
        """What is to be written, which counts as written from now on."""
        found = Changes(number, now, spans=self._spans)
        for place, numbers in self._strays.items():
            for number_of_stray in sorted(numbers):
                found.drop(place, number_of_stray)
        for gone in self._gone:
            found.add(NAMESPACE, Statement.DROP_ENTITY, gone)
            for place in range(namespace.profile.partitions):
                found.drop(place, gone)
        if self._tells:
            found.add(NAMESPACE, Statement.PUT_NOTE, "registry", self._told)
            found.add(NAMESPACE, Statement.PUT_NOTE, "entities", str(self._entities))
        for path in self._changed:
            if (known := self._known.get(path)) is not None:
                self._write(Rows(found, self._kept, path, known.number), known, namespace)
        self._gone, self._changed, self._strays = [], set(), {}
        self._tells = self._spans = False
        found.close()
        return found

    def _look_at_all(self, namespace: Namespace) -> Namespace:
        """A namespace that was not followed so far."""
        namespace = _followed(namespace)
        paths = {*self._known, *namespace.queues}
        namespace, touched = self._look_at(namespace, paths)
        self._trail = _end(namespace.queues)
        self._spans |= len(touched) > 1
        return namespace

    def _look_at(self, namespace: Namespace, paths: Any) -> tuple[Namespace, set[int]]:
        touched: set[int] = set()
        for path in paths:
            queue, known = namespace.queues.get(path), self._known.get(path)
            if known is not None and (queue is None or _is_another(known.seen, queue)):
                self._gone.append(known.number)
                del self._known[path]
                touched.add(NAMESPACE)
                known = None
            if queue is None:
                continue
            if known is None:
                namespace = self._met(namespace, path, queue)
                touched |= {NAMESPACE, *self._all_places(namespace, path)}
            elif known.seen is not queue:
                namespace = _followed_in(namespace, path, queue)
                touched |= self._seen(namespace, path, known)
        if namespace.registry is not self._registry:
            touched |= self._seen_registry(namespace.registry)
        return namespace, touched

    def _met(self, namespace: Namespace, path: str, queue: Queue) -> Namespace:
        """An entity that was not there before; all that it holds is to be written."""
        self._entities += 1
        namespace = _followed_in(namespace, path, queue)
        known = _known(self._entities, namespace.queues[path], is_new=True)
        for dirty, entries in zip(known.dirty, known.written, strict=True):
            dirty.update(entries)
        known.written = [NOTHING] * len(TRACKED)
        self._known[path] = known
        self._changed.add(path)
        self._tells = True
        return namespace

    def _all_places(self, namespace: Namespace, path: str) -> set[int]:
        known = self._known[path]
        return {
            place_of(namespace, known.seen, field, key, entries[key])
            for field, entries in enumerate(pieces_of(known.seen))
            for key in known.dirty[field]
        }

    def _seen(self, namespace: Namespace, path: str, known: Known) -> set[int]:
        """The places where rows of an entity have changed since it was last seen."""
        queue, before = namespace.queues[path], pieces_of(known.seen)
        touched: set[int] = set()
        for field, after in enumerate(pieces_of(queue)):
            for key in _keys(known, field, before[field], after):
                old, new = before[field].get(key), after.get(key)
                if old is new or (field >= FIRST_PIECE and same_piece(old, new)):
                    continue
                known.dirty[field].add(key)
                touched |= {
                    self._place(known, namespace, queue, field, key, each)
                    for each in (old, new)
                    if each is not None
                }
        if _is_told_anew(known.seen, queue) and (text := entity_text(queue)) != known.entity:
            known.entity, known.is_new = text, True
            touched.add(NAMESPACE)
        known.seen = queue
        self._changed.add(path)
        return touched

    def _seen_registry(self, registry: Registry) -> set[int]:
        before, self._registry = self._registry, registry
        if before is not None and all(
            getattr(before, name) is getattr(registry, name) for name in OF_REGISTRY
        ):
            return set()
        text = registry_text(registry)
        if text == self._told:
            return set()
        self._told, self._tells = text, True
        return {NAMESPACE}

    def _place(
        self, known: Known, namespace: Namespace, queue: Queue, field: int, key: Any, value: Any
    ) -> int:
        """Where a row is, or is to be; a piece stays where it was written first."""
        if field < FIRST_PIECE:
            return place_of(namespace, queue, field, key, value)
        found = known.places.get((field, key))
        if found is None:
            found = known.places[field, key] = place_of(namespace, queue, field, key, value)
        return found

    def _write(self, rows: Rows, known: Known, namespace: Namespace) -> None:
        """Write what is not written of an entity."""
        places = set[int]()
        for field, after in enumerate(pieces_of(known.seen)):
            before = known.written[field]
            for key in known.dirty[field]:
                old, new = before.get(key), after.get(key)
                if old is new or (field >= FIRST_PIECE and same_piece(old, new)):
                    continue
                places.add(self._put(rows, known, namespace, field, key, old, new))
            known.dirty[field].clear()
            known.written[field] = after
        if known.is_new:
            rows.entity(known.entity)
            known.is_new = False
        if (rest := rest_text(known.seen)) != known.rest:
            known.rest = rest
            for place in places or {0}:
                rows.rest(place, rest)

    def _put(
        self, rows: Rows, known: Known, namespace: Namespace, field: int, key: Any, *both: Any
    ) -> int:
        """Write a row, or do away with it, or let it move; returns where it is or was."""
        old, new = both
        queue = known.seen
        place = self._place(known, namespace, queue, field, key, old if new is None else new)
        if field < FIRST_PIECE and None not in both:
            before = self._place(known, namespace, queue, field, key, old)
            if before != place:
                rows.drop(before, field, key)
                old = None
        rows.put(place, field, key, old, new)
        if new is None:
            known.places.pop((field, key), None)
        return place


def _known(number: int, queue: Queue, *, is_new: bool) -> Known:
    entries = pieces_of(queue)
    return Known(
        number=number,
        written=entries,
        seen=queue,
        trails=[_end(each) for each in entries],
        dirty=[set() for _ in entries],
        entity=entity_text(queue),
        is_new=is_new,
        rest="" if is_new else rest_text(queue),
    )


def _end(entries: Any) -> tuple[Any, int]:
    return entries.trail, entries.trail.end


def _keys(known: Known, field: int, before: Any, after: Any) -> set[Any]:
    """The keys of a map whose values may have changed since it was last seen."""
    if before is after:
        return set()
    trail, place = known.trails[field]
    known.trails[field] = _end(after)
    found: set[Any] | None = after.trail.since(place) if after.trail is trail else None
    after.trail.shorten()
    return {*before, *after} if found is None else found


def _is_another(seen: Queue, queue: Queue) -> bool:
    """Whether an entity has the name of one that was deleted."""
    return queue is not seen and queue.managed.born != seen.managed.born


def _is_told_anew(before: Queue, after: Queue) -> bool:
    return any(getattr(before, name) is not getattr(after, name) for name in OF_ENTITY)


def _followed(namespace: Namespace) -> Namespace:
    """The namespace with maps that can be followed."""
    queues: Any = namespace.queues
    if not isinstance(queues, Tracked):
        queues = Tracked(Map({path: _with_trails(each) for path, each in queues.items()}))
    return evolve(namespace, queues=queues)


def _followed_in(namespace: Namespace, path: str, queue: Queue) -> Namespace:
    followed = _with_trails(queue)
    if followed is queue:
        return namespace
    return evolve(namespace, queues=namespace.queues.set(path, followed))


def _with_trails(queue: Queue) -> Queue:
    """The entity with maps that can be followed."""
    entries = pieces_of(queue)
    if all(isinstance(each, Tracked) for each in entries):
        return queue
    held: list[Any] = [
        each if isinstance(each, Tracked) else Tracked(each, Trail()) for each in entries
    ]
    messages, scheduled, homes, copies, sessions, states, lines = held
    calendar = attrs.evolve(queue.calendar, entries=scheduled, lines=lines)
    return evolve(
        queue,
        messages=messages,
        homes=homes,
        copies=copies,
        sessions=sessions,
        states=states,
        calendar=calendar,
    )
