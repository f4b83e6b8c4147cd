"""Mutants of MGMT: updates, names that are used again, and requests carried out in part."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.expiry import Expiry
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.rules import Namespace
from busproof.model.state import DuplicateEntry, Entity, QueuedMessage
from busproof.model.values import DIRECT, EntityKind, EntitySettings, InTransit, Refusal
from busproof.mutants.management.management import (
    DELETE,
    GET,
    LAST,
    ONE_EACH,
    RememberDeleted,
)
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import PARTITIONS, QUEUE, Run, create, down, receive, send, up, wait
from busproof.mutants.wrappers import afterwards

DETECTING: Final = create(duplicate_detection=True)
SHORTER: Final = v.UpdateQueue(queue=QUEUE, lock_duration=5 * v.MICROSECONDS)
DYING: Final = v.UpdateQueue(queue=QUEUE, time_to_live=5 * v.MICROSECONDS)
ALL_RECEIVED: Final[Run] = (receive(),) * PARTITIONS
DIES: Final[Run] = (create(), DYING, send("m1"), wait(6), receive())
THERE_BEFORE: Final[Run] = (create(), send("m1"), DYING, wait(6), receive())
CREATED_AGAIN: Final[Run] = (create(), send("m1"), DELETE, create(), receive())
COPY_AGAIN: Final[Run] = (
    *(DETECTING, send("m1", message_id="x"), DELETE),
    *(DETECTING, send("m2", message_id="x"), receive()),
)
UPDATED_TWICE: Final[Run] = (*ONE_EACH, down(LAST), SHORTER, up(LAST), SHORTER, *ALL_RECEIVED)


def namesake(namespace: Namespace, entity: Entity) -> Entity | None:
    """Return the deleted entity of the same path and kind, if there was one."""
    before = memory(namespace, dict[str, Entity]).get(entity.path)
    return before if before is not None and before.kind is entity.kind else None


Former = dict[Entity | tuple[Entity, int], EntitySettings]
"""Which settings are in force still, in a whole entity or in one of its partitions."""


class KeepSettings(Management):
    """Apply an update, but let the entity's settings at creation stay in force."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        memory(self.namespace, Former).setdefault(entity, entity.settings)
        super().apply_update(entity, command)


class MissLast(Management):
    """Apply an update to all partitions except the last one."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        before = entity.settings
        last = len(entity.partitions) - 1
        super().apply_update(entity, command)
        if last:
            memory(self.namespace, Former).setdefault((entity, last), before)


@contextmanager
def before_update(namespace: Namespace, entity: Entity, partition: int = -1) -> Iterator[None]:
    """Give an entity its former settings inside the block."""
    former = memory(namespace, Former)
    in_force = entity.settings
    entity.settings = former.get(entity) or former.get((entity, partition)) or in_force
    try:
        yield
    finally:
        entity.settings = in_force


class LockAsBefore(Locks):
    """Lock a message for the former lock duration."""

    def lock(self, queued: QueuedMessage, action: Action) -> None:
        with before_update(self.rules.namespace, queued.entity, queued.partition):
            super().lock(queued, action)


@mutant("MGMT-12", also=(LockAsBefore,))
@run(create(), send("m1"), SHORTER, receive())
class UpdateNotInForce(KeepSettings):
    """An update of the lock duration is reported, but not in force."""


@mutant("MGMT-12", DIES, also=(KeepSettings,), deep=True)
class LifetimeUpdateNotInForce(Expiry):
    """An update of the time to live is reported, but not in force."""

    def expires_at(self, entity: Entity, message: v.Message, transit: InTransit) -> int | None:
        with before_update(self.rules.namespace, entity):
            return super().expires_at(entity, message, transit)


@mutant("MGMT-12", THERE_BEFORE, deep=True)
class LifetimeUpdateAgesWhatIsThere(Management):
    """An update of the time to live also applies to messages that arrived before."""

    @afterwards
    def apply_update(self, entity: Entity) -> None:
        for queued in entity.messages.values():
            until = self.rules.expiry.expires_at(entity, queued.message, DIRECT)
            if until is not None:
                self.namespace.journal.touch(queued)
                queued.expires_at = until
                entity.look_at("expiry.end", until, queued, queued.number)


@mutant("MGMT-12", (create(), SHORTER, GET))
class UpdateForgotten(Management):
    """An update succeeds, but changes nothing."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        mark = self.namespace.journal.mark()
        super().apply_update(entity, command)
        self.namespace.journal.undo(mark)


def inherit_messages(namespace: Namespace, entity: Entity, partition: int | None = None) -> None:
    """Give an entity the messages of the deleted one of its name, in all partitions or in one."""
    before = namesake(namespace, entity)
    for queued in before.messages.values() if before is not None else ():
        if partition in (None, queued.partition):
            where = queued.partition % len(entity.partitions)
            namespace.rules.messages.enqueue(entity, queued.message, where, DIRECT)


def inherit_ids(namespace: Namespace, entity: Entity) -> None:
    """Let an entity remember the MessageIds that the deleted one of its name remembered."""
    before = namesake(namespace, entity)
    for name, known in before.duplicates.items() if before is not None else ():
        entry = DuplicateEntry(entity, name, known.until)
        namespace.journal.put(entity.duplicates, name, entry)
        entry.index()


@mutant("MGMT-15", CREATED_AGAIN, also=(RememberDeleted,))
class DeletedComesAgain(Management):
    """A queue that is created again has the messages of the deleted one."""

    @afterwards
    def add(self, entity: Entity) -> None:
        inherit_messages(self.rules.namespace, entity)


@mutant("MGMT-15", COPY_AGAIN, also=(RememberDeleted,), deep=True)
class DeletedRemembersIds(Management):
    """A queue that is created again remembers MessageIds of the deleted one."""

    @afterwards
    def add(self, entity: Entity) -> None:
        inherit_ids(self.rules.namespace, entity)


def _queues(namespace: Namespace) -> list[str]:
    return sorted(p for p, entity in namespace.entities.items() if entity.kind is EntityKind.QUEUE)


@mutant("MGMT-16", (create(), create(queue="other"), v.ListQueues()))
class ListLeavesOneOut(Management):
    """A list of several queues leaves out the last one."""

    def list_queues(self, command: v.ListQueues, connection: str) -> Answer:
        names = _queues(self.rules.namespace)
        return Answer(v.Listed(names=tuple(names[: max(1, len(names) - 1)])))


@mutant("MGMT-16", also=(RememberDeleted,))
@run(create(), DELETE, v.ListQueues())
class ListNamesDeleted(Management):
    """A list names queues that were deleted."""

    def list_queues(self, command: v.ListQueues, connection: str) -> Answer:
        deleted = memory(self.rules.namespace, dict[str, Entity]).items()
        names = {path for path, entity in deleted if entity.kind is EntityKind.QUEUE}
        return Answer(v.Listed(names=tuple(sorted({*names, *_queues(self.rules.namespace)}))))


@mutant("MGMT-17", also=(RememberDeleted,))
@run(*ONE_EACH, DELETE, create(), receive())
class LastPartitionOutlives(Management):
    """The last partition keeps its messages when its queue is deleted."""

    @afterwards
    def add(self, entity: Entity) -> None:
        before = namesake(self.rules.namespace, entity)
        last = len(entity.partitions) - 1
        if before is not None and last and len(before.partitions) - 1 == last:
            inherit_messages(self.rules.namespace, entity, last)


@mutant("MGMT-17", also=(LockAsBefore,))
@run(*ONE_EACH, SHORTER, *ALL_RECEIVED)
class UpdateMissesLastPartition(MissLast):
    """An update does not reach the last partition."""


class RefuseForGood(Management):
    """Delete an entity, unless an earlier deletion of it was refused."""

    def delete(self, entity: Entity) -> None:
        refused = memory(self.namespace, set[Entity])
        if entity in refused:
            raise self.rules.partitions.outage("MGMT-18")
        try:
            super().delete(entity)
        except Refusal:
            refused.add(entity)
            raise


@mutant("MGMT-19", deep=True)
@run(create(), down(LAST), DELETE, up(LAST), DELETE)
class RefusedDeletionSticks(RefuseForGood):
    """A queue whose deletion was refused in an outage can never be deleted."""


@mutant("MGMT-19", UPDATED_TWICE, also=(LockAsBefore,), deep=True)
class RefusedUpdateStaysHalfDone(Management):
    """An update that was refused in an outage never reaches the partition that was down."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        try:
            super().apply_update(entity, command)
        except Refusal as refusal:
            for partition in entity.base.down if "MGMT-18" in refusal.rules else ():
                memory(self.namespace, Former).setdefault((entity, partition), entity.settings)
            raise


@mutant("MGMT-19", (down(LAST), create(), up(LAST), create()), deep=True)
class RefusedCreationSticks(Management):
    """A name cannot be used any more after a creation was refused in an outage."""

    def create(
        self, path: str, kind: EntityKind, settings: EntitySettings, topic: Entity | None = None
    ) -> Entity:
        spoilt = memory(self.rules.namespace, set[str])
        if path in spoilt:
            raise self.rules.partitions.outage("MGMT-18")
        try:
            return super().create(path, kind, settings, topic)
        except Refusal as refusal:
            if "MGMT-18" in refusal.rules:
                spoilt.add(path)
            raise
