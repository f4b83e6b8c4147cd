"""The shortest runs in which the faults in what Premium has show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import QUEUE, Run, create, receive, send
from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    DeleteQueue,
    GetQueue,
    ListQueues,
    RestoreQueue,
)

__all__ = ["SHOWN"]

_OLD: Final = RestoreQueue(queue=QUEUE)
_GET: Final = GetQueue(queue=QUEUE)
_DELETE: Final = DeleteQueue(queue=QUEUE)
_BEGIN: Final = BeginTransaction(transaction="t")


def _regular(**settings: Any) -> Run:
    return (create(partitioned=False, **settings),)


SHOWN: Final[Mapping[str, Run]] = {
    "premium-partitions": (create(), _GET),
    "premium-partitions-sessions": (create(requires_session=True), _GET),
    "old-takes-nothing": (_OLD, send("m1")),
    "old-gives-nothing": (_OLD, send("m1"), receive()),
    "old-forgets-keys": (_OLD, send("m1", partition_key="a"), send("m2", partition_key="a")),
    "old-told-regular": (_OLD, _GET),
    "old-not-listed": (_OLD, ListQueues()),
    "old-never-deleted": (_OLD, _DELETE),
    "old-comes-back": (_OLD, _DELETE, create(), _GET),
    "premium-as-standard": _regular(max_size=80),
    "premium-size-forgotten": (*_regular(max_size=80), _GET),
    "any-size-in-premium": (*_regular(max_size=6), _GET),
    "large-by-default-in-premium": (*_regular(), _GET),
    "premium-size-multiplied": (*_regular(max_size=5), _GET),
    "no-sessions-in-premium": _regular(requires_session=True),
    "key-names-session": (
        *_regular(requires_session=True),
        send("m1", partition_key="a"),
        AcceptSession(queue=QUEUE, session_id="a"),
        receive(session_id="a"),
    ),
    "key-refused-in-premium": (*_regular(), send("m1", partition_key="a")),
    "key-dropped-in-premium": (*_regular(), send("m1", partition_key="a"), receive()),
    "premium-transaction-needs-key": (*_regular(), _BEGIN, send("m1", within="t")),
    "premium-transaction-of-one-key": (
        *_regular(),
        _BEGIN,
        send("m1", within="t", partition_key="a"),
        send("m2", within="t", partition_key="b"),
    ),
}
"""Id of each fault to its run."""
