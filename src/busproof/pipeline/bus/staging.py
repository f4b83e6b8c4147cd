"""Sends in a transaction, and its commit or rollback."""

from busproof import vocabulary as v
from busproof.pipeline.bus.arriving import arrival, deliver_arrivals
from busproof.pipeline.bus.entities import entity, is_down
from busproof.pipeline.bus.limits import full_transaction
from busproof.pipeline.bus.placing import conflict, has_room, home
from busproof.pipeline.bus.tables import PLANNED, STAGED, TABLES
from busproof.pipeline.bus.terms import (
    Expression,
    change_struct,
    let,
    refuse,
    row,
    state,
    succeed,
    where,
)

__all__ = ["begin", "commit", "roll_back", "stage_message"]


def _is_open(name: Expression) -> Expression:
    return f"exists(s.transactions, x -> x.name = {name} AND x.open)"


def begin() -> Expression:
    """Begin a transaction under a new name."""
    new = row(TABLES["transactions"], name="c.transaction", open="true")
    return (
        "IF(exists(s.transactions, x -> x.name = c.transaction), "
        f"{refuse(v.Error.ALREADY_EXISTS)}, "
        f"{succeed(transactions=f'concat(s.transactions, array({new}))')})"
    )


def stage_message(answer: Expression, **planned: Expression) -> Expression:
    """TXN-02 to TXN-08: buffer message `m` with key `key` in its partition until the commit."""
    new = row(
        STAGED,
        transaction="c.transaction",
        queue="e.name",
        key="key",
        partition="home",
        message="m",
        **planned,
    )
    taken = let("s", state(staged=f"concat(s.staged, array({new}))"), answer)
    waiting = (
        "aggregate(filter(s.staged, x -> x.transaction = c.transaction AND x.queue = e.name AND "
        "x.partition = home), coalesce(m.size, 0L), (n, x) -> n + coalesce(x.message.size, 0L))"
    )
    fitting = let("together", waiting, has_room("home", "together"))
    lies = f"IF(key IS NULL, 0L, {home('key')})"
    error = (
        f"CASE WHEN NOT {_is_open('c.transaction')} THEN '{v.Error.NOT_FOUND.value}' "
        f"WHEN {full_transaction()} OR {_is_refused()} THEN '{v.Error.INVALID_OPERATION.value}' "
        f"WHEN {is_down('home')} THEN '{v.Error.UNAVAILABLE.value}' "
        f"WHEN NOT {fitting} THEN '{v.Error.QUOTA_EXCEEDED.value}' END"
    )
    return let("home", lies, let("error", error, f"IF(error IS NULL, {taken}, {refuse('error')})"))


def _is_refused() -> Expression:
    """TXN-03, TXN-04, TXN-07, TXN-08: return whether the key is missing or differs from others."""
    other = (
        "exists(s.staged, x -> x.transaction = c.transaction AND x.queue = e.name "
        "AND x.key.value <> key.value)"
    )
    return f"e.partitioned AND ({conflict()} OR (key IS NULL) OR {other})"


def _end_transaction() -> Expression:
    """Return the state after a transaction has ended, without its buffered sends."""
    closed = change_struct(TABLES["transactions"], "x", open="false")
    return state(
        transactions=(f"transform(s.transactions, x -> IF(x.name = c.transaction, {closed}, x))"),
        staged=where("s.staged", "x", "x.transaction <> c.transaction"),
    )


def roll_back() -> Expression:
    """TXN-13: roll back a transaction, and drop its sends."""
    rolled_back = let("s", _end_transaction(), succeed())
    return f"IF({_is_open('c.transaction')}, {rolled_back}, {refuse(v.Error.NOT_FOUND)})"


def commit() -> Expression:
    """TXN-12: commit a transaction: all sends take effect, or none."""
    unreached = (
        "exists(sent, x -> exists(s.entities, e -> e.name = x.queue AND exists(s.dark, d -> "
        "d.queue = e.place AND d.partition < e.partitions AND d.partition = x.partition)))"
    )
    stored = let("s", let("s", _end_transaction(), _store_staged()), succeed())
    ended = (
        f"CASE WHEN {unreached} THEN {let('s', _end_transaction(), refuse(v.Error.UNAVAILABLE))} "
        f"WHEN {_overfull()} THEN {let('s', _end_transaction(), refuse(v.Error.QUOTA_EXCEEDED))} "
        f"ELSE {stored} END"
    )
    sent = where("s.staged", "x", "x.transaction = c.transaction")
    return (
        f"IF({_is_open('c.transaction')}, {let('sent', sent, ended)}, {refuse(v.Error.NOT_FOUND)})"
    )


def _overfull() -> Expression:
    """SIZE-14: return whether a partition lacks room for all sends to it together."""
    together = (
        "aggregate(filter(sent, y -> y.queue = x.queue AND y.partition = x.partition), 0L, "
        "(n, y) -> n + coalesce(y.message.size, 0L))"
    )
    fits = let("together", together, has_room("x.partition", "together"))
    return f"exists(sent, x -> {let('e', entity('x.queue'), f'e IS NOT NULL AND NOT {fits}')})"


def _store_staged() -> Expression:
    """Enqueue the sent messages, and store the scheduled ones."""
    going = arrival(
        queue="x.queue", key="x.key", partition="x.partition", message="x.message", at="s.now"
    )
    later = row(PLANNED, **{name: f"x.{name}" for name in PLANNED})
    now_sent = where("sent", "x", "x.due IS NULL")
    planned = where("sent", "x", "x.due IS NOT NULL")
    noted = state(planned=f"concat(s.planned, transform({planned}, x -> {later}))")
    return deliver_arrivals(noted, f"transform({now_sent}, x -> {going})")
