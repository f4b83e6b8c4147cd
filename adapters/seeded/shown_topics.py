"""The shortest runs in which the faults of topics and subscriptions show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import (
    PARTITIONS,
    Run,
    Settling,
    abandon,
    complete,
    home,
    over,
    receive,
    send,
    wait,
)
from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    CreateSubscription,
    CreateTopic,
    Peek,
    Receive,
    TakePartitionDown,
)

__all__ = ["SHOWN"]

_TOPIC: Final = "q"
_KEYED: Final[Mapping[str, Any]] = {"partition_key": "a"}


def _topic(**settings: Any) -> CreateTopic:
    return CreateTopic(topic=_TOPIC, **settings)


def _of(name: str) -> str:
    return f"{_TOPIC}/subscriptions/{name}"


def _subscribe(name: str, **settings: Any) -> CreateSubscription:
    return CreateSubscription(topic=_TOPIC, subscription=name, **settings)


def _take(name: str, session_id: str | None = None, *, delete: bool = False) -> Receive:
    return receive(session_id, delete=delete, queue=_of(name))


def _down(partition: int) -> TakePartitionDown:
    return TakePartitionDown(queue=_TOPIC, partition=partition)


def _up(partition: int) -> BringPartitionUp:
    return BringPartitionUp(queue=_TOPIC, partition=partition)


_ONE: Final[Run] = (_topic(), _subscribe("one"))
_TWO: Final[Run] = (*_ONE, _subscribe("two"))
_SESSIONS: Final[Run] = (_topic(), _subscribe("one", requires_session=True), _subscribe("two"))
_UNIQUE: Final[Run] = (_topic(duplicate_detection=True), _subscribe("one"), _subscribe("two"))
_BEGIN: Final = BeginTransaction(transaction="t")
_COMMIT: Final = CommitTransaction(transaction="t")
_HOLD: Final = AcceptSession(queue=_of("one"), session_id="s")
_SENT: Final = send("m1", **_KEYED)
_STAGED: Final = send("m1", within="t", **_KEYED)
_COMPLETED: Final[tuple[Receive, Settling]] = (_take("one"), complete(0, queue=_of("one")))
_COPY: Final = send("m1", message_id="x")
_ANOTHER: Final = send("m2", message_id="x")
_ROUND: Final = tuple(_take("one") for _ in range(PARTITIONS))

SHOWN: Final[Mapping[str, Run]] = {
    "last-subscription-missed": (*_TWO, _SENT, _take("two")),
    "fan-out-ends-late": (
        *_TWO,
        *(send(f"m{number}", **_KEYED) for number in range(50)),
        *(_take("two", delete=True) for _ in range(50)),
    ),
    "copied-twice": (*_TWO, _SENT, _take("two", delete=True), _take("two", delete=True)),
    "copies-complete-together": (*_TWO, _SENT, *_COMPLETED, _take("two")),
    "copies-lock-together": (*_TWO, _SENT, _take("one"), _take("two")),
    "subscribed-backwards": (*_ONE, _SENT, _subscribe("two"), _take("two")),
    "unsubscribed-refused": (_topic(), _SENT),
    "topic-gives": (_topic(), _SENT, receive()),
    "subscription-takes": (*_ONE, send("m1", queue=_of("one"))),
    "topic-key-moves": (*_ONE, *(send(f"m{number}", **_KEYED) for number in range(5))),
    "topic-key-moves-after-outage": (
        *_ONE,
        _SENT,
        _down(home("a")),
        _up(home("a")),
        send("m2", **_KEYED),
    ),
    "copy-in-two-partitions": (*_ONE, _SENT, Peek(queue=_of("one"), count=2)),
    "copy-moves": (*_ONE, _SENT, _take("one"), abandon(0, queue=_of("one")), _take("one")),
    "subscription-misses-partition": (
        *_ONE,
        *(send(f"m{number}") for number in range(PARTITIONS)),
        *_ROUND,
    ),
    "topic-takes-for-dead-partition": (*_ONE, _SENT, _down(home("a")), send("m2", **_KEYED)),
    "topic-refuses-yet-copies": (
        *_ONE,
        _down(home("a")),
        _SENT,
        _up(home("a")),
        _take("one"),
    ),
    "topic-does-not-reroute": (*_ONE, _down(0), send("m1")),
    "rerouted-copies-lost": (*_ONE, _down(0), send("m1"), _up(0), _take("one")),
    "topic-keeps-copies": (*_UNIQUE, _COPY, _ANOTHER, _take("two"), _take("two")),
    "copies-by-subscription": (*_UNIQUE, _COPY, *_COMPLETED, _ANOTHER, _take("one")),
    "sessions-of-all-subscriptions": (*_SESSIONS, send("m1", session_id="s"), _take("two")),
    "foreign-session-of-subscription": (
        *_SESSIONS,
        send("m1", session_id="s"),
        _HOLD,
        over("c2", _take("one", "s")),
    ),
    "subscription-session-reversed": (
        *_SESSIONS,
        send("m1", session_id="s"),
        send("m2", session_id="s"),
        _HOLD,
        _take("one", "s"),
    ),
    "subscription-session-reordered-by-abandon": (
        *_SESSIONS,
        send("m1", session_id="s"),
        send("m2", session_id="s"),
        _HOLD,
        _take("one", "s"),
        abandon(0, queue=_of("one")),
        _take("one", "s"),
    ),
    "published-before-commit": (*_ONE, _BEGIN, _STAGED, _take("one")),
    "commit-reaches-first-subscription": (*_TWO, _BEGIN, _STAGED, _COMMIT, _take("two")),
    "topic-takes-keyless-in-transaction": (*_ONE, _BEGIN, send("m1", within="t")),
    "topic-takes-second-key": (
        *_ONE,
        _BEGIN,
        _STAGED,
        send("m2", within="t", partition_key="b"),
    ),
    "subscribed-to-nothing": (_subscribe("one"),),
    "subscription-ignores-locks": (*_ONE, _SENT, _take("one"), _take("one")),
    "subscription-settles-after-expiry": (
        *_ONE,
        _SENT,
        _take("one"),
        wait(61),
        complete(0, queue=_of("one")),
    ),
}
