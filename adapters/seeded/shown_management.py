"""The shortest runs in which the faults in the management of queues show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    create,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    BringPartitionUp,
    CreateQueue,
    DeleteQueue,
    GetQueue,
    ListQueues,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["READINGS", "SHOWN"]

_GET: Final = GetQueue(queue=QUEUE)
_DELETE: Final = DeleteQueue(queue=QUEUE)
_DYING: Final = UpdateQueue(queue=QUEUE, time_to_live=5 * MICROSECONDS)
_SHORTER: Final = UpdateQueue(queue=QUEUE, lock_duration=5 * MICROSECONDS)
_LAST: Final = PARTITIONS - 1
_DOWN: Final = TakePartitionDown(queue=QUEUE, partition=_LAST)
_UP: Final = BringPartitionUp(queue=QUEUE, partition=_LAST)
_ONE_EACH: Final[Run] = (create(), *(send(f"m{number}") for number in range(PARTITIONS)))
_ALL_RECEIVED: Final[Run] = tuple(receive() for _ in range(PARTITIONS))
_DETECTING: Final = create(duplicate_detection=True)


def _fixed(**changes: Any) -> Run:
    return (create(), UpdateQueue(queue=QUEUE, **changes), _GET)


SHOWN: Final[Mapping[str, Run]] = {
    "partitioning-not-told": (create(), _GET),
    "option-ignored": (create(), _GET),
    "no-partitions-with-sessions": (create(requires_session=True),),
    "no-partitions-with-sessions-and-detection": (
        create(requires_session=True, duplicate_detection=True),
    ),
    "partitioned-unasked": (create(partitioned=None), _GET),
    "update-changes-partitioning": _fixed(partitioned=False),
    "created-again-as-before": (create(), _DELETE, create(partitioned=False), _GET),
    "first-version-refused": (create(api_version="2013-10"),),
    "later-version-refused": (create(api_version="2014-01"),),
    "second-creation-replaces": (create(), create()),
    "second-creation-empties": (create(), send("m1"), create(), receive()),
    "missing-queue-swallows": (send("m1"),),
    "missing-queue-unavailable": (_GET,),
    "default-lock-told": (create(lock_duration=5 * MICROSECONDS), _GET),
    "update-not-in-force": (create(), send("m1"), _SHORTER, receive()),
    "lifetime-update-not-in-force": (create(), _DYING, send("m1"), wait(6), receive()),
    "lifetime-update-ages-what-is-there": (create(), send("m1"), _DYING, wait(6), receive()),
    "update-forgotten": (create(), _SHORTER, _GET),
    "update-changes-sessions": _fixed(requires_session=True),
    "update-changes-detection": _fixed(duplicate_detection=True),
    "deleted-comes-again": (create(), send("m1"), _DELETE, create(), receive()),
    "deleted-remembers-ids": (
        _DETECTING,
        send("m1", message_id="x"),
        _DELETE,
        _DETECTING,
        send("m2", message_id="x"),
        receive(),
    ),
    "list-leaves-one-out": (create(), CreateQueue(queue="other"), ListQueues()),
    "list-names-deleted": (create(), _DELETE, ListQueues()),
    "last-partition-outlives": (*_ONE_EACH, _DELETE, create(), receive()),
    "update-misses-last-partition": (*_ONE_EACH, _SHORTER, *_ALL_RECEIVED),
    "refused-deletion-sticks": (create(), _DOWN, _DELETE, _UP, _DELETE),
    "refused-update-stays-half-done": (
        *_ONE_EACH,
        _DOWN,
        _SHORTER,
        _UP,
        _SHORTER,
        *_ALL_RECEIVED,
    ),
    "refused-creation-sticks": (_DOWN, create(), _UP, create()),
    "one-partition-counted": (*_ONE_EACH, _GET),
    "recovered-partition-not-counted": (*_ONE_EACH, _DOWN, _UP, _GET),
    "never-limited": (create(), _DOWN, wait(1), _GET),
    "limited-for-good": (create(), _DOWN, _UP, wait(1), _GET),
}
"""Id of each fault to its run."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    fault: {"GET-LAG": "at-once"}
    for fault in (
        "one-partition-counted",
        "recovered-partition-not-counted",
        "never-limited",
        "limited-for-good",
    )
}
"""Faults that the judge alone sees only under other readings; by default a scenario waits."""
