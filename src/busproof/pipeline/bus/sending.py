"""Sends, schedules and cancellations of scheduled messages."""

from typing import Final

from busproof import vocabulary as v
from busproof.pipeline.bus.arriving import arrival, arrived
from busproof.pipeline.bus.entities import of_queue
from busproof.pipeline.bus.limits import exceeded
from busproof.pipeline.bus.placing import conflict, key_of, placed, turned
from busproof.pipeline.bus.staging import staged
from busproof.pipeline.bus.tables import ACCEPTED, PLANNED
from busproof.pipeline.bus.terms import (
    Expression,
    done,
    let,
    one,
    refused,
    row,
    sequence_number,
    state,
    told,
    where,
)

__all__ = ["PLANNED_FROM", "cancel", "schedule", "send", "sent"]

PLANNED_FROM: Final = 2**40
"""First sequence number of scheduled messages, above those of arrived messages."""


def send() -> Expression:
    """KEY-01: send a message to one partition, or refuse it."""
    return of_queue(sent("c.message"), to_topics=True)


def sent(message: Expression) -> Expression:
    """Return the state after a message was sent to the entity `e`, with its outcome added."""
    ended = done(witness="at.partition")
    there = arrival(queue="e.name", key="key", partition="at.partition", message="m", at="s.now")
    stored = arrived(_after_turn(), f"array({there})")
    in_transaction = staged(done(witness="home"))
    return _sendable(message, let("s", stored, ended), "c.timeout", in_transaction)


def schedule() -> Expression:
    """SCHED-03, SCHED-09: choose a message's partition now, and enqueue it when it is due."""
    number = sequence_number("at.partition", f"({PLANNED_FROM} + s.arrivals + 1)")
    ended = state(arrivals="s.arrivals + 1", planned=_with_planned(), told=_scheduled("number"))
    kept = let("s", _remembered(), ended)
    planned = let("number", number, f"IF({_is_copy()}, {_dropped()}, {kept})")
    stored = let("s", _after_turn(), planned)
    late = sequence_number("home", f"({PLANNED_FROM} + s.arrivals + 1)")
    in_transaction = staged(
        let("number", late, state(arrivals="s.arrivals + 1", told=_scheduled("number"))),
        sequence_number=late,
        due="s.now + greatest(c.delay, 0L)",
    )
    body = _sendable("c.message", stored, "60000000L", in_transaction)
    return of_queue(body, to_topics=True)


def _sendable(
    message: Expression, stored: Expression, timeout: Expression, in_transaction: Expression
) -> Expression:
    """Store message `m` with key `key` in partition `at`, add it to a transaction, or refuse it."""
    invalid = f"'{v.Error.INVALID_OPERATION.value}'"
    barred = "is_dlq OR e.requires_session AND m.session_id IS NULL"
    differ = f"c.transaction IS NULL AND e.partitioned AND {conflict()}"
    objection = f"CASE WHEN {barred} THEN {invalid} WHEN {differ} THEN {invalid} END"
    at_once = let(
        "at", placed("m", timeout), f"IF(at.error IS NULL, {stored}, {refused('at.error')})"
    )
    body = (
        f"CASE WHEN error IS NOT NULL THEN {refused('error')} "
        f"WHEN c.transaction IS NULL THEN {at_once} ELSE {in_transaction} END"
    )
    checked = let("error", f"coalesce({objection}, {exceeded('m')})", body)
    return let("m", message, let("key", key_of("m"), checked))


def _after_turn() -> Expression:
    turns = f"IF(key IS NULL, {turned('e.name', 'at.partition')}, s.entities)"
    return state(entities=turns)


def _scheduled(number: Expression) -> Expression:
    return told("Scheduled", sequence_number=number)


def _dropped() -> Expression:
    """KEY-11: drop a scheduled duplicate, but answer as if it were stored."""
    return state(arrivals="s.arrivals + 1", told=_scheduled("number"))


def _same() -> Expression:
    return "x.queue = e.name AND x.key <=> key AND x.message_id = m.message_id"


def _is_copy() -> Expression:
    return (
        f"e.duplicate_detection AND m.message_id IS NOT NULL AND exists(s.accepted, x -> {_same()} "
        "AND s.now - x.at < e.duplicate_window)"
    )


def _remembered() -> Expression:
    new = row(ACCEPTED, queue="e.name", key="key", message_id="m.message_id", at="s.now")
    others = where("s.accepted", "x", f"NOT ({_same()})")
    identified = "e.duplicate_detection AND m.message_id IS NOT NULL"
    return f"IF({identified}, {state(accepted=f'concat({others}, array({new}))')}, s)"


def _with_planned() -> Expression:
    new = row(
        PLANNED,
        queue="e.name",
        sequence_number="number",
        partition="at.partition",
        message="m",
        due="s.now + greatest(c.delay, 0L)",
    )
    return f"concat(s.planned, array({new}))"


def cancel() -> Expression:
    """SCHED-04, SCHED-05: cancel a scheduled message that is not yet due."""
    scheduled = one("s.planned", "x", "x.queue = q AND x.sequence_number = c.sequence_number")
    rest = where("s.planned", "x", "x.sequence_number <> c.sequence_number OR x.queue <> q")
    return of_queue(
        f"IF({scheduled} IS NULL, {refused(v.Error.MESSAGE_NOT_FOUND)}, {done(planned=rest)})",
        to_topics=True,
    )
