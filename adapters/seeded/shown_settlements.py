"""The shortest runs in which the faults of settling in transactions show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    Run,
    abandon,
    complete,
    create,
    over,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import BeginTransaction, CommitTransaction, RollBackTransaction

__all__ = ["SHOWN"]

_BEGIN: Final = BeginTransaction(transaction="t")
_COMMIT: Final = CommitTransaction(transaction="t")
_ROLL_BACK: Final = RollBackTransaction(transaction="t")
_HELD: Final[Run] = (create(), send("m1", partition_key="a"), receive(), _BEGIN)
_SETTLED: Final[Run] = (*_HELD, complete(0, within="t"))
_LOST: Final[Run] = (*_SETTLED, wait(61), over("c2", receive()))

SHOWN: Final[Mapping[str, Run]] = {
    "settled-before-the-commit": (*_SETTLED, _ROLL_BACK, complete(0)),
    "abandoned-before-the-commit": (*_HELD, abandon(0, within="t"), receive()),
    "commit-settles-nothing": (*_SETTLED, _COMMIT, wait(61), receive()),
    "commit-forgets-the-last-settlement": (
        create(),
        send("m1", partition_key="a"),
        send("m2", partition_key="a"),
        receive(),
        receive(),
        _BEGIN,
        complete(0, within="t"),
        complete(1, within="t"),
        _COMMIT,
        wait(61),
        receive(),
    ),
    "rollback-settles": (*_SETTLED, _ROLL_BACK, complete(0)),
    "rollback-unlocks": (*_SETTLED, _ROLL_BACK, receive()),
    "rollback-counts-a-delivery": (*_SETTLED, _ROLL_BACK, abandon(0), receive()),
    "lost-lock-enlisted": (
        create(),
        send("m1", partition_key="a"),
        receive(),
        wait(61),
        _BEGIN,
        complete(0, within="t"),
        _COMMIT,
    ),
    "commit-settles-what-another-holds": (*_LOST, _COMMIT),
    "refused-commit-sends": (
        *_SETTLED,
        send("m2", within="t", partition_key="a"),
        wait(61),
        over("c2", receive()),
        _COMMIT,
        receive(),
    ),
}
"""Id of each fault to its run."""
