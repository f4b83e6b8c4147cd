"""The shortest runs in which the faults in a message's life show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    complete,
    create,
    over,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import AcceptSession, Peek

__all__ = ["SHOWN"]

_LOCKED: Final[Run] = (create(), send("m1", message_id="1"), receive())
_EXPIRED: Final[Run] = (*_LOCKED, wait(61))
_PEEKED: Final[Run] = (create(), send("m1"), Peek(queue=QUEUE), receive())
_ACCEPT: Final = AcceptSession(queue=QUEUE, session_id="s")
_HELD: Final[Run] = (create(requires_session=True), send("m1", session_id="s"), _ACCEPT)

SHOWN: Final[Mapping[str, Run]] = {
    "property-lost": (create(), send("m1", partition_key="a"), receive()),
    "property-lost-at-redelivery": (*_LOCKED, abandon(0), receive()),
    "locked-given-again": (*_LOCKED, receive()),
    "completed-comes-back": (*_LOCKED, complete(0), receive()),
    "deleted-comes-back": (create(), send("m1"), receive(delete=True), receive()),
    "abandoned-is-lost": (*_LOCKED, abandon(0), receive()),
    "expired-is-lost": (*_EXPIRED, receive()),
    "settles-after-expiry": (*_EXPIRED, complete(0)),
    "settles-twice": (*_LOCKED, complete(0), complete(0)),
    "peek-removes": _PEEKED,
    "peek-locks": _PEEKED,
    "peek-out-of-order": (
        create(),
        send("m1", partition_key="a"),
        send("m2", partition_key="a"),
        Peek(queue=QUEUE, count=2),
    ),
    "cache-never-expires": (
        create(),
        send("m1"),
        send("m2"),
        receive(),
        complete(0),
        over("c2", receive()),
        wait(61),
        over("c2", receive()),
    ),
    "last-partition-never-read": (
        create(),
        *(send(f"m{number}") for number in range(PARTITIONS)),
        *(receive() for _ in range(PARTITIONS)),
    ),
    "session-given-twice": (*_HELD, over("c2", _ACCEPT)),
    "session-read-without-lock": (*_HELD, over("c2", receive("s"))),
    "sequence-number-changes": (*_LOCKED, abandon(0), receive()),
    "sequence-number-names-other-partition": (create(), send("m1"), receive()),
}
"""Id of each fault to its run."""
