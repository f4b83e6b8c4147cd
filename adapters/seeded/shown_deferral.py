"""The shortest runs in which the faults of deferral show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    QUEUE,
    Run,
    abandon,
    by_number,
    complete,
    create,
    dead_letter,
    defer,
    home,
    over,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import AcceptSession, BringPartitionUp, Peek, TakePartitionDown

__all__ = ["SHOWN"]

_KEYED: Final = send("m1", partition_key="a")
_LOCKED: Final[Run] = (create(), _KEYED, receive())
_ASIDE: Final[Run] = (*_LOCKED, defer(0))
_AGAIN: Final[Run] = (*_ASIDE, by_number(0))
_TWO: Final[Run] = (
    create(),
    _KEYED,
    send("m2", partition_key="a"),
    receive(),
    receive(),
    defer(0),
    defer(1),
)
_IN_SESSION: Final[Run] = (
    create(requires_session=True),
    send("m1", session_id="a"),
    AcceptSession(queue=QUEUE, session_id="a"),
    receive("a"),
    defer(0),
)

SHOWN: Final[Mapping[str, Run]] = {
    "deferred-given": (*_ASIDE, receive()),
    "deferred-given-elsewhere": (*_ASIDE, over("c2", receive())),
    "deferred-is-lost": _AGAIN,
    "unknown-number-empty": (*_LOCKED, complete(0), by_number(0)),
    "active-given-by-number": (*_LOCKED, abandon(0), by_number(0)),
    "locked-given-by-number": (*_AGAIN, by_number(0)),
    "abandoned-is-active": (*_AGAIN, abandon(1), receive()),
    "expired-is-active": (*_AGAIN, wait(61), receive()),
    "deferred-completed-comes-back": (*_AGAIN, complete(1), by_number(0)),
    "deferred-dead-lettered-stays": (*_AGAIN, dead_letter(1), by_number(0)),
    "number-changes-when-deferred": _AGAIN,
    "deferred-shown-as-active": (*_ASIDE, Peek(queue=QUEUE)),
    "deferred-not-shown": (*_ASIDE, Peek(queue=QUEUE)),
    "one-number-at-a-time": (*_TWO, by_number(0, 1)),
    "deferred-given-outside-session": (*_IN_SESSION, by_number(0)),
    "deferred-given-in-other-session": (
        *_IN_SESSION,
        AcceptSession(queue=QUEUE, session_id="b"),
        by_number(0, session_id="b"),
    ),
    "deferred-forgotten-in-outage": (
        *_ASIDE,
        TakePartitionDown(queue=QUEUE, partition=home("a")),
        BringPartitionUp(queue=QUEUE, partition=home("a")),
        by_number(0),
    ),
}
"""Id of each fault to its run."""
