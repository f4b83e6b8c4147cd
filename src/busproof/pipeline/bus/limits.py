"""Limits of sizes, lengths and counts in one request; a KB is 1,024 bytes."""

from typing import Final

from busproof import vocabulary as v
from busproof.pipeline.bus.terms import Expression, where

__all__ = [
    "full_transaction",
    "is_large_state",
    "limit_error",
    "long_name",
    "odd_window",
    "too_large",
]

_KB: Final = 1024
_LARGEST: Final = f"IF(s.tier = 'premium', {100 * _KB * _KB}, {256 * _KB})"
_LARGEST_BATCH: Final = f"IF(s.tier = 'premium', {_KB * _KB}, {256 * _KB})"
_LARGEST_STATE: Final = _LARGEST_BATCH
_LONGEST_KEY: Final = 128
_LONGEST_NAME: Final = 260
_LONGEST_SHORT_NAME: Final = 50
_PROPERTY, _PROPERTIES = 32 * _KB, 64 * _KB
_MOST_IN_TRANSACTION: Final = 100
_SHORTEST_WINDOW: Final = 20 * v.MICROSECONDS
_LONGEST_WINDOW: Final = 7 * 24 * 3600 * v.MICROSECONDS

_TOO_LARGE: Final = f"'{v.Error.MESSAGE_TOO_LARGE.value}'"
_INVALID: Final = f"'{v.Error.INVALID_OPERATION.value}'"


def limit_error(message: Expression) -> Expression:
    """LIMIT-01 to LIMIT-14: return the error for a message beyond a limit, or null."""
    long_keys = " OR ".join(
        f"length({message}.{name}) > {_LONGEST_KEY}"
        for name in ("message_id", "session_id", "partition_key")
    )
    # Values are JSON texts; each that is not a string counts as eight bytes.
    text = "octet_length(get(from_json(concat('[', v, ']'), 'ARRAY<STRING>'), 0))"
    sizes = (
        f"map_values(transform_values({message}.properties, "
        f"(k, v) -> octet_length(k) + IF(startswith(v, '\"'), {text}, 8)))"
    )
    together = f"aggregate({sizes}, 0, (n, size) -> n + size)"
    large = f"exists({sizes}, size -> size > {_PROPERTY}) OR {together} > {_PROPERTIES}"
    return (
        f"CASE WHEN {message}.size > {_LARGEST} AND NOT coalesce({message}.stands_in, false) "
        f"THEN {_TOO_LARGE} WHEN {long_keys} THEN {_INVALID} "
        f"WHEN {message}.properties IS NOT NULL AND ({large}) THEN {_INVALID} END"
    )


def too_large(messages: Expression) -> Expression:
    """BATCH-07: return whether a batch is larger than a single message may be."""
    size = "IF(coalesce(x.stands_in, false), 0L, coalesce(x.size, 0L))"
    together = f"aggregate({messages}, 0L, (n, x) -> n + {size})"
    return f"size({messages}) > 1 AND {together} > {_LARGEST_BATCH}"


def full_transaction() -> Expression:
    """LIMIT-15, LIMIT-16: return whether the transaction of a send has its maximum of messages."""
    mine = where("s.staged", "x", "x.transaction = c.transaction")
    return f"size({mine}) >= {_MOST_IN_TRANSACTION}"


def is_large_state() -> Expression:
    """LIMIT-19, LIMIT-20: return whether a session state is too large."""
    return f"coalesce(octet_length(c.state) > {_LARGEST_STATE}, false)"


def long_name() -> Expression:
    """LIMIT-17, LIMIT-18, TOPIC-17, TOPIC-18: return whether a new entity's name is too long."""
    return (
        f"IF(e.kind = 'subscription', length(c.subscription) > {_LONGEST_SHORT_NAME}, "
        f"length(e.name) > {_LONGEST_NAME})"
    )


def odd_window() -> Expression:
    """DUP-03: return whether the duplicate window of the new entity `e` is forbidden."""
    return (
        f"(e.duplicate_detection AND (e.duplicate_window < {_SHORTEST_WINDOW} "
        f"OR e.duplicate_window > {_LONGEST_WINDOW}L))"
    )
