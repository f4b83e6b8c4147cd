"""Mutants of the bus on Spark; each replaces one expression, which breaks a rule.

One plan contains all mutants; the column `mutant` selects one for each row.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.pipeline.bus.terms import Expression

__all__ = ["MUTANTS", "Mutant", "insert_mutants"]


@attrs.frozen
class Mutant:
    """A mutant: the rule that it breaks, the replaced expression and the replacement."""

    name: str
    rule: v.RuleId
    old: Expression
    new: Expression


MUTANTS: Final = (
    Mutant("key-by-length", "KEY-02", "crc32(encode(key.value, 'utf-8'))", "s.arrivals"),
    Mutant(
        "differing-keys-accepted",
        "KEY-08",
        "coalesce(m.session_id <> m.partition_key, false)",
        "false",
    ),
    Mutant("first-partition-always", "KEY-14", "coalesce(r.choice, e.turn)", "0L"),
    Mutant("down-keys-taken", "KEY-03", "array_contains(unavailable, at)", "false"),
    Mutant("no-rerouting", "KEY-15", "size(up) = 0", "size(unavailable) > 0"),
    Mutant("copies-kept", "KEY-11", "s.now - x.at < e.duplicate_window", "false"),
    Mutant("copies-for-ever", "DUP-01", "s.now - x.at < e.duplicate_window", "true"),
    Mutant("locked-given-again", "LIFE-02", "h.token IS NULL AND NOT h.deferred", "NOT h.deferred"),
    Mutant("deferred-given", "DEFER-01", "NOT h.deferred", "true"),
    Mutant("down-given", "LIFE-11", "array_contains(unavailable, h.partition)", "false"),
    Mutant("sessions-mixed", "SESS-02", "h.message.session_id = c.session_id", "true"),
    Mutant("newest-first", "KEY-17", "x.`order` - y.`order`", "y.`order` - x.`order`"),
    Mutant("deletes-nothing", "LIFE-03", "x.sequence_number <> h.sequence_number", "true"),
    Mutant("lock-halved", "LOCK-01", "s.now + e.lock_duration", "s.now + e.lock_duration DIV 2"),
    Mutant("count-twice", "DLQ-01", "h.deliveries + 1", "h.deliveries + 2"),
    Mutant("never-spent", "DLQ-02", "b.deliveries >= x.max_delivery_count", "false"),
    Mutant(
        "spent-late",
        "DLQ-02",
        "b.deliveries >= x.max_delivery_count",
        "b.deliveries > x.max_delivery_count",
    ),
    Mutant(
        "completes-nothing",
        "LIFE-03",
        "NOT coalesce(b.queue = q AND b.token = c.lock_token, false)",
        "true",
    ),
    Mutant("any-token", "LIFE-06", "b.token = c.lock_token", "b.token IS NOT NULL"),
    Mutant("locks-never-end", "LIFE-05", "b.until <= s.now", "false"),
    Mutant("sessions-never-end", "SESS-11", "x.until > s.now", "true"),
    Mutant("session-shared", "LIFE-10", "x.connection <> r.connection", "false"),
    Mutant("anybody-holds", "SESS-12", "x.connection = r.connection", "true"),
    Mutant("closing-counts", "SESS-09", "b.deliveries - 1", "b.deliveries"),
    Mutant("keyless-staged", "TXN-03", "(key IS NULL)", "false"),
    Mutant("keys-mixed", "TXN-04", "x.key.value <> key.value", "false"),
    Mutant(
        "rolled-back-stays-open",
        "TXN-13",
        "x.name = c.transaction AND x.open",
        "x.name = c.transaction",
    ),
    Mutant("never-dies", "TTL-01", "b.dies <= s.now", "false"),
    Mutant("dies-locked", "TTL-05", "b.dies <= s.now AND b.token IS NULL", "b.dies <= s.now"),
    Mutant("expired-not-buried", "TTL-07", "x.name = b.owner AND x.dead_letter_expired", "false"),
    Mutant("due-never", "SCHED-02", "x.due <= s.now", "false"),
    Mutant("due-at-once", "SCHED-01", "x.due <= s.now", "true"),
    Mutant("peeks-too-much", "PART-19", "CAST(c.count AS INT)", "CAST(c.count + 1 AS INT)"),
    Mutant(
        "dead-letters-counted",
        "MGMT-20",
        "filter(s.messages, h -> h.queue = q AND NOT array_contains(unavailable, h.partition))",
        "filter(s.messages, h -> h.owner = q AND NOT array_contains(unavailable, h.partition))",
    ),
    Mutant("size-of-one", "SIZE-04", "e.max_size * e.partitions", "e.max_size"),
    Mutant(
        "full-takes-more",
        "SIZE-10",
        "used_up < 1073741824 * e.max_size AND used_up + m.size <= 1073741824 * e.max_size",
        "true",
    ),
    Mutant("created-twice", "MGMT-09", "known.name = e.name", "false"),
    Mutant(
        "update-ignored", "MGMT-12", "coalesce(c.lock_duration, x.lock_duration)", "x.lock_duration"
    ),
    Mutant("long-locks", "LOCK-03", "coalesce(c.lock_duration > 300000000, false)", "false"),
    Mutant(
        "subscription-forgotten",
        "TOPIC-01",
        "x.kind = 'subscription' AND x.place = e.name",
        "x.kind = 'subscription' AND x.place = e.name AND x.forward_to IS NOT NULL",
    ),
    Mutant(
        "kept-for-a-gone-destination", "FWD-20", "to IS NULL AND e.forward_to IS NOT NULL", "false"
    ),
    Mutant("forwards-nothing", "FWD-01", "known.name = e.forward_to", "false"),
)


def insert_mutants(fold: Expression) -> Expression:
    """Return the fold with all mutants in it; each row runs the one in its column `mutant`.

    Raises:
        AssertionError: the fold lacks an expression that a mutant replaces.
    """
    places: dict[Expression, list[Mutant]] = {}
    for mutant in MUTANTS:
        places.setdefault(mutant.old, []).append(mutant)
    # Longest first, because a longer expression may contain a shorter one.
    for old in sorted(places, key=len, reverse=True):
        if old not in fold:
            raise AssertionError(f"no expression has {old}")
        cases = " ".join(f"WHEN '{mutant.name}' THEN {mutant.new}" for mutant in places[old])
        fold = fold.replace(old, f"CASE mutant {cases} ELSE {old} END")
    return fold
