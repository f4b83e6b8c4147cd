"""The shortest runs in which the faults of delivery counts and dead letters show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    DEAD,
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    create,
    dead_letter,
    home,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    BeginTransaction,
    BringPartitionUp,
    CreateQueue,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message

__all__ = ["SHOWN"]

_LOCKED: Final[Run] = (
    create(max_delivery_count=2),
    send("m1", message_id="1", partition_key="a"),
    receive(),
)
_AGAIN: Final[Run] = (*_LOCKED, abandon(0), receive())
_SPENT: Final[Run] = (*_AGAIN, abandon(1))
_FROM_DEAD: Final = receive(queue=DEAD)
_BURIED: Final[Run] = (*_LOCKED, dead_letter(0))
_HOME: Final = home("a")
_TO_DEAD: Final = Send(queue=DEAD, message=Message(body="m2", partition_key="a"))
_TO_DEAD_WITHIN: Final = Send(
    queue=DEAD, message=Message(body="m2", partition_key="a"), transaction="t"
)

SHOWN: Final[Mapping[str, Run]] = {
    "delivery-count-stays": _AGAIN,
    "lost-lock-not-counted": (*_LOCKED, wait(61), receive()),
    "delivered-once-too-often": (*_SPENT, receive()),
    "expired-never-spent": (*_LOCKED, wait(61), receive(), wait(61), receive()),
    "spent-is-lost": (*_SPENT, _FROM_DEAD),
    "spent-for-another-reason": (*_SPENT, _FROM_DEAD),
    "dead-too-early": _AGAIN,
    "dead-letter-is-lost": (*_BURIED, _FROM_DEAD),
    "dead-letter-stays": (*_BURIED, receive()),
    "reason-lost": (*_BURIED, _FROM_DEAD),
    "dead-lettered-after-expiry": (*_LOCKED, wait(61), dead_letter(0)),
    "dead-lettered-twice": (*_BURIED, dead_letter(0)),
    "dead-letter-changed": (*_BURIED, _FROM_DEAD),
    "dead-letter-given-up": (
        *_BURIED,
        _FROM_DEAD,
        abandon(1, DEAD),
        _FROM_DEAD,
        abandon(2, DEAD),
        _FROM_DEAD,
    ),
    "dead-letter-not-given-back": (*_BURIED, _FROM_DEAD, abandon(1, DEAD), _FROM_DEAD),
    "dead-letters-of-one-partition": (
        create(),
        *(send(f"m{number}") for number in range(PARTITIONS)),
        *(receive() for _ in range(PARTITIONS)),
        *(dead_letter(number) for number in range(PARTITIONS)),
        *(_FROM_DEAD for _ in range(PARTITIONS)),
    ),
    "dead-letters-lost-in-outage": (
        *_BURIED,
        TakePartitionDown(queue=QUEUE, partition=_HOME),
        BringPartitionUp(queue=QUEUE, partition=_HOME),
        _FROM_DEAD,
    ),
    "dead-lettered-again": (*_BURIED, _FROM_DEAD, dead_letter(1, DEAD)),
    "sent-to-dead-letters": (create(), _TO_DEAD),
    "sent-to-dead-letters-in-transaction": (
        create(),
        BeginTransaction(transaction="t"),
        _TO_DEAD_WITHIN,
    ),
    "eleven-deliveries": (
        create(),
        send("m1"),
        *(step for number in range(10) for step in (receive(), abandon(number))),
        receive(),
    ),
    "no-dead-letters-at-first": (create(), _FROM_DEAD),
    "one-grave-for-all": (
        create(),
        CreateQueue(queue="r"),
        Send(queue="r", message=Message(body="m1")),
        receive(queue="r"),
        dead_letter(0, "r"),
        _FROM_DEAD,
    ),
    "refused-and-buried": (*_LOCKED, wait(61), dead_letter(0), _FROM_DEAD),
}
"""Id of each fault to its run."""
