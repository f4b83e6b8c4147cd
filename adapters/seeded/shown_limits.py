"""The shortest runs in which the faults in the limits of single requests show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import QUEUE, Run, create, receive, schedule, send
from busproof.vocabulary.commands import AcceptSession, BeginTransaction, SetSessionState

__all__ = ["SHOWN"]

_TOO_LARGE: Final = 262_145
_BEGIN: Final = BeginTransaction(transaction="t")
_LONG: Final = "x" * 129
_LONGEST: Final = "x" * 128
_ACCEPT: Final = AcceptSession(queue=QUEUE, session_id="a")


def _full(number: int) -> Run:
    """So many messages in one transaction."""
    sent = (send(f"m{each}", partition_key="a", within="t") for each in range(number))
    return (create(), _BEGIN, *sent)


def _state(size: int) -> Run:
    """So much stored with a session."""
    stored = SetSessionState(queue=QUEUE, session_id="a", state="x" * size)
    return (create(requires_session=True), _ACCEPT, stored)


SHOWN: Final[Mapping[str, Run]] = {
    "small-messages-only": (create(), send("m", size=251_904)),
    "any-message-size": (create(), send("m", size=_TOO_LARGE)),
    "too-large-called-full": (create(), send("m", size=_TOO_LARGE)),
    "too-large-is-kept": (create(), send("m", size=_TOO_LARGE), receive()),
    "premium-limit-of-standard": (create(partitioned=False), send("m", size=995_904)),
    "any-message-size-in-premium": (create(partitioned=False), send("m", size=104_857_601)),
    "too-large-when-scheduled": (create(), schedule("m", 1, size=_TOO_LARGE)),
    "too-large-in-transaction": (
        create(),
        _BEGIN,
        send("m", partition_key="a", size=_TOO_LARGE, within="t"),
    ),
    "short-message-ids-only": (create(), send("m", message_id=_LONGEST)),
    "short-session-ids-only": (create(), send("m", session_id=_LONGEST)),
    "short-partition-keys-only": (create(), send("m", partition_key=_LONGEST)),
    "any-message-id": (create(), send("m", message_id=_LONG)),
    "any-session-id": (create(), send("m", session_id=_LONG)),
    "any-partition-key": (create(), send("m", partition_key=_LONG)),
    "any-property": (create(), send("m", properties={"p": "x" * 32_768})),
    "any-properties": (
        create(),
        send("m", properties={f"p{each}": "x" * 22_000 for each in range(3)}),
    ),
    "small-transactions-only": _full(100),
    "any-transaction": _full(101),
    "short-names-only": (create(queue="x" * 260),),
    "any-name": (create(queue="x" * 261),),
    "small-states-only": _state(62_000),
    "any-state": _state(262_145),
}
"""Id of each fault to its run."""
