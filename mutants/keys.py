"""Mutants of KEY: keys, their partitions, their order, and duplicates."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import MESSAGE_ID, PARTITION_KEY, SESSION_ID, SHORT_TIMEOUT
from busproof.model.life_cycle import Action
from busproof.model.rules import RULES
from busproof.model.state import DuplicateEntry, Entity, Namespace, QueuedMessage, Session
from busproof.model.values import DIRECT, InTransit, Key, Refusal
from busproof.mutants.mutant import Family, memory
from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    create,
    down,
    home,
    receive,
    send,
    up,
    wait,
)
from busproof.mutants.wrappers import beforehand, only_where, refuses_as, refuses_yet

__all__ = ["MUTANTS"]

mutant = Family(__name__)

SESSIONS: Final = create(requires_session=True)
UNIQUE: Final = create(duplicate_detection=True)
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
ENOUGH: Final = 25 * PARTITIONS
"""Number of messages without a key within which every partition must be used."""
HOME: Final = home("a")
TWO: Final[Run] = (create(), send("m1", partition_key="a"), send("m2", partition_key="a"))
IN_SESSION: Final[Run] = (
    SESSIONS,
    send("m1", session_id="s"),
    send("m2", session_id="s"),
    ACCEPT,
    receive("s"),
)
IN_OUTAGE: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    down(HOME),
    send("m2", partition_key="a"),
)
NO_TURN: Final[Run] = (create(), *(send(f"m{number}") for number in range(ENOUGH)))
MISMATCH: Final[Run] = (create(), send("m1", session_id="a", partition_key="b"))
RECEIVE_TWO: Final[Run] = (receive(delete=True), receive(delete=True))
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
KEY_RECOVERED: Final[Run] = (*IN_OUTAGE, up(HOME), send("m3", partition_key="a"))


@mutant("KEY-01", "messages.arrive", (create(), send("m1"), v.Peek(queue=QUEUE, count=2)))
def copy_in_second_partition(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """Each message is put into two partitions."""
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


def _message_id(entity: Entity, message: v.Message) -> Key | None:
    """The MessageId as the key, or no key at all, where another property should be it."""
    if not entity.settings.partitioned or message.message_id is None:
        return None
    return Key(MESSAGE_ID, message.message_id)


@mutant("KEY-04", "keys.effective_key", ONE_SESSION)
def session_id_not_a_key(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """On a queue without sessions the MessageId is the key instead of the SessionId."""
    key = RULES.keys.effective_key(namespace, entity, message)
    ignored = key is not None and key.source == SESSION_ID and not entity.settings.requires_session
    return _message_id(entity, message) if ignored else key


@mutant("KEY-05", "keys.effective_key", TWO_IN_SESSION)
def session_split(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """On a session-aware queue a session is spread: the MessageId is the key, or nothing."""
    if entity.settings.requires_session:
        return _message_id(entity, message)
    return RULES.keys.effective_key(namespace, entity, message)


@mutant("KEY-07", "keys.effective_key", TWO)
def partition_key_not_a_key(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """The MessageId is the key instead of the PartitionKey."""
    key = RULES.keys.effective_key(namespace, entity, message)
    ignored = key is not None and key.source == PARTITION_KEY
    return _message_id(entity, message) if ignored else key


@mutant("KEY-08", "keys.check_agreement", MISMATCH)
def mismatch_accepted(namespace: Namespace, entity: Entity, message: v.Message) -> None:
    """SessionId and PartitionKey may differ."""


@mutant("KEY-08", "keys.check_agreement", MISMATCH, refuses_as(v.Error.OTHER))
def mismatch_wrong_error(*_: Any) -> None:
    """Keys that differ are refused, with another error."""


@mutant("KEY-08", "messages.send", (*MISMATCH, receive()), refuses_yet("KEY-08"))
def mismatch_refused_yet_stored(namespace: Namespace, command: v.Send, *_: Any) -> None:
    """Messages with different keys are refused, but enqueued anyway."""
    entity = namespace.rules.topics.sendable(namespace, command.queue)
    key = RULES.keys.effective_key(namespace, entity, command.message)
    RULES.messages.accept(namespace, entity, command.message, key, 0, DIRECT)


def _compared_by(namespace: Namespace, entity: Entity, message: v.Message, alike: bool) -> None:
    if not alike:
        RULES.keys.check_agreement(namespace, entity, message)


@mutant("KEY-08", "keys.check_agreement", LONG_MISMATCH, deep=True)
def mismatch_accepted_when_long(namespace: Namespace, entity: Entity, message: v.Message) -> None:
    """Keys are compared by their first 8 characters."""
    session_id, partition_key = message.session_id or "", message.partition_key or ""
    _compared_by(namespace, entity, message, session_id[:8] == partition_key[:8])


@mutant("KEY-08", "keys.check_agreement", OTHER_CASE, deep=True)
def mismatch_accepted_in_other_case(
    namespace: Namespace, entity: Entity, message: v.Message
) -> None:
    """Keys are compared without regard to upper and lower case."""
    session_id, partition_key = message.session_id or "", message.partition_key or ""
    _compared_by(namespace, entity, message, session_id.lower() == partition_key.lower())


@mutant("KEY-09", "keys.check_agreement", (create(), send("m1", session_id="a", partition_key="a")))
def equal_refused(namespace: Namespace, entity: Entity, message: v.Message) -> None:
    """SessionId and PartitionKey may not both be set."""
    if entity.settings.partitioned and None not in (message.session_id, message.partition_key):
        raise Refusal(v.Error.INVALID_OPERATION, "KEY-08")


@mutant("KEY-10", "keys.place", (UNIQUE, send("m1", message_id="1"), send("m2", message_id="1")))
def message_id_not_a_key(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """With duplicate detection a MessageId selects no partition: all of them take their turns."""
    if key is not None and key.source == MESSAGE_ID:
        key = None
    return RULES.keys.place(namespace, entity, key, *rest)


@mutant("KEY-24", "keys.effective_key", TWO_IDS)
def message_id_before_partition_key(namespace: Namespace, entity: Entity, *rest: Any) -> Key | None:
    """With duplicate detection the MessageId is the key, whatever else is set."""
    first = _message_id(entity, *rest) if entity.settings.duplicate_detection else None
    return first or RULES.keys.effective_key(namespace, entity, *rest)


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
    return min(offered, key=lambda each: (each in abandoned, each.number), default=None)


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
    return [each for each in there if key in (each.message.session_id, each.message.partition_key)]


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
        held = entity.partitions[command.partition].line.available(entity.messages)
        memory(namespace, set[QueuedMessage]).update(held)
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
    queued, held = (
        RULES.messages.next_available(namespace, entity),
        memory(namespace, set[QueuedMessage]),
    )
    if queued not in held:
        return queued
    there = entity.partitions[queued.partition].line.available(entity.messages)
    return [each for each in there if each in held][-1]


@mutant("KEY-11", "duplicates.is_duplicate", COPIES)
def duplicates_kept(namespace: Namespace, entity: Entity, *rest: Any) -> bool:
    """No message is ever taken for a copy."""
    return False


@mutant("KEY-11", "duplicates.remember", THIRD_COPY, beforehand, deep=True)
def duplicates_only_latest(namespace: Namespace, entity: Entity, *_: Any) -> None:
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
def duplicates_dropped_without_detection(
    namespace: Namespace, entity: Entity, message: v.Message, *_: Any
) -> bool:
    """A message is eliminated if one with its MessageId is in the queue, detection or not."""
    there = (queued.message.message_id for queued in entity.messages.values())
    return message.message_id is None or message.message_id not in there


@mutant("KEY-13", "", PLAIN, needs=frozenset({v.Capability.CLIENT_LIBRARY}))
def id_not_assigned() -> None:
    """The client library leaves a missing MessageId missing."""


@mutant("KEY-03", "keys.place", IN_OUTAGE)
def dead_partition_stores(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """A message whose partition is down is accepted and stored there."""
    if key is not None:
        return namespace.rules.keys.home(namespace, entity, key)
    return RULES.keys.place(namespace, entity, key, *rest)


def _swallowed(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    if partition not in entity.base.down:
        RULES.messages.arrive(namespace, entity, message, partition, transit)


@mutant("KEY-03", "keys.place", IN_OUTAGE, also={"messages.arrive": _swallowed})
def dead_partition_swallows(namespace: Namespace, entity: Entity, *rest: Any) -> int:
    """A message whose partition is down is accepted and lost."""
    return dead_partition_stores(namespace, entity, *rest)


@mutant("KEY-03", "messages.send", (*IN_OUTAGE, up(HOME), *RECEIVE_TWO))
def dead_partition_refuses_yet_stores(namespace: Namespace, command: v.Send, *rest: Any) -> Answer:
    """A message whose partition is down is refused, and appears after the outage."""
    try:
        return RULES.messages.send(namespace, command, *rest)
    except Refusal as refusal:
        entity = namespace.rules.topics.sendable(namespace, command.queue)
        key = RULES.keys.effective_key(namespace, entity, command.message)
        if key is None or command.transaction is not None or "KEY-03" not in refusal.rules:
            raise
        partition = RULES.keys.home(namespace, entity, key)
        RULES.messages.accept(namespace, entity, command.message, key, partition, DIRECT)
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("KEY-12", "keys.effective_key", (create(), down(home("1")), send("m1", message_id="1")))
def message_id_pins(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """Without duplicate detection the MessageId is the key where no other property is."""
    key = RULES.keys.effective_key(namespace, entity, message)
    return key or _message_id(entity, message)


@mutant("KEY-14", "keys.any_partition", NO_TURN)
def last_partition_unused(namespace: Namespace, entity: Entity, down: frozenset[int]) -> int | None:
    """The last partition gets no message without key."""
    last = {len(entity.partitions) - 1} if len(entity.partitions) > 1 else set()
    return RULES.keys.any_partition(namespace, entity, down | last)


@mutant("KEY-14", "keys.any_partition", NO_TURN)
def all_in_one_partition(namespace: Namespace, entity: Entity, down: frozenset[int]) -> int | None:
    """All messages without key go to one partition."""
    return next((each for each in range(len(entity.partitions)) if each not in down), None)


def _refused_if(
    namespace: Namespace, entity: Entity, size: int, timeout: int, refused: bool
) -> int:
    if refused and entity.settings.partitioned:
        raise Refusal(v.Error.UNAVAILABLE, "KEY-15")
    return RULES.keys.place_without_key(namespace, entity, size, timeout)


def next_turn(namespace: Namespace, entity: Entity) -> int:
    """Return the next partition by this bus' own count."""
    turns = memory(namespace, Counter[str])
    turns[entity.path] += 1
    return (turns[entity.path] - 1) % len(entity.partitions)


@mutant("KEY-15", "keys.place_without_key", (create(), down(0), send("m1")))
def no_rerouting(namespace: Namespace, entity: Entity, size: int, timeout: int) -> int:
    """A message without key whose turn falls on a partition that is down is refused."""
    refused = next_turn(namespace, entity) in entity.base.down
    return _refused_if(namespace, entity, size, timeout, refused)


@mutant("KEY-15", "keys.place_without_key", (create(), down(0), down(1), send("m1")), deep=True)
def no_rerouting_with_many_down(
    namespace: Namespace, entity: Entity, size: int, timeout: int
) -> int:
    """A message without key is refused where two partitions that follow each other are down."""
    turn, down = next_turn(namespace, entity), entity.base.down
    refused = turn in down and (turn + 1) % len(entity.partitions) in down
    return _refused_if(namespace, entity, size, timeout, refused)


@mutant("KEY-25", "keys.place_without_key", (create(), send("m1", seconds=15)))
def short_timeout_fails(namespace: Namespace, entity: Entity, size: int, timeout: int) -> int:
    """With a timeout of 15 s or less a message without key is refused, even with all up."""
    return _refused_if(namespace, entity, size, timeout, timeout <= SHORT_TIMEOUT)


@mutant("KEY-20", "keys.place", IN_OUTAGE)
def rerouted_with_key(namespace: Namespace, entity: Entity, key: Key | None, *rest: Any) -> int:
    """A message whose partition is down goes to another one, in spite of its key."""
    down = entity.base.down
    others = [each for each in range(len(entity.partitions)) if each not in down]
    if key is not None and others and namespace.rules.keys.home(namespace, entity, key) in down:
        return others[-1]
    return RULES.keys.place(namespace, entity, key, *rest)


def _note_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    if isinstance(command, v.TakePartitionDown):
        memory(namespace, set[tuple[str, int]]).add((command.queue, command.partition))
    return RULES.partitions.switch(namespace, command, connection)


RECORDING_OUTAGES: Final = {"partitions.switch": _note_outage}


@mutant("KEY-20", "keys.home", KEY_RECOVERED, also=RECORDING_OUTAGES, deep=True)
def key_moves_after_outage(namespace: Namespace, entity: Entity, key: Key) -> int:
    """After an outage of its partition a key selects another one."""
    partition = RULES.keys.home(namespace, entity, key)
    were_down = memory(namespace, set[tuple[str, int]])
    moved = partition not in entity.base.down and (entity.base.path, partition) in were_down
    return (partition + moved) % len(entity.partitions)


MUTANTS: Final = mutant.all()
