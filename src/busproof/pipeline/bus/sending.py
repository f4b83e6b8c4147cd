"""Sends, schedules and cancellations of scheduled messages."""

from typing import Final

from busproof import vocabulary as v
from busproof.pipeline.bus.arriving import arrival, deliver_arrivals
from busproof.pipeline.bus.entities import run_on_queue
from busproof.pipeline.bus.limits import limit_error
from busproof.pipeline.bus.placing import advance_turn, choose_partition, conflict, key_of
from busproof.pipeline.bus.staging import stage_message
from busproof.pipeline.bus.tables import ACCEPTED, PLANNED
from busproof.pipeline.bus.terms import (
    Expression,
    add_outcome,
    let,
    one,
    refuse,
    row,
    sequence_number,
    state,
    succeed,
    where,
)

__all__ = ["PLANNED_FROM", "cancel", "schedule", "send", "send_message"]

PLANNED_FROM: Final = 2**40
"""First sequence number of scheduled messages, above those of arrived messages."""


def send() -> Expression:
    """KEY-01: send a message to one partition, or refuse it."""
    return run_on_queue(send_message("c.message"), to_topics=True)


def send_message(message: Expression) -> Expression:
    """Return the state after a message was sent to the entity `e`, with its outcome added."""
    ended = succeed(witness="at.partition")
    there = arrival(queue="e.name", key="key", partition="at.partition", message="m", at="s.now")
    stored = deliver_arrivals(_advance_turn(), f"array({there})")
    in_transaction = stage_message(succeed(witness="home"))
    return _sendable(message, let("s", stored, ended), "c.timeout", in_transaction)


def schedule() -> Expression:
    """SCHED-03, SCHED-09: choose a message's partition now, and enqueue it when it is due."""
    number = sequence_number("at.partition", f"({PLANNED_FROM} + s.arrivals + 1)")
    ended = state(
        arrivals="s.arrivals + 1", planned=_plan_message(), told=_answer_scheduled("number")
    )
    kept = let("s", _remember_message_id(), ended)
    planned = let("number", number, f"IF({_is_copy()}, {_drop_duplicate()}, {kept})")
    stored = let("s", _advance_turn(), planned)
    late = sequence_number("home", f"({PLANNED_FROM} + s.arrivals + 1)")
    in_transaction = stage_message(
        let("number", late, state(arrivals="s.arrivals + 1", told=_answer_scheduled("number"))),
        sequence_number=late,
        due="s.now + greatest(c.delay, 0L)",
    )
    body = _sendable("c.message", stored, "60000000L", in_transaction)
    return run_on_queue(body, to_topics=True)


def _sendable(
    message: Expression, stored: Expression, timeout: Expression, in_transaction: Expression
) -> Expression:
    """Store message `m` with key `key` in partition `at`, add it to a transaction, or refuse it."""
    invalid = f"'{v.Error.INVALID_OPERATION.value}'"
    barred = "is_dlq OR e.requires_session AND m.session_id IS NULL"
    differ = f"c.transaction IS NULL AND e.partitioned AND {conflict()}"
    objection = f"CASE WHEN {barred} THEN {invalid} WHEN {differ} THEN {invalid} END"
    at_once = let(
        "at",
        choose_partition("m", timeout),
        f"IF(at.error IS NULL, {stored}, {refuse('at.error')})",
    )
    body = (
        f"CASE WHEN error IS NOT NULL THEN {refuse('error')} "
        f"WHEN c.transaction IS NULL THEN {at_once} ELSE {in_transaction} END"
    )
    checked = let("error", f"coalesce({objection}, {limit_error('m')})", body)
    return let("m", message, let("key", key_of("m"), checked))


def _advance_turn() -> Expression:
    turns = f"IF(key IS NULL, {advance_turn('e.name', 'at.partition')}, s.entities)"
    return state(entities=turns)


def _answer_scheduled(number: Expression) -> Expression:
    return add_outcome("Scheduled", sequence_number=number)


def _drop_duplicate() -> Expression:
    """KEY-11: drop a scheduled duplicate, but answer as if it were stored."""
    return state(arrivals="s.arrivals + 1", told=_answer_scheduled("number"))


def _same() -> Expression:
    return "x.queue = e.name AND x.key <=> key AND x.message_id = m.message_id"


def _is_copy() -> Expression:
    return (
        f"e.duplicate_detection AND m.message_id IS NOT NULL AND exists(s.accepted, x -> {_same()} "
        "AND s.now - x.at < e.duplicate_window)"
    )


def _remember_message_id() -> Expression:
    new = row(ACCEPTED, queue="e.name", key="key", message_id="m.message_id", at="s.now")
    others = where("s.accepted", "x", f"NOT ({_same()})")
    identified = "e.duplicate_detection AND m.message_id IS NOT NULL"
    return f"IF({identified}, {state(accepted=f'concat({others}, array({new}))')}, s)"


def _plan_message() -> Expression:
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
    return run_on_queue(
        f"IF({scheduled} IS NULL, {refuse(v.Error.MESSAGE_NOT_FOUND)}, {succeed(planned=rest)})",
        to_topics=True,
    )
