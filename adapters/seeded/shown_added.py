"""The shortest runs in which the faults of what was added later show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    QUEUE,
    Run,
    by_number,
    cancel,
    create,
    defer,
    home,
    receive,
    renew,
    schedule,
    send,
)
from busproof.vocabulary.commands import (
    AcceptSession,
    GetSessionState,
    ListSessions,
    Peek,
    RenewSessionLock,
    SetSessionState,
)

__all__ = ["SHOWN"]

_KEY: Final = next(key for key in "abcdef" if home(key))
"""A key of another partition than the first."""

_SENT: Final[Run] = (create(), send("m1", partition_key=_KEY))
_HELD: Final[Run] = (
    create(requires_session=True),
    send("m1", session_id=_KEY),
    AcceptSession(queue=QUEUE, session_id=_KEY),
)
_SET: Final = SetSessionState(queue=QUEUE, session_id=_KEY, state="one")

SHOWN: Final[Mapping[str, Run]] = {
    "keyless-refused-when-partitioned": (create(), send("m1")),
    "numbers-of-first-partition-known": (*_SENT, receive(), defer(0), by_number(0)),
    "peek-refused-when-partitioned": (*_SENT, Peek(queue=QUEUE)),
    "locks-of-first-partition-renewed": (*_SENT, receive(), renew(0)),
    "keyed-not-scheduled-when-partitioned": (create(), schedule("m1", 9, partition_key=_KEY)),
    "scheduled-of-first-partition-cancelled": (
        create(),
        schedule("m1", 9, partition_key=_KEY),
        cancel(0),
    ),
    "sessions-of-first-partition-renewed": (
        *_HELD,
        RenewSessionLock(queue=QUEUE, session_id=_KEY),
    ),
    "states-of-first-partition-set": (*_HELD, _SET),
    "states-of-first-partition-told": (
        *_HELD,
        _SET,
        GetSessionState(queue=QUEUE, session_id=_KEY),
    ),
    "sessions-of-first-partition-listed": (*_HELD, ListSessions(queue=QUEUE)),
    "sessions-not-peeked": (
        *_HELD,
        send("m2", session_id="other"),
        Peek(queue=QUEUE, count=5, session_id=_KEY),
    ),
}
