"""Circumstances that prepare requests: deletions, refusals, or disabling before them."""

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.metamorphic.entities import RECEIVING, Ask
from busproof.judging.past import views_of

__all__ = [
    "close_in_turn",
    "delete_neighbours",
    "precede_by_namesakes",
    "precede_by_refusals",
    "take_partition_down",
]

LAST: Final = "last"
"""MessageId and key of messages of a last look, which a deleted predecessor must not remember."""
OTHER: Final = "beside"
DOWN: Final = 3
"""Partition that has an outage."""
SHORT_LOCK: Final = 5 * v.MICROSECONDS
ENTERING: Final = (v.Send, v.SendBatch, v.Schedule, v.CancelScheduled)
"""Requests that an entity that is disabled for receivers accepts."""


def precede_by_namesakes(ask: Ask) -> Ask:
    """Create whatever is created twice, and delete the first one after use.

    The first one has other settings. It holds a dead letter and a message when it is deleted.
    """
    numbers = count(1)

    def use(sent_to: str, path: str, connection: str) -> None:
        for _ in range(2):
            body = f"{OTHER} {next(numbers)}"
            message = v.Message(body=body, message_id=f"{LAST}{body}", partition_key=LAST)
            ask(v.Send(queue=sent_to, message=message), connection)
        message = attrs.evolve(message, body=f"{OTHER} {next(numbers)}", message_id=LAST)
        ask(v.Send(queue=sent_to, message=message), connection)
        event = ask(v.Receive(queue=path), connection)
        for view in () if event is None else views_of(event.outcome):
            dead = v.DeadLetter(queue=path, lock_token=view.lock_token or "", reason=OTHER)
            ask(dead, connection)

    def asks(command: v.Command, connection: str) -> v.Event | None:
        match command:
            case v.CreateQueue(queue=path):
                first = v.CreateQueue(
                    queue=path,
                    partitioned=command.partitioned,
                    duplicate_detection=True,
                    max_delivery_count=3,
                    lock_duration=SHORT_LOCK,
                )
                ask(first, connection)
                use(path, path, connection)
                ask(v.DeleteQueue(queue=path), connection)
            case v.CreateTopic(topic=topic):
                first_topic = v.CreateTopic(
                    topic=topic, partitioned=command.partitioned, duplicate_detection=True
                )
                ask(first_topic, connection)
                ask(v.CreateSubscription(topic=topic, subscription=OTHER), connection)
                use(topic, v.subscription_path(topic, OTHER), connection)
                ask(v.DeleteTopic(topic=topic), connection)
            case v.CreateSubscription(topic=topic, subscription=name):
                path = v.subscription_path(topic, name)
                other = v.CreateSubscription(topic=topic, subscription=name, max_delivery_count=3)
                ask(other, connection)
                use(topic, path, connection)
                ask(v.DeleteQueue(queue=path), connection)
            case v.AddRule(transaction=None):
                ask(attrs.evolve(command, filter=v.FalseFilter(), action=None), connection)
                ask(_removal(command), connection)
        return ask(command, connection)

    return asks


def _removal(added: v.AddRule) -> v.RemoveRule:
    return v.RemoveRule(topic=added.topic, subscription=added.subscription, rule=added.rule)


def precede_by_refusals(ask: Ask) -> Ask:
    """Send each message and each setting first in a request that has to be refused."""

    def asks(command: v.Command, connection: str) -> v.Event | None:
        if isinstance(command, v.Send) and command.transaction is None:
            together = (command.message, _contradict_keys(command.message))
            batch = ask(v.SendBatch(queue=command.queue, messages=together), connection)
            if batch is not None and not isinstance(batch.outcome, v.Refused):
                return batch  # a regular entity may accept it, and then has the message
        for refused in _refusals_before(command):
            ask(refused, connection)
        event = ask(command, connection)
        for refused in _refusals_after(command):
            ask(refused, connection)
        return event

    return asks


def _contradict_keys(message: v.Message, suffix: str = OTHER) -> v.Message:
    body = f"{message.body} {suffix}"
    return attrs.evolve(message, body=body, session_id=OTHER, partition_key=f"not {OTHER}")


def _refusals_before(command: v.Command) -> Iterator[v.Command]:
    """Yield requests that differ from a command by what has to be refused in them."""
    match command:
        case v.Send(message=message, transaction=None):
            yield attrs.evolve(command, message=_contradict_keys(message, "refused"))
        case v.Schedule(message=message, transaction=None):
            yield attrs.evolve(command, message=_contradict_keys(message, "refused"))
        case v.UpdateQueue(requires_session=None):
            yield attrs.evolve(command, requires_session=True, max_delivery_count=1)
        case v.AddRule(transaction=None):
            yield attrs.evolve(command, filter=v.SqlFilter(expression="size ="))
            yield attrs.evolve(command, action="SET = 1")
        case v.RemoveRule(transaction=None):
            yield attrs.evolve(command, rule=f"{command.rule} {OTHER}")


def _refusals_after(command: v.Command) -> Iterator[v.Command]:
    """Yield requests that are refused because this command was sent before."""
    match command:
        case v.CreateQueue():
            yield v.CreateQueue(
                queue=command.queue,
                partitioned=command.partitioned,
                requires_session=not command.requires_session,
                max_delivery_count=2,
                lock_duration=SHORT_LOCK,
            )
            yield v.UpdateQueue(
                queue=command.queue,
                requires_session=not command.requires_session,
                max_delivery_count=2,
                lock_duration=SHORT_LOCK,
                forward_to=f"{command.queue}-{OTHER}",
                status=v.EntityStatus.DISABLED,
            )
        case v.CreateTopic():
            yield v.CreateTopic(topic=command.topic, partitioned=command.partitioned)
        case v.CreateSubscription():
            yield v.CreateSubscription(
                topic=command.topic,
                subscription=command.subscription,
                requires_session=not command.requires_session,
                max_delivery_count=2,
            )
        case v.AddRule(transaction=None):
            yield attrs.evolve(command, filter=v.FalseFilter(), action=None)


def close_in_turn(ask: Ask) -> Ask:
    """Disable each entity for receivers while messages are sent, and for senders meanwhile."""
    status: dict[str, v.EntityStatus] = {}
    copies: dict[str, list[str]] = {}

    def change(path: str, wanted: v.EntityStatus, connection: str) -> None:
        if status.get(path, wanted) is not wanted:
            status[path] = wanted
            if path in copies:
                ask(v.UpdateTopic(topic=path, status=wanted), connection)
            else:
                ask(v.UpdateQueue(queue=path, status=wanted), connection)

    def asks(command: Any, connection: str) -> v.Event | None:
        path = v.owner_of(getattr(command, "queue", ""))
        topic = path.partition(v.SUBSCRIPTIONS)[0]
        if isinstance(command, ENTERING):
            for closed in copies.get(path, [path]):
                change(closed, v.EntityStatus.RECEIVE_DISABLED, connection)
            if path in copies:
                change(path, v.EntityStatus.ACTIVE, connection)
        elif isinstance(command, RECEIVING):
            change(topic, v.EntityStatus.SEND_DISABLED, connection)
            if topic != path:
                change(path, v.EntityStatus.ACTIVE, connection)
        event = ask(command, connection)
        match command:
            case v.CreateQueue(queue=created, forward_to=None):
                status[created] = v.EntityStatus.ACTIVE
            case v.CreateTopic(topic=created):
                status[created] = v.EntityStatus.ACTIVE
                copies[created] = []
            case v.CreateSubscription(topic=of_topic, forward_to=None):
                created = v.subscription_path(of_topic, command.subscription)
                status[created] = v.EntityStatus.ACTIVE
                copies.setdefault(of_topic, []).append(created)
            case v.UpdateQueue(queue=changed) | v.DeleteQueue(queue=changed):
                status.pop(changed, None)
            case v.UpdateTopic(topic=changed) | v.DeleteTopic(topic=changed):
                status.pop(changed, None)
        return event

    return asks


def take_partition_down(ask: Ask) -> Ask:
    """Take a partition of each entity down before anything else."""

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        match command:
            case v.CreateQueue(queue=path) | v.CreateTopic(topic=path) if command.partitioned:
                ask(v.TakePartitionDown(queue=path, partition=DOWN), connection)
        return event

    return asks


def delete_neighbours(ask: Ask) -> Ask:
    """Create and delete a neighbour of an entity after each request about messages.

    It is a subscription of the same topic, or a queue that begins with the same name.
    """
    topics: set[str] = set()

    def asks(command: Any, connection: str) -> v.Event | None:
        event = ask(command, connection)
        if isinstance(command, v.CreateTopic):
            topics.add(command.topic)
        if event is None or not isinstance(command, ENTERING + RECEIVING):
            return event
        path = v.owner_of(command.queue).partition(v.SUBSCRIPTIONS)[0]
        if path in topics:
            ask(v.CreateSubscription(topic=path, subscription=OTHER), connection)
            neighbour = v.subscription_path(path, OTHER)
        else:
            neighbour = f"{path}-{OTHER}"
            ask(v.CreateQueue(queue=neighbour), connection)
        ask(v.DeleteQueue(queue=neighbour), connection)
        return event

    return asks
