"""The shortest runs in which the faults of scheduling show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    QUEUE,
    Run,
    abandon,
    cancel,
    create,
    home,
    receive,
    schedule,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    Peek,
    RollBackTransaction,
    TakePartitionDown,
)

__all__ = ["SHOWN"]

_LATER: Final[Run] = (create(), schedule("m1", 5, partition_key="a"))
_DUE: Final[Run] = (*_LATER, wait(6))
_DOWN: Final = TakePartitionDown(queue=QUEUE, partition=home("a"))
_UP: Final = BringPartitionUp(queue=QUEUE, partition=home("a"))
_CONFLICTING: Final = schedule("m1", 5, session_id="a", partition_key="b")
_IN_SESSION: Final[Run] = (create(requires_session=True), schedule("m1", 5, session_id="a"))
_PAST: Final = schedule("m1", -60)

SHOWN: Final[Mapping[str, Run]] = {
    "scheduled-comes-at-once": (*_LATER, receive()),
    "recovery-brings-forward": (*_LATER, _DOWN, _UP, receive()),
    "scheduled-never-comes": (*_DUE, receive()),
    "cancel-refused": (*_LATER, cancel(0)),
    "cancelled-comes": (*_LATER, cancel(0), wait(6), receive()),
    "cancelled-comes-after-outage": (*_LATER, cancel(0), _DOWN, _UP, wait(6), receive()),
    "late-cancel-removes": (*_DUE, receive(), abandon(0), cancel(0), receive()),
    "number-stays": (*_DUE, receive()),
    "scheduled-keeps-its-place": (*_LATER, send("m2", partition_key="a"), wait(6), receive()),
    "scheduled-shown-as-active": (*_LATER, Peek(queue=QUEUE)),
    "scheduled-not-shown": (*_LATER, Peek(queue=QUEUE)),
    "scheduled-goes-anywhere": (
        create(),
        send("m0", partition_key="a"),
        schedule("m1", 5, partition_key="a"),
        schedule("m2", 5, partition_key="a"),
        wait(6),
        receive(),
        receive(),
        receive(),
    ),
    "refused-in-outage-comes": (
        create(),
        _DOWN,
        schedule("m1", 5, partition_key="a"),
        wait(6),
        _UP,
        receive(),
    ),
    "due-in-outage-is-lost": (*_LATER, _DOWN, wait(6), _UP, receive()),
    "conflicting-is-scheduled": (create(), _CONFLICTING),
    "refused-conflict-comes": (create(), _CONFLICTING, wait(6), receive()),
    "scheduled-session-is-next": (*_IN_SESSION, AcceptNextSession(queue=QUEUE)),
    "holder-is-given-scheduled": (
        *_IN_SESSION,
        AcceptSession(queue=QUEUE, session_id="a"),
        receive("a"),
    ),
    "past-is-refused": (create(), _PAST),
    "past-never-comes": (create(), _PAST, receive()),
    "scheduled-outside-transaction": (
        create(),
        BeginTransaction(transaction="t"),
        schedule("m1", 5, partition_key="a", within="t"),
        RollBackTransaction(transaction="t"),
        wait(6),
        receive(),
    ),
}
