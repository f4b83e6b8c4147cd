"""Release, dead-lettering and expiry of messages."""

from typing import Final

from busproof.pipeline.bus.tables import HELD
from busproof.pipeline.bus.terms import (
    DEAD,
    Expression,
    change_struct,
    let,
    sequence_number,
    state,
    where,
)

__all__ = ["UNLOCKED", "dead_lettered", "expire_messages", "release"]

UNLOCKED: Final = {
    "token": "CAST(NULL AS STRING)",
    "until": "CAST(NULL AS BIGINT)",
    "session": "CAST(NULL AS STRING)",
}
"""Values of the fields that a message has while it is not locked."""

_BACK: Final = "''"
"""Token of a released message, until it is enqueued or dead-lettered."""

_SPENT: Final = "'MaxDeliveryCountExceeded'"
_EXPIRED: Final = "'TTLExpiredException'"

_IS_DEAD: Final = "b.dies <= s.now AND b.token IS NULL AND NOT b.deferred"
"""TTL-01, TTL-05, TTL-10: condition for an expired message that is not locked or deferred."""


def dead_lettered(
    condition: Expression, reason: Expression, source: Expression = "s"
) -> Expression:
    """DLQ-05, DLQ-13: move the messages `b` that satisfy a condition to dead-letter queues."""
    order = f"{source}.arrivals + i + 1"
    letter = change_struct(
        HELD,
        "b",
        queue=f"concat(b.owner, {DEAD})",
        sequence_number=sequence_number("b.partition", f"({order})"),
        order=order,
        deliveries="0L",
        deferred="false",
        dies="CAST(NULL AS BIGINT)",
        reason=reason,
        **UNLOCKED,
    )
    going = where(f"{source}.messages", "b", condition)
    staying = where(f"{source}.messages", "b", f"NOT coalesce({condition}, false)")
    moved = state(
        source,
        messages=f"concat({staying}, transform(going, (b, i) -> {letter}))",
        arrivals=f"{source}.arrivals + size(going)",
    )
    return let("going", going, f"IF(size(going) = 0, {source}, {moved})")


def release(condition: Expression) -> Expression:
    """LIFE-04, LIFE-05, DLQ-02: release the messages `b` that satisfy a condition.

    A message with too many deliveries is dead-lettered instead.
    """
    freed = change_struct(HELD, "b", **{**UNLOCKED, "token": _BACK})
    marked = f"transform(s.messages, b -> IF({condition}, {freed}, b))"
    limit = "exists(s.entities, x -> x.name = b.owner AND b.deliveries >= x.max_delivery_count)"
    spent = f"b.token = {_BACK} AND NOT b.deferred AND b.queue = b.owner AND {limit}"
    plain = change_struct(HELD, "b", **{"token": f"nullif(b.token, {_BACK})"})
    unmarked = state(messages=f"transform(s.messages, b -> {plain})")
    steps = [state(messages=marked), dead_lettered(spent, _SPENT), unmarked]
    body = expire_messages()
    while steps:
        body = let("s", steps.pop(), body)
    return body


def expire_messages() -> Expression:
    """TTL-06 to TTL-08: remove or dead-letter expired messages."""
    wanted = "exists(s.entities, x -> x.name = b.owner AND x.dead_letter_expired)"
    alive = where("s.messages", "b", f"NOT coalesce({_IS_DEAD}, false)")
    return let("s", dead_lettered(f"{_IS_DEAD} AND {wanted}", _EXPIRED), state(messages=alive))
