"""Requests about several locks at once: all of them are settled, or the request is refused."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.settling import locked
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, everywhere, is_unjudged, with_queue
from busproof.oracle.transactions.transactional_settlements import lost_settle, settle
from busproof.oracle.transition import Transition, done, refusal

__all__ = ["lost_settle_batch", "settle_batch"]

Reached = tuple[Namespace, tuple[v.RuleId, ...]]
"""A state after some of the settlements, and the rules that decided them."""

ACROSS: Final = "SETTLE-PARTITIONS"
LOST: Final = "SETTLE-LOST"


def settle_batch(namespace: Namespace, command: v.SettleBatch) -> Iterator[Transition]:
    """LOCK-14 to LOCK-17: settle all messages; with a lost lock among them, refuse.

    A request for several partitions may be refused as well, and settles none then.
    """
    namespace = _together(namespace, command)
    queue, readings = namespace.queues[command.queue], namespace.profile.readings
    stored = _stored(queue, command.lock_tokens)
    if not (readings.get(ACROSS) == "refused" and _is_across(queue, stored)):
        for after, rules in _all_settled(namespace, command):
            shown = (*_why_together(namespace, queue, stored), *rules)
            yield done(after, *dict.fromkeys(shown))
    refused = _refused(namespace, command)
    if refused is not None:
        yield refused
    if readings.get(ACROSS) == "accepted" or not _may_span(namespace, queue, stored):
        return
    # Only the status of such a refusal is known, not its error.
    if refused is None:
        yield refusal(namespace, v.Error.INVALID_OPERATION, "LOCK-15", "LOCK-16", any_error=True)
    elif not refused.any_error:
        yield refusal(refused.next, v.Error.INVALID_OPERATION, any_error=True)


def _together(namespace: Namespace, command: v.SettleBatch) -> Namespace:
    """Return the namespace in which a request about several locks was made, for diagnoses."""
    return with_queue(namespace, evolve(namespace.queues[command.queue], together=True))


def _stored(queue: Queue, tokens: tuple[str, ...]) -> list[Stored | None]:
    """Return the message held under each token; `None` for a lost lock."""
    return [locked(queue, token) for token in dict.fromkeys(tokens)]


def _all_settled(namespace: Namespace, command: v.SettleBatch) -> list[Reached]:
    """Return the states after each message was settled; none if one of them cannot be."""
    reached: list[Reached] = [(namespace, ())]
    for one in command.settlements():
        reached = [
            (after, (*rules, *more))
            for state, rules in reached
            for after, more in _after(state, one)
        ]
    return reached


def _after(namespace: Namespace, one: v.Settlement) -> Iterator[Reached]:
    if is_unjudged(namespace, v.owner_of(one.queue)):
        yield namespace, ()
        return
    for transition in settle(namespace, one):
        if isinstance(transition.outcome, v.Done):
            yield transition.next, transition.rules


def _refused(namespace: Namespace, command: v.SettleBatch) -> Transition | None:
    """LOCK-17: refuse for one of the messages; the others may be settled (SETTLE-LOST).

    Outside the documents: a request that names no lock, or one of them twice.
    """
    ones = command.settlements()
    found = [(one, each) for one in ones for each in settle(namespace, one) if _is_refused(each)]
    strange = not ones or len(ones) < len(command.lock_tokens)
    if not found and not strange:
        return None
    outcomes = [each.outcome for _, each in found]
    error = outcomes[0].error if outcomes and isinstance(outcomes[0], v.Refused) else None
    free = any(each.any_error for _, each in found) or len(set(outcomes)) > 1
    rules = [rule for _, each in found for rule in each.rules]
    if rules and len(ones) > 1 and error is v.Error.LOCK_LOST:
        rules.insert(0, "LOCK-17")
    after = namespace
    if namespace.profile.readings.get(LOST) != "nothing":
        after = lost_settle_batch(namespace, command)
    return refusal(
        after,
        error or v.Error.INVALID_OPERATION,
        *dict.fromkeys(rules),
        any_error=free or strange,
    )


def _is_refused(transition: Transition) -> bool:
    return isinstance(transition.outcome, v.Refused)


def _why_together(
    namespace: Namespace, queue: Queue, stored: list[Stored | None]
) -> Iterator[v.RuleId]:
    """LOCK-14 to LOCK-16: return what a request exercises that settles several messages."""
    if _may_span(namespace, queue, stored):
        yield from ("LOCK-15", "LOCK-16")
    elif len(stored) > 1:
        yield "LOCK-14"


def _may_span(namespace: Namespace, queue: Queue, stored: list[Stored | None]) -> bool:
    """Return whether the messages may be in several partitions.

    That of a lost lock's message counts too, for a bus may look at partitions first.
    """
    if not queue.settings.partitioned or len(stored) < 2:
        return False
    keys = {None if each is None else each.key for each in stored}
    if len(keys) == 1 and None not in keys:
        return False
    whole = everywhere(namespace, queue.settings)
    return _union(whole if each is None else each.where for each in stored).bit_count() > 1


def _is_across(queue: Queue, stored: list[Stored | None]) -> bool:
    """Return whether no partition can have all of the messages."""
    if not queue.settings.partitioned:
        return False
    common: Partitions = -1
    for each in stored:
        common &= -1 if each is None else each.where
    return common == 0


def _union(places: Iterator[Partitions]) -> Partitions:
    every: Partitions = 0
    for each in places:
        every |= each
    return every


def lost_settle_batch(namespace: Namespace, command: v.SettleBatch) -> Namespace:
    """Return the states in which each message is settled, now or later, or stays locked."""
    namespace = _together(namespace, command)
    for one in command.settlements():
        namespace = lost_settle(namespace, one)
    return namespace
