"""Mutants of KEY: the order of a key's messages, and copies of messages."""

from collections.abc import Iterable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import RULES
from busproof.model.state import DuplicateEntry, Entity, Namespace, QueuedMessage, Session
from busproof.model.values import Key
from busproof.mutants.keys import SESSIONS, TWO, UNIQUE
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import QUEUE, Run, abandon, create, down, home, receive, send, up, wait
from busproof.mutants.wrappers import beforehand, only_where

__all__ = ["HOME", "RECEIVE_TWO"]

ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
HOME: Final = home("a")
IN_SESSION: Final[Run] = (
    SESSIONS,
    send("m1", session_id="s"),
    send("m2", session_id="s"),
    ACCEPT,
    receive("s"),
)
RECEIVE_TWO: Final[Run] = (receive(delete=True), receive(delete=True))
ABANDONED: Final[Run] = (*IN_SESSION, abandon(0), receive("s"))
COPIES: Final[Run] = (UNIQUE, send("m1", message_id="1"), send("m2", message_id="1"), *RECEIVE_TWO)
THIRD_COPY: Final[Run] = (
    *(UNIQUE, send("m1", message_id="1"), send("m2", message_id="2"), send("m3", message_id="1")),
    *(*RECEIVE_TWO, receive(delete=True)),
)
LATE_COPY: Final[Run] = (
    *(UNIQUE, send("m1", message_id="1"), wait(300), send("m2", message_id="1"), *RECEIVE_TWO),
)
NOT_UNIQUE: Final = (create(), send("m1", message_id="1"), send("m2", message_id="1"), *RECEIVE_TWO)
PLAIN: Final[Run] = (create(), send("m1"), receive())


@mutant("KEY-06", "messages.give_next", IN_SESSION)
def session_out_of_order(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """The newest message of a session is given first."""
    offered = () if session is None else tuple(session.line.available(entity.messages))
    if session is None or session.partition in entity.base.down or not offered:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    return namespace.rules.messages.give(namespace, offered[-1], mode)


def _remember_abandoned(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    RULES.locks.apply(namespace, queued, action, reason)
    if action is Action.ABANDON:
        memory(namespace, set[QueuedMessage]).add(queued)


REMEMBERING_ABANDONED: Final = {"locks.apply": _remember_abandoned}


def _abandoned_last(namespace: Namespace, offered: Iterable[QueuedMessage]) -> QueuedMessage | None:
    abandoned = memory(namespace, set[QueuedMessage])
    return min(offered, key=lambda queued: (queued in abandoned, queued.number), default=None)


@mutant("KEY-06", "messages.give_next", ABANDONED, also=REMEMBERING_ABANDONED, deep=True)
def session_out_of_order_after_abandon(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """An abandoned message of a session is given after all others."""
    if session is None or session.partition in entity.base.down:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    queued = _abandoned_last(namespace, session.line.available(entity.messages))
    return None if queued is None else namespace.rules.messages.give(namespace, queued, mode)


def _of_its_key(queued: QueuedMessage) -> list[QueuedMessage]:
    """The available messages that have the key of this one."""
    entity, message = queued.entity, queued.message
    key = message.session_id or message.partition_key
    there = entity.partitions[queued.partition].line.available(entity.messages)
    return [
        other for other in there if key in (other.message.session_id, other.message.partition_key)
    ]


@mutant("KEY-17", "messages.next_available", (*TWO, receive()))
def key_order_reversed(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """The newest message of a key is given first."""
    queued = RULES.messages.next_available(namespace, entity)
    if queued is None or RULES.keys.effective_key(namespace, entity, queued.message) is None:
        return queued
    return _of_its_key(queued)[-1]


@mutant(
    "KEY-26",
    "messages.next_available",
    (create(partitioned=False), send("m1"), send("m2"), receive()),
    readings={"REGULAR-ORDER": "first-in-first-out"},
)
def regular_order_reversed(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """A regular queue gives its newest message first."""
    queued = RULES.messages.next_available(namespace, entity)
    if queued is None or len(entity.partitions) > 1:
        return queued
    return [*entity.partitions[0].line.available(entity.messages)][-1]


@mutant(
    "KEY-17",
    "messages.next_available",
    (*TWO, receive(), abandon(0), receive()),
    also=REMEMBERING_ABANDONED,
    deep=True,
    equivalent="KEY-17 leaves open what a receiver sees of a key's order that abandons a message.",
)
def key_order_lost_after_abandon(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """An abandoned message is given after all others of its key."""
    queued = RULES.messages.next_available(namespace, entity)
    if queued is None or RULES.keys.effective_key(namespace, entity, queued.message) is None:
        return queued
    return _abandoned_last(namespace, _of_its_key(queued))


def _remember_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    entity = namespace.entities.get(command.queue)
    up_again = entity is not None and command.partition in entity.base.down
    if entity is not None and up_again and isinstance(command, v.BringPartitionUp):
        available = entity.partitions[command.partition].line.available(entity.messages)
        memory(namespace, set[QueuedMessage]).update(available)
    return RULES.partitions.switch(namespace, command, connection)


@mutant(
    "KEY-17",
    "messages.next_available",
    (*TWO, down(HOME), up(HOME), receive()),
    also={"partitions.switch": _remember_outage},
    deep=True,
)
def key_order_lost_after_outage(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """Messages that were in a partition during an outage are given in reverse order."""
    queued = RULES.messages.next_available(namespace, entity)
    in_outage = memory(namespace, set[QueuedMessage])
    if queued not in in_outage:
        return queued
    there = entity.partitions[queued.partition].line.available(entity.messages)
    return [other for other in there if other in in_outage][-1]


@mutant("KEY-11", "duplicates.is_duplicate", COPIES)
def duplicates_kept() -> bool:
    """No message is ever taken for a copy."""
    return False


@mutant("KEY-11", "duplicates.remember", THIRD_COPY, beforehand, deep=True)
def duplicates_only_latest(namespace: Namespace, entity: Entity) -> None:
    """Only the MessageId of the latest message is remembered."""
    for known in tuple(entity.duplicates):
        namespace.journal.drop(entity.duplicates, known)


@mutant("KEY-11", "duplicates.remember", LATE_COPY)
def duplicates_forgotten_early(
    namespace: Namespace, entity: Entity, name: tuple[Key | None, str]
) -> None:
    """A MessageId is forgotten after a quarter of the duplicate window."""
    quarter = entity.settings.duplicate_window // 4
    entry = DuplicateEntry(entity, name, namespace.now + quarter)
    namespace.journal.put(entity.duplicates, name, entry)
    entry.index()


@mutant("KEY-12", "messages.accept", NOT_UNIQUE, only_where)
def duplicates_dropped_without_detection(entity: Entity, message: v.Message) -> bool:
    """A message is eliminated if one with its MessageId is in the queue, detection or not."""
    there = (queued.message.message_id for queued in entity.messages.values())
    return message.message_id is None or message.message_id not in there


@mutant("KEY-13", "", PLAIN, needs=frozenset({v.Capability.CLIENT_LIBRARY}))
def id_not_assigned() -> None:
    """The client library leaves a missing MessageId missing."""
