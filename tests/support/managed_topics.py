"""A topic `t` and its subscriptions: requests about them, and their descriptions."""

from observing import (
    SECOND,
    Observer,
)

from busproof.vocabulary.commands import (
    BringPartitionUp,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetTopic,
    ListSubscriptions,
    Receive,
    Send,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Described,
    Listed,
    QueueDescription,
    Refused,
    TopicDescribed,
    TopicDescription,
)
from busproof.vocabulary.values import Error, ReceiveMode

NOT_FOUND = Refused(error=Error.NOT_FOUND)
EXISTS = Refused(error=Error.ALREADY_EXISTS)
UNAVAILABLE = Refused(error=Error.UNAVAILABLE)
DISABLED = Refused(error=Error.ENTITY_DISABLED)
GET = GetTopic(topic="t")
DELETE = DeleteTopic(topic="t")
LIST = ListSubscriptions(topic="t")
AGAIN = CreateTopic(topic="t")
SOON = 5 * SECOND


def path(name: str) -> str:
    return f"t/subscriptions/{name}"


def dead(name: str) -> str:
    return f"{name}/$deadletterqueue"


def subscribe(name: str = "s", **settings: object) -> CreateSubscription:
    return CreateSubscription(topic="t", subscription=name, **settings)


def publish(body: str, transaction: str | None = None, **properties: object) -> Send:
    return Send(queue="t", message=Message(body=body, **properties), transaction=transaction)


def take(name: str = "s", session_id: str | None = None) -> Receive:
    return Receive(queue=path(name), mode=ReceiveMode.RECEIVE_AND_DELETE, session_id=session_id)


def part(name: str = "s") -> DeleteQueue:
    return DeleteQueue(queue=path(name))


def change(**changes: object) -> UpdateTopic:
    return UpdateTopic(topic="t", **changes)


def update(name: str = "s", **changes: object) -> UpdateQueue:
    return UpdateQueue(queue=path(name), **changes)


def get(name: str = "s") -> GetQueue:
    return GetQueue(queue=path(name))


def topic(**fields: object) -> TopicDescribed:
    return TopicDescribed(description=TopicDescription(topic="t", **fields))


def subscription(name: str = "s", **fields: object) -> Described:
    return Described(description=QueueDescription(queue=path(name), **fields))


def listed(*names: str) -> Listed:
    return Listed(names=names)


def with_topic(observer: Observer, *subscriptions: str, **settings: object) -> Observer:
    observer.has(CreateTopic(topic="t", **settings))
    for name in subscriptions:
        observer.has(subscribe(name))
    return observer


def dark(observer: Observer, partition: int = 1) -> None:
    observer.has(TakePartitionDown(queue="t", partition=partition))


def bright(observer: Observer, partition: int = 1) -> None:
    observer.has(BringPartitionUp(queue="t", partition=partition))
