"""Arrival of messages: drop a duplicate, copy it to subscriptions, forward it, or enqueue it."""

from typing import Final

from busproof.pipeline.bus.entities import entity
from busproof.pipeline.bus.placing import advance_turn, home, key_of
from busproof.pipeline.bus.tables import ACCEPTED, ARRIVAL, HELD, KEY
from busproof.pipeline.bus.terms import (
    DEAD,
    Expression,
    copy_struct,
    let,
    row,
    sequence_number,
    state,
    where,
)
from busproof.pipeline.schema import MESSAGE

__all__ = ["arrival", "deliver_arrivals"]

_HOPS: Final = 4
_ROUNDS: Final = 2 * _HOPS + 2
"""Maximum number of rounds until all messages rest; a topic's copies take one more per hop."""

_GONE: Final = "DestinationNotFound"
_NOBODY: Final = "SessionIdMissing"
_TOO_FAR: Final = "MaxTransferHopCountExceeded"


def arrival(**fields: Expression) -> Expression:
    """Return the arrival of a message that was sent to this entity directly."""
    return row(ARRIVAL, **{"hops": "0L", "direct": "true", "checked": "false", **fields})


def deliver_arrivals(source: Expression, arrivals: Expression) -> Expression:
    """Return the state after messages have arrived, and all copies made of them have come to rest.

    An aggregate copies its state in every step, so meanwhile the earlier outcomes are kept outside
    of the state. The usual case, where no message goes on to another entity, takes one round.
    """
    first = let("s", source, state(coming=arrivals, told="slice(s.told, 1, 0)"))
    waiting = state("w", coming="slice(w.coming, 1, 0)")
    taken = f"aggregate(w.coming, {waiting}, (s, a) -> {_take_arrival()})"
    goes_on = (
        "exists(begun.coming, a -> exists(begun.entities, x -> x.name = a.queue "
        "AND (x.kind = 'topic' OR x.forward_to IS NOT NULL)))"
    )
    rounds = (
        f"aggregate(sequence(1, IF({goes_on}, {_ROUNDS}, 1)), begun, "
        f"(w, turn) -> IF(size(w.coming) = 0, w, {taken}))"
    )
    rested = let("begun", first, rounds)
    return let("before", "s.told", let("rested", rested, state("rested", told="before")))


def _take_arrival() -> Expression:
    """Return the state after message `a` has arrived at its entity; a deleted entity drops it."""
    kept = let("s", _remember_message_id(), _pass_on())
    taken = f"IF({_is_copy()}, s, {kept})"
    return let("e", entity("a.queue"), f"IF(e IS NULL, s, {taken})")


def _is_identified() -> Expression:
    return "e.duplicate_detection AND a.message.message_id IS NOT NULL AND NOT a.checked"


def _is_copy() -> Expression:
    """KEY-11, DUP-01: return whether a message is a duplicate, by MessageId and key."""
    return (
        f"{_is_identified()} AND exists(s.accepted, x -> {_same()} "
        "AND s.now - x.at < e.duplicate_window)"
    )


def _same() -> Expression:
    return "x.queue = e.name AND x.key <=> a.key AND x.message_id = a.message.message_id"


def _remember_message_id() -> Expression:
    new = row(ACCEPTED, queue="e.name", key="a.key", message_id="a.message.message_id", at="s.now")
    others = where("s.accepted", "x", f"NOT ({_same()})")
    return f"IF({_is_identified()}, {state(accepted=f'concat({others}, array({new}))')}, s)"


def _pass_on() -> Expression:
    """Publish, forward, dead-letter or enqueue a message."""
    lost = "NOT a.direct AND e.requires_session AND a.message.session_id IS NULL"
    return let(
        "to",
        entity("e.forward_to"),
        f"CASE WHEN e.kind = 'topic' THEN {_publish()} "
        f"WHEN to IS NULL AND e.forward_to IS NOT NULL THEN {_undeliverable(_GONE)} "
        f"WHEN to IS NULL AND {lost} THEN {_undeliverable(_NOBODY)} "
        f"WHEN to IS NULL THEN {_put()} "
        f"WHEN a.hops < {_HOPS} THEN {_forward()} "
        f"ELSE {_undeliverable(_TOO_FAR)} END",
    )


def _publish() -> Expression:
    """TOPIC-01: copy a message to each subscription, in the partition that it arrived in."""
    message = copy_struct(
        MESSAGE, "a.message", time_to_live="least(e.time_to_live, a.message.time_to_live)"
    )
    nothing = f"CAST(NULL AS {KEY})"
    copy = copy_struct(ARRIVAL, "a", queue="x.name", message=message, key=nothing, direct="false")
    those = where("s.entities", "x", "x.kind = 'subscription' AND x.place = e.name")
    return state(coming=f"concat(s.coming, transform({those}, x -> {copy}))")


def _forward() -> Expression:
    """FWD-08, FWD-09: forward to the partition of the key; without a key, partitions take turns."""
    up = where(
        "sequence(0L, to.partitions - 1)",
        "i",
        "NOT exists(s.dark, d -> d.queue = to.place "
        "AND d.partition = pmod(to.turn + i, to.partitions))",
    )
    by_turns = f"coalesce(pmod(to.turn + get({up}, 0), to.partitions), 0L)"
    going = copy_struct(
        ARRIVAL, "a", queue="to.name", key="key", partition="at", hops="a.hops + 1", direct="false"
    )
    turns = f"IF(key IS NULL, {advance_turn('to.name', 'at')}, s.entities)"
    gone = state(entities=turns, coming=f"concat(s.coming, array({going}))")
    where_to = f"IF(key IS NULL, {by_turns}, {home('key', 'to')})"
    return let("key", key_of("a.message", "to"), let("at", where_to, gone))


def _undeliverable(reason: str) -> Expression:
    """FWD-18, FWD-20, FWD-27: dead-letter a message in the entity that cannot forward it."""
    return _enqueue(queue=f"concat(e.name, {DEAD})", reason=f"'{reason}'")


def _put() -> Expression:
    """LIFE-01: enqueue a message at the end of its queue."""
    return _enqueue(queue="e.name", dies="a.at + least(e.time_to_live, a.message.time_to_live)")


def _enqueue(**fields: Expression) -> Expression:
    message = row(
        HELD,
        owner="e.name",
        sequence_number=sequence_number("a.partition", "(s.arrivals + 1)"),
        order="s.arrivals + 1",
        partition="a.partition",
        message="a.message",
        deliveries="0L",
        deferred="false",
        **fields,
    )
    return state(arrivals="s.arrivals + 1", messages=f"concat(s.messages, array({message}))")
