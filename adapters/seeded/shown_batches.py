"""The shortest runs in which the faults of batches show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import QUEUE, Run, complete, create, receive, send
from busproof.vocabulary.commands import (
    BeginTransaction,
    ReceiveBatch,
    RollBackTransaction,
    SendBatch,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message

__all__ = ["SHOWN"]

MB: Final = 1024 * 1024


def _batch(*bodies: str, within: str | None = None, **properties: Any) -> SendBatch:
    """Several messages that are alike."""
    messages = tuple(Message(body=body, **properties) for body in bodies)
    return SendBatch(queue=QUEUE, messages=messages, transaction=within)


def _several(count: int) -> ReceiveBatch:
    return ReceiveBatch(queue=QUEUE, count=count)


_KEY: Final[dict[str, Any]] = {"partition_key": "a"}
_MANY: Final = tuple(f"m{number}" for number in range(1, 23))
_TWO_KEYS: Final = SendBatch(
    queue=QUEUE,
    messages=(Message(body="m1", partition_key="a"), Message(body="m2", partition_key="b")),
)
_CONFLICT: Final = SendBatch(
    queue=QUEUE,
    messages=(
        Message(body="m1", session_id="b"),
        Message(body="m2", session_id="b", partition_key="c"),
    ),
)
_SENT: Final[Run] = (create(), *(send(f"m{number}", **_KEY) for number in range(1, 6)))
_BEGIN: Final = BeginTransaction(transaction="t")
_DETECTING: Final = create(duplicate_detection=True)
_COPY: Final[dict[str, Any]] = {"message_id": "x", **_KEY}

SHOWN: Final[Mapping[str, Run]] = {
    "batch-takes-the-first-only": (
        create(),
        _batch("m1", "m2", **_KEY),
        receive(delete=True),
        receive(),
    ),
    "last-of-large-batch-lost": (
        create(),
        _batch(*_MANY, **_KEY),
        *(receive(delete=True) for _ in _MANY),
    ),
    "refused-batch-stays-in-part": (create(), _CONFLICT, receive()),
    "batch-reversed": (create(), _batch("m1", "m2", **_KEY), receive()),
    "large-batch-rotated": (create(), _batch(*_MANY[:6], **_KEY), receive()),
    "batch-by-turns": (
        create(),
        send("m0", **_KEY),
        _batch("m1", "m2", "m3", **_KEY),
        receive(),
        receive(),
        receive(),
        receive(),
    ),
    "two-keys-half-acknowledged": (
        create(),
        _TWO_KEYS,
        receive(delete=True),
        receive(),
    ),
    "regular-batch-needs-one-key": (create(partitioned=False), _TWO_KEYS),
    "batch-of-any-size": (
        create(),
        _batch("m1", "m2", "m3", size=100 * 1024, **_KEY),
    ),
    "batch-outside-transaction": (create(), _BEGIN, _batch("m1", within="t", **_KEY), receive()),
    "rolled-back-batch-leaves-one": (
        create(),
        _BEGIN,
        _batch("m1", "m2", within="t", **_KEY),
        RollBackTransaction(transaction="t"),
        receive(),
    ),
    "batch-dropped-for-a-copy": (
        _DETECTING,
        send("m1", **_COPY),
        receive(delete=True),
        SendBatch(
            queue=QUEUE,
            messages=(
                Message(body="m2", **_COPY),
                Message(body="m3", message_id="y", **_KEY),
            ),
        ),
        receive(),
    ),
    "copies-within-a-batch-arrive": (
        _DETECTING,
        _batch("m1", "m2", **_COPY),
        receive(delete=True),
        receive(),
    ),
    "batch-taken-as-far-as-there-is-room": (
        create(max_size=1),
        _batch("m1", "m2", "m3", "m4", "m5", size=300 * MB, stands_in=True, **_KEY),
    ),
    "batch-goes-round-an-outage": (
        create(),
        send("m0", **_KEY),
        TakePartitionDown(queue=QUEUE, partition=0),
        _batch("m1", **_KEY),
    ),
    "one-more-at-once": (*_SENT, _several(2)),
    "first-twice-at-once": (*_SENT, _several(3)),
    "newest-first-at-once": (*_SENT, _several(3)),
    "one-left-out-at-once": (*_SENT, _several(4)),
    "one-lock-for-all": (*_SENT, _several(3)),
    "settling-one-settles-all": (*_SENT, _several(3), complete(0), complete(1)),
    "partitioned-takes-no-batch": (create(), _batch("m1", "m2", **_KEY)),
    "partitioned-gives-nothing-at-once": (*_SENT, _several(2)),
}
"""Id of each fault to its run."""
