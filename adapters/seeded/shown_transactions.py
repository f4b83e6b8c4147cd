"""The shortest runs in which the faults of transactions show."""

from collections.abc import Mapping
from typing import Final

from busproof.mutants.runs import Run, create, receive, send
from busproof.vocabulary.commands import BeginTransaction, CommitTransaction, RollBackTransaction

__all__ = ["SHOWN"]

_BEGIN: Final = BeginTransaction(transaction="t")
_COMMIT: Final = CommitTransaction(transaction="t")
_ROLL_BACK: Final = RollBackTransaction(transaction="t")
_PLAIN: Final[Run] = (create(), _BEGIN)
_SESSIONS: Final[Run] = (create(requires_session=True), _BEGIN)
_REGULAR: Final[Run] = (create(partitioned=False, requires_session=True), _BEGIN)
_KEYED: Final = send("m1", within="t", partition_key="a")
_AGAIN: Final = send("m2", within="t", partition_key="a")

SHOWN: Final[Mapping[str, Run]] = {
    "keyed-refused-in-transaction": (*_PLAIN, _KEYED),
    "second-refused-in-transaction": (*_PLAIN, _KEYED, _AGAIN),
    "keyless-accepted": (*_PLAIN, send("m1", within="t")),
    "keyless-wrong-error": (*_PLAIN, send("m1", within="t")),
    "other-key-accepted": (*_PLAIN, _KEYED, send("m2", within="t", partition_key="b")),
    "other-key-accepted-third": (
        *_PLAIN,
        _KEYED,
        _AGAIN,
        send("m3", within="t", partition_key="b"),
    ),
    "other-key-accepted-in-same-partition": (
        *_PLAIN,
        _KEYED,
        send("m2", within="t", partition_key="c"),
    ),
    "unpinned-in-transaction": (create(), send("m0", partition_key="a"), _BEGIN, _KEYED),
    "session-missing-accepted": (*_SESSIONS, send("m1", within="t", partition_key="a")),
    "mismatch-accepted-in-transaction": (
        *_SESSIONS,
        send("m1", within="t", session_id="a", partition_key="b"),
    ),
    "two-sessions-accepted": (
        *_SESSIONS,
        send("m1", within="t", session_id="a"),
        send("m2", within="t", session_id="b"),
    ),
    "two-sessions-refused-on-regular": (
        *_REGULAR,
        send("m1", within="t", session_id="a"),
        send("m2", within="t", session_id="b"),
    ),
    "transaction-split": (*_PLAIN, _KEYED, _AGAIN, send("m3", within="t", partition_key="a")),
    "partition-key-refused-in-transaction": (*_PLAIN, _KEYED),
    "visible-before-commit": (*_PLAIN, _KEYED, receive()),
    "lost-at-commit": (*_PLAIN, _KEYED, _AGAIN, _COMMIT, receive(), receive()),
    "rollback-keeps": (*_PLAIN, _KEYED, _ROLL_BACK, receive()),
    "rollback-keeps-the-first": (*_PLAIN, _KEYED, _AGAIN, _ROLL_BACK, receive()),
}
"""Id of each fault to its run."""
