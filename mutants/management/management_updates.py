"""Mutants of MGMT: updates, names that are used again, and requests carried out in part."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import DuplicateEntry, Entity, QueuedMessage
from busproof.model.values import DIRECT, EntityKind, EntitySettings, Refusal
from busproof.mutants.management.management import (
    DELETE,
    GET,
    LAST,
    ONE_EACH,
    UPDATE,
    remember_deleted,
)
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
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


def keep_settings(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """Apply an update, but let the entity's settings at creation stay in force."""
    memory(namespace, Former).setdefault(entity, entity.settings)
    RULES.management.apply_update(namespace, entity, command)


def miss_last(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """Apply an update to all partitions except the last one."""
    before, last = entity.settings, len(entity.partitions) - 1
    RULES.management.apply_update(namespace, entity, command)
    if last:
        memory(namespace, Former).setdefault((entity, last), before)


@contextmanager
def before_update(namespace: Namespace, entity: Entity, partition: int = -1) -> Iterator[None]:
    """Give an entity its former settings inside the block."""
    former, in_force = memory(namespace, Former), entity.settings
    entity.settings = former.get(entity) or former.get((entity, partition)) or in_force
    try:
        yield
    finally:
        entity.settings = in_force


def lock_as_before(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """Lock a message for the former lock duration."""
    with before_update(namespace, queued.entity, queued.partition):
        RULES.locks.lock(namespace, queued, action)


LOCKING: Final = {"locks.lock": lock_as_before}
KEEPING: Final = {UPDATE: keep_settings}


@mutant("MGMT-12", "", also={**KEEPING, **LOCKING})
@run(create(), send("m1"), SHORTER, receive())
def update_not_in_force() -> None:
    """An update of the lock duration is reported, but not in force."""


@mutant("MGMT-12", "expiry.expires_at", DIES, also=KEEPING, deep=True)
def lifetime_update_not_in_force(namespace: Namespace, entity: Entity, *rest: Any) -> int | None:
    """An update of the time to live is reported, but not in force."""
    with before_update(namespace, entity):
        return RULES.expiry.expires_at(namespace, entity, *rest)


@mutant("MGMT-12", UPDATE, THERE_BEFORE, afterwards, deep=True)
def lifetime_update_ages_what_is_there(namespace: Namespace, entity: Entity) -> None:
    """An update of the time to live also applies to messages that arrived before."""
    for queued in entity.messages.values():
        until = namespace.rules.expiry.expires_at(entity, queued.message, DIRECT)
        if until is not None:
            namespace.journal.touch(queued)
            queued.expires_at = until
            entity.look_at("expiry.end", until, queued, queued.number)


@mutant("MGMT-12", UPDATE, (create(), SHORTER, GET))
def update_forgotten(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """An update succeeds, but changes nothing."""
    mark = namespace.journal.mark()
    RULES.management.apply_update(namespace, entity, command)
    namespace.journal.undo(mark)


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


@mutant("MGMT-15", "management.add", CREATED_AGAIN, afterwards, also=remember_deleted)
def deleted_comes_again(namespace: Namespace, entity: Entity) -> None:
    """A queue that is created again has the messages of the deleted one."""
    inherit_messages(namespace, entity)


@mutant("MGMT-15", "management.add", COPY_AGAIN, afterwards, also=remember_deleted, deep=True)
def deleted_remembers_ids(namespace: Namespace, entity: Entity) -> None:
    """A queue that is created again remembers MessageIds of the deleted one."""
    inherit_ids(namespace, entity)


def _queues(namespace: Namespace) -> list[str]:
    return sorted(p for p, entity in namespace.entities.items() if entity.kind is EntityKind.QUEUE)


@mutant("MGMT-16", "management.list_queues", (create(), create(queue="other"), v.ListQueues()))
def list_leaves_one_out(namespace: Namespace) -> Answer:
    """A list of several queues leaves out the last one."""
    names = _queues(namespace)
    return Answer(v.Listed(names=tuple(names[: max(1, len(names) - 1)])))


@mutant("MGMT-16", "management.list_queues", also=remember_deleted)
@run(create(), DELETE, v.ListQueues())
def list_names_deleted(namespace: Namespace) -> Answer:
    """A list names queues that were deleted."""
    deleted = memory(namespace, dict[str, Entity]).items()
    names = {path for path, entity in deleted if entity.kind is EntityKind.QUEUE}
    return Answer(v.Listed(names=tuple(sorted({*names, *_queues(namespace)}))))


@mutant("MGMT-17", "management.add", how=afterwards, also=remember_deleted)
@run(*ONE_EACH, DELETE, create(), receive())
def last_partition_outlives(namespace: Namespace, entity: Entity) -> None:
    """The last partition keeps its messages when its queue is deleted."""
    before, last = namesake(namespace, entity), len(entity.partitions) - 1
    if before is not None and last and len(before.partitions) - 1 == last:
        inherit_messages(namespace, entity, last)


@mutant("MGMT-17", "", also={UPDATE: miss_last, **LOCKING})
@run(*ONE_EACH, SHORTER, *ALL_RECEIVED)
def update_misses_last_partition() -> None:
    """An update does not reach the last partition."""


def refuse_for_good(namespace: Namespace, entity: Entity) -> None:
    """Delete an entity, unless an earlier deletion of it was refused."""
    refused = memory(namespace, set[Entity])
    if entity in refused:
        raise namespace.rules.partitions.outage("MGMT-18")
    try:
        RULES.management.delete(namespace, entity)
    except Refusal:
        refused.add(entity)
        raise


@mutant("MGMT-19", "", also={"management.delete": refuse_for_good}, deep=True)
@run(create(), down(LAST), DELETE, up(LAST), DELETE)
def refused_deletion_sticks() -> None:
    """A queue whose deletion was refused in an outage can never be deleted."""


@mutant("MGMT-19", UPDATE, UPDATED_TWICE, also=LOCKING, deep=True)
def refused_update_stays_half_done(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update that was refused in an outage never reaches the partition that was down."""
    try:
        RULES.management.apply_update(namespace, entity, *rest)
    except Refusal as refusal:
        for partition in entity.base.down if "MGMT-18" in refusal.rules else ():
            memory(namespace, Former).setdefault((entity, partition), entity.settings)
        raise


@mutant("MGMT-19", "management.create", (down(LAST), create(), up(LAST), create()), deep=True)
def refused_creation_sticks(namespace: Namespace, path: str, *rest: Any) -> Entity:
    """A name cannot be used any more after a creation was refused in an outage."""
    spoilt = memory(namespace, set[str])
    if path in spoilt:
        raise namespace.rules.partitions.outage("MGMT-18")
    try:
        return RULES.management.create(namespace, path, *rest)
    except Refusal as refusal:
        if "MGMT-18" in refusal.rules:
            spoilt.add(path)
        raise
