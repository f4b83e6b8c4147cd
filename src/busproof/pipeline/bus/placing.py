"""Selection of a message's partition."""

from typing import Final

from busproof import vocabulary as v
from busproof.pipeline.bus.entities import is_down
from busproof.pipeline.bus.tables import ENTITY, KEY
from busproof.pipeline.bus.terms import Expression, change_struct, let, where

__all__ = [
    "advance_turn",
    "choose_partition",
    "conflict",
    "free_partitions",
    "has_room",
    "home",
    "key_of",
]

_REROUTING: Final = 15 * v.MICROSECONDS
_GB: Final = 2**30


def key_of(message: Expression, entity: Expression = "e") -> Expression:
    """KEY-04, KEY-07, KEY-10: return the partition key of a message.

    It is the first of these that is set: SessionId, PartitionKey and, with duplicate detection,
    MessageId.
    """
    return (
        f"CASE WHEN NOT {entity}.partitioned THEN CAST(NULL AS {KEY}) "
        f"WHEN {message}.session_id IS NOT NULL THEN {_key('SessionId', f'{message}.session_id')} "
        f"WHEN {message}.partition_key IS NOT NULL "
        f"THEN {_key('PartitionKey', f'{message}.partition_key')} "
        f"WHEN {entity}.duplicate_detection AND {message}.message_id IS NOT NULL "
        f"THEN {_key('MessageId', f'{message}.message_id')} END"
    )


def _key(name: str, value: Expression) -> Expression:
    return f"named_struct('property', '{name}', 'value', {value})"


def conflict(message: Expression = "m") -> Expression:
    """KEY-08: return whether SessionId and PartitionKey are both set and differ."""
    return f"coalesce({message}.session_id <> {message}.partition_key, false)"


def home(key: Expression, entity: Expression = "e") -> Expression:
    """KEY-02: return the partition of a key, which depends only on its value."""
    return f"pmod(crc32(encode({key}.value, 'utf-8')), {entity}.partitions)"


def has_room(partition: Expression, size: Expression, entity: Expression = "e") -> Expression:
    """SIZE-07, SIZE-13: return whether a partition has room for more bytes.

    Dead letters and scheduled messages use room, too.
    """
    used = "used + coalesce(h.message.size, 0)"
    stored = where("s.messages", "h", f"h.owner = {entity}.name AND h.partition = {partition}")
    late = where("s.planned", "h", f"h.queue = {entity}.name AND h.partition = {partition}")
    there = f"aggregate({stored}, 0L, (used, h) -> {used})"
    to_come = f"aggregate({late}, 0L, (used, h) -> {used})"
    limit = f"{_GB} * {entity}.max_size"
    return let(
        "used_up",
        f"{there} + {to_come}",
        f"({size} IS NULL OR {size} = 0 OR used_up < {limit} AND used_up + {size} <= {limit})",
    )


def free_partitions(first: Expression, entity: Expression = "e") -> Expression:
    """KEY-15: return the partitions that are up, in turn order from the first."""
    ahead = f"sequence(0L, {entity}.partitions - 1)"
    turns = f"transform({ahead}, i -> pmod({first} + i, {entity}.partitions))"
    return where(turns, "p", f"NOT {is_down('p')}")


def choose_partition(message: Expression, timeout: Expression) -> Expression:
    """KEY-01: return the partition for a message `m` with the key `key`, or an error."""
    keyed = let(
        "at",
        home("key"),
        _answer(
            f"CASE WHEN {is_down('at')} THEN '{v.Error.UNAVAILABLE.value}' "
            f"WHEN NOT {has_room('at', f'{message}.size')} "
            f"THEN '{v.Error.QUOTA_EXCEEDED.value}' END",
            "at",
        ),
    )
    return f"IF(key IS NULL, {_keyless(message, timeout)}, {keyed})"


def _keyless(message: Expression, timeout: Expression) -> Expression:
    """KEY-14, KEY-15, KEY-18, SIZE-09: place a message without a key.

    Partitions take turns. A full partition is skipped; one that is down, only if the timeout
    allows.
    """
    fitting = where("up", "p", has_room("p", f"{message}.size"))
    error = (
        f"CASE WHEN size(up) = 0 OR {is_down('first')} AND {timeout} <= {_REROUTING} "
        f"THEN '{v.Error.UNAVAILABLE.value}' "
        f"WHEN at IS NULL THEN '{v.Error.QUOTA_EXCEEDED.value}' END"
    )
    placed = let(
        "up", free_partitions("first"), let("at", f"get({fitting}, 0)", _answer(error, "at"))
    )
    return let("first", "pmod(coalesce(r.choice, e.turn), e.partitions)", placed)


def _answer(error: Expression, partition: Expression) -> Expression:
    return f"named_struct('error', {error}, 'partition', {partition})"


def advance_turn(name: Expression, partition: Expression, state: Expression = "s") -> Expression:
    """Return the entities after a message without a key was placed, with the turn moved on."""
    moved = change_struct(ENTITY, "t", turn=f"pmod({partition} + 1, t.partitions)")
    return f"transform({state}.entities, t -> IF(t.name = {name}, {moved}, t))"
