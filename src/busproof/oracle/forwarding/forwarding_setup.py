"""Creation of entities that forward, and requests to receive from them (FWD)."""

from collections.abc import Iterator
from typing import Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.oracle.forwarding.forwarding import MOST_HOPS, kept_away_by
from busproof.oracle.messages.matching import is_unchanged
from busproof.oracle.messages.receiving import receive
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.several.batches import receive_batch
from busproof.oracle.state import Namespace, Queue, Subscription, feeding, is_unsure, with_queue
from busproof.oracle.transition import Observation, Transition, refusal

AMPLE: Final = 2**29
"""Number of bytes that every entity has storage for: half of the least possible size."""
LONGEST_LOCK: Final = 300 * v.MICROSECONDS
"""LOCK-03: maximum lock duration."""

_Creation = TypeVar("_Creation", v.CreateQueue, v.CreateSubscription)


def with_lawful_locks(command: _Creation) -> tuple[_Creation, tuple[v.RuleId, ...]]:
    """LOCK-03: return the creation, and this rule if its lock duration was cut to the maximum."""
    if command.lock_duration <= LONGEST_LOCK:
        return command, ()
    return attrs.evolve(command, lock_duration=LONGEST_LOCK), ("LOCK-03",)


def refused_destination(
    namespace: Namespace, command: v.CreateQueue | v.CreateSubscription
) -> Iterator[Transition]:
    """FWD-25, FWD-29: yield the refusals to create an entity that forwards, for its destinations.

    This covers the destination of its messages and that of its dead letters.
    """
    known = [namespace.queues.get(destination) for destination in v.destinations(command)]
    if not known:
        return
    if None in known:
        yield refusal(namespace, v.Error.NOT_FOUND, "FWD-29", any_error=True)
    elif command.requires_session:
        rules: tuple[v.RuleId, ...] = ("FWD-25",) if command.forward_to is not None else ()
        yield refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
    elif any(destination is not None and _is_open(namespace, destination) for destination in known):
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _is_open(namespace: Namespace, destination: Queue) -> bool:
    # Whether Basic forwards, and whether a subscription can be a destination, is open.
    """Return whether the documents leave open if messages can be forwarded to this entity."""
    denied = namespace.profile.tier is v.Tier.BASIC or isinstance(destination.role, Subscription)
    return denied or is_unsure(destination)


def sources(
    namespace: Namespace, command: _Creation
) -> Iterator[tuple[_Creation, tuple[v.RuleId, ...]]]:
    """Yield the settings that an entity with forwarding may get, and the rules behind each."""
    if any(destination not in namespace.queues for destination in v.destinations(command)):
        # The documents say only that sessions and forwarding exclude each other. A bus that accepts
        # the creation must then not forward.
        return
    if command.forward_to is not None and command.requires_session:
        yield attrs.evolve(command, forward_to=None), ("FWD-25",)
    else:
        yield command, ()


def not_forwarding(namespace: Namespace, destination_named: str) -> Namespace:
    """FWD-25: record that a source's messages do not arrive at its destination."""
    return with_queue(namespace, kept_away_by(namespace.queues[destination_named], "FWD-25"))


def given_by_source(
    namespace: Namespace, queue: Queue, command: v.Command, connection: str, observed: Observation
) -> Iterator[Transition]:
    """FWD-15, FWD-36: yield the answers to a receive or a peek at an entity that forwards.

    A receive gives nothing, because all messages wait to be forwarded; a peek may show them. If the
    entity does not forward, or the request is another one, nothing is yielded. Messages that a
    queue had when an update enabled forwarding may still be received from it, and dead letters
    whose destination may be full: the documents leave their place open.
    """
    receives = isinstance(command, v.Receive | v.ReceiveBatch)
    if queue.settings.forward_to is None or not (receives or isinstance(command, v.Peek)):
        return
    # Such messages may be received still, so an empty answer or a refusal shows nothing.
    dead = v.is_dead_letter_queue(queue.settings.queue)
    may_stay = _may_keep_some(namespace, queue)
    rules = rules_if((receives and not may_stay, "FWD-36" if dead else "FWD-15"))
    yield refusal(namespace, v.Error.INVALID_OPERATION, *rules, any_error=True)
    if not receives:
        shown = observed.outcome if isinstance(observed.outcome, v.Peeked) else v.Peeked()
        if all(_may_be_shown(namespace, queue, view) for view in shown.messages):
            yield Transition(outcome=shown, next=namespace)
        return
    yield Transition(outcome=v.Empty(), next=namespace, rules=rules)
    if may_stay and isinstance(command, v.ReceiveBatch):
        yield from receive_batch(namespace, command, connection, observed)
    elif may_stay and isinstance(command, v.Receive):
        yield from receive(namespace, command, connection, observed)


def _may_be_shown(namespace: Namespace, queue: Queue, view: v.MessageView) -> bool:
    """FWD-15, LIFE-01: return whether a peek may show this of a message that waits to go on.

    It may show any message that was ever sent there, and of dead letters any at all.
    """
    if v.is_dead_letter_queue(queue.settings.queue) or namespace.observability.left_out:
        return True
    body = view.body
    calendar = queue.calendar
    sent = [record.arrival.message for record in queue.passed.get(body, ())]
    sent += [stored.message for stored in queue.with_body(body)]
    places = calendar.bodies.get(body, ())
    sent += [calendar.entries[place].message for place in places if place in calendar.entries]
    unseen = (Stored(number=0, message=message) for message in sent)
    return any(is_unchanged(namespace, stored, view) for stored in unseen)


def _may_keep_some(namespace: Namespace, queue: Queue) -> bool:
    """Return whether messages may stay in an entity that forwards."""
    if not v.is_dead_letter_queue(queue.settings.queue):
        return queue.managed.redirected and len(queue.messages) > 0
    if _holds_undeliverable(namespace, queue):
        return True
    destination = namespace.queues.get(queue.settings.forward_to or "")
    return destination is not None and may_lack_room(namespace, destination)


def _holds_undeliverable(namespace: Namespace, dead: Queue) -> bool:
    """Return whether a dead-letter queue may have a message that its entity could not forward.

    Such a message was seen to stay there although dead letters are forwarded (FORWARD-FAILED).
    """
    owner = namespace.queues.get(v.owner_of(dead.settings.queue))
    if owner is None or namespace.reading("FORWARD-FAILED", "either") == "transfer":
        return False
    return any(
        record.kept_by is not None or record.arrival.hops >= MOST_HOPS["three"]
        for records in owner.passed.values()
        for record in records
    )


def may_lack_room(namespace: Namespace, destination: Queue) -> bool:
    """Return whether dead letters that were forwarded to this entity may have found no room."""
    sources = feeding(namespace, destination.settings.queue)
    owners = (namespace.queues[v.owner_of(source)] for source in sources)
    return sum(entity.room.taken for entity in (destination, *owners)) >= AMPLE
