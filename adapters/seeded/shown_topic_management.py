"""The shortest runs in which the faults of what subscriptions and topics are left with show."""

from collections.abc import Mapping
from typing import Any, Final

from busproof.mutants.runs import Run, create, receive, send
from busproof.vocabulary.commands import (
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetTopic,
    ListSubscriptions,
    Receive,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.entity_settings import EntityStatus

__all__ = ["READINGS", "SHOWN"]

_TOPIC: Final = "q"
_GET: Final = GetTopic(topic=_TOPIC)
_DELETE: Final = DeleteTopic(topic=_TOPIC)
_LIST: Final = ListSubscriptions(topic=_TOPIC)


def _topic(**settings: Any) -> CreateTopic:
    return CreateTopic(topic=_TOPIC, **settings)


def _of(name: str) -> str:
    return f"{_TOPIC}/subscriptions/{name}"


def _subscribe(name: str, **settings: Any) -> CreateSubscription:
    return CreateSubscription(topic=_TOPIC, subscription=name, **settings)


def _take(name: str) -> Receive:
    return receive(queue=_of(name))


def _update(name: str, **changes: Any) -> UpdateQueue:
    return UpdateQueue(queue=_of(name), **changes)


def _change(**changes: Any) -> UpdateTopic:
    return UpdateTopic(topic=_TOPIC, **changes)


def _part(name: str) -> DeleteQueue:
    return DeleteQueue(queue=_of(name))


_ONE: Final[Run] = (_topic(), _subscribe("one"))
_TWO: Final[Run] = (*_ONE, _subscribe("two"))
_DISABLED: Final = _change(status=EntityStatus.SEND_DISABLED)

SHOWN: Final[Mapping[str, Run]] = {
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
    "deleted-subscriptions-counted": {"GET-LAG": "at-once"}
}
"""Faults that the judge alone sees only under other readings; by default a scenario waits."""
