"""For each fault of sessions a run of requests in which it shows."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    complete,
    create,
    home,
    over,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CloseSession,
    CommitTransaction,
    GetSessionState,
    ListSessions,
    Peek,
    RenewSessionLock,
    SetSessionState,
    TakePartitionDown,
)

__all__ = ["SHOWN"]

_CREATE: Final = create(requires_session=True)
_ACCEPT: Final = AcceptSession(queue=QUEUE, session_id="s")
_CLOSE: Final = CloseSession(queue=QUEUE, session_id="s")
_RENEW: Final = RenewSessionLock(queue=QUEUE, session_id="s")
_NEXT: Final = AcceptNextSession(queue=QUEUE)
_GET: Final = GetSessionState(queue=QUEUE, session_id="s")
_HELD: Final[Run] = (_CREATE, send("m1", session_id="s"), _ACCEPT)
_TAKEN: Final[Run] = (*_HELD, receive("s"))
_TWO: Final[Run] = (
    _CREATE,
    send("m1", session_id="s"),
    send("m2", session_id="s"),
    _ACCEPT,
    receive("s"),
)
_OTHER: Final = AcceptSession(queue=QUEUE, session_id="t")


def _set(state: str | None, session_id: str = "s") -> SetSessionState:
    return SetSessionState(queue=QUEUE, session_id=session_id, state=state)


SHOWN: Final[Mapping[str, Run]] = {
    "sessionless-given": (_CREATE, send("m1", message_id="x"), _ACCEPT, receive("s")),
    "received-in-no-session": (_CREATE, send("m1", session_id="s"), receive()),
    "empty-session-refused": (_CREATE, _ACCEPT),
    "session-closed-to-others": (_CREATE, _ACCEPT, _CLOSE, over("c2", _ACCEPT)),
    "other-session-given": (
        _CREATE,
        send("m1", session_id="s"),
        send("m2", session_id="t"),
        _ACCEPT,
        over("c2", _OTHER),
        over("c2", receive("t")),
    ),
    "later-messages-held-back": (_CREATE, _ACCEPT, send("m1", session_id="s"), receive("s")),
    "next-session-missed": (*_HELD, send("m2", session_id="t"), _NEXT),
    "next-session-held": (*_HELD, over("c2", _NEXT)),
    "closing-keeps-locks": (*_TAKEN, _CLOSE, over("c2", _ACCEPT), over("c2", receive("s"))),
    "closing-reorders": (*_TWO, _CLOSE, over("c2", _ACCEPT), over("c2", receive("s"))),
    "closing-counts": (*_TAKEN, _CLOSE, _ACCEPT, receive("s")),
    "expiry-not-counted": (*_TAKEN, wait(61), _ACCEPT, receive("s")),
    "session-never-expires": (*_HELD, wait(61), over("c2", _ACCEPT)),
    "lost-session-read": (*_HELD, wait(61), receive("s")),
    "lost-session-other-error": (*_HELD, wait(61), _RENEW),
    "renewal-ignored": (*_HELD, wait(40), _RENEW, wait(40), over("c2", _ACCEPT)),
    "renewal-forgets-messages": (*_TAKEN, wait(40), _RENEW, wait(40), complete(0)),
    "abandoned-comes-last": (*_TWO, abandon(0), receive("s")),
    "state-empty-text": (_CREATE, _ACCEPT, _GET),
    "state-of-first": (_CREATE, _ACCEPT, _set("one"), _set("two"), _GET),
    "state-not-cleared": (_CREATE, _ACCEPT, _set("one"), _set(None), _GET),
    "state-dies-with-session": (_CREATE, _ACCEPT, _set("one"), _CLOSE, _ACCEPT, _GET),
    "state-lost-in-outage": (
        _CREATE,
        _ACCEPT,
        _set("one"),
        TakePartitionDown(queue=QUEUE, partition=home("s")),
        BringPartitionUp(queue=QUEUE, partition=home("s")),
        _GET,
    ),
    "state-shared": (_CREATE, _ACCEPT, _OTHER, _set("one", "t"), _GET),
    "state-for-everybody": (_CREATE, _ACCEPT, _set("one"), over("c2", _GET)),
    "list-forgets-states": (_CREATE, _ACCEPT, _set("one"), ListSessions(queue=QUEUE)),
    "list-remembers-all": (_CREATE, _ACCEPT, ListSessions(queue=QUEUE)),
    "peek-ignores-session": (
        _CREATE,
        send("m1", session_id="t"),
        Peek(queue=QUEUE, session_id="s"),
    ),
    "outage-stops-sessions": (
        _CREATE,
        send("m1", session_id="s"),
        TakePartitionDown(queue=QUEUE, partition=(home("s") + 1) % PARTITIONS),
        _ACCEPT,
    ),
    "one-session-committed": (
        create(requires_session=True, partitioned=False),
        BeginTransaction(transaction="t"),
        send("m1", session_id="t", within="t"),
        send("m2", session_id="s", within="t"),
        CommitTransaction(transaction="t"),
        _ACCEPT,
        receive("s"),
    ),
}
"""Id of each fault to its run."""
