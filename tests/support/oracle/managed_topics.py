"""A topic `t` and its subscriptions: requests about them, and their descriptions."""

from observing import (
    SECOND,
    Observer,
)

from busproof import vocabulary as v

NOT_FOUND = v.Refused(error=v.Error.NOT_FOUND)
EXISTS = v.Refused(error=v.Error.ALREADY_EXISTS)
UNAVAILABLE = v.Refused(error=v.Error.UNAVAILABLE)
DISABLED = v.Refused(error=v.Error.ENTITY_DISABLED)
GET = v.GetTopic(topic="t")
DELETE = v.DeleteTopic(topic="t")
LIST = v.ListSubscriptions(topic="t")
AGAIN = v.CreateTopic(topic="t")
SOON = 5 * SECOND


def path(name: str) -> str:
    return f"t/subscriptions/{name}"


def dead(name: str) -> str:
    return f"{name}/$deadletterqueue"


def subscribe(name: str = "s", **settings: object) -> v.CreateSubscription:
    return v.CreateSubscription(topic="t", subscription=name, **settings)


def publish(body: str, transaction: str | None = None, **properties: object) -> v.Send:
    return v.Send(queue="t", message=v.Message(body=body, **properties), transaction=transaction)


def take(name: str = "s", session_id: str | None = None) -> v.Receive:
    return v.Receive(queue=path(name), mode=v.ReceiveMode.RECEIVE_AND_DELETE, session_id=session_id)


def part(name: str = "s") -> v.DeleteQueue:
    return v.DeleteQueue(queue=path(name))


def change(**changes: object) -> v.UpdateTopic:
    return v.UpdateTopic(topic="t", **changes)


def update(name: str = "s", **changes: object) -> v.UpdateQueue:
    return v.UpdateQueue(queue=path(name), **changes)


def get(name: str = "s") -> v.GetQueue:
    return v.GetQueue(queue=path(name))


def topic(**fields: object) -> v.TopicDescribed:
    return v.TopicDescribed(description=v.TopicDescription(topic="t", **fields))


def subscription(name: str = "s", **fields: object) -> v.Described:
    return v.Described(description=v.QueueDescription(queue=path(name), **fields))


def listed(*names: str) -> v.Listed:
    return v.Listed(names=names)


def with_topic(observer: Observer, *subscriptions: str, **settings: object) -> Observer:
    observer.has(v.CreateTopic(topic="t", **settings))
    for name in subscriptions:
        observer.has(subscribe(name))
    return observer


def dark(observer: Observer, partition: int = 1) -> None:
    observer.has(v.TakePartitionDown(queue="t", partition=partition))


def bright(observer: Observer, partition: int = 1) -> None:
    observer.has(v.BringPartitionUp(queue="t", partition=partition))
