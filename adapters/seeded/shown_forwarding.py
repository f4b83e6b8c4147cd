"""The shortest runs in which the faults of forwarding show.

Forwarded messages may take their time, so one that never arrives shows in no run: those faults are
found by the scenarios, which wait for it, and are listed without a run.
"""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import (
    DEAD,
    PARTITIONS,
    QUEUE,
    Run,
    create,
    dead_letter,
    home,
    receive,
    send,
)
from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    RollBackTransaction,
    TakePartitionDown,
    UpdateQueue,
)

__all__ = ["SHOWN"]

_BEGIN: Final = BeginTransaction(transaction="t")
_TAKE: Final = receive(delete=True, queue="end")
_KEYED: Final[Mapping[str, Any]] = {"partition_key": "a"}


def _end(queue: str = "end", **settings: Any) -> CreateQueue:
    return CreateQueue(queue=queue, **settings)


def _source(forward_to: str = "end", queue: str = "q", **settings: Any) -> CreateQueue:
    return CreateQueue(queue=queue, forward_to=forward_to, **settings)


_PAIR: Final[Run] = (_end(), _source())
_BURIED: Final[Run] = (
    _end(),
    create(forward_dead_letters_to="end"),
    send("m1"),
    receive(),
    dead_letter(0),
)
_UNIQUE: Final[Run] = (_end(duplicate_detection=True), _source())
_CHAIN: Final[Run] = (
    _end(),
    _source("end", "three"),
    _source("three", "two"),
    _source("two"),
)
_MANY: Final[Run] = (
    *(send(f"m{number}", **_KEYED) for number in range(PARTITIONS)),
    *(_TAKE for _ in range(PARTITIONS)),
)
_DIRECT: Final[Run] = (send("m0", queue="end", message_id="x"), _TAKE)

SHOWN: Final[Mapping[str, Run]] = {
    "last-partition-not-forwarded": (_end(partitioned=False), _source(), send("m1"), _TAKE),
    "regular-not-forwarded-to-partitioned": (_end(), _source(partitioned=False), send("m1"), _TAKE),
    "first-partition-not-forwarded": (*_PAIR, send("m1"), _TAKE),
    "body-changed-between-partitioned": (*_PAIR, send("m1"), _TAKE),
    "subscription-does-not-forward": (
        _end(),
        CreateTopic(topic="q"),
        CreateSubscription(topic="q", subscription="one", forward_to="end"),
        send("m1"),
        receive(delete=True, queue="q/subscriptions/one"),
    ),
    "topic-takes-nothing-forwarded": (
        CreateTopic(topic="end"),
        CreateSubscription(topic="end", subscription="one"),
        CreateSubscription(topic="end", subscription="two"),
        _source(),
        send("m1"),
        receive(delete=True, queue="end/subscriptions/two"),
    ),
    "regular-does-not-forward": (
        _end(partitioned=False),
        _source(partitioned=False),
        send("m1"),
        _TAKE,
    ),
    "partition-key-lost": (*_PAIR, send("m1", **_KEYED), _TAKE),
    "session-id-lost-at-second-hop": (*_CHAIN, send("m1", session_id="a"), _TAKE),
    "key-ignored-at-destination": (*_PAIR, *_MANY),
    "key-ignored-at-third-hop": (*_CHAIN, *_MANY),
    "message-id-no-key-when-forwarded": (
        *_UNIQUE,
        *(
            each
            for number in range(PARTITIONS)
            for each in (
                send(f"m{number}", queue="end", message_id=f"{number}"),
                _TAKE,
            )
        ),
        *_DIRECT,
    ),
    "forwarded-copies-kept": (*_UNIQUE, *_DIRECT, send("m1", message_id="x"), _TAKE),
    "forwarded-twice": (*_PAIR, send("m1"), _TAKE, _TAKE),
    "copied-instead-of-moved": (*_PAIR, send("m1"), receive(delete=True)),
    "source-gives": (*_PAIR, send("m1"), receive(delete=True)),
    "third-hop-lost": (*_CHAIN, send("m1"), _TAKE),
    "hops-without-end": (
        *_CHAIN[:-1],
        _source("two", "one"),
        _source("one", "none"),
        _source("none"),
        send("m1"),
        _TAKE,
    ),
    "forwarded-out-of-session": (
        _end(requires_session=True),
        _source(),
        send("m1", session_id="s"),
        _TAKE,
    ),
    "session-source-forwards": (
        _end(),
        _source(requires_session=True),
        send("m1", session_id="s"),
        _TAKE,
    ),
    "source-of-nothing": (_source(),),
    "session-made-up": (
        _end(requires_session=True),
        _source(),
        send("m1", **_KEYED),
        AcceptSession(queue="end", session_id="a"),
        receive("a", delete=True, queue="end"),
    ),
    "only-first-subscription-forwards": (
        _end(),
        _end(queue="other"),
        CreateTopic(topic="q"),
        CreateSubscription(topic="q", subscription="one", forward_to="end"),
        CreateSubscription(topic="q", subscription="two", forward_to="other"),
        send("m1"),
        receive(delete=True, queue="other"),
    ),
    "forwarded-before-commit": (*_PAIR, _BEGIN, send("m1", within="t", **_KEYED), _TAKE),
    "forwarded-though-rolled-back": (
        *_PAIR,
        _BEGIN,
        send("m1", within="t", **_KEYED),
        RollBackTransaction(transaction="t"),
        _TAKE,
    ),
    "sessions-of-destination-required": (
        _end(requires_session=True),
        _source(),
        _BEGIN,
        send("m1", within="t", **_KEYED),
    ),
    "forwarding-not-begun-by-update": (
        _end(),
        create(),
        UpdateQueue(queue=QUEUE, forward_to="end"),
        send("m1"),
        receive(delete=True),
        _TAKE,
    ),
    "forwarding-not-ended-by-update": (
        *_PAIR,
        UpdateQueue(queue=QUEUE, forward_to=""),
        send("m1"),
        receive(delete=True),
    ),
    "key-does-not-wait-at-destination": (
        _end(),
        send("m1", queue="end", **_KEYED),
        TakePartitionDown(queue="end", partition=home("a")),
        _source(),
        send("m2", **_KEYED),
        _TAKE,
    ),
    "dead-letters-not-forwarded": (*_BURIED, receive(queue=DEAD)),
    "reason-lost-with-dead-letters": (*_BURIED, _TAKE),
    "dead-letters-copied": (*_BURIED, receive(queue=DEAD)),
}
