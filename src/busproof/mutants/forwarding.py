"""Mutants of FWD: where messages and dead letters are forwarded, how, and how far."""

from collections import Counter
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.forwarding import Forwarding
from busproof.model.keys import MESSAGE_ID
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import InTransit, Key
from busproof.mutants.entities import is_subscription, siblings
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import PARTITIONS, QUEUE, Run, create, receive, send
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    only_where,
    where,
    with_other,
)

FORWARD: Final = "forwarding.forward"
DELIVER: Final = "forwarding.deliver"
KEY_OF: Final = "forwarding.key_of"


def end(queue: str = "end", **settings: Any) -> v.CreateQueue:
    """Return the creation of a destination."""
    return create(queue=queue, **settings)


def source(forward_to: str = "end", queue: str = QUEUE, **settings: Any) -> v.CreateQueue:
    """Return the command that creates a forwarding queue."""
    return create(queue=queue, forward_to=forward_to, **settings)


def subscribe(name: str = "one", topic: str = QUEUE, **settings: Any) -> v.CreateSubscription:
    """Return the creation of a subscription."""
    return v.CreateSubscription(topic=topic, subscription=name, **settings)


def take(queue: str) -> v.Receive:
    """Return a receive that deletes the message."""
    return receive(delete=True, queue=queue)


TOPIC: Final = v.CreateTopic(topic=QUEUE)
END: Final = end()
REGULAR_END: Final = end(partitioned=False)
PAIR: Final[Run] = (END, source())
UNIQUE: Final[Run] = (end(duplicate_detection=True), source())
CHAIN: Final[Run] = (END, source("end", "three"), source("three", "two"), source("two"))
LONGER: Final[Run] = (*CHAIN[:-1], source("two", "one"), source("one", "none"), source("none"))
KEYED: Final = send("m1", partition_key="a")
COPY: Final = send("m1", message_id="x")
TAKE: Final = take("end")
TAKE_SOURCE: Final = take(QUEUE)
TAKE_ONE: Final = take(v.subscription_path(QUEUE, "one"))
SENT: Final[Run] = (send("m1"), TAKE)
DIRECT: Final[Run] = (send("m0", queue="end", message_id="x"), TAKE)
MANY: Final[Run] = (
    *(send(f"m{number}", partition_key="a") for number in range(PARTITIONS)),
    *(TAKE,) * PARTITIONS,
)
SPREAD: Final[Run] = tuple(
    request
    for number in range(PARTITIONS)
    for request in (send(f"m{number}", queue="end", message_id=f"{number}"), TAKE)
)
ONTO_TOPIC: Final[Run] = (
    *(v.CreateTopic(topic="end"), subscribe(topic="end"), subscribe("two", topic="end")),
    *(source(), send("m1"), take(v.subscription_path("end", "two"))),
)


def destination_of(namespace: Namespace, source: Entity) -> Entity:
    """Return the destination of an entity; the entity itself if there is no destination."""
    return namespace.entities.get(source.settings.forward_to or "", source)


def _joins(namespace: Namespace, source: Entity, *, partitioned: tuple[bool, bool]) -> bool:
    """Return whether source and destination are partitioned as in the given pair."""
    destination = destination_of(namespace, source)
    return (source.settings.partitioned, destination.settings.partitioned) == partitioned


def keep(namespace: Namespace, source: Entity, message: v.Message, *rest: Any) -> None:
    """Store a message in the entity that should forward it."""
    namespace.rules.messages.enqueue(source, message, *rest)


class Keep(Forwarding):
    """Store messages in the entity that should forward them."""

    def forward(
        self, source: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        self.rules.messages.enqueue(source, message, partition, transit)


@mutant("FWD-01", (REGULAR_END, source(), *SENT), literal=True)
class LastPartitionNotForwarded(Forwarding):
    """A partitioned queue does not forward its last partition's messages to a regular queue."""

    @only_where
    def forward(self, source: Entity, partition: int) -> bool:
        onto_regular = _joins(self.rules.namespace, source, partitioned=(True, False))
        return not (onto_regular and partition == len(source.partitions) - 1)


@mutant("FWD-02", (END, source(partitioned=False), *SENT), literal=True)
class RegularNotForwardedToPartitioned(Forwarding):
    """A regular queue does not forward to a partitioned one."""

    @only_where
    def deliver(self, source: Entity) -> bool:
        return not _joins(self.rules.namespace, source, partitioned=(False, True))


@mutant("FWD-03", (*PAIR, *SENT), literal=True)
class FirstPartitionNotForwarded(Forwarding):
    """Between partitioned queues, messages of the first partition are lost."""

    @only_where
    def forward(self, source: Entity, partition: int) -> bool:
        return partition > 0 or not _joins(self.rules.namespace, source, partitioned=(True, True))


@mutant("FWD-03", (*PAIR, *SENT))
class BodyChangedBetweenPartitioned(Forwarding):
    """Between partitioned queues, a message arrives with another body."""

    @with_other("message")
    def deliver(self, source: Entity, message: v.Message) -> v.Message:
        if _joins(self.rules.namespace, source, partitioned=(True, True)):
            message = attrs.evolve(message, body=f"{message.body}!")
        return message


@mutant("FWD-04")
@run(END, TOPIC, subscribe(forward_to="end"), send("m1"), TAKE_ONE)
class SubscriptionDoesNotForward(Keep):
    """A subscription keeps the messages that it should forward."""

    forward = where(is_subscription)


@mutant("FWD-04", ONTO_TOPIC, deep=True, literal=True)
class TopicTakesNothingForwarded(Messages):
    """A message forwarded to a topic reaches only its first subscription."""

    @only_where
    def arrive(self, entity: Entity, transit: InTransit) -> bool:
        return not transit.hops or entity is siblings(entity)[0]


@mutant("FWD-06", literal=True)
@run(REGULAR_END, source(partitioned=False), *SENT)
class RegularDoesNotForward(Forwarding):
    """Regular queues do not forward to each other."""

    @only_where
    def deliver(self, source: Entity) -> bool:
        return not _joins(self.rules.namespace, source, partitioned=(False, False))


@mutant("FWD-07", (*PAIR, KEYED, TAKE))
class PartitionKeyLost(Forwarding):
    """A forwarded message loses its PartitionKey."""

    @with_other("message")
    def deliver(self, message: v.Message) -> v.Message:
        return attrs.evolve(message, partition_key=None)


@mutant("FWD-07", deep=True)
@run(*CHAIN, send("m1", session_id="a"), TAKE)
class SessionIdLostAtSecondHop(Forwarding):
    """At its second hop a message loses its SessionId."""

    @with_other("message")
    def deliver(self, message: v.Message, onward: InTransit) -> v.Message:
        if onward.hops == 2:
            message = attrs.evolve(message, session_id=None)
        return message


@mutant("FWD-08", (*PAIR, *MANY))
class KeyIgnoredAtDestination(Forwarding):
    """A forwarded message goes to any partition of its destination, despite its key."""

    @alters
    def key_of(self, usual: Key | None) -> Key | None:
        return usual if usual is not None and usual.source == MESSAGE_ID else None


class _NoteHops(Forwarding):
    @beforehand
    def deliver(self, onward: InTransit) -> None:
        memory(self.rules.namespace, Counter[str])["hops"] = onward.hops


@mutant(
    "FWD-08",
    (*CHAIN, *MANY),
    also=(_NoteHops,),
    deep=True,
    by_step="the judge cannot try all the orders in which messages may come over three hops",
)
class KeyIgnoredAtThirdHop(Forwarding):
    """At its third hop a message goes to any partition, despite its key."""

    @alters
    def key_of(self, usual: Key | None) -> Key | None:
        return None if memory(self.rules.namespace, Counter[str])["hops"] == 3 else usual


@mutant("FWD-11", (*UNIQUE, *SPREAD, *DIRECT), literal=True)
class MessageIdNoKeyWhenForwarded(Forwarding):
    """A destination with duplicate detection ignores the MessageId when it selects a partition."""

    @with_other("key")
    def place(self, key: Key | None) -> Key | None:
        if key is not None and key.source == MESSAGE_ID:
            key = None
        return key


@mutant("FWD-13", (*UNIQUE, *DIRECT, COPY, TAKE))
class ForwardedCopiesKept(Messages):
    """Duplicate detection ignores forwarded messages."""

    def accept(
        self,
        entity: Entity,
        message: v.Message,
        key: Key | None,
        partition: int,
        transit: InTransit,
    ) -> bool:
        if not transit.hops:
            return super().accept(entity, message, key, partition, transit)
        self.arrive(entity, message, partition, transit)
        return True


@mutant("FWD-14", (*PAIR, *SENT, TAKE))
class ForwardedTwice(Forwarding):
    """A message is forwarded twice."""

    @beforehand
    def deliver(self, source: Entity, *rest: Any) -> None:
        super().deliver(source, *rest)


@mutant("FWD-14", (*PAIR, send("m1"), TAKE_SOURCE))
class CopiedInsteadOfMoved(Forwarding):
    """A source keeps the messages that it has forwarded, and gives them to receivers."""

    @afterwards
    def forward(self, source: Entity, *rest: Any) -> None:
        keep(self.rules.namespace, source, *rest)


@mutant("FWD-15", (*PAIR, send("m1"), TAKE_SOURCE))
class SourceGives(Keep):
    """A source gives its messages to receivers, and forwards none."""


@mutant("FWD-16", (*CHAIN, *SENT), deep=True, literal=True)
class ThirdHopLost(Forwarding):
    """A message is lost at its third hop."""

    def most_hops(self) -> int:
        return 2


@mutant("FWD-18", (*LONGER, *SENT), deep=True)
class HopsWithoutEnd(Forwarding):
    """A message is forwarded any number of times."""

    def most_hops(self) -> int:
        return 100
