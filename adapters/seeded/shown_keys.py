"""The shortest runs in which the faults of keys, order, copies and outages show."""

from collections.abc import Mapping
from typing import Final

from busproof.adapters.seeded.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    create,
    home,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import AcceptSession, BringPartitionUp, Peek, TakePartitionDown

__all__ = ["SHOWN"]

_SESSIONS: Final = create(requires_session=True)
_UNIQUE: Final = create(duplicate_detection=True)
_ACCEPT: Final = AcceptSession(queue=QUEUE, session_id="s")
_ENOUGH: Final = 25 * PARTITIONS
"""Messages without key within which every partition must have had its turn."""


def _down(partition: int) -> TakePartitionDown:
    return TakePartitionDown(queue=QUEUE, partition=partition)


def _up(partition: int) -> BringPartitionUp:
    return BringPartitionUp(queue=QUEUE, partition=partition)


_HOME: Final = home("a")
_IN_OUTAGE: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    _down(_HOME),
    send("m2", partition_key="a"),
)
_NO_TURN: Final[Run] = (create(), *(send(f"m{number}") for number in range(_ENOUGH)))
_MISMATCH: Final[Run] = (create(), send("m1", session_id="a", partition_key="b"))

SHOWN: Final[Mapping[str, Run]] = {
    "copy-in-second-partition": (create(), send("m1"), Peek(queue=QUEUE, count=2)),
    "key-moves": (create(), *(send(f"m{n}", partition_key="a") for n in range(5))),
    "key-moves-late": (create(), *(send(f"m{n}", partition_key="a") for n in range(40))),
    "session-id-not-a-key": (
        create(),
        send("m1", session_id="a", message_id="1"),
        send("m2", session_id="a", message_id="2"),
    ),
    "session-split": (_SESSIONS, send("m1", session_id="s"), send("m2", session_id="s")),
    "partition-key-not-a-key": (
        create(),
        send("m1", partition_key="a"),
        send("m2", partition_key="a"),
    ),
    "mismatch-accepted": _MISMATCH,
    "mismatch-wrong-error": _MISMATCH,
    "mismatch-refused-yet-stored": (*_MISMATCH, receive()),
    "mismatch-accepted-when-long": (
        create(),
        send("m1", session_id="customer-1", partition_key="customer-2"),
    ),
    "mismatch-accepted-in-other-case": (create(), send("m1", session_id="a", partition_key="A")),
    "equal-refused": (create(), send("m1", session_id="a", partition_key="a")),
    "message-id-not-a-key": (_UNIQUE, send("m1", message_id="1"), send("m2", message_id="1")),
    "message-id-before-partition-key": (
        _UNIQUE,
        send("m1", partition_key="a", message_id="1"),
        send("m2", partition_key="a", message_id="2"),
    ),
    "session-out-of-order": (
        _SESSIONS,
        send("m1", session_id="s"),
        send("m2", session_id="s"),
        _ACCEPT,
        receive("s"),
    ),
    "session-out-of-order-after-abandon": (
        _SESSIONS,
        send("m1", session_id="s"),
        send("m2", session_id="s"),
        _ACCEPT,
        receive("s"),
        abandon(0),
        receive("s"),
    ),
    "key-order-reversed": (
        create(),
        send("m1", partition_key="a"),
        send("m2", partition_key="a"),
        receive(),
    ),
    "key-order-lost-after-abandon": (
        create(),
        send("m1", partition_key="a"),
        send("m2", partition_key="a"),
        receive(),
        abandon(0),
        receive(),
    ),
    "key-order-lost-after-outage": (
        create(),
        send("m1", partition_key="a"),
        send("m2", partition_key="a"),
        _down(_HOME),
        _up(_HOME),
        receive(),
    ),
    "duplicates-kept": (
        _UNIQUE,
        send("m1", message_id="1"),
        send("m2", message_id="1"),
        receive(delete=True),
        receive(delete=True),
    ),
    "duplicates-only-latest": (
        _UNIQUE,
        send("m1", message_id="1"),
        send("m2", message_id="2"),
        send("m3", message_id="1"),
        receive(delete=True),
        receive(delete=True),
        receive(delete=True),
    ),
    "duplicates-forgotten-early": (
        _UNIQUE,
        send("m1", message_id="1"),
        wait(300),
        send("m2", message_id="1"),
        receive(delete=True),
        receive(delete=True),
    ),
    "duplicates-dropped-without-detection": (
        create(),
        send("m1", message_id="1"),
        send("m2", message_id="1"),
        receive(delete=True),
        receive(delete=True),
    ),
    "id-not-assigned": (create(), send("m1"), receive()),
    "dead-partition-stores": _IN_OUTAGE,
    "dead-partition-swallows": _IN_OUTAGE,
    "dead-partition-refuses-yet-stores": (
        *_IN_OUTAGE,
        _up(_HOME),
        receive(delete=True),
        receive(delete=True),
    ),
    "message-id-pins": (create(), _down(home("1")), send("m1", message_id="1")),
    "last-partition-unused": _NO_TURN,
    "all-in-one-partition": _NO_TURN,
    "no-rerouting": (create(), _down(0), send("m1")),
    "no-rerouting-with-many-down": (create(), _down(0), _down(1), send("m1")),
    "short-timeout-fails": (create(), send("m1", seconds=15)),
    "rerouted-with-key": _IN_OUTAGE,
    "key-moves-after-outage": (*_IN_OUTAGE, _up(_HOME), send("m3", partition_key="a")),
}
"""Id of each fault to its run."""
