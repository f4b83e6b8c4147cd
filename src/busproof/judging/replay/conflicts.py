"""Dead ends of overlapping requests: which earlier step is the likely cause.

Where the order is open, the last step before a dead end seldom has anything to do with it. The
journal says which steps changed the records that the failed answers are about: a message that is
locked or gone, one that must not be there, a session. The likely cause is the last of those steps,
or one after which another request of their clients may have come first. This is a guess, which
saves time: a search that follows it proves nothing if it fails.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.evidence import views_of
from busproof.model.journal import Change, Record
from busproof.model.rules import Namespace
from busproof.model.state import Entity

__all__ = ["concerned_records", "is_changed"]

ENOUGH: Final = 20
"""Of the messages that an answer passes over, so many are looked at."""


def concerned_records(event: v.Event, namespace: Namespace, bindings: Bindings) -> Iterator[Record]:
    """Yield the records that decide whether an answer is possible."""
    command = event.command
    path = getattr(command, "queue", "")
    entity = namespace.entities.get(path)
    if entity is None:
        return
    for view in views_of(event.outcome):
        for queued in bindings.ever(path, view.body):
            yield queued
            yield from _before(entity, queued.partition, queued.number)
            if isinstance(event.outcome, v.Peeked):
                line = entity.partitions[queued.partition].line
                yield from islice(line.behind(entity.messages, 0), ENOUGH)
    cached = entity.caches.get(event.connection, ())
    yield from (queued for queued in cached if queued.cached_by == event.connection)
    if isinstance(event.outcome, v.Empty):
        for partition in entity.partitions:
            yield from _before(entity, partition.number, None)
    for token in _tokens(command):
        number = bindings.model_token(path, token).partition("/")[0]
        if number.isdecimal() and (made := bindings.made(entity, int(number))) is not None:
            yield made
    for number in getattr(command, "sequence_numbers", ()):
        made = bindings.made(entity, bindings.model_number(path, number))
        if made is not None:
            yield made
    session = entity.sessions.get(getattr(command, "session_id", None) or "")
    if session is not None:
        yield session
    transaction = namespace.transactions.get(getattr(command, "transaction", None) or "")
    if transaction is not None:
        yield transaction


def _before(entity: Entity, partition: int, number: int | None) -> Iterator[Record]:
    """Yield the first available messages of a partition, up to this number."""
    line = entity.partitions[partition].line
    for count, queued in enumerate(line.available(entity.messages)):
        if count == ENOUGH or (number is not None and queued.number >= number):
            return
        yield queued


def _tokens(command: v.Command) -> Sequence[str]:
    token = getattr(command, "lock_token", None)
    return getattr(command, "lock_tokens", ()) if token is None else (token,)


def is_changed(concerned: set[Record], changes: Sequence[Change]) -> bool:
    """Return whether some of the changes are of these records, or make or remove one of them."""
    return any(_record_of(change) in concerned for change in changes)


def _record_of(change: Change) -> Any:
    thing, key, before = change
    if isinstance(thing, Record):
        return thing
    if type(thing) is dict:
        now = thing.get(key)
        if isinstance(now, Record):
            return now
        return before if isinstance(before, Record) else None
    return None
