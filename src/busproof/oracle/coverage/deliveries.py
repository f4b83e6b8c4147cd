"""Rules that the delivery of a message exercises."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.coverage.settlements import DEFAULT_DURATION
from busproof.oracle.coverage.topics import shown_by_copy
from busproof.oracle.forwarding.forwarding import why_late
from busproof.oracle.messages import partitions
from busproof.oracle.messages.deliveries import DEFAULT_DELIVERIES, permitted
from busproof.oracle.messages.expiry import is_surely_dead
from busproof.oracle.messages.locks import is_whole
from busproof.oracle.messages.matching import Candidate
from busproof.oracle.messages.message_store import first_in_line, order_rule
from busproof.oracle.messages.sequence_numbers import is_of_one_commit, is_one, number_rule, rows
from busproof.oracle.messages.sessions import session_at
from busproof.oracle.queued_messages import Numbered, Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, partition_count
from busproof.oracle.transition import Rules

COUNTED_AGAIN: Final[dict[v.RuleId, v.RuleId]] = {"SESS-08": "SESS-09", "SESS-11": "SESS-10"}
"""The rule that released a message from a session, to the rule on its next delivery count."""


def of_receive(candidate: Candidate, command: v.Receive) -> Rules:
    """Return the rules that the delivery exercises, except those on the delivery count."""
    locks = command.mode is v.ReceiveMode.PEEK_LOCK
    return (
        *_of_order(candidate.queue, candidate.stored),
        *_in_session(candidate.queue, candidate.stored, command.session_id),
        *_of_message(candidate),
        *of_number(candidate),
        *(_of_lock(candidate) if locks else ()),
    )


def of_count(candidate: Candidate) -> Rules:
    """SESS-09, SESS-10: return the rule exercised if the delivery count is the expected one."""
    rule, expected = COUNTED_AGAIN.get(candidate.stored.returned or ""), candidate.stored.expected
    counted = expected is not None and candidate.view.delivery_count == expected
    return (rule,) if rule is not None and counted else ()


def _of_order(queue: Queue, stored: Stored) -> Rules:
    """KEY-06, KEY-16, KEY-17, KEY-26: return the rules on order that the message exercises."""
    if stored.line is None:
        # A dead letter arrives when it is dead-lettered, not in the order of sends, so it does not
        # show that messages without a key need no order (KEY-16).
        several = stored.key is None and queue.arrivals > 1 and queue.settings.partitioned
        return rules_if((several and stored.reason is None, "KEY-16"))
    first = first_in_line(queue, stored.line)
    return rules_if((first is not None and first.number >= stored.number, order_rule(queue)))


def _in_session(queue: Queue, stored: Stored, session_id: str | None) -> Rules:
    """SESS-04, SESS-05, SESS-15, SESS-24: return the rules exercised by a session's message."""
    if session_id is None:
        return ()
    holder = session_at(queue, session_id)
    others = (
        session for session in queue.sessions.values() if session.connection != holder.connection
    )
    # A message that was there before the session was accepted, or that came back, does not show
    # that its holder receives later ones (SESS-05).
    fresh = not holder.doubtful and stored.number >= holder.since and stored.returned is None
    return rules_if(
        (queue.outages.down and not queue.outages.may_hit(stored.where), "SESS-24"),
        (stored.returned == "LIFE-04", "SESS-15"),
        (any(not other.doubtful for other in others), "SESS-04"),
        (fresh, "SESS-05"),
    )


def _of_message(candidate: Candidate) -> Rules:
    """Return the rules that the delivery exercises for any order of messages."""
    namespace, stored, queue = candidate.namespace, candidate.stored, candidate.queue
    cached = partitions.cached_elsewhere(namespace, queue)
    again = "LIFE-05" if stored.lock is not None else stored.returned
    nameless = namespace.observability.assigns_message_ids and stored.message.message_id is None
    before = queue.receivers.others_until >= 0 and stored.since < queue.receivers.switched
    dead = v.is_dead_letter_queue(queue.settings.queue)
    return (
        *(() if again is None else (again,)),
        *_of_front_ends(candidate, cached=cached),
        *rules_if((nameless, "KEY-13")),
        *_of_age(candidate),
        *_of_schedule(candidate),
        *(_of_dead_letter(candidate) if dead else _of_arrival(candidate)),
        *(_of_redelivery(candidate) if stored.deliveries else ()),
        *rules_if(
            (len(queue.room.refused), "SIZE-11"),
            (before, "LIFE-08" if cached else "LIFE-13"),
            (queue.outages.any, "LIFE-11"),
            # If another front end may have cached the message, an empty answer would be right as
            # well.
            (not (queue.outages.any or cached), "LIFE-09"),
        ),
    )


def _of_arrival(candidate: Candidate) -> Rules:
    """LIFE-01: return the rules on how the message came here: sent, forwarded or copied."""
    namespace, stored, queue = candidate.namespace, candidate.stored, candidate.queue
    body = stored.message.body
    late = why_late(namespace, queue, body) if queue.fed and not stored.deliveries else ()
    return (
        *late,
        *stored.shows,
        *shown_by_copy(namespace, queue, body),
        "LIFE-01",
        *candidate.rules,
    )


def _of_dead_letter(candidate: Candidate) -> Rules:
    """DLQ-04, DLQ-06, DLQ-07, DLQ-09, DLQ-12, DLQ-13: return the rules on a dead letter."""
    stored, queue = candidate.stored, candidate.queue
    owner = candidate.namespace.queues[v.owner_of(queue.settings.queue)]
    most = owner.settings.max_delivery_count
    return (
        "DLQ-06",
        *candidate.rules,
        *rules_if(
            (stored.returned == "DLQ-02" and most == DEFAULT_DELIVERIES, "DLQ-04"),
            (stored.deliveries, "DLQ-07"),
            # After so many deliveries the owner itself would have dead-lettered it.
            (stored.deliveries >= most, "DLQ-09"),
            (queue.settings.partitioned and queue.arrivals > 1, "DLQ-12"),
            (queue.outages.any, "DLQ-13"),
        ),
    )


def _of_redelivery(candidate: Candidate) -> Rules:
    """DLQ-01, DLQ-03, LOCK-08, LOCK-09: return the rules on a message that was delivered before."""
    stored, queue = candidate.stored, candidate.queue
    # Dead letters have no delivery limit, and their count is open (DEAD-LETTER-COUNT).
    limited = not v.is_dead_letter_queue(queue.settings.queue)
    # Only the last permitted delivery shows that the message was not dead-lettered too early.
    last = stored.counted + 1 == permitted(candidate.namespace, queue)[0]
    return rules_if(
        (stored.resisted, "LOCK-08"),
        (stored.number + 1 < queue.arrivals, "LOCK-09"),
        (limited and candidate.view.delivery_count is not None, "DLQ-01"),
        (limited and last, "DLQ-03"),
    )


def _of_age(candidate: Candidate) -> Rules:
    """TTL-02, TTL-14, MGMT-12: return the rules on a message with a time to live."""
    namespace, stored, queue = candidate.namespace, candidate.stored, candidate.queue
    if stored.dies is None:
        return ()
    left = stored.dies.earliest - namespace.now.latest
    # Early in its life, a bus that keeps messages too briefly gives it as well, so only the second
    # half is evidence.
    late = 0 < left <= stored.dies.earliest - stored.arrived.earliest - left
    life, slack = queue.settings.time_to_live, namespace.observability.slack
    older = stored.number < queue.managed.lifetimes_apply_from and life is not None
    # It would have expired if the update of the entity's time to live applied to it, too.
    outlived = older and stored.arrived.latest + (life or 0) + slack < namespace.now.earliest
    return rules_if(
        (late, "TTL-02"),
        (late and outlived, "MGMT-12"),
        (is_surely_dead(namespace, queue, stored), "TTL-14"),
    )


def _of_schedule(candidate: Candidate) -> Rules:
    """SCHED-02, SCHED-06, SCHED-07, SCHED-09, SCHED-11, SCHED-14: return rules on scheduling."""
    stored, numbers = candidate.stored, (candidate.view.sequence_number,)
    if stored.came is None or stored.deliveries:
        return ()
    return (
        stored.came,
        *rules_if(
            (stored.came == "SCHED-14", "SCHED-02"),
            (None not in (*numbers, stored.scheduled_number), "SCHED-06"),
            (stored.overtaken, "SCHED-07"),
            (stored.key is not None and stored.where.bit_count() == 1, "SCHED-09"),
            (candidate.queue.recovered & stored.through & stored.where, "SCHED-11"),
        ),
    )


def _of_front_ends(candidate: Candidate, *, cached: bool) -> Rules:
    """Return the rules on outages and caches of front ends that the delivery exercises.

    They are PART-04, PART-05, PART-09 to PART-11, PART-23, PART-25, PART-28, FWD-22 and FWD-24.
    """
    namespace, stored, queue = candidate.namespace, candidate.stored, candidate.queue
    arrived = _of_arrival_in_outage(candidate) if "FWD-14" in stored.shows else ()
    always = arrived + rules_if(
        (partitions.has_outlasted(queue, stored), "PART-04"),
        (partitions.is_another_dark(namespace, queue), "PART-05"),
    )
    if not queue.settings.partitioned or queue.settings.requires_session:
        return always
    other = cached and stored.since < queue.receivers.switched
    # An earlier receive might have given it, and this one does in the end.
    withheld = not (cached or queue.outages.any) and stored.since < queue.receivers.count
    few = withheld and _are_few(namespace, queue)
    return always + rules_if(
        (is_first_of_locked(queue), "PART-10"),
        (other, "PART-11"),
        (other and partitions.is_deleted_elsewhere(namespace, queue), "PART-28"),
        (withheld, "PART-09"),
        (withheld, "PART-25"),
        (few, "PART-23"),
    )


def _are_few(namespace: Namespace, queue: Queue) -> bool:
    """PART-23: return whether there are at most as many messages as partitions."""
    there = sum(tally.total for tally in queue.tallies.values())
    return there <= partition_count(namespace, queue.settings)


def _of_arrival_in_outage(candidate: Candidate) -> Rules:
    """FWD-22, FWD-24: return the rules on a message forwarded in an outage, or after one."""
    stored, queue = candidate.stored, candidate.queue
    recovered = candidate.where.bit_count() == 1 and candidate.where & queue.recovered
    dark = queue.outages.down and queue.settings.partitioned
    return rules_if(
        (stored.key is None and dark, "FWD-24"), (stored.key is not None and recovered, "FWD-22")
    )


def is_first_of_locked(queue: Queue) -> bool:
    """PART-10: return whether this is a new receiver's first receive, and messages are locked."""
    return bool(len(queue.locks)) and queue.receivers.count == queue.receivers.switched > 0


def of_number(candidate: Candidate) -> Rules:
    """SEQ-01 to SEQ-07: return the rules that the sequence number in the view exercises."""
    stored, queue, number = candidate.stored, candidate.queue, candidate.view.sequence_number
    if number is None:
        return ()
    latest, partitioned = queue.latest_number, queue.settings.partitioned
    elsewhere = latest is not None and latest >> v.SEQUENCE_BITS != number >> v.SEQUENCE_BITS
    apart = rules_if((partitioned and elsewhere, "SEQ-02"))
    if stored.sequence_number is not None:
        return ("SEQ-04", *apart)
    if not is_one(queue, stored):
        return apart
    behind = gap = together = False
    for row in rows(queue, stored):
        if (rival := queue.latest_numbers.get(row)) is not None:
            behind = behind or _is_behind(stored, number, rival)
            gap = gap or rival.number < number - 1
            together = together or is_of_one_commit(stored, rival)
    return (
        rules_if(
            (bool(queue.numbers), "SEQ-03"),
            (behind, number_rule(queue)),
            (partitioned and gap, "SEQ-06"),
            (together, "SEQ-07"),
        )
        + apart
    )


def _is_behind(stored: Stored, number: int, latest: Numbered) -> bool:
    """Return whether the message surely arrived after the latest one, and has a greater number."""
    return latest.arrived < min(stored.number, stored.sent) and latest.number < number


def _of_lock(candidate: Candidate) -> Rules:
    """LOCK-01, LOCK-02, MGMT-12, MGMT-17: return the rules on a lock that begins now."""
    settings, updated = candidate.queue.settings, candidate.queue.managed.updated
    if candidate.view.locked_until is None or not is_whole(candidate):
        return ()
    return rules_if(
        (True, "LOCK-01"),
        (updated, "MGMT-12"),
        (updated and settings.partitioned, "MGMT-17"),
        (settings.lock_duration == DEFAULT_DURATION, "LOCK-02"),
    )
