"""The shortest runs in which the faults of duplicate detection show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import QUEUE, Run, complete, create, home, receive, send, wait
from busproof.vocabulary.commands import (
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    CreateQueue,
    RollBackTransaction,
    TakePartitionDown,
)
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["SHOWN"]

_DAY: Final = 86_400
_TAKE: Final = receive(delete=True)
_BOTH: Final[Run] = (_TAKE, _TAKE)
_BEGIN: Final = BeginTransaction(transaction="t")
_DOWN: Final = TakePartitionDown(queue=QUEUE, partition=home("x"))
_UP: Final = BringPartitionUp(queue=QUEUE, partition=home("x"))


def _unique(**settings: Any) -> Any:
    return create(duplicate_detection=True, **settings)


def _x(body: str, **properties: Any) -> Any:
    return send(body, message_id="x", **properties)


_ELSEWHERE: Final[Run] = (_unique(), CreateQueue(queue="other", duplicate_detection=True))
_OTHERS_TURN: Final[Run] = (
    _x("m2", queue="other"),
    receive(delete=True, queue="other"),
)
_LATER: Final[Run] = (_unique(), _x("m1"), wait(601), _x("m2"), *_BOTH)

SHOWN: Final[Mapping[str, Run]] = {
    "copies-never-forgotten": _LATER,
    "window-prolonged-by-each-message": (
        _unique(),
        _x("m1"),
        wait(300),
        send("m2", message_id="y"),
        wait(301),
        _x("m3"),
        *_BOTH,
        _TAKE,
    ),
    "default-window-of-minutes": (_unique(), _x("m1"), wait(500), _x("m2"), *_BOTH),
    "short-windows": (
        _unique(duplicate_window=10 * MICROSECONDS),
        _x("m1"),
        wait(15),
        _x("m2"),
        *_BOTH,
    ),
    "long-windows": (
        _unique(duplicate_window=8 * _DAY * MICROSECONDS),
        _x("m1"),
        wait(7 * _DAY + 1),
        _x("m2"),
        *_BOTH,
    ),
    "alike-messages-dropped": (
        _unique(),
        _x("m1", partition_key="a"),
        send("m2", message_id="y", partition_key="a"),
        *_BOTH,
    ),
    "keys-told-apart-on-regular": (
        _unique(partitioned=False),
        _x("m1", partition_key="a"),
        _x("m2", partition_key="b"),
        *_BOTH,
    ),
    "forgotten-when-completed": (
        _unique(),
        _x("m1"),
        receive(),
        complete(0),
        _x("m2"),
        _TAKE,
    ),
    "refused-remembered": (_unique(), _DOWN, _x("m1"), _UP, _x("m2"), _TAKE),
    "outage-forgets": (_unique(), _x("m1"), _DOWN, _UP, _x("m2"), *_BOTH),
    "rolled-back-remembered": (
        _unique(),
        _BEGIN,
        _x("m1", within="t"),
        RollBackTransaction(transaction="t"),
        _x("m2"),
        _TAKE,
    ),
    "copies-kept-in-transactions": (
        _unique(),
        _x("m1"),
        _BEGIN,
        _x("m2", within="t"),
        CommitTransaction(transaction="t"),
        *_BOTH,
    ),
    "copies-detected-anywhere": (*_ELSEWHERE, _x("m1"), *_OTHERS_TURN),
    "copies-detected-in-the-first-queue": (
        *_ELSEWHERE,
        _x("m1"),
        _TAKE,
        *_OTHERS_TURN,
    ),
}
