"""The shortest runs in which the faults of sequence numbers show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import QUEUE, Run, abandon, create, home, receive, send
from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    Peek,
    RollBackTransaction,
    TakePartitionDown,
)

__all__ = ["SHOWN"]

_TWO: Final[Run] = (create(), *(send(f"m{number}", partition_key="a") for number in (1, 2)))
_IN_ONE: Final[Run] = (
    BeginTransaction(transaction="t"),
    *(send(f"m{number}", within="t", partition_key="a") for number in (1, 2)),
    CommitTransaction(transaction="t"),
)
_DOWN: Final = TakePartitionDown(queue=QUEUE, partition=home("a"))
_UP: Final = BringPartitionUp(queue=QUEUE, partition=home("a"))

SHOWN: Final[Mapping[str, Run]] = {
    "numbers-fall": (*_TWO, receive(), receive()),
    "numbers-begin-anew-after-outage": (
        create(),
        send("m1", partition_key="a"),
        _DOWN,
        _UP,
        send("m2", partition_key="a"),
        receive(),
        receive(),
    ),
    "regular-numbers-fall": (
        create(partitioned=False, requires_session=True),
        *(send(f"m{number}", session_id="s") for number in (1, 2)),
        AcceptSession(queue=QUEUE, session_id="s"),
        receive("s"),
        receive("s"),
    ),
    "number-given-again": (
        create(partitioned=False),
        *(send(f"m{number}") for number in range(41)),
        *(receive(delete=True) for _ in range(41)),
    ),
    "two-with-one-number": (*_TWO, receive(), receive()),
    "peek-tells-another-number": (create(), send("m1"), Peek(queue=QUEUE), receive()),
    "abandoned-is-numbered-anew": (create(), send("m1"), receive(), abandon(0), receive()),
    "commit-numbers-backwards": (create(), *_IN_ONE, receive(), receive()),
    "commit-numbers-its-first-last": (
        create(),
        BeginTransaction(transaction="t0"),
        RollBackTransaction(transaction="t0"),
        *_IN_ONE,
        receive(),
        receive(),
    ),
}
"""Id of each fault to its run."""
