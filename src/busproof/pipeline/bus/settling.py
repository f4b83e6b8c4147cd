"""Settlement of locked messages, and renewal of their locks."""

from busproof import vocabulary as v
from busproof.pipeline.bus.entities import run_on_queue
from busproof.pipeline.bus.releasing import UNLOCKED, dead_lettered, release
from busproof.pipeline.bus.tables import HELD
from busproof.pipeline.bus.terms import (
    Expression,
    add_outcome,
    change_struct,
    let,
    one,
    refuse,
    state,
    succeed,
    where,
)

__all__ = ["abandon", "complete", "dead_letter", "defer", "renew_lock"]

_MINE = "b.queue = q AND b.token = c.lock_token"


def _settle(settled: Expression) -> Expression:
    """LIFE-06: settle the message `h` that is locked under the token; refuse if there is none."""
    message = one("s.messages", "b", _MINE)
    return run_on_queue(let("h", message, f"IF(h IS NULL, {refuse(v.Error.LOCK_LOST)}, {settled})"))


def complete() -> Expression:
    """LIFE-03: remove a message."""
    return _settle(succeed(messages=where("s.messages", "b", f"NOT coalesce({_MINE}, false)")))


def abandon() -> Expression:
    """LIFE-04: release a message, so that it can be received again."""
    return _settle(let("s", release(_MINE), succeed()))


def dead_letter() -> Expression:
    """DLQ-05, DLQ-10: dead-letter a message, unless it is in a dead-letter queue."""
    message = one("s.messages", "b", _MINE)
    moved = let("s", dead_lettered(_MINE, "c.reason"), succeed())
    return run_on_queue(
        f"CASE WHEN is_dlq THEN {refuse(v.Error.INVALID_OPERATION)} "
        f"WHEN {message} IS NULL THEN {refuse(v.Error.LOCK_LOST)} ELSE {moved} END"
    )


def defer() -> Expression:
    """DEFER-01, DLQ-01: defer a message; its delivery does not count, because it has not failed."""
    free = change_struct(HELD, "b", deferred="true", deliveries="-1 + b.deliveries", **UNLOCKED)
    aside = f"transform(s.messages, b -> IF({_MINE}, {free}, b))"
    return _settle(succeed(messages=aside))


def renew_lock() -> Expression:
    """LOCK-04: renew a lock for a full duration; refuse it for a message in a session."""
    longer = change_struct(HELD, "b", until="s.now + e.lock_duration")
    renewed = state(
        messages=f"transform(s.messages, b -> IF({_MINE}, {longer}, b))",
        told=add_outcome("Renewed", locked_until="s.now + e.lock_duration"),
    )
    return _settle(f"IF(h.session IS NULL, {renewed}, {refuse(v.Error.INVALID_OPERATION)})")
