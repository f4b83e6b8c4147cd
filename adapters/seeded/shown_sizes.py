"""The shortest runs in which the faults in sizes show."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from busproof.mutants.runs import (
    QUEUE,
    Request,
    Run,
    Settling,
    complete,
    create,
    dead_letter,
    defer,
    home,
    receive,
    schedule,
    send,
)
from busproof.vocabulary.commands import BeginTransaction, CommitTransaction, GetQueue

__all__ = ["READINGS", "SHOWN"]

_GET: Final = GetQueue(queue=QUEUE)
_LARGE: Final[Mapping[str, Any]] = {"size": 10**8, "stands_in": True}
_ENOUGH: Final = 12
"""So many large messages are surely more than 1 GB."""
_FITTING: Final = 10
_FILLED: Final = tuple(send(f"m{n}", partition_key="a", **_LARGE) for n in range(_ENOUGH))
_ELSEWHERE: Final = next(key for key in "bcdefg" if home(key) != home("a"))
"""A key of another partition than that of 'a'."""
_REGULAR: Final = create(partitioned=False, max_size=1)
_SENT: Final = tuple(send(f"m{n}", **_LARGE) for n in range(_ENOUGH))
_MORE: Final = send("more", **_LARGE)
_IN_TRANSACTION: Final = tuple(
    send(f"m{n}", partition_key="a", **_LARGE, within="t") for n in range(_ENOUGH)
)
_BEGIN: Final = BeginTransaction(transaction="t")
_COMMIT: Final = CommitTransaction(transaction="t")


def _each(dealt_with: Callable[[int], Settling] | None = None) -> Run:
    """What just fits in is taken apart, each message in its way; then come two more."""
    run: list[Request] = [_REGULAR, *_SENT[:_FITTING], *(receive() for _ in range(_FITTING))]
    if dealt_with is not None:
        run += [dealt_with(number) for number in range(_FITTING)]
    return (*run, *_SENT[_FITTING:])


SHOWN: Final[Mapping[str, Run]] = {
    "largest-size-refused": (create(max_size=5),),
    "size-forgotten": (create(max_size=5), _GET),
    "any-size": (create(max_size=6), _GET),
    "large-by-default": (create(), _GET),
    "one-partition-told": (create(), _GET),
    "size-divided": (create(), *_FILLED),
    "one-partition-too-many": (create(), *(send(f"m{n}") for n in range(4))),
    "partitions-by-size": (create(max_size=2), *(send(f"m{n}") for n in range(4))),
    "regular-told-as-partitioned": (_REGULAR, _GET),
    "partitions-pooled": (create(), *_FILLED),
    "session-never-full": (
        create(requires_session=True),
        *(send(f"m{n}", session_id="a", **_LARGE) for n in range(_ENOUGH)),
    ),
    "one-full-all-full": (
        create(),
        send("first", partition_key=_ELSEWHERE),
        *_FILLED,
        send("elsewhere", partition_key=_ELSEWHERE, **_LARGE),
    ),
    "regular-never-full": (_REGULAR, *_SENT),
    "full-keeps-what-it-refused": (_REGULAR, *_SENT, *(receive() for _ in range(_ENOUGH))),
    "full-called-down": (create(), *_FILLED),
    "full-called-invalid": (create(), *_FILLED),
    "full-gives-nothing": (_REGULAR, *_SENT, receive()),
    "full-is-limited": (_REGULAR, *_SENT, _GET),
    "completed-keeps-room": (_REGULAR, *_SENT, receive(), complete(0), _MORE),
    "deleted-keeps-room": (_REGULAR, *_SENT, receive(delete=True), _MORE),
    "locked-takes-no-room": _each(),
    "deferred-takes-no-room": _each(defer),
    "dead-takes-no-room": _each(dead_letter),
    "scheduled-takes-no-room": (
        _REGULAR,
        *(schedule(f"m{n}", 3600, **_LARGE) for n in range(_ENOUGH)),
        _MORE,
    ),
    "transaction-never-full": (create(), _BEGIN, *_IN_TRANSACTION, _COMMIT),
    "transaction-in-part": (
        create(),
        _BEGIN,
        *_IN_TRANSACTION,
        _COMMIT,
        receive(),
    ),
}
"""Id of each fault to its run."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {"full-is-limited": {"GET-LAG": "at-once"}}
"""Faults that the judge alone sees only under other readings; by default a scenario waits."""
