"""The life of a message in one entity, as a table `(state, action) -> state`.

A message is active until a receiver locks, defers or removes it. Its state alone decides which
actions are possible: a pair that the table lacks is refused and changes nothing. Everything else,
such as the lock's holder and the number of failures, is decided by functions of the families.
`docs/states.md` draws this table.
"""

from enum import IntEnum
from typing import Final

__all__ = ["ACTIVE", "CHANGES", "LIFE_CYCLE", "LOCKED_STATES", "Action", "State"]


class State(IntEnum):
    """State of a message, as an `IntEnum` because that hashes as fast as a number."""

    ACTIVE = 1
    LOCKED = 2
    DEFERRED = 3
    DEFERRED_LOCKED = 4
    SCHEDULED = 5
    GONE = 6


class Action(IntEnum):
    """Action on a message, by a client or because time passed."""

    RECEIVE = 1
    RECEIVE_AND_DELETE = 2
    RECEIVE_DEFERRED = 3
    RECEIVE_DEFERRED_AND_DELETE = 4
    COMPLETE = 5
    ABANDON = 6
    DEFER = 7
    DEAD_LETTER = 8
    RENEW = 9
    LOCK_ENDS = 10
    EXPIRE = 11
    ACTIVATE = 12
    CANCEL = 13


CHANGES: Final = (
    (State.ACTIVE, Action.RECEIVE, State.LOCKED, "LIFE-02"),
    (State.ACTIVE, Action.RECEIVE_AND_DELETE, State.GONE, "LIFE-03"),
    (State.ACTIVE, Action.EXPIRE, State.GONE, "TTL-01"),
    (State.LOCKED, Action.COMPLETE, State.GONE, "LIFE-03"),
    (State.LOCKED, Action.DEAD_LETTER, State.GONE, "DLQ-05"),
    (State.LOCKED, Action.ABANDON, State.ACTIVE, "LIFE-04"),
    (State.LOCKED, Action.LOCK_ENDS, State.ACTIVE, "LIFE-05"),
    (State.LOCKED, Action.DEFER, State.DEFERRED, "DEFER-01"),
    (State.LOCKED, Action.RENEW, State.LOCKED, "LOCK-04"),
    (State.DEFERRED, Action.RECEIVE_DEFERRED, State.DEFERRED_LOCKED, "DEFER-02"),
    (State.DEFERRED, Action.RECEIVE_DEFERRED_AND_DELETE, State.GONE, "DEFER-02"),
    (State.DEFERRED_LOCKED, Action.COMPLETE, State.GONE, "DEFER-07"),
    (State.DEFERRED_LOCKED, Action.DEAD_LETTER, State.GONE, "DEFER-07"),
    (State.DEFERRED_LOCKED, Action.ABANDON, State.DEFERRED, "DEFER-06"),
    (State.DEFERRED_LOCKED, Action.LOCK_ENDS, State.DEFERRED, "DEFER-06"),
    (State.DEFERRED_LOCKED, Action.DEFER, State.DEFERRED, "DEFER-01"),
    (State.DEFERRED_LOCKED, Action.RENEW, State.DEFERRED_LOCKED, "LOCK-04"),
    (State.SCHEDULED, Action.ACTIVATE, State.GONE, "SCHED-06"),  # it arrives under a new number
    (State.SCHEDULED, Action.CANCEL, State.GONE, "SCHED-04"),
)
"""Transitions of a message: state, action, next state, and a rule that states it.

A message that is released after its last permitted delivery, or after its time to live, moves to
the dead-letter queue in the same step (DLQ-02, TTL-06). A dead letter is a new, active message
there. A deferred message lacks the action EXPIRE, because its age does not remove it (TTL-10).
"""

LIFE_CYCLE: Final = {(before, action): after for before, action, after, _ in CHANGES}

ACTIVE: Final = State.ACTIVE
LOCKED_STATES: Final = (State.LOCKED, State.DEFERRED_LOCKED)
