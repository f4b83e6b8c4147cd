"""The shortest runs in which the faults of locks show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    Run,
    abandon,
    complete,
    create,
    receive,
    renew,
    send,
    wait,
)

__all__ = ["SHOWN"]

_LOCKED: Final[Run] = (create(), send("m1", partition_key="a"), receive())
_AGAIN: Final[Run] = (*_LOCKED, abandon(0), receive())
_TWO: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    send("m2", partition_key="a"),
    receive(),
    receive(),
)

SHOWN: Final[Mapping[str, Run]] = {
    "lock-ends-early": _LOCKED,
    "lock-told-too-long": _LOCKED,
    "default-lock-shorter": _LOCKED,
    "locks-without-end": (create(lock_duration=600_000_000), send("m1"), receive()),
    "renewal-forgotten": (*_LOCKED, wait(40), renew(0), wait(40), complete(0)),
    "renewed-once-only": (
        *_LOCKED,
        wait(40),
        renew(0),
        wait(40),
        renew(0),
        wait(40),
        complete(0),
    ),
    "lost-lock-renewed": (*_LOCKED, wait(61), renew(0)),
    "settled-lock-renewed": (*_LOCKED, abandon(0), renew(0)),
    "older-lock-settles": (*_AGAIN, complete(0)),
    "older-lock-renews": (*_AGAIN, renew(0)),
    "completed-late-comes-back": (*_LOCKED, wait(55), complete(0), wait(10), receive()),
    "refused-is-lost": (*_LOCKED, wait(61), complete(0), receive()),
    "settling-frees-others": (*_TWO, complete(0), complete(1)),
    "renewing-ends-others": (*_TWO, renew(0), complete(1)),
}
"""Id of each fault to its run."""
