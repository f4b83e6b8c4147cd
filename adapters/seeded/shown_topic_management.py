"""The shortest runs in which the faults in the management of topics and subscriptions show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import PARTITIONS, Run, create, receive, send, wait
from busproof.vocabulary.commands import (
    BringPartitionUp,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetTopic,
    ListSubscriptions,
    ListTopics,
    Receive,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["READINGS", "SHOWN"]

_TOPIC: Final = "q"
_GET: Final = GetTopic(topic=_TOPIC)
_DELETE: Final = DeleteTopic(topic=_TOPIC)
_LIST: Final = ListSubscriptions(topic=_TOPIC)
_SOON: Final = 5 * MICROSECONDS
_LAST: Final = PARTITIONS - 1
_DOWN: Final = TakePartitionDown(queue=_TOPIC, partition=_LAST)
_UP: Final = BringPartitionUp(queue=_TOPIC, partition=_LAST)


def _topic(**settings: Any) -> CreateTopic:
    return CreateTopic(topic=_TOPIC, **settings)


def _of(name: str) -> str:
    return f"{_TOPIC}/subscriptions/{name}"


def _subscribe(name: str, **settings: Any) -> CreateSubscription:
    return CreateSubscription(topic=_TOPIC, subscription=name, **settings)


def _take(name: str) -> Receive:
    return receive(queue=_of(name))


def _get(name: str) -> GetQueue:
    return GetQueue(queue=_of(name))


def _update(name: str, **changes: Any) -> UpdateQueue:
    return UpdateQueue(queue=_of(name), **changes)


def _change(**changes: Any) -> UpdateTopic:
    return UpdateTopic(topic=_TOPIC, **changes)


def _part(name: str) -> DeleteQueue:
    return DeleteQueue(queue=_of(name))


_ONE: Final[Run] = (_topic(), _subscribe("one"))
_TWO: Final[Run] = (*_ONE, _subscribe("two"))
_DETECTING: Final = _topic(duplicate_detection=True)
_OF_EACH: Final[Run] = (*_ONE, *(send(f"m{number}") for number in range(PARTITIONS)))
_DISABLED: Final = _change(status=EntityStatus.SEND_DISABLED)

SHOWN: Final[Mapping[str, Run]] = {
    "topic-update-changes-partitioning": (_topic(), _change(partitioned=False), _GET),
    "topic-made-again-as-before": (_topic(), _DELETE, _topic(partitioned=False), _GET),
    "second-topic-replaces": (_topic(), _topic()),
    "second-subscription-empties": (*_ONE, send("m1"), _subscribe("one"), _take("one")),
    "no-topic-is-deleted": (_DELETE,),
    "no-subscriptions-of-no-topic": (_LIST,),
    "topic-window-not-told": (
        _topic(duplicate_detection=True, duplicate_window=30 * MICROSECONDS),
        _GET,
    ),
    "subscriptions-told-alike": (*_ONE, _subscribe("two", lock_duration=_SOON), _get("two")),
    "subscription-update-ignored": (
        *_ONE,
        send("m1"),
        _update("one", lock_duration=_SOON),
        _take("one"),
    ),
    "subscription-update-is-of-all": (*_TWO, _update("one", lock_duration=_SOON), _get("two")),
    "topic-life-as-created": (
        *_ONE,
        _change(time_to_live=_SOON),
        send("m1"),
        wait(6),
        _take("one"),
    ),
    "subscription-update-changes-sessions": (
        *_ONE,
        _update("one", requires_session=True),
        _get("one"),
    ),
    "topic-update-changes-detection": (_topic(), _change(duplicate_detection=True), _GET),
    "topic-made-again-remembers": (
        *(_DETECTING, send("m1", message_id="x"), _DELETE, _DETECTING),
        *(_subscribe("one"), send("m2", message_id="x"), _take("one")),
    ),
    "subscription-made-again-is-full": (
        *(*_ONE, send("m1"), _part("one")),
        *(_subscribe("one"), _take("one")),
    ),
    "topics-listed-with-queues": (create(queue="other"), ListTopics()),
    "deleted-subscription-listed": (*_ONE, _part("one"), _LIST),
    "subscription-updated-in-one-partition": (
        *(*_OF_EACH, _update("one", lock_duration=_SOON)),
        *(_take("one") for _ in range(PARTITIONS)),
    ),
    "topic-is-never-gone": (_topic(), _DOWN, _DELETE, _UP, _DELETE),
    "subscription-counts-all": (*_TWO, send("m1"), _get("one")),
    "topic-limited-not-told": (_topic(), _DOWN, wait(1), _GET),
    "topic-limited-for-good": (_topic(), _DOWN, _UP, wait(1), _GET),
    "disabled-topic-takes": (*_ONE, _DISABLED, send("m1")),
    "disabled-subscription-gives": (
        *(*_ONE, send("m1")),
        *(_update("one", status=EntityStatus.RECEIVE_DISABLED), _take("one")),
    ),
    "subscription-not-redirected": (
        *(create(queue="end"), *_ONE, _update("one", forward_to="end")),
        *(send("m1"), _take("one")),
    ),
    "topic-leaves-its-subscriptions": (*_ONE, send("m1"), _DELETE, _take("one")),
    "topic-made-again-has-its-subscriptions": (*_ONE, _DELETE, _topic(), _LIST),
    "others-are-parted": (*_TWO, _part("one"), send("m1"), _take("two")),
    "copies-go-together": (*_TWO, send("m1"), _part("one"), _take("two")),
    "last-subscription-closes-topic": (*_ONE, _part("one"), send("m1")),
    "deleted-subscriptions-counted": (*_ONE, _part("one"), _GET),
    "closed-subscription-misses": (
        *(*_ONE, _update("one", status=EntityStatus.RECEIVE_DISABLED), send("m1")),
        *(_update("one", status=EntityStatus.ACTIVE), _take("one")),
    ),
    "disabled-topic-closes-its-subscriptions": (*_ONE, send("m1"), _DISABLED, _take("one")),
}
"""Id of each fault to its run."""

READINGS: Final[Mapping[str, Mapping[str, str]]] = {
    fault: {"GET-LAG": "at-once"}
    for fault in (
        "subscription-counts-all",
        "topic-limited-not-told",
        "topic-limited-for-good",
        "deleted-subscriptions-counted",
    )
}
"""Faults that the judge alone sees only under other readings; by default a scenario waits."""
