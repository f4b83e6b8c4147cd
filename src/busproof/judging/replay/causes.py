"""What the failure of an event may depend on: which earlier choices a search goes back to.

A search that goes back from an answer need not ask where each message went, when it was forwarded,
became due or was unlocked: in the plainest histories none of them decides what becomes of another
one. So a failure depends on a few messages alone:

- one that is shown where it is not, wherever the others are;
- those that a request names by their locks or numbers;
- one that is there and may not be withheld from a receive which finds nothing;
- those of a key that were received in a wrong order.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.agreement import Agreement
from busproof.judging.replay.caches import Caches
from busproof.judging.replay.evidence import (
    Evidence,
    base_path,
    numbers_of,
    tokens_of,
    views_of,
)
from busproof.judging.replay.guide import Guide
from busproof.judging.replay.orders import Order
from busproof.judging.replay.placements import Placements
from busproof.judging.replay.relevance import Relevance
from busproof.model.ambiguities import RoundRobin
from busproof.model.rules import Namespace
from busproof.model.state import QueuedMessage

__all__ = ["Causes"]

Places = frozenset[tuple[str, int]]
"""Entities and partitions."""

LITTLE: Final = 100_000_000
"""Bytes of all messages together that fill no partition."""

SHOWING: Final = (v.Receive, v.ReceiveBatch, v.ReceiveDeferred, v.Peek)
"""Requests whose answers show messages."""


class Causes:
    """What failures depend on, asked while the state is still that of the failure.

    Args:
        namespace: the model's namespace.
        guide: the policy, which knows what the answer shows, and its bindings.
        evidence: all events.
        agreement: what the answer was compared with.
        caches: what front ends may have cached.
        order: the order of the events.
        places: the partitions that were guessed.
    """

    def __init__(
        self,
        namespace: Namespace,
        guide: Guide,
        evidence: Evidence,
        agreement: Agreement,
        caches: Caches,
        order: Order,
        places: Placements,
    ) -> None:
        self._namespace = namespace
        self._guide = guide
        self._bindings = guide.bindings
        self._evidence = evidence
        self._agreement = agreement
        self._caches = caches
        self._order = order
        self._places = places

    def find(self, index: int, event: v.Event, *, has_fired: bool) -> Relevance:
        """Return what the failure of an event may depend on.

        Args:
            index: the index of the event.
            event: the event.
            has_fired: whether all that moves before its answer has moved.
        """
        parts = frozenset((self._evidence.part_of_event(index),))
        if has_fired and self._is_plain(index):
            bodies, caches = self._find_messages(event)
            if bodies is not None:
                places = frozenset((base_path(getattr(event.command, "queue", "")),))
                return Relevance(parts, caches, bodies, places)
        return Relevance(parts, self._find_caches(event, has_fired=has_fired), None, None)

    def _find_messages(self, event: v.Event) -> tuple[frozenset[str] | None, Places]:
        """Return the bodies of the messages that failed an event, and the caches where they may be.

        The bodies are `None` if that is not known.
        """
        named = self._find_bodies_named(event.command)
        if named is not None:
            return named, frozenset()
        reason = self._caches.reason
        if reason and self._evidence.numbers_show_partitions:
            caches = frozenset((one.entity.path, one.partition) for one in reason)
            return frozenset(one.message.body for one in reason), caches
        absent = self._find_absent_body(event)
        return None if absent is None else frozenset((absent,)), frozenset()

    def _find_caches(self, event: v.Event, *, has_fired: bool) -> Places | None:
        """Return the entities and partitions whose caches may have failed an event."""
        agreement = self._agreement
        if agreement.shows_what_is_before(event) or agreement.shows_another_number(event):
            # Whatever caches held, such an answer would be wrong.
            return frozenset()
        if isinstance(event.command, v.Receive | v.ReceiveBatch) and self._guide.views:
            # A dead letter may have been spent in the caches of its source.
            paths = {event.command.queue, v.owner_of(event.command.queue)}
            return frozenset(
                (path, queued.partition)
                for path in paths
                for view in self._guide.views
                for queued in self._bindings.ever(path, view.body)
            )
        if isinstance(event.outcome, v.Empty) and not self._may_caches_explain(event, has_fired):
            return frozenset()
        return None

    def _is_plain(self, index: int) -> bool:
        """Return whether no message decides what becomes of another one until an event."""
        if self._guide.memory is not None or self._evidence.all_bytes_sent > LITTLE:
            return False
        if self._namespace.known_reading(RoundRobin) is RoundRobin.STRICT:
            return False  # where a message goes depends on how many came before it
        mixing = self._evidence.first_mixing
        return mixing is None or (mixing >= index and self._order.is_recorded)

    def _find_bodies_named(self, command: v.Command) -> frozenset[str] | None:
        """Return the bodies of the messages that a request names; `None` if one is not known."""
        bindings = self._bindings
        path = getattr(command, "queue", "")
        entity = self._namespace.entities.get(path)
        tokens, numbers = tokens_of(command), numbers_of(command)
        if entity is None or not (tokens or numbers):
            return None
        own = [bindings.model_number(path, number) for number in numbers]
        for token in tokens:
            number = bindings.model_token(path, token).partition("/")[0]
            if not number.isdecimal():
                return None
            own.append(int(number))
        made = [bindings.made(entity, number) for number in own]
        bodies = frozenset(one.message.body for one in made if one is not None)
        return None if None in made else bodies

    def _find_absent_body(self, event: v.Event) -> str | None:
        """Return the body of a message that an answer shows where no such message is.

        A message with a key is in no other partition, either; and no message is shown twice. What
        is among the dead letters of the same entity is there, and what has expired: whether it has
        got there may depend on what front ends have cached, and that on other messages. A peek may
        show what is scheduled or has been removed, too.
        """
        if not isinstance(event.command, SHOWING):
            return None
        queue = event.command.queue
        owner = v.owner_of(queue)
        shown: Counter[str] = Counter()
        for view in views_of(event.outcome):
            body = view.body
            shown[body] += 1
            if isinstance(event.command, v.Peek):
                count = self._count_peekable(owner, body)
            else:
                those = self._find_receivable(owner, body)
                count = len(those)
                number = view.sequence_number
                if self._evidence.numbers_show_partitions and number is not None and queue == owner:
                    partition = number >> v.SEQUENCE_BITS
                    is_here = any(self._may_be_in(queue, partition, queued) for queued in those)
                    count = count if is_here else 0
            if shown[body] > count:
                return body
        return None

    def _may_be_in(self, path: str, partition: int, queued: QueuedMessage) -> bool:
        """Return whether a message is in a partition of an entity, or nobody knows where it is."""
        is_elsewhere = queued.entity.path != path
        return queued.partition == partition or self._places.is_open(queued) or is_elsewhere

    def _find_receivable(self, owner: str, body: str) -> list[QueuedMessage]:
        """Return the messages with a body that an entity has, or that have expired there."""
        bindings = self._bindings
        return [
            queued
            for queued in self._find_ever(owner, body)
            if queued.entity.messages.get(queued.number) is queued or bindings.has_expired(queued)
        ]

    def _count_peekable(self, owner: str, body: str) -> int:
        """Return how many messages with a body an entity has, or had."""
        entity = self._namespace.entities.get(owner)
        scheduled = () if entity is None else entity.scheduled.values()
        waiting = sum(one.message.body == body for one in scheduled)
        return waiting + sum(1 for _ in self._find_ever(owner, body))

    def _find_ever(self, owner: str, body: str) -> Iterator[QueuedMessage]:
        for path in self._namespace.entities:
            if v.owner_of(path) == owner:
                yield from self._bindings.ever(path, body)

    def _may_caches_explain(self, event: v.Event, has_fired: bool) -> bool:
        """Return whether front ends may explain that a receive finds nothing."""
        queue = getattr(event.command, "queue", "")
        entity = self._namespace.entities.get(queue)
        is_known = has_fired and self._guide.memory is None
        # What has been spent in the caches of its source is a dead letter, which may go on.
        is_first = not self._evidence.forwards and not v.is_dead_letter_queue(queue)
        # Only what its own cache holds comes from a partition that is down.
        was_down = self._evidence.ever_down.get(base_path(queue))
        if entity is None or was_down or not (is_known and is_first):
            return True
        return self._caches.may_explain_empty(entity, event.connection)
