"""The shortest runs in which the faults of queues that are disabled show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import QUEUE, Run, create, receive, send
from busproof.vocabulary.commands import UpdateQueue
from busproof.vocabulary.entity_settings import EntityStatus

__all__ = ["SHOWN"]


def _status(status: EntityStatus) -> UpdateQueue:
    return UpdateQueue(queue=QUEUE, status=status)


_SHUT: Final = _status(EntityStatus.SEND_DISABLED)
_CLOSED: Final = _status(EntityStatus.RECEIVE_DISABLED)
_OPEN: Final = _status(EntityStatus.ACTIVE)

SHOWN: Final[Mapping[str, Run]] = {
    "disabled-takes": (create(), _SHUT, send("m1")),
    "disabled-keeps-for-later": (create(), _SHUT, send("m1"), receive()),
    "disabled-gives": (create(), send("m1"), _CLOSED, receive()),
    "disabling-empties": (create(), send("m1"), _CLOSED, _OPEN, receive()),
    "disabled-for-one-is-disabled-for-all": (create(), _CLOSED, send("m1")),
}
