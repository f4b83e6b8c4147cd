"""Mutants of FWD: where messages and dead letters are forwarded, how, and how far."""

from collections import Counter
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.keys import MESSAGE_ID
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import InTransit, Key
from busproof.mutants.entities import is_subscription, siblings
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import PARTITIONS, QUEUE, Run, create, receive, send
from busproof.mutants.wrappers import afterwards, alters, beforehand, does, only_where, with_other

USUAL: Final = RULES.forwarding
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


@mutant("FWD-01", FORWARD, (REGULAR_END, source(), *SENT), only_where, literal=True)
def last_partition_not_forwarded(namespace: Namespace, source: Entity, partition: int) -> bool:
    """A partitioned queue does not forward its last partition's messages to a regular queue."""
    onto_regular = _joins(namespace, source, partitioned=(True, False))
    return not (onto_regular and partition == len(source.partitions) - 1)


@mutant("FWD-02", DELIVER, (END, source(partitioned=False), *SENT), only_where, literal=True)
def regular_not_forwarded_to_partitioned(namespace: Namespace, source: Entity) -> bool:
    """A regular queue does not forward to a partitioned one."""
    return not _joins(namespace, source, partitioned=(False, True))


@mutant("FWD-03", FORWARD, (*PAIR, *SENT), only_where, literal=True)
def first_partition_not_forwarded(namespace: Namespace, source: Entity, partition: int) -> bool:
    """Between partitioned queues, messages of the first partition are lost."""
    return partition > 0 or not _joins(namespace, source, partitioned=(True, True))


@mutant("FWD-03", DELIVER, (*PAIR, *SENT), with_other("message"))
def body_changed_between_partitioned(
    namespace: Namespace, source: Entity, message: v.Message
) -> v.Message:
    """Between partitioned queues, a message arrives with another body."""
    if _joins(namespace, source, partitioned=(True, True)):
        message = attrs.evolve(message, body=f"{message.body}!")
    return message


@mutant("FWD-04", FORWARD, how=does(keep, is_subscription))
@run(END, TOPIC, subscribe(forward_to="end"), send("m1"), TAKE_ONE)
def subscription_does_not_forward() -> None:
    """A subscription keeps the messages that it should forward."""


@mutant("FWD-04", "messages.arrive", ONTO_TOPIC, only_where, deep=True, literal=True)
def topic_takes_nothing_forwarded(entity: Entity, transit: InTransit) -> bool:
    """A message forwarded to a topic reaches only its first subscription."""
    return not transit.hops or entity is siblings(entity)[0]


@mutant("FWD-06", DELIVER, how=only_where, literal=True)
@run(REGULAR_END, source(partitioned=False), *SENT)
def regular_does_not_forward(namespace: Namespace, source: Entity) -> bool:
    """Regular queues do not forward to each other."""
    return not _joins(namespace, source, partitioned=(False, False))


@mutant("FWD-07", DELIVER, (*PAIR, KEYED, TAKE), with_other("message"))
def partition_key_lost(message: v.Message) -> v.Message:
    """A forwarded message loses its PartitionKey."""
    return attrs.evolve(message, partition_key=None)


@mutant("FWD-07", DELIVER, how=with_other("message"), deep=True)
@run(*CHAIN, send("m1", session_id="a"), TAKE)
def session_id_lost_at_second_hop(message: v.Message, onward: InTransit) -> v.Message:
    """At its second hop a message loses its SessionId."""
    if onward.hops == 2:
        message = attrs.evolve(message, session_id=None)
    return message


@mutant("FWD-08", KEY_OF, (*PAIR, *MANY), alters)
def key_ignored_at_destination(usual: Key | None) -> Key | None:
    """A forwarded message goes to any partition of its destination, despite its key."""
    return usual if usual is not None and usual.source == MESSAGE_ID else None


@beside(DELIVER, beforehand)
def _note_hops(namespace: Namespace, onward: InTransit) -> None:
    memory(namespace, Counter[str])["hops"] = onward.hops


@mutant("FWD-08", KEY_OF, (*CHAIN, *MANY), alters, also=_note_hops, deep=True)
def key_ignored_at_third_hop(usual: Key | None, namespace: Namespace) -> Key | None:
    """At its third hop a message goes to any partition, despite its key."""
    return None if memory(namespace, Counter[str])["hops"] == 3 else usual


@mutant("FWD-11", "forwarding.place", (*UNIQUE, *SPREAD, *DIRECT), with_other("key"), literal=True)
def message_id_no_key_when_forwarded(key: Key | None) -> Key | None:
    """A destination with duplicate detection ignores the MessageId when it selects a partition."""
    if key is not None and key.source == MESSAGE_ID:
        key = None
    return key


@mutant("FWD-13", "messages.accept", (*UNIQUE, *DIRECT, COPY, TAKE), literal=True)
def forwarded_copies_kept(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None, *rest: Any
) -> None:
    """Duplicate detection ignores forwarded messages."""
    transit: InTransit = rest[-1]
    if transit.hops:
        RULES.messages.arrive(namespace, entity, message, *rest)
    else:
        RULES.messages.accept(namespace, entity, message, key, *rest)


@mutant("FWD-14", DELIVER, (*PAIR, *SENT, TAKE), beforehand)
def forwarded_twice(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """A message is forwarded twice."""
    USUAL.deliver(namespace, source, *rest)


@mutant("FWD-14", FORWARD, (*PAIR, send("m1"), TAKE_SOURCE), afterwards)
def copied_instead_of_moved(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """A source keeps the messages that it has forwarded, and gives them to receivers."""
    keep(namespace, source, *rest)


@mutant("FWD-15", "", (*PAIR, send("m1"), TAKE_SOURCE), also={FORWARD: keep})
def source_gives() -> None:
    """A source gives its messages to receivers, and forwards none."""


@mutant("FWD-16", "forwarding.most_hops", (*CHAIN, *SENT), deep=True, literal=True)
def third_hop_lost() -> int:
    """A message is lost at its third hop."""
    return 2


@mutant("FWD-18", "forwarding.most_hops", (*LONGER, *SENT), deep=True)
def hops_without_end() -> int:
    """A message is forwarded any number of times."""
    return 100
