"""Mutants of KEY: keys, their partitions, their order, and duplicates."""

from collections import Counter
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.keys import MESSAGE_ID, PARTITION_KEY, SESSION_ID
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import DIRECT, InTransit, Key, Refusal
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import QUEUE, Run, create, receive, send
from busproof.mutants.wrappers import alters, refuses_as, refuses_yet

__all__ = ["SESSIONS", "TWO", "UNIQUE", "message_id"]

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


def message_id(entity: Entity, message: v.Message) -> Key | None:
    """The MessageId as the key, or no key at all, where another property should be it."""
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


@mutant("KEY-05", "keys.effective_key", TWO_IN_SESSION)
def session_split(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    """On a session-aware queue a session is spread: the MessageId is the key, or nothing."""
    if entity.settings.requires_session:
        return message_id(entity, message)
    return RULES.keys.effective_key(namespace, entity, message)


@mutant("KEY-07", "keys.effective_key", TWO, alters)
def partition_key_not_a_key(usual: Key | None, entity: Entity, message: v.Message) -> Key | None:
    """The MessageId is the key instead of the PartitionKey."""
    ignored = usual is not None and usual.source == PARTITION_KEY
    return message_id(entity, message) if ignored else usual


@mutant("KEY-08", "keys.check_agreement", MISMATCH)
def mismatch_accepted() -> None:
    """SessionId and PartitionKey may differ."""


@mutant("KEY-08", "keys.check_agreement", MISMATCH, refuses_as(v.Error.OTHER))
def mismatch_wrong_error() -> None:
    """Keys that differ are refused, with another error."""


@mutant("KEY-08", "messages.send", (*MISMATCH, receive()), refuses_yet("KEY-08"))
def mismatch_refused_yet_stored(namespace: Namespace, command: v.Send) -> None:
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
def equal_refused(entity: Entity, message: v.Message) -> None:
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
    first = message_id(entity, *rest) if entity.settings.duplicate_detection else None
    return first or RULES.keys.effective_key(namespace, entity, *rest)
