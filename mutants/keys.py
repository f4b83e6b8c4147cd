"""Mutants of KEY: keys, the partitions that they select, their order, and duplicates."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.keys import MESSAGE_ID, PARTITION_KEY, SESSION_ID
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import DuplicateEntry, Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, InTransit, Key, Refusal
from busproof.mutants.entities import Switch
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import QUEUE, Run, abandon, create, down, home, receive, send, up, wait
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    only_where,
    refuses_as,
    refuses_yet,
    with_other,
)

SESSIONS: Final = create(requires_session=True)
UNIQUE: Final = create(duplicate_detection=True)
TWO: Final[Run] = (create(), send("m1", partition_key="a"), send("m2", partition_key="a"))
MISMATCH: Final[Run] = (create(), send("m1", session_id="a", partition_key="b"))
FORTY: Final[Run] = (create(), *(send(f"m{n}", partition_key="a") for n in range(40)))
ONE_SESSION: Final[Run] = (
    *(create(), send("m1", session_id="a", message_id="1")),
    send("m2", session_id="a", message_id="2"),
)
TWO_IN_SESSION: Final[Run] = (SESSIONS, send("m1", session_id="s"), send("m2", session_id="s"))
LONG_MISMATCH: Final = (create(), send("m1", session_id="customer-1", partition_key="customer-2"))
OTHER_CASE: Final[Run] = (create(), send("m1", session_id="a", partition_key="A"))
TWO_IDS: Final[Run] = (
    *(UNIQUE, send("m1", partition_key="a", message_id="1")),
    send("m2", partition_key="a", message_id="2"),
)


@mutant("KEY-01", "messages.arrive", (create(), send("m1"), v.Peek(queue=QUEUE, count=2)))
def copy_in_second_partition(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """Each message is stored in two partitions."""
    RULES.messages.arrive(namespace, entity, message, partition, transit)
    if len(entity.partitions) > 1:
        second = (partition + 1) % len(entity.partitions)
        RULES.messages.arrive(namespace, entity, message, second, transit)


def _moving(namespace: Namespace, entity: Entity, key: Key, at: int) -> int:
    sent = memory(namespace, Counter[tuple[str, str]])
    sent[entity.path, key.value] += 1
    moved = sent[entity.path, key.value] >= at
    return (RULES.keys.home(namespace, entity, key) + moved) % len(entity.partitions)


@mutant("KEY-02", "keys.home", (create(), *(send(f"m{n}", partition_key="a") for n in range(5))))
def key_moves(namespace: Namespace, entity: Entity, key: Key) -> int:
    """A key selects another partition from its 5th message on."""
    return _moving(namespace, entity, key, 5)


@mutant("KEY-02", "keys.home", FORTY, deep=True)
def key_moves_late(namespace: Namespace, entity: Entity, key: Key) -> int:
    """A key selects another partition from its 40th message on."""
    return _moving(namespace, entity, key, 40)


def message_id(entity: Entity, message: v.Message) -> Key | None:
    """Return the MessageId as the key, or `None` without one, in place of another property."""
    if not entity.settings.partitioned or message.message_id is None:
        return None
    return Key(MESSAGE_ID, message.message_id)


@mutant("KEY-04", "keys.effective_key", ONE_SESSION, alters)
def session_id_not_a_key(usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
    """On a queue without sessions the MessageId is the key instead of the SessionId."""
    ignored = (
        usual is not None and usual.source == SESSION_ID and not entity.settings.requires_session
    )
    return message_id(entity, message) if ignored else usual


@mutant("KEY-05", "keys.effective_key", TWO_IN_SESSION, alters)
def session_split(usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
    """On a queue with sessions the MessageId is the key instead of the SessionId."""
    return message_id(entity, message) if entity.settings.requires_session else usual


@mutant("KEY-07", "keys.effective_key", TWO, alters)
def partition_key_not_a_key(usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
    """The MessageId is the key instead of the PartitionKey."""
    ignored = usual is not None and usual.source == PARTITION_KEY
    return message_id(entity, message) if ignored else usual


@mutant("KEY-08", "keys.check_agreement", MISMATCH)
def mismatch_accepted() -> None:
    """A message whose SessionId and PartitionKey differ is accepted."""


@mutant("KEY-08", "keys.check_agreement", MISMATCH, refuses_as(v.Error.OTHER))
def mismatch_wrong_error() -> None:
    """A message whose SessionId and PartitionKey differ is refused with another error."""


@mutant("KEY-08", "messages.send", (*MISMATCH, receive()), refuses_yet("KEY-08"))
def mismatch_refused_yet_stored(namespace: Namespace, command: v.Send) -> None:
    """Messages with different keys are refused, but enqueued anyway."""
    entity = namespace.rules.topics.sendable(command.queue)
    key = RULES.keys.effective_key(namespace, entity, command.message)
    RULES.messages.accept(namespace, entity, command.message, key, 0, DIRECT)


@mutant("KEY-08", "keys.check_agreement", LONG_MISMATCH, only_where, deep=True)
def mismatch_accepted_when_long(message: v.Message) -> bool:
    """Keys are compared by their first 8 characters."""
    session_id, partition_key = message.session_id or "", message.partition_key or ""
    return session_id[:8] != partition_key[:8]


@mutant("KEY-08", "keys.check_agreement", OTHER_CASE, only_where, deep=True)
def mismatch_accepted_in_other_case(message: v.Message) -> bool:
    """Keys are compared without regard to upper and lower case."""
    session_id, partition_key = message.session_id or "", message.partition_key or ""
    return session_id.lower() != partition_key.lower()


@mutant("KEY-09", "keys.check_agreement")
@run(create(), send("m1", session_id="a", partition_key="a"))
def equal_refused(entity: Entity, message: v.Message) -> None:
    """A message with both a SessionId and a PartitionKey is refused, even if they are equal."""
    if entity.settings.partitioned and None not in (message.session_id, message.partition_key):
        raise Refusal(v.Error.INVALID_OPERATION, "KEY-08")


@mutant("KEY-10", "keys.place", how=with_other("key"))
@run(UNIQUE, send("m1", message_id="1"), send("m2", message_id="1"))
def message_id_not_a_key(key: Key | None) -> Key | None:
    """With duplicate detection, messages with a MessageId only go to the partitions in turn."""
    return None if key is not None and key.source == MESSAGE_ID else key


@mutant("KEY-24", "keys.effective_key", TWO_IDS, alters)
def message_id_before_partition_key(
    usual: Key | None, entity: Entity, message: v.Message
) -> Key | None:
    """With duplicate detection the MessageId is the key, even if other properties are set."""
    first = message_id(entity, message) if entity.settings.duplicate_detection else None
    return first or usual


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
    return namespace.rules.messages.give(offered[-1], mode)


@beside("locks.apply", afterwards)
def remember_abandoned(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """Remember the messages that are abandoned."""
    if action is Action.ABANDON:
        memory(namespace, set[QueuedMessage]).add(queued)


def _abandoned_last(namespace: Namespace, offered: Iterable[QueuedMessage]) -> QueuedMessage | None:
    abandoned = memory(namespace, set[QueuedMessage])
    return min(offered, key=lambda queued: (queued in abandoned, queued.number), default=None)


@mutant("KEY-06", "messages.give_next", ABANDONED, also=remember_abandoned, deep=True)
def session_out_of_order_after_abandon(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """An abandoned message of a session is given after all others."""
    if session is None or session.partition in entity.base.down:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    queued = _abandoned_last(namespace, session.line.available(entity.messages))
    return None if queued is None else namespace.rules.messages.give(queued, mode)


NEXT: Final = "messages.next_available"


def _of_its_key(queued: QueuedMessage) -> list[QueuedMessage]:
    """Return the available messages that have the same key as this one."""
    entity, message = queued.entity, queued.message
    key = message.session_id or message.partition_key
    there = entity.partitions[queued.partition].line.available(entity.messages)
    return [
        other for other in there if key in (other.message.session_id, other.message.partition_key)
    ]


def _has_key(namespace: Namespace, queued: QueuedMessage) -> bool:
    return RULES.keys.effective_key(namespace, queued.entity, queued.message) is not None


@mutant("KEY-17", NEXT, (*TWO, receive()), alters)
def key_order_reversed(usual: QueuedMessage | None, namespace: Namespace) -> QueuedMessage | None:
    """The newest message of a key is given first."""
    return _of_its_key(usual)[-1] if usual and _has_key(namespace, usual) else usual


@mutant("KEY-26", NEXT, how=alters, readings={"REGULAR-ORDER": "first-in-first-out"})
@run(create(partitioned=False), send("m1"), send("m2"), receive())
def regular_order_reversed(usual: QueuedMessage | None, entity: Entity) -> QueuedMessage | None:
    """A regular queue gives its newest message first."""
    if usual is None or len(entity.partitions) > 1:
        return usual
    return [*entity.partitions[0].line.available(entity.messages)][-1]


@mutant(
    "KEY-17",
    NEXT,
    how=alters,
    also=remember_abandoned,
    deep=True,
    equivalent="KEY-17 leaves open what a receiver sees of a key's order that abandons a message.",
)
@run(*TWO, receive(), abandon(0), receive())
def key_order_lost_after_abandon(
    usual: QueuedMessage | None, namespace: Namespace
) -> QueuedMessage | None:
    """An abandoned message is given after all others of its key."""
    if usual is None or not _has_key(namespace, usual):
        return usual
    return _abandoned_last(namespace, _of_its_key(usual))


@beside("partitions.switch", beforehand)
def _remember_outage(namespace: Namespace, command: Switch) -> None:
    entity = namespace.entities.get(command.queue)
    up_again = entity is not None and command.partition in entity.base.down
    if entity is not None and up_again and isinstance(command, v.BringPartitionUp):
        available = entity.partitions[command.partition].line.available(entity.messages)
        memory(namespace, set[QueuedMessage]).update(available)


@mutant("KEY-17", NEXT, how=alters, also=_remember_outage, deep=True)
@run(*TWO, down(HOME), up(HOME), receive())
def key_order_lost_after_outage(
    usual: QueuedMessage | None, namespace: Namespace, entity: Entity
) -> QueuedMessage | None:
    """Messages that were in a partition during an outage are given in reverse order."""
    in_outage = memory(namespace, set[QueuedMessage])
    if usual is None or usual not in in_outage:
        return usual
    there = entity.partitions[usual.partition].line.available(entity.messages)
    return [other for other in there if other in in_outage][-1]


@mutant("KEY-11", "duplicates.is_duplicate", COPIES)
def duplicates_kept() -> bool:
    """No message is dropped as a copy."""
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
    """Without duplicate detection, a message is dropped if its MessageId is in the queue."""
    there = (queued.message.message_id for queued in entity.messages.values())
    return message.message_id is None or message.message_id not in there


@mutant("KEY-13", "", PLAIN, needs=frozenset({v.Capability.CLIENT_LIBRARY}))
def id_not_assigned() -> None:
    """The client library assigns no MessageId to a message without one."""
