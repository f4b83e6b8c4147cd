"""Mutants of DUP: what duplicate detection remembers, where, and for how long."""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import DuplicateEntry, Entity, QueuedMessage
from busproof.model.values import EntityKind, Key
from busproof.mutants.entities import Switch
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import Run, complete, create, down, home, receive, send, up, wait
from busproof.mutants.wrappers import afterwards, alters, beforehand, refuses_yet, with_other

Name = tuple[Key | None, str]
DAY: Final = 86_400
TAKE: Final = receive(delete=True)
BOTH: Final[Run] = (TAKE, TAKE)
BEGIN: Final = v.BeginTransaction(transaction="t")
UNIQUE: Final = create(duplicate_detection=True)
OUTAGE: Final[Run] = (down(home("x")), up(home("x")))


def x(body: str, **properties: Any) -> v.Send:
    """Return a send of a message whose MessageId is x."""
    return send(body, message_id="x", **properties)


def window(seconds: int) -> v.CreateQueue:
    """Return the creation of the queue with a duplicate window of so many seconds."""
    return create(duplicate_detection=True, duplicate_window=seconds * v.MICROSECONDS)


TWO_QUEUES: Final[Run] = (UNIQUE, create(queue="other", duplicate_detection=True))
IN_OTHER: Final[Run] = (x("m2", queue="other"), receive(delete=True, queue="other"))
BETWEEN: Final[Run] = (
    *(UNIQUE, x("m1"), wait(300), send("m2", message_id="y"), wait(301), x("m3"), *BOTH, TAKE),
)
LONG: Final[Run] = (window(8 * DAY), x("m1"), wait(7 * DAY + 1), x("m2"), *BOTH)
ALIKE: Final[Run] = (
    *(UNIQUE, x("m1", partition_key="a"), send("m2", message_id="y", partition_key="a"), *BOTH),
)
REGULAR: Final[Run] = (
    *(create(duplicate_detection=True, partitioned=False), x("m1", partition_key="a")),
    *(x("m2", partition_key="b"), *BOTH),
)
ROLLED_BACK: Final[Run] = (
    *(UNIQUE, BEGIN, x("m1", within="t"), v.RollBackTransaction(transaction="t"), x("m2"), TAKE),
)
COMMITTED: Final[Run] = (
    *(UNIQUE, x("m1"), BEGIN, x("m2", within="t"), v.CommitTransaction(transaction="t"), *BOTH),
)


def _remember(namespace: Namespace, entity: Entity, name: Name, until: int) -> None:
    entry = DuplicateEntry(entity, name, until)
    namespace.journal.put(entity.duplicates, name, entry)
    entry.index()


def _forget(namespace: Namespace, entity: Entity, message_id: str | None = None) -> None:
    """Forget a MessageId, or all of them."""
    for name in tuple(entity.duplicates):
        if message_id in (None, name[1]):
            namespace.journal.drop(entity.duplicates, name)


@mutant("DUP-01", "duplicates.forget", (UNIQUE, x("m1"), wait(601), x("m2"), *BOTH))
def copies_never_forgotten() -> None:
    """A MessageId is remembered forever."""


@mutant("DUP-01", "duplicates.remember", BETWEEN, deep=True)
def window_prolonged_by_each_message(namespace: Namespace, entity: Entity, name: Name) -> None:
    """Each send with a MessageId extends the windows of all other MessageIds."""
    for known in (*entity.duplicates, name):
        RULES.duplicates.remember(namespace, entity, known)


@mutant("DUP-02", "duplicates.remember", (UNIQUE, x("m1"), wait(500), x("m2"), *BOTH))
def default_window_of_minutes(namespace: Namespace, entity: Entity, name: Name) -> None:
    """The default duplicate window is 5 minutes."""
    lasts = min(entity.settings.duplicate_window, 300 * v.MICROSECONDS)
    _remember(namespace, entity, name, namespace.now + lasts)


@mutant("DUP-03", "duplicates.check_window", (window(10), x("m1"), wait(15), x("m2"), *BOTH))
def short_windows(namespace: Namespace, window: int) -> None:
    """A duplicate window can be shorter than 20 seconds."""
    RULES.duplicates.check_window(namespace, max(window, 20 * v.MICROSECONDS))


@mutant("DUP-03", "duplicates.check_window", LONG, with_other("window"))
def long_windows(window: int) -> int:
    """A duplicate window can be longer than 7 days."""
    return min(window, 20 * v.MICROSECONDS)


@mutant("DUP-04", "duplicates.is_duplicate", ALIKE, alters)
def alike_messages_dropped(usual: bool, entity: Entity, message: v.Message) -> bool:
    """A message is dropped as a copy if it has the PartitionKey of the latest message."""
    keys = [queued.message.partition_key for queued in entity.messages.values()]
    alike = bool(keys) and message.partition_key == keys[-1] is not None
    return usual or (alike and entity.settings.duplicate_detection)


@mutant("DUP-05", "duplicates.is_duplicate", REGULAR)
def keys_told_apart_on_regular(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """On a regular queue a copy is accepted if it has another PartitionKey."""
    keys = (queued.message.partition_key for queued in entity.messages.values())
    same = entity.settings.partitioned or message.partition_key in keys
    return RULES.duplicates.is_duplicate(namespace, entity, message, key) and same


@mutant("DUP-07", "locks.apply", how=afterwards)
@run(UNIQUE, x("m1"), receive(), complete(0), x("m2"), TAKE)
def forgotten_when_completed(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """The MessageId of a message is forgotten when the message is completed."""
    if action is Action.COMPLETE and queued.message.message_id is not None:
        _forget(namespace, queued.entity, queued.message.message_id)


@mutant("DUP-08", "messages.send", how=refuses_yet(in_transactions=False))
@run(UNIQUE, down(home("x")), x("m1"), up(home("x")), x("m2"), TAKE)
def refused_remembered(namespace: Namespace, command: v.Send) -> None:
    """The MessageId of a message that was refused in an outage is remembered."""
    entity = namespace.entities.get(command.queue)
    if entity is not None and entity.base.down:
        key = RULES.keys.effective_key(namespace, entity, command.message)
        RULES.duplicates.is_duplicate(namespace, entity, command.message, key)


@mutant("DUP-09", "partitions.switch", how=beforehand, deep=True)
@run(UNIQUE, x("m1"), *OUTAGE, x("m2"), *BOTH)
def outage_forgets(namespace: Namespace, command: Switch) -> None:
    """An outage makes the bus forget all MessageIds."""
    entity = namespace.entities.get(command.queue)
    if entity is not None and isinstance(command, v.BringPartitionUp):
        _forget(namespace, entity)


@mutant("DUP-10", "transactions.roll_back", ROLLED_BACK, afterwards, deep=True)
def rolled_back_remembered(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """The MessageIds of a rolled back transaction are remembered."""
    for sent in namespace.transactions[command.transaction].sends:
        RULES.duplicates.is_duplicate(namespace, sent.entity, sent.message, sent.key)


@beside("transactions.commit")
def _note_commit(namespace: Namespace, command: v.CommitTransaction, connection: str) -> Answer:
    committing = memory(namespace, set[str])
    committing.add(command.transaction)
    try:
        return RULES.transactions.commit(namespace, command, connection)
    finally:
        committing.clear()


@mutant("DUP-11", "duplicates.is_duplicate", COMMITTED, alters, also=_note_commit)
def copies_kept_in_transactions(usual: bool, namespace: Namespace) -> bool:
    """In a transaction no message is dropped as a copy."""
    return usual and not memory(namespace, set[str])


def _queues(namespace: Namespace) -> list[Entity]:
    return [entity for entity in namespace.entities.values() if entity.kind is EntityKind.QUEUE]


@mutant("DUP-13", "duplicates.is_duplicate", (*TWO_QUEUES, x("m1"), *IN_OTHER))
def copies_detected_anywhere(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """Duplicate detection compares MessageIds across all queues."""
    anywhere = any((key, message.message_id) in queue.duplicates for queue in _queues(namespace))
    is_copy = RULES.duplicates.is_duplicate(namespace, entity, message, key)
    return is_copy or (anywhere and entity.settings.duplicate_detection)


@mutant("DUP-13", "duplicates.is_duplicate", (*TWO_QUEUES, x("m1"), TAKE, *IN_OTHER), deep=True)
def copies_detected_in_the_first_queue(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """A message is a copy in any queue if the first queue has given one with its MessageId."""
    first = _queues(namespace)[0] if _queues(namespace) else entity
    taken = not first.messages and (key, message.message_id) in first.duplicates
    is_copy = RULES.duplicates.is_duplicate(namespace, entity, message, key)
    return is_copy or (taken and first is not entity and entity.settings.duplicate_detection)
