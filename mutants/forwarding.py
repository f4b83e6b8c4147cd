"""Mutants of FWD: where messages and dead letters are forwarded, how, and how far."""

from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import MESSAGE_ID
from busproof.model.rules import RULES
from busproof.model.state import BufferedSend, Entity, Namespace, Transaction
from busproof.model.transactions import running
from busproof.model.values import EntityKind, EntitySettings, InTransit, Key
from busproof.mutants.mutant import Family, memory
from busproof.mutants.runs import (
    DEAD,
    PARTITIONS,
    QUEUE,
    Run,
    create,
    dead_letter,
    down,
    home,
    receive,
    send,
)
from busproof.mutants.wrappers import afterwards, alters, only_where, refuses

__all__ = ["MUTANTS"]

mutant = Family(__name__)

USUAL: Final = RULES.forwarding
FORWARD: Final = "forwarding.forward"
DEAD_LETTER: Final = "forwarding.forward_dead_letter"
DELIVER: Final = "forwarding.deliver"
KEY_OF: Final = "forwarding.key_of"
CHECK: Final = "forwarding.check_settings"
UPDATE: Final = "management.apply_update"


def end(queue: str = "end", **settings: Any) -> v.CreateQueue:
    """Create a destination."""
    return create(queue=queue, **settings)


def source(forward_to: str = "end", queue: str = QUEUE, **settings: Any) -> v.CreateQueue:
    """Create a queue that forwards."""
    return create(queue=queue, forward_to=forward_to, **settings)


def subscribe(name: str = "one", topic: str = QUEUE, **settings: Any) -> v.CreateSubscription:
    """Create a subscription."""
    return v.CreateSubscription(topic=topic, subscription=name, **settings)


def redirect(forward_to: str) -> v.UpdateQueue:
    """Let the queue forward to another one, or to none."""
    return v.UpdateQueue(queue=QUEUE, forward_to=forward_to)


def take(queue: str) -> v.Receive:
    """Receive a message and delete it."""
    return receive(delete=True, queue=queue)


TOPIC: Final = v.CreateTopic(topic=QUEUE)
BEGIN: Final = v.BeginTransaction(transaction="t")
ROLL_BACK: Final = v.RollBackTransaction(transaction="t")
END: Final = end()
REGULAR_END: Final = end(partitioned=False)
PAIR: Final[Run] = (END, source())
SESSIONS_END: Final[Run] = (end(requires_session=True), source())
UNIQUE: Final[Run] = (end(duplicate_detection=True), source())
CHAIN: Final[Run] = (END, source("end", "three"), source("three", "two"), source("two"))
LONGER: Final[Run] = (*CHAIN[:-1], source("two", "one"), source("one", "none"), source("none"))
KEYED: Final = send("m1", partition_key="a")
IN_SESSION: Final = send("m1", session_id="s")
BUFFERED: Final = send("m1", partition_key="a", within="t")
COPY: Final = send("m1", message_id="x")
TAKE: Final = take("end")
TAKE_SOURCE: Final = take(QUEUE)
TAKE_ONE: Final = take(v.subscription_path(QUEUE, "one"))
TAKE_IN_SESSION: Final[Run] = (
    v.AcceptSession(queue="end", session_id="a"),
    receive("a", delete=True, queue="end"),
)
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
DOWN_AT_END: Final[Run] = (
    *(END, send("m0", queue="end", partition_key="a")),
    down(home("a"), "end"),
)
ONTO_TOPIC: Final[Run] = (
    *(v.CreateTopic(topic="end"), subscribe(topic="end"), subscribe("two", topic="end")),
    *(source(), send("m1"), take(v.subscription_path("end", "two"))),
)
TWO_FORWARD: Final[Run] = (
    *(END, end("other"), TOPIC, subscribe(forward_to="end")),
    *(subscribe("two", forward_to="other"), send("m1"), take("other")),
)
DEAD_LETTERED: Final[Run] = (
    *(END, create(forward_dead_letters_to="end"), send("m1")),
    *(receive(), dead_letter(0)),
)


def _destination(namespace: Namespace, source: Entity) -> Entity:
    """Return the destination of an entity, or the entity itself if that does not exist."""
    return namespace.entities.get(source.settings.forward_to or "", source)


def _joins(namespace: Namespace, source: Entity, *, partitioned: tuple[bool, bool]) -> bool:
    """Return whether the source and its destination are partitioned so."""
    destination = _destination(namespace, source)
    return (source.settings.partitioned, destination.settings.partitioned) == partitioned


@mutant("FWD-01", FORWARD, (REGULAR_END, source(), *SENT), only_where, literal=True)
def last_partition_not_forwarded(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, *_: Any
) -> bool:
    """The last partition of a queue that forwards to a regular one keeps its messages."""
    onto_regular = _joins(namespace, source, partitioned=(True, False))
    return not (onto_regular and partition == len(source.partitions) - 1)


@mutant("FWD-02", DELIVER, (END, source(partitioned=False), *SENT), literal=True)
def regular_not_forwarded_to_partitioned(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """A regular queue does not forward to a partitioned one."""
    if _joins(namespace, source, partitioned=(False, True)):
        return None
    return USUAL.deliver(namespace, source, message, onward)


@mutant("FWD-03", FORWARD, (*PAIR, *SENT), only_where, literal=True)
def first_partition_not_forwarded(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, *_: Any
) -> bool:
    """Between partitioned queues, the first partition's messages are lost."""
    return partition > 0 or not _joins(namespace, source, partitioned=(True, True))


@mutant("FWD-03", DELIVER, (*PAIR, *SENT))
def body_changed_between_partitioned(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """Between partitioned queues, a message arrives with another body."""
    if _joins(namespace, source, partitioned=(True, True)):
        message = attrs.evolve(message, body=f"{message.body}!")
    return USUAL.deliver(namespace, source, message, onward)


@mutant("FWD-04", FORWARD, (END, TOPIC, subscribe(forward_to="end"), send("m1"), TAKE_ONE))
def subscription_does_not_forward(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """Subscriptions keep what they should forward."""
    keeps = source.kind is EntityKind.SUBSCRIPTION
    (keep if keeps else USUAL.forward)(namespace, source, *rest)


def keep(namespace: Namespace, source: Entity, message: v.Message, *rest: Any) -> None:
    """Let a message stay where it should go on from."""
    namespace.rules.messages.enqueue(namespace, source, message, *rest)


@mutant("FWD-04", "messages.arrive", ONTO_TOPIC, only_where, deep=True, literal=True)
def topic_takes_nothing_forwarded(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> bool:
    """A message forwarded to a topic reaches only its first subscription."""
    siblings = entity.base.subscriptions if entity.kind is EntityKind.SUBSCRIPTION else None
    return not transit.hops or entity in (siblings or (entity,))[:1]


@mutant("FWD-06", DELIVER, (REGULAR_END, source(partitioned=False), *SENT), literal=True)
def regular_does_not_forward(namespace: Namespace, source: Entity, *rest: Any) -> str | None:
    """Regular queues do not forward to each other."""
    if _joins(namespace, source, partitioned=(False, False)):
        return None
    return USUAL.deliver(namespace, source, *rest)


@mutant("FWD-07", DELIVER, (*PAIR, KEYED, TAKE))
def partition_key_lost(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """A forwarded message loses its PartitionKey."""
    message = attrs.evolve(message, partition_key=None)
    return USUAL.deliver(namespace, source, message, onward)


@mutant("FWD-07", DELIVER, (*CHAIN, send("m1", session_id="a"), TAKE), deep=True)
def session_id_lost_at_second_hop(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """At its second hop a message loses its SessionId."""
    if onward.hops == 2:
        message = attrs.evolve(message, session_id=None)
    return USUAL.deliver(namespace, source, message, onward)


@mutant("FWD-08", KEY_OF, (*PAIR, *MANY), alters)
def key_ignored_at_destination(key: Key | None, *_: Any) -> Key | None:
    """At its destination a forwarded message is placed as if it had no key."""
    return key if key is not None and key.source == MESSAGE_ID else None


def _note_hops(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    memory(namespace, Counter[str])["hops"] = onward.hops
    return USUAL.deliver(namespace, source, message, onward)


@mutant("FWD-08", KEY_OF, (*CHAIN, *MANY), also={DELIVER: _note_hops}, deep=True)
def key_ignored_at_third_hop(namespace: Namespace, source: Entity, *rest: Any) -> Key | None:
    """At its third hop a message is placed as if it had no key."""
    if memory(namespace, Counter[str])["hops"] == 3:
        return None
    return USUAL.key_of(namespace, source, *rest)


@mutant("FWD-11", "forwarding.place", (*UNIQUE, *SPREAD, *DIRECT), literal=True)
def message_id_no_key_when_forwarded(
    namespace: Namespace, destination: Entity, message: v.Message, key: Key | None
) -> int | None:
    """A destination with duplicate detection spreads what is forwarded to it."""
    if key is not None and key.source == MESSAGE_ID:
        key = None
    return USUAL.place(namespace, destination, message, key)


@mutant("FWD-13", "messages.accept", (*UNIQUE, *DIRECT, COPY, TAKE), literal=True)
def forwarded_copies_kept(
    namespace: Namespace,
    entity: Entity,
    message: v.Message,
    key: Key | None,
    partition: int,
    transit: InTransit,
) -> None:
    """Duplicate detection does not look at forwarded messages."""
    if transit.hops:
        RULES.messages.arrive(namespace, entity, message, partition, transit)
    else:
        RULES.messages.accept(namespace, entity, message, key, partition, transit)


@mutant("FWD-14", DELIVER, (*PAIR, *SENT, TAKE))
def forwarded_twice(namespace: Namespace, source: Entity, *rest: Any) -> str | None:
    """A message is forwarded twice."""
    USUAL.deliver(namespace, source, *rest)
    return USUAL.deliver(namespace, source, *rest)


@mutant("FWD-14", FORWARD, (*PAIR, send("m1"), TAKE_SOURCE), afterwards)
def copied_instead_of_moved(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """The source keeps and gives what it has forwarded."""
    keep(namespace, source, *rest)


@mutant("FWD-15", FORWARD, (*PAIR, send("m1"), TAKE_SOURCE))
def source_gives(namespace: Namespace, source: Entity, message: v.Message, *rest: Any) -> None:
    """A source gives its messages and forwards none."""
    keep(namespace, source, message, *rest)


@mutant("FWD-16", "forwarding.most_hops", (*CHAIN, *SENT), deep=True, literal=True)
def third_hop_lost(namespace: Namespace) -> int:
    """A message does not pass its third hop."""
    return 2


@mutant("FWD-18", "forwarding.most_hops", (*LONGER, *SENT), deep=True)
def hops_without_end(namespace: Namespace) -> int:
    """A message is forwarded as often as it can be."""
    return 100


@mutant("FWD-26", DELIVER, (*SESSIONS_END, IN_SESSION, TAKE), literal=True)
def forwarded_out_of_session(namespace: Namespace, source: Entity, *rest: Any) -> str | None:
    """A message forwarded to a queue that requires sessions is lost."""
    if _destination(namespace, source).settings.requires_session:
        return None
    return USUAL.deliver(namespace, source, *rest)


@mutant("FWD-25", CHECK, (END, source(requires_session=True), IN_SESSION, TAKE))
def session_source_forwards(namespace: Namespace, settings: EntitySettings) -> None:
    """A source that requires sessions forwards."""
    settings = attrs.evolve(settings, requires_session=False)
    USUAL.check_settings(namespace, settings)


@mutant("FWD-29", CHECK, (source(),), only_where)
def source_of_nothing(namespace: Namespace, settings: EntitySettings) -> bool:
    """A source of a queue that does not exist is created."""
    return settings.forward_to is None or settings.forward_to in namespace.entities


@mutant("FWD-27", DELIVER, (*SESSIONS_END, KEYED, *TAKE_IN_SESSION))
def session_made_up(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """A forwarded message gets a SessionId where its destination requires one."""
    required = _destination(namespace, source).settings.requires_session
    if required and message.session_id is None:
        message = attrs.evolve(message, session_id=message.partition_key)
    return USUAL.deliver(namespace, source, message, onward)


@mutant("FWD-30", FORWARD, TWO_FORWARD, only_where, literal=True)
def only_first_subscription_forwards(namespace: Namespace, source: Entity, *_: Any) -> bool:
    """Only the first of a topic's forwarding subscriptions forwards."""
    siblings = source.base.subscriptions or ()
    earlier = takewhile(lambda each: each is not source, siblings)
    return not any(each.settings.forward_to is not None for each in earlier)


def _forward_now(namespace: Namespace, sends: Iterable[BufferedSend]) -> None:
    """Deliver what was sent to sources in a transaction."""
    for buffered in sends:
        if buffered.entity.settings.forward_to is not None:
            RULES.transactions.deliver(namespace, buffered)


def _deliver_others(namespace: Namespace, buffered: BufferedSend) -> None:
    if buffered.entity.settings.forward_to is None:
        RULES.transactions.deliver(namespace, buffered)


@mutant(
    "FWD-33",
    "transactions.send",
    (*PAIR, BEGIN, BUFFERED, TAKE),
    also={"transactions.deliver": _deliver_others},
)
def forwarded_before_commit(
    namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...], name: str
) -> Answer:
    """A transaction's messages are forwarded at once."""
    transaction = running(namespace, name)
    before = len(transaction.sends)
    answer = RULES.transactions.send(namespace, entity, messages, name)
    _forward_now(namespace, transaction.sends[before:])
    return answer


@mutant("FWD-33", "transactions.roll_back", (*PAIR, BEGIN, BUFFERED, ROLL_BACK, TAKE), deep=True)
def forwarded_though_rolled_back(
    namespace: Namespace, command: v.RollBackTransaction, connection: str
) -> Answer:
    """A rolled back transaction's messages to a source are forwarded anyway."""
    _forward_now(namespace, running(namespace, command.transaction).sends)
    return RULES.transactions.roll_back(namespace, command, connection)


@mutant("FWD-34", "transactions.key_of", (*SESSIONS_END, BEGIN, BUFFERED), refuses("FWD-34"))
def sessions_of_destination_required(
    namespace: Namespace, entity: Entity, transaction: Transaction, message: v.Message
) -> bool:
    """A transaction's messages need the SessionId that the destination requires."""
    required = _destination(namespace, entity).settings.requires_session
    return required and message.session_id is None


def _go_on_as_before(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue, *, begins: bool
) -> None:
    """Update all but the destination if forwarding begins with the update, or ends with it."""
    before = entity.settings.forward_to
    RULES.management.apply_update(namespace, entity, command)
    if command.forward_to is not None and bool(command.forward_to) is begins:
        entity.settings = attrs.evolve(entity.settings, forward_to=before)


@mutant("FWD-05", UPDATE, (END, create(), redirect("end"), send("m1"), TAKE_SOURCE, TAKE))
def forwarding_not_begun_by_update(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """A queue updated to forward shows the setting but keeps its messages."""
    _go_on_as_before(namespace, entity, command, begins=True)


@mutant("FWD-05", UPDATE, (*PAIR, redirect(""), send("m1"), TAKE_SOURCE))
def forwarding_not_ended_by_update(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """A source goes on forwarding after an update that ends it."""
    _go_on_as_before(namespace, entity, command, begins=False)


@mutant("FWD-22", "forwarding.place", (*DOWN_AT_END, source(), KEYED, TAKE), deep=True)
def key_does_not_wait_at_destination(
    namespace: Namespace, destination: Entity, message: v.Message, key: Key | None
) -> int | None:
    """A forwarded message whose partition is down goes to another one."""
    down = destination.base.down
    place = USUAL.place(namespace, destination, message, key)
    up = (number for number in range(len(destination.partitions)) if number not in down)
    return next(up, place) if place in down else place


@mutant("FWD-35", DEAD_LETTER, (*DEAD_LETTERED, receive(queue=DEAD)))
def dead_letters_not_forwarded(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """Dead letters are never forwarded, whatever the settings say."""
    keep(namespace, source, *rest)


@mutant("FWD-35", DEAD_LETTER, (*DEAD_LETTERED, TAKE))
def reason_lost_with_dead_letters(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """A dead letter arrives at its destination with another reason."""
    transit = transit._replace(reason=f"forwarded: {transit.reason}")
    USUAL.forward_dead_letter(namespace, source, message, partition, transit)


@mutant("FWD-36", DEAD_LETTER, (*DEAD_LETTERED, receive(queue=DEAD)), afterwards)
def dead_letters_copied(namespace: Namespace, source: Entity, *rest: Any) -> None:
    """A dead letter is forwarded and stays in its dead-letter queue, which gives it."""
    keep(namespace, source, *rest)


MUTANTS: Final = mutant.all()
