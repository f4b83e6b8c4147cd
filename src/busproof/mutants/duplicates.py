"""Mutants of DUP: what duplicate detection remembers, where, and for how long."""

from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.duplicates import Duplicates
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.state import DuplicateEntry, Entity, QueuedMessage
from busproof.model.transactions import Transactions
from busproof.model.values import EntityKind, Key
from busproof.mutants.entities import Switch
from busproof.mutants.mutant import memory, mutant, run
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


@mutant("DUP-01", (UNIQUE, x("m1"), wait(601), x("m2"), *BOTH))
class CopiesNeverForgotten(Duplicates):
    """A MessageId is remembered forever."""

    def forget(self, entry: DuplicateEntry) -> None:
        pass


@mutant("DUP-01", BETWEEN, deep=True)
class WindowProlongedByEachMessage(Duplicates):
    """Each send with a MessageId extends the windows of all other MessageIds."""

    def remember(self, entity: Entity, name: tuple[Key | None, str]) -> None:
        for known in (*entity.duplicates, name):
            super().remember(entity, known)


@mutant("DUP-02", (UNIQUE, x("m1"), wait(500), x("m2"), *BOTH))
class DefaultWindowOfMinutes(Duplicates):
    """The default duplicate window is 5 minutes."""

    def remember(self, entity: Entity, name: tuple[Key | None, str]) -> None:
        lasts = min(entity.settings.duplicate_window, 300 * v.MICROSECONDS)
        _remember(self.rules.namespace, entity, name, self.namespace.now + lasts)


@mutant("DUP-03", (window(10), x("m1"), wait(15), x("m2"), *BOTH))
class ShortWindows(Duplicates):
    """A duplicate window can be shorter than 20 seconds."""

    def check_window(self, window: int) -> None:
        super().check_window(max(window, 20 * v.MICROSECONDS))


@mutant("DUP-03", LONG)
class LongWindows(Duplicates):
    """A duplicate window can be longer than 7 days."""

    @with_other("window")
    def check_window(self, window: int) -> int:
        return min(window, 20 * v.MICROSECONDS)


@mutant("DUP-04", ALIKE)
class AlikeMessagesDropped(Duplicates):
    """A message is dropped as a copy if it has the PartitionKey of the latest message."""

    @alters
    def is_duplicate(self, usual: bool, entity: Entity, message: v.Message) -> bool:
        keys = [queued.message.partition_key for queued in entity.messages.values()]
        alike = bool(keys) and message.partition_key == keys[-1] is not None
        return usual or (alike and entity.settings.duplicate_detection)


@mutant("DUP-05", REGULAR)
class KeysToldApartOnRegular(Duplicates):
    """On a regular queue a copy is accepted if it has another PartitionKey."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        keys = (queued.message.partition_key for queued in entity.messages.values())
        same = entity.settings.partitioned or message.partition_key in keys
        return super().is_duplicate(entity, message, key) and same


@mutant("DUP-07")
@run(UNIQUE, x("m1"), receive(), complete(0), x("m2"), TAKE)
class ForgottenWhenCompleted(Locks):
    """The MessageId of a message is forgotten when the message is completed."""

    @afterwards
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.COMPLETE and queued.message.message_id is not None:
            _forget(self.rules.namespace, queued.entity, queued.message.message_id)


@mutant("DUP-08")
@run(UNIQUE, down(home("x")), x("m1"), up(home("x")), x("m2"), TAKE)
class RefusedRemembered(Messages):
    """The MessageId of a message that was refused in an outage is remembered."""

    @refuses_yet(in_transactions=False)
    def send(self, command: v.Send) -> None:
        entity = self.namespace.entities.get(command.queue)
        if entity is not None and entity.base.down:
            key = self.rules.keys.effective_key(entity, command.message)
            self.rules.duplicates.is_duplicate(entity, command.message, key)


@mutant("DUP-09", deep=True)
@run(UNIQUE, x("m1"), *OUTAGE, x("m2"), *BOTH)
class OutageForgets(Partitions):
    """An outage makes the bus forget all MessageIds."""

    @beforehand
    def switch(self, command: Switch) -> None:
        entity = self.namespace.entities.get(command.queue)
        if entity is not None and isinstance(command, v.BringPartitionUp):
            _forget(self.rules.namespace, entity)


@mutant("DUP-10", ROLLED_BACK, deep=True)
class RolledBackRemembered(Transactions):
    """The MessageIds of a rolled back transaction are remembered."""

    @afterwards
    def roll_back(self, command: v.RollBackTransaction) -> None:
        for sent in self.namespace.transactions[command.transaction].sends:
            self.rules.duplicates.is_duplicate(sent.entity, sent.message, sent.key)


class _NoteCommit(Transactions):
    def commit(self, command: v.CommitTransaction, connection: str) -> Answer:
        committing = memory(self.rules.namespace, set[str])
        committing.add(command.transaction)
        try:
            return super().commit(command, connection)
        finally:
            committing.clear()


@mutant("DUP-11", COMMITTED, also=(_NoteCommit,))
class CopiesKeptInTransactions(Duplicates):
    """In a transaction no message is dropped as a copy."""

    @alters
    def is_duplicate(self, usual: bool) -> bool:
        return usual and not memory(self.rules.namespace, set[str])


def _queues(namespace: Namespace) -> list[Entity]:
    return [entity for entity in namespace.entities.values() if entity.kind is EntityKind.QUEUE]


@mutant("DUP-13", (*TWO_QUEUES, x("m1"), *IN_OTHER))
class CopiesDetectedAnywhere(Duplicates):
    """Duplicate detection compares MessageIds across all queues."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        anywhere = any(
            (key, message.message_id) in queue.duplicates for queue in _queues(self.rules.namespace)
        )
        is_copy = super().is_duplicate(entity, message, key)
        return is_copy or (anywhere and entity.settings.duplicate_detection)


@mutant("DUP-13", (*TWO_QUEUES, x("m1"), TAKE, *IN_OTHER), deep=True)
class CopiesDetectedInTheFirstQueue(Duplicates):
    """A message is a copy in any queue if the first queue has given one with its MessageId."""

    def is_duplicate(self, entity: Entity, message: v.Message, key: Key | None) -> bool:
        first = _queues(self.rules.namespace)[0] if _queues(self.rules.namespace) else entity
        taken = not first.messages and (key, message.message_id) in first.duplicates
        is_copy = super().is_duplicate(entity, message, key)
        return is_copy or (taken and first is not entity and entity.settings.duplicate_detection)
