"""Mutants of KEY: keys, the partitions that they select, their order, and duplicates."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from busproof import vocabulary as v
from busproof.model.duplicates import Duplicates
from busproof.model.keys import MESSAGE_ID, PARTITION_KEY, SESSION_ID, Keys
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.state import DuplicateEntry, Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, InTransit, Key, Refusal
from busproof.mutants.entities import Switch
from busproof.mutants.mutant import memory, mutant, run
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


@mutant("KEY-01", (create(), send("m1"), v.Peek(queue=QUEUE, count=2)))
class CopyInSecondPartition(Messages):
    """Each message is stored in two partitions."""

    def arrive(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        super().arrive(entity, message, partition, transit)
        if len(entity.partitions) > 1:
            second = (partition + 1) % len(entity.partitions)
            super().arrive(entity, message, second, transit)


def _moving(namespace: Namespace, entity: Entity, key: Key, at: int) -> int:
    sent = memory(namespace, Counter[tuple[str, str]])
    sent[entity.path, key.value] += 1
    moved = sent[entity.path, key.value] >= at
    return (Keys.home(namespace.rules.keys, entity, key) + moved) % len(entity.partitions)


@mutant("KEY-02", (create(), *(send(f"m{n}", partition_key="a") for n in range(5))))
class KeyMoves(Keys):
    """A key selects another partition from its 5th message on."""

    def home(self, entity: Entity, key: Key) -> int:
        return _moving(self.rules.namespace, entity, key, 5)


@mutant("KEY-02", FORTY, deep=True)
class KeyMovesLate(Keys):
    """A key selects another partition from its 40th message on."""

    def home(self, entity: Entity, key: Key) -> int:
        return _moving(self.rules.namespace, entity, key, 40)


def message_id(entity: Entity, message: v.Message) -> Key | None:
    """Return the MessageId as the key, or `None` without one, in place of another property."""
    if not entity.settings.partitioned or message.message_id is None:
        return None
    return Key(MESSAGE_ID, message.message_id)


@mutant("KEY-04", ONE_SESSION)
class SessionIdNotAKey(Keys):
    """On a queue without sessions the MessageId is the key instead of the SessionId."""

    @alters
    def effective_key(self, usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
        ignored = (
            usual is not None
            and usual.source == SESSION_ID
            and not entity.settings.requires_session
        )
        return message_id(entity, message) if ignored else usual


@mutant("KEY-05", TWO_IN_SESSION)
class SessionSplit(Keys):
    """On a queue with sessions the MessageId is the key instead of the SessionId."""

    @alters
    def effective_key(self, usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
        return message_id(entity, message) if entity.settings.requires_session else usual


@mutant("KEY-07", TWO)
class PartitionKeyNotAKey(Keys):
    """The MessageId is the key instead of the PartitionKey."""

    @alters
    def effective_key(self, usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
        ignored = usual is not None and usual.source == PARTITION_KEY
        return message_id(entity, message) if ignored else usual


@mutant("KEY-08", MISMATCH)
class MismatchAccepted(Keys):
    """A message whose SessionId and PartitionKey differ is accepted."""

    def check_agreement(self, entity: Entity, message: v.Message) -> None:
        pass


@mutant("KEY-08", MISMATCH)
class MismatchWrongError(Keys):
    """A message whose SessionId and PartitionKey differ is refused with another error."""

    @refuses_as(v.Error.OTHER)
    def check_agreement(self) -> None:
        pass


@mutant("KEY-08", (*MISMATCH, receive()))
class MismatchRefusedYetStored(Messages):
    """Messages with different keys are refused, but enqueued anyway."""

    @refuses_yet("KEY-08")
    def send(self, command: v.Send) -> None:
        entity = self.rules.topics.sendable(command.queue)
        key = self.rules.keys.effective_key(entity, command.message)
        self.accept(entity, command.message, key, 0, DIRECT)


@mutant("KEY-08", LONG_MISMATCH, deep=True)
class MismatchAcceptedWhenLong(Keys):
    """Keys are compared by their first 8 characters."""

    @only_where
    def check_agreement(self, message: v.Message) -> bool:
        session_id = message.session_id or ""
        partition_key = message.partition_key or ""
        return session_id[:8] != partition_key[:8]


@mutant("KEY-08", OTHER_CASE, deep=True)
class MismatchAcceptedInOtherCase(Keys):
    """Keys are compared without regard to upper and lower case."""

    @only_where
    def check_agreement(self, message: v.Message) -> bool:
        session_id = message.session_id or ""
        partition_key = message.partition_key or ""
        return session_id.lower() != partition_key.lower()


@mutant("KEY-09")
@run(create(), send("m1", session_id="a", partition_key="a"))
class EqualRefused(Keys):
    """A message with both a SessionId and a PartitionKey is refused, even if they are equal."""

    def check_agreement(self, entity: Entity, message: v.Message) -> None:
        if entity.settings.partitioned and None not in (message.session_id, message.partition_key):
            raise Refusal(v.Error.INVALID_OPERATION, "KEY-08")


@mutant("KEY-10")
@run(UNIQUE, send("m1", message_id="1"), send("m2", message_id="1"))
class MessageIdNotAKey(Keys):
    """With duplicate detection, messages with a MessageId only go to the partitions in turn."""

    @with_other("key")
    def place(self, key: Key | None) -> Key | None:
        return None if key is not None and key.source == MESSAGE_ID else key


@mutant("KEY-24", TWO_IDS)
class MessageIdBeforePartitionKey(Keys):
    """With duplicate detection the MessageId is the key, even if other properties are set."""

    @alters
    def effective_key(self, usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
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


@mutant("KEY-06", IN_SESSION)
class SessionOutOfOrder(Messages):
    """The newest message of a session is given first."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        offered = () if session is None else tuple(session.line.available(entity.messages))
        if session is None or session.partition in entity.base.down or not offered:
            return super().give_next(entity, session, mode, connection)
        return self.give(offered[-1], mode)


class RememberAbandoned(Locks):
    """Remember the messages that are abandoned."""

    @afterwards
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.ABANDON:
            memory(self.rules.namespace, set[QueuedMessage]).add(queued)


def _choose_abandoned_last(
    namespace: Namespace, offered: Iterable[QueuedMessage]
) -> QueuedMessage | None:
    abandoned = memory(namespace, set[QueuedMessage])
    return min(offered, key=lambda queued: (queued in abandoned, queued.number), default=None)


@mutant("KEY-06", ABANDONED, also=(RememberAbandoned,), deep=True)
class SessionOutOfOrderAfterAbandon(Messages):
    """An abandoned message of a session is given after all others."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        if session is None or session.partition in entity.base.down:
            return super().give_next(entity, session, mode, connection)
        queued = _choose_abandoned_last(
            self.rules.namespace, session.line.available(entity.messages)
        )
        return None if queued is None else self.give(queued, mode)


NEXT: Final = "messages.next_available"


def _of_its_key(queued: QueuedMessage) -> list[QueuedMessage]:
    """Return the available messages that have the same key as this one."""
    entity = queued.entity
    message = queued.message
    key = message.session_id or message.partition_key
    there = entity.partitions[queued.partition].line.available(entity.messages)
    return [
        other for other in there if key in (other.message.session_id, other.message.partition_key)
    ]


def _has_key(namespace: Namespace, queued: QueuedMessage) -> bool:
    return Keys.effective_key(namespace.rules.keys, queued.entity, queued.message) is not None


@mutant("KEY-17", (*TWO, receive()))
class KeyOrderReversed(Messages):
    """The newest message of a key is given first."""

    @alters
    def next_available(self, usual: QueuedMessage | None) -> QueuedMessage | None:
        return _of_its_key(usual)[-1] if usual and _has_key(self.rules.namespace, usual) else usual


@mutant("KEY-26", readings={"REGULAR-ORDER": "first-in-first-out"})
@run(create(partitioned=False), send("m1"), send("m2"), receive())
class RegularOrderReversed(Messages):
    """A regular queue gives its newest message first."""

    @alters
    def next_available(self, usual: QueuedMessage | None, entity: Entity) -> QueuedMessage | None:
        if usual is None or len(entity.partitions) > 1:
            return usual
        return [*entity.partitions[0].line.available(entity.messages)][-1]


@mutant(
    "KEY-17",
    also=(RememberAbandoned,),
    deep=True,
    equivalent="KEY-17 leaves open what a receiver sees of a key's order that abandons a message.",
)
@run(*TWO, receive(), abandon(0), receive())
class KeyOrderLostAfterAbandon(Messages):
    """An abandoned message is given after all others of its key."""

    @alters
    def next_available(self, usual: QueuedMessage | None) -> QueuedMessage | None:
        if usual is None or not _has_key(self.rules.namespace, usual):
            return usual
        return _choose_abandoned_last(self.rules.namespace, _of_its_key(usual))


class _RememberOutage(Partitions):
    @beforehand
    def switch(self, command: Switch) -> None:
        entity = self.namespace.entities.get(command.queue)
        up_again = entity is not None and command.partition in entity.base.down
        if entity is not None and up_again and isinstance(command, v.BringPartitionUp):
            available = entity.partitions[command.partition].line.available(entity.messages)
            memory(self.rules.namespace, set[QueuedMessage]).update(available)


@mutant("KEY-17", also=(_RememberOutage,), deep=True)
@run(*TWO, down(HOME), up(HOME), receive())
class KeyOrderLostAfterOutage(Messages):
    """Messages that were in a partition during an outage are given in reverse order."""

    @alters
    def next_available(self, usual: QueuedMessage | None, entity: Entity) -> QueuedMessage | None:
        in_outage = memory(self.rules.namespace, set[QueuedMessage])
        if usual is None or usual not in in_outage:
            return usual
        there = entity.partitions[usual.partition].line.available(entity.messages)
        return [other for other in there if other in in_outage][-1]


@mutant("KEY-11", COPIES)
class DuplicatesKept(Duplicates):
    """No message is dropped as a copy."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        return False


@mutant("KEY-11", THIRD_COPY, deep=True)
class DuplicatesOnlyLatest(Duplicates):
    """Only the MessageId of the latest message is remembered."""

    @beforehand
    def remember(self, entity: Entity) -> None:
        for known in tuple(entity.duplicates):
            self.namespace.journal.drop(entity.duplicates, known)


@mutant("KEY-11", LATE_COPY)
class DuplicatesForgottenEarly(Duplicates):
    """A MessageId is forgotten after a quarter of the duplicate window."""

    def remember(self, entity: Entity, name: tuple[Key | None, str]) -> None:
        quarter = entity.settings.duplicate_window // 4
        entry = DuplicateEntry(entity, name, self.namespace.now + quarter)
        self.namespace.journal.put(entity.duplicates, name, entry)
        entry.index()


@mutant("KEY-12", NOT_UNIQUE)
class DuplicatesDroppedWithoutDetection(Messages):
    """Without duplicate detection, a message is dropped if its MessageId is in the queue."""

    @only_where
    def accept(self, entity: Entity, message: v.Message) -> bool:
        there = (queued.message.message_id for queued in entity.messages.values())
        return message.message_id is None or message.message_id not in there


@mutant("KEY-13", PLAIN, needs=frozenset({v.Capability.CLIENT_LIBRARY}))
class IdNotAssigned:
    """The client library assigns no MessageId to a message without one."""
