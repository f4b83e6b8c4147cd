"""Tokens and numbers that a client uses although no answer has shown them.

The answer that would have shown them was lost, or left them out. So a token may be that of any lock
which nobody has seen, and a number that of any deferred or scheduled message whose number nobody
knows.
"""

from collections.abc import Iterator
from typing import TypeVar

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings, Numbered
from busproof.judging.replay.evidence import base_path, numbers_of, tokens_of
from busproof.judging.replay.guide import Guide
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage

__all__ = ["Unseen"]

T = TypeVar("T")


class Unseen:
    """The locks and messages of a replay that no answer has shown.

    Args:
        namespace: the model's namespace.
        guide: the policy that chooses what a token or number stands for.
        bindings: the bus's numbers and tokens, which learns what was chosen.
    """

    def __init__(self, namespace: Namespace, guide: Guide, bindings: Bindings) -> None:
        self._namespace = namespace
        self._guide = guide
        self._bindings = bindings

    def recognise(self, event: v.Event) -> None:
        """Choose what the unknown tokens and numbers of a request stand for."""
        command = event.command
        entity = self._namespace.entities.get(getattr(command, "queue", ""))
        if entity is None:
            return
        is_done = not isinstance(event.outcome, v.Refused)
        for token in tokens_of(command):
            if not self._bindings.knows_token(entity, token):
                locks = list(self._unseen_locks(entity))
                record = self._choose("LOCK-07", entity, locks, is_done=is_done)
                if record is not None:
                    self._bindings.bind_token(record, token)
        for number in numbers_of(command):
            if not self._bindings.knows_number(entity, number):
                records = [
                    one for one in self._find_unnumbered(entity) if self._bindings.fits(one, number)
                ]
                numbered = self._choose("SEQ-04", entity, records, is_done=is_done)
                if numbered is not None:
                    self._bindings.bind_number(numbered, number)

    def _choose(self, name: str, entity: Entity, records: list[T], *, is_done: bool) -> T | None:
        if not records:
            return None
        options: list[T | None] = [*records, None] if is_done else [None, *records]
        return self._guide.take(name, options, base_path(entity.path))

    def _unseen_locks(self, entity: Entity) -> Iterator[QueuedMessage]:
        for queued in entity.messages.values():
            is_given = queued.token is not None and queued.cached_by is None
            if is_given and not self._bindings.token(queued):
                yield queued

    def _find_unnumbered(self, entity: Entity) -> Iterator[Numbered]:
        for queued in entity.messages.values():
            if not self._bindings.is_bound(queued):
                yield queued
        for scheduled in entity.scheduled.values():
            if not self._bindings.is_bound(scheduled):
                yield scheduled
