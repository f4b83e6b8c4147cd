"""Receives and peeks."""

from busproof import vocabulary as v
from busproof.pipeline.bus.entities import run_on_queue
from busproof.pipeline.bus.tables import HELD
from busproof.pipeline.bus.terms import (
    Expression,
    add_outcome,
    change_struct,
    let,
    one,
    refuse,
    row,
    state,
    where,
)
from busproof.pipeline.schema import MESSAGE, VIEW

__all__ = ["outside_session", "peek", "receive", "receive_batch", "receive_deferred", "view"]


def view(message: Expression, **more: Expression) -> Expression:
    """Return a message as a receive or a peek shows it."""
    sent = {name: f"{message}.message.`{name}`" for name in MESSAGE}
    return row(VIEW, **{**sent, "sequence_number": f"{message}.sequence_number", **more})


def outside_session() -> Expression:
    """SESS-02: return whether a request lacks a required session, or has one where none is used."""
    return "(e.requires_session AND NOT is_dlq) <> (c.session_id IS NOT NULL)"


def _is_not_holder() -> Expression:
    """SESS-12: return whether a request names a session that its connection does not hold."""
    return (
        "c.session_id IS NOT NULL AND NOT exists(s.sessions, x -> x.queue = q "
        "AND x.session_id = c.session_id AND x.connection = r.connection)"
    )


def _receivable(answer: Expression) -> Expression:
    return run_on_queue(
        f"CASE WHEN {outside_session()} THEN {refuse(v.Error.INVALID_OPERATION)} "
        f"WHEN {_is_not_holder()} THEN {refuse(v.Error.SESSION_LOCK_LOST)} ELSE {answer} END"
    )


def receive() -> Expression:
    """LIFE-02, LIFE-09: receive the oldest free message of any available partition."""
    gone = state(
        messages=where("s.messages", "x", _other()),
        told=add_outcome("Received", message=view("h", dead_letter_reason="h.reason")),
    )
    taken = f"IF(c.mode = 'receive-and-delete', {gone}, {_receive_locked()})"
    nothing = state(told=add_outcome("Empty"))
    return _receivable(let("h", f"get({_free()}, 0)", f"IF(h IS NULL, {nothing}, {taken})"))


def receive_batch() -> Expression:
    """BATCH-12 to BATCH-14: receive up to the requested number of the oldest free messages."""
    taken = f"IF(c.mode = 'receive-and-delete', {_several_gone()}, {_several_locked()})"
    body = f"IF(size(found) = 0, {state(told=add_outcome('Empty'))}, {taken})"
    return _receivable(let("found", f"slice({_free()}, 1, CAST(c.count AS INT))", body))


def _free() -> Expression:
    """Return the messages that can be received, the oldest first."""
    free = where("s.messages", "h", f"h.queue = q AND {_is_free()}")
    return f"array_sort({free}, (x, y) -> CAST(x.`order` - y.`order` AS INT))"


def _is_free() -> Expression:
    return (
        "h.token IS NULL AND NOT h.deferred AND NOT array_contains(unavailable, h.partition) "
        "AND (c.session_id IS NULL OR h.message.session_id = c.session_id)"
    )


def _other() -> Expression:
    return "x.sequence_number <> h.sequence_number OR x.queue <> q"


def _lock_end() -> Expression:
    """LOCK-01, SESS-14: return when a new lock ends; within a session, when the session's does."""
    mine = one("s.sessions", "x", "x.queue = q AND x.session_id = c.session_id")
    return f"coalesce({mine}.until, s.now + e.lock_duration)"


def _lock(message: Expression, ahead: Expression) -> Expression:
    """LOCK-07: lock a message under a new token, and count the delivery."""
    return change_struct(
        HELD,
        message,
        deliveries=f"{message}.deliveries + 1",
        token=f"concat({message}.sequence_number, '/', s.given + {ahead})",
        until="ends",
        session="c.session_id",
    )


def _view_of_locked(message: Expression) -> Expression:
    return view(
        message,
        delivery_count=f"{message}.deliveries",
        lock_token=f"{message}.token",
        locked_until=f"{message}.until",
        dead_letter_reason=f"{message}.reason",
    )


def _receive_locked() -> Expression:
    taken = state(
        given="s.given + 1",
        messages=f"transform(s.messages, x -> IF({_other()}, x, taken))",
        told=add_outcome("Received", message=_view_of_locked("taken")),
    )
    return let("ends", _lock_end(), let("taken", _lock("h", "1"), taken))


def receive_deferred() -> Expression:
    """DEFER-02, DEFER-03, DEFER-10: receive all of these messages, from one partition, or none."""
    aside = (
        "h.queue = q AND h.sequence_number = n AND h.deferred AND h.token IS NULL "
        "AND NOT array_contains(unavailable, h.partition) "
        "AND (c.session_id IS NULL OR h.message.session_id = c.session_id)"
    )
    messages = f"transform(c.sequence_numbers, n -> {one('s.messages', 'h', aside)})"
    lacking = (
        "exists(found, h -> h IS NULL) OR size(array_distinct(c.sequence_numbers)) < size(found)"
    )
    spread = "size(array_distinct(transform(found, h -> h.partition))) > 1"
    body = (
        f"CASE WHEN {lacking} THEN {refuse(v.Error.MESSAGE_NOT_FOUND)} "
        f"WHEN {spread} THEN {refuse(v.Error.INVALID_OPERATION)} "
        f"WHEN c.mode = 'receive-and-delete' THEN {_several_gone()} ELSE {_several_locked()} END"
    )
    return _receivable(let("found", messages, body))


def _several_gone() -> Expression:
    mine = "exists(found, h -> h.sequence_number = x.sequence_number)"
    rest = where("s.messages", "x", f"x.queue <> q OR NOT {mine}")
    views = f"transform(found, h -> {view('h', dead_letter_reason='h.reason')})"
    return state(messages=rest, told=add_outcome("ReceivedSeveral", messages=views))


def _several_locked() -> Expression:
    locked = f"transform(found, (h, i) -> {_lock('h', 'i + 1')})"
    mine = one("taken", "h", "h.sequence_number = x.sequence_number AND x.queue = q")
    after = state(
        given="s.given + size(taken)",
        messages=f"transform(s.messages, x -> coalesce({mine}, x))",
        told=add_outcome(
            "ReceivedSeveral", messages=f"transform(taken, h -> {_view_of_locked('h')})"
        ),
    )
    return let("ends", _lock_end(), let("taken", locked, after))


def peek() -> Expression:
    """LIFE-07, PART-19: peek the oldest messages, or those from a sequence number on."""
    mine = "(c.session_id IS NULL OR h.message.session_id = c.session_id)"
    up = "NOT array_contains(unavailable, h.partition)"
    start = "(c.from_sequence_number IS NULL OR h.sequence_number >= c.from_sequence_number)"
    there = where("s.messages", "h", f"h.queue = q AND {up} AND {mine} AND {start}")
    by_number = (
        "IF(c.from_sequence_number IS NULL, sign(x.`order` - y.`order`), "
        "sign(x.sequence_number - y.sequence_number))"
    )
    oldest = f"array_sort({there}, (x, y) -> CAST({by_number} AS INT))"
    active = view("h", state="IF(h.deferred, 'deferred', 'active')", dead_letter_reason="h.reason")
    behind = f"transform({oldest}, h -> {active})"
    coming = where(
        "s.planned",
        "h",
        f"h.queue = q AND {up} AND c.session_id IS NULL AND c.from_sequence_number IS NULL",
    )
    scheduled = view("h", state="'scheduled'")
    later = f"transform({coming}, h -> {scheduled})"
    shown = f"slice(concat({behind}, {later}), 1, CAST(c.count AS INT))"
    return run_on_queue(state(told=add_outcome("Peeked", messages=shown)))
