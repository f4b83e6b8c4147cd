"""Sends: the partition that takes a message, and when a send is refused."""

from typing import Any

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.coverage import sends as coverage
from busproof.oracle.evolve import evolve
from busproof.oracle.messages import duplicates, keys, partitioning
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.messages.expiry import death
from busproof.oracle.messages.key_refusals import conflicting, regular_accepts, unavailable
from busproof.oracle.messages.message_store import never_arrives, store
from busproof.oracle.messages.partitioning import REROUTING_TIMEOUT
from busproof.oracle.messages.partitions import in_one_store, may_fail_in_a_large_outage
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import all_may_be_full, weight
from busproof.oracle.sizes.free_space import no_room, taken_in, why_taken, with_room
from busproof.oracle.sizes.message_limits import beyond_limits
from busproof.oracle.state import Namespace, Queue, Topic, everywhere, with_queue
from busproof.oracle.transactions import transactional_sends
from busproof.oracle.transition import (
    Choice,
    Observation,
    Rules,
    Transition,
    Transitions,
    done,
    refusal,
)


def send(namespace: Namespace, command: v.Send, observed: Observation) -> Transitions:
    """Return every allowed answer to a send."""
    queue = namespace.queues[command.queue]
    # Only the bus puts messages into a dead-letter queue (DLQ-11).
    if v.is_dead_letter_queue(command.queue):
        yield refusal(namespace, v.Error.INVALID_OPERATION, "DLQ-11", any_error=True)
        return
    for profile, message in keys.interpretations(namespace.profile, command.message):
        # Each reading of an empty property (EMPTY-KEY) goes on as a state of its own, whose profile
        # has the reading from then on.
        if profile is not namespace.profile:
            namespace = evolve(namespace, profile=profile)
        if command.transaction is not None:
            yield from transactional_sends.send_in(namespace, queue, command, message, observed)
        else:
            yield from beyond_limits(namespace, command)
            yield from _send(namespace, queue, command, message, observed)


def _send(
    namespace: Namespace, queue: Queue, command: v.Send, message: v.Message, observed: Observation
) -> Transitions:
    # A regular entity may accept a message with different keys all the same (REGULAR-KEYS).
    if keys.keys_conflict(message):
        yield from conflicting(namespace, queue, message, "KEY-08")
        if queue.settings.partitioned or not regular_accepts(namespace):
            return
    if queue.settings.requires_session and message.session_id is None:
        # Nobody can receive it without a session, so nothing depends on its key.
        yield from _without_session(namespace, queue, message, observed)
        return
    key = keys.effective_key(namespace, queue.settings, message)
    if key is not None:
        yield from _send_with_key(namespace, queue, message, key, observed)
    else:
        yield from _send_without_key(namespace, queue, command, message, observed)


def _without_session(
    namespace: Namespace, queue: Queue, message: v.Message, observed: Observation
) -> Transitions:
    """SESS-01: refuse a message without its required session, or dead-letter it later.

    No session receiver can get it; a peek may show it until it is dead-lettered. Like any other
    message it needs a partition that is up and has room (KEY-03, SIZE-07).
    """
    yield refusal(namespace, v.Error.INVALID_OPERATION, "SESS-01", any_error=True)
    somewhere = everywhere(namespace, queue.settings)
    key = keys.effective_key(namespace, queue.settings, message)
    home = somewhere if key is None else partitioning.home_of(namespace, queue, key)
    if not with_room(namespace, queue, message, key, queue.outages.spared(home), observed):
        return
    now = namespace.now
    dies = death(namespace, queue, message)
    stored = store(queue, message, None, somewhere, now, certain=False, dies=dies)
    yield done(with_queue(namespace, stored), "SESS-01")


def _send_with_key(
    namespace: Namespace, queue: Queue, message: v.Message, key: Key, observed: Observation
) -> Transitions:
    """KEY-02, KEY-03, KEY-20: put the message into its key's partition, or refuse it."""
    home = partitioning.home_of(namespace, queue, key)
    yield from no_room(namespace, queue, message, key, home)
    spared = with_room(namespace, queue, message, key, queue.outages.spared(home), observed)
    for where in partitioning.choices(namespace, queue, spared, observed):
        rules = coverage.of_key(namespace, queue, message, key, home, where)
        homes = partitioning.narrowed(namespace, queue, key, where)
        yield _accepted(namespace, queue, message, key, where, rules, {"homes": homes})
    if queue.outages.may_hit(home):
        pinned = keys.rule_of(queue.settings, message, key) if home.bit_count() == 1 else ()
        because = (*_with_all_down(namespace, queue), "KEY-03", *pinned)
        yield unavailable(namespace, queue, key, home, *because)
    if may_fail_in_a_large_outage(namespace, queue):
        # Then the partition that is down need not be the key's.
        yield refusal(namespace, v.Error.UNAVAILABLE, any_error=True)


def _with_all_down(namespace: Namespace, queue: Queue) -> Rules:
    """PART-01, PART-03: return the rules that a refusal exercises if no partition is up."""
    # Only if nothing is up does the refusal show what an outage of all partitions does.
    if not queue.outages.must_hit(everywhere(namespace, queue.settings)):
        return ()
    return in_one_store(queue) or ("PART-03",)


def _send_without_key(
    namespace: Namespace, queue: Queue, command: v.Send, message: v.Message, observed: Observation
) -> Transitions:
    """KEY-14, KEY-15, KEY-18: put the message into any partition that is up."""
    outages = queue.outages
    all_of_them = everywhere(namespace, queue.settings)
    spared = outages.spared(all_of_them)
    if command.timeout <= REROUTING_TIMEOUT and partitioning.must_fail(namespace, queue):
        # Under a strict turn, the one partition whose turn it is is down, so the send has to fail.
        spared = 0
    yield from no_room(namespace, queue, message, None, all_of_them)
    spared = with_room(namespace, queue, message, None, spared, observed)
    for where in partitioning.choices(namespace, queue, spared, observed):
        watched = partitioning.is_watched(namespace, queue, where)
        if watched and not partitioning.spread_allows(namespace, queue, where):
            continue
        also = partitioning.spread_after(namespace, queue, message, where, watched=watched)
        complete = also["spread"].last >= 0 and also["spread"].sent == 0
        rules = coverage.of_no_key(namespace, queue, command, message, where, complete=complete)
        yield _accepted(namespace, queue, message, None, where, rules, also)
    if outages.any and _may_fail(namespace, queue, command, all_of_them):
        # Which error a send gets in an outage is open (OUTAGE-ERROR).
        error_is_free = namespace.reading("OUTAGE-ERROR") != "unavailable"
        because = (*_with_all_down(namespace, queue), "KEY-18")
        yield refusal(namespace, v.Error.UNAVAILABLE, *because, any_error=error_is_free)
    if queue.settings.duplicate_detection and message.message_id is None:
        # Duplicate detection needs a MessageId (DUP-12).
        nameless = rules_if((queue.settings.partitioned, "DUP-12"))
        yield refusal(namespace, v.Error.INVALID_OPERATION, *nameless, any_error=True)


def _may_fail(namespace: Namespace, queue: Queue, command: v.Send, all_of_them: Partitions) -> bool:
    """KEY-18: return whether a send may fail in an outage.

    It may with a short timeout, or if no partition that is up surely has room.
    """
    if command.timeout <= REROUTING_TIMEOUT or may_fail_in_a_large_outage(namespace, queue):
        return True
    up = all_of_them & ~(queue.outages.down | queue.outages.doubt)
    return all_may_be_full(namespace, queue, up, weight(queue, command.message))


def _accepted(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    key: Key | None,
    where: Partitions,
    rules: Rules,
    also: dict[str, Any],
) -> Transition:
    """Return the state after an accepted send; a copy of an earlier one is dropped (KEY-11)."""
    rules = (*why_taken(queue, key, where), *rules)
    queue = taken_in(queue, key, where)
    becomes = duplicates.fate(namespace, queue, message, key)
    copies = duplicates.noted(namespace, queue, message, key, becomes=becomes)
    if isinstance(queue.role, Topic) and not queue.role.subscriptions:
        rules = ("TOPIC-04", *rules)
    if becomes is duplicates.Fate.DROPPED:
        dropped = never_arrives(queue, message.body, "KEY-11")
        after = with_queue(namespace, evolve(dropped, copies=copies, **also))
        rules = (*coverage.of_copy(namespace, queue, message, key, where), *rules)
        rules = tuple(dict.fromkeys(rules))
    else:
        certain = becomes is duplicates.Fate.KEPT
        shows: Rules = ()
        if certain:
            shows = coverage.of_no_copy(namespace, queue, message, key)
            namespace = duplicates.identified(namespace, queue, message)
        arrival = Arrival(message=message, key=key, where=where, certain=certain, shows=shows)
        after = arrive(namespace, queue, arrival, {"copies": copies, **also})
    rules = (*coverage.of_other_key(namespace, queue, message, key), *rules)
    choice = Choice(where.bit_length() - 1) if where.bit_count() == 1 else None
    return done(after, *rules, choice=choice)


def lost_send(namespace: Namespace, command: v.Send) -> Namespace:
    """Return the namespace in which the message of an unanswered send may arrive at any time."""
    queue = namespace.queues[command.queue]
    if command.transaction is not None:
        return transactional_sends.lost_send_in(namespace, command)
    message = command.message
    key = keys.effective_key(namespace, queue.settings, message)
    home = everywhere(namespace, queue.settings)
    copies = duplicates.noted(
        namespace, queue, message, key, becomes=duplicates.Fate.OPEN, answered=False
    )
    lost = Arrival(message=message, key=key, where=home, certain=False, answered=False)
    spread = partitioning.spread_beside(namespace, queue, message)
    return arrive(namespace, queue, lost, {"copies": copies, "spread": spread})
