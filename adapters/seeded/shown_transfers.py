"""The shortest runs in which the faults of what cannot be forwarded show.

What is lost on its way may as well come at some time: those faults show in no run, but in what the
scenarios wait for.
"""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    create,
    dead_letter,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    BringPartitionUp,
    CreateQueue,
    DeleteQueue,
    GetQueue,
    Schedule,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.paths import TRANSFERS
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["SHOWN"]

_PAIR: Final[Run] = (CreateQueue(queue="end"), create(forward_to="end"))
_STUCK: Final = receive(delete=True, queue=QUEUE + TRANSFERS)
_BIG: Final[Mapping[str, Any]] = {"size": 600_000_000, "stands_in": True}
_SHUT: Final = UpdateQueue(queue="end", status=EntityStatus.SEND_DISABLED)

SHOWN: Final[Mapping[str, Run]] = {
    "disabled-destination-is-given-messages": (
        *_PAIR,
        _SHUT,
        send("m1"),
        receive(delete=True, queue="end"),
    ),
    "lost-before-disabled-destination": (*_PAIR, _SHUT, send("m1"), _STUCK),
    "lost-with-its-destination": (*_PAIR, DeleteQueue(queue="end"), send("m1"), _STUCK),
    "lost-before-full-destination": (
        CreateQueue(queue="end", partitioned=False),
        create(forward_to="end", partitioned=False),
        send("m1", queue="end", **_BIG),
        send("m2", **_BIG),
        _STUCK,
    ),
    "due-in-outage-not-forwarded": (
        *_PAIR,
        Schedule(queue=QUEUE, message=Message(body="m1"), delay=5 * MICROSECONDS),
        *(TakePartitionDown(queue=QUEUE, partition=each) for each in range(PARTITIONS)),
        wait(10),
        *(BringPartitionUp(queue=QUEUE, partition=each) for each in range(PARTITIONS)),
        receive(delete=True, queue="end"),
    ),
    "dead-letters-among-transfers": (
        create(),
        send("m1"),
        receive(),
        dead_letter(0),
        _STUCK,
    ),
    "dead-letters-counted-as-transfers": (
        create(),
        send("m1"),
        receive(),
        dead_letter(0),
        GetQueue(queue=QUEUE),
    ),
}
