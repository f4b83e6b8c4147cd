"""Mutants of MGMT: creating, describing, listing, changing, disabling and deleting queues."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action
from busproof.model.premium import PARTITIONS_SINCE
from busproof.model.rules import RULES
from busproof.model.state import DuplicateEntry, Entity, Namespace, QueuedMessage
from busproof.model.values import DIRECT, EntityKind, EntitySettings, Refusal
from busproof.mutants.mutant import Family, memory
from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    create,
    down,
    receive,
    schedule,
    send,
    up,
    wait,
)

__all__ = [
    "AT_ONCE",
    "LAST",
    "MUTANTS",
    "REMEMBERING",
    "before_update",
    "change_fixed",
    "empty",
    "inherit_ids",
    "inherit_messages",
    "keep_deleted",
    "keep_settings",
    "lock_as_before",
    "miss_last",
    "name_again",
    "namesake",
    "refuse_for_good",
    "told",
]

mutant = Family(__name__)

REGULAR: Final = create(partitioned=False)
WITH_SESSIONS: Final = create(requires_session=True)
DETECTING: Final = create(duplicate_detection=True)
GET: Final = v.GetQueue(queue=QUEUE)
DELETE: Final = v.DeleteQueue(queue=QUEUE)
SHORTER: Final = v.UpdateQueue(queue=QUEUE, lock_duration=5 * v.MICROSECONDS)
DYING: Final = v.UpdateQueue(queue=QUEUE, time_to_live=5 * v.MICROSECONDS)
LAST: Final = PARTITIONS - 1
ONE_EACH: Final[Run] = (create(), *(send(f"m{number}") for number in range(PARTITIONS)))
ALL_RECEIVED: Final[Run] = (receive(),) * PARTITIONS
IN_OUTAGE: Final[Run] = (create(), down(LAST), wait(1), GET)
AT_ONCE: Final = {"GET-LAG": "at-once"}
"""By default a description may be late, and the judge alone sees nothing."""
SHUT: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.SEND_DISABLED)
CLOSED: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.ACTIVE)
WITH_BOTH: Final = create(requires_session=True, duplicate_detection=True)
CREATED_TWICE: Final[Run] = (create(), send("m1"), create(), receive())
DIES: Final[Run] = (create(), DYING, send("m1"), wait(6), receive())
THERE_BEFORE: Final[Run] = (create(), send("m1"), DYING, wait(6), receive())
CREATED_AGAIN: Final[Run] = (create(), send("m1"), DELETE, create(), receive())
COPY_AGAIN: Final[Run] = (
    *(DETECTING, send("m1", message_id="x"), DELETE),
    *(DETECTING, send("m2", message_id="x"), receive()),
)
UPDATED_TWICE: Final[Run] = (*ONE_EACH, down(LAST), SHORTER, up(LAST), SHORTER, *ALL_RECEIVED)
RECOVERED: Final[Run] = (create(), down(LAST), up(LAST), wait(1), GET)


def fixed(**changes: Any) -> Run:
    """An update of what is fixed at creation."""
    return (create(), v.UpdateQueue(queue=QUEUE, **changes), GET)


def told(
    namespace: Namespace, command: v.GetQueue, changes: Callable[[v.QueueDescription], Any]
) -> Answer:
    """Return the description of a queue with some values changed."""
    outcome = RULES.management.get_queue(namespace, command, "").outcome
    if not isinstance(outcome, v.Described):
        raise AssertionError("a description that is not refused is one")  # noqa: TRY004
    description = attrs.evolve(outcome.description, **changes(outcome.description))
    return Answer(v.Described(description=description), rules=("MGMT-11",))


@mutant("MGMT-01", "management.get_queue", (create(), GET))
def partitioning_not_told(namespace: Namespace, command: v.GetQueue, connection: str) -> Answer:
    """A partitioned queue is described as a regular one."""
    return told(namespace, command, lambda told: {"partitioned": told.partitioned and False})


@mutant("MGMT-01", "premium.partitioned", (create(), GET))
def option_ignored(namespace: Namespace, asked: bool | None, version: str | None = None) -> bool:
    """A queue that is created with the option has no partitions."""
    RULES.premium.partitioned(namespace, asked, version)
    return False


def _unless(refused: bool | None, namespace: Namespace, *rest: Any) -> Answer:
    if refused:
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-02")
    return RULES.management.create_queue(namespace, *rest)


@mutant("MGMT-02", "management.create_queue", (WITH_SESSIONS,))
def no_partitions_with_sessions(namespace: Namespace, command: v.CreateQueue, *rest: Any) -> Answer:
    """A queue that requires sessions cannot be partitioned."""
    refused = command.partitioned and command.requires_session
    return _unless(refused, namespace, command, *rest)


@mutant("MGMT-02", "management.create_queue", (WITH_BOTH,), deep=True)
def no_partitions_with_sessions_and_detection(
    namespace: Namespace, command: v.CreateQueue, connection: str
) -> Answer:
    """A queue with both sessions and duplicate detection cannot be partitioned."""
    refused = command.partitioned and command.requires_session and command.duplicate_detection
    return _unless(refused, namespace, command, connection)


@mutant("MGMT-03", "premium.partitioned", (create(partitioned=None), GET))
def partitioned_unasked(
    namespace: Namespace, asked: bool | None, version: str | None = None
) -> bool:
    """A queue is partitioned unless the option says no."""
    return RULES.premium.partitioned(namespace, asked is not False, version)


def change_fixed(namespace: Namespace, entity: Entity, command: v.UpdateQueue, name: str) -> None:
    """Apply an update, and change a fixed setting with it."""
    other: Any = {name: None}
    RULES.management.apply_update(namespace, entity, attrs.evolve(command, **other))
    if getattr(command, name) is not None:
        namespace.journal.touch(entity)
        entity.settings = attrs.evolve(entity.settings, **{name: getattr(command, name)})


@mutant("MGMT-04", "management.apply_update", fixed(partitioned=False))
def update_changes_partitioning(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update changes whether a queue is partitioned."""
    change_fixed(namespace, entity, command, "partitioned")


@mutant("MGMT-13", "management.apply_update", fixed(requires_session=True))
def update_changes_sessions(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """An update changes whether sessions are required."""
    change_fixed(namespace, entity, command, "requires_session")


@mutant("MGMT-14", "management.apply_update", fixed(duplicate_detection=True))
def update_changes_detection(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """An update changes whether duplicates are detected."""
    change_fixed(namespace, entity, command, "duplicate_detection")


def keep_deleted(namespace: Namespace, entity: Entity) -> None:
    """Delete an entity, and keep it for its namesake."""
    RULES.management.delete(namespace, entity)
    memory(namespace, dict[str, Entity])[entity.path] = entity


def namesake(namespace: Namespace, entity: Entity) -> Entity | None:
    """The entity of the same path and kind that was deleted, if one was."""
    before = memory(namespace, dict[str, Entity]).get(entity.path)
    return before if before is not None and before.kind is entity.kind else None


REMEMBERING: Final = {"management.delete": keep_deleted}


@mutant("MGMT-05", "management.create", (create(), DELETE, REGULAR, GET), also=REMEMBERING)
def created_again_as_before(
    namespace: Namespace,
    path: str,
    kind: EntityKind,
    settings: EntitySettings,
    topic: Entity | None = None,
) -> Entity:
    """A queue that is created again has the partitioning option of its deleted namesake."""
    before = memory(namespace, dict[str, Entity]).get(path)
    if before is not None and topic is None:
        settings = attrs.evolve(settings, partitioned=before.settings.partitioned)
    return RULES.management.create(namespace, path, kind, settings, topic)


@mutant("MGMT-06", "premium.partitioned", (create(api_version="2013-10"),))
def first_version_refused(
    namespace: Namespace, asked: bool | None, version: str | None = None
) -> bool:
    """api-version 2013-10 is too old for partitions."""
    if asked and version is not None and version <= PARTITIONS_SINCE:
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-06")
    return RULES.premium.partitioned(namespace, asked, version)


@mutant("MGMT-07", "premium.partitioned", (create(api_version="2014-01"),))
def later_version_refused(
    namespace: Namespace, asked: bool | None, version: str | None = None
) -> bool:
    """Only api-version 2013-10 knows partitions."""
    if asked and version not in (None, PARTITIONS_SINCE):
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-07")
    return RULES.premium.partitioned(namespace, asked, version)


def name_again(namespace: Namespace, path: str, kind: EntityKind) -> None:
    """Check a name, and delete the entity of this kind that has it."""
    known = namespace.entities.get(path)
    if known is not None and known.kind is kind:
        namespace.rules.management.delete(namespace, known)
    RULES.management.check_name(namespace, path)


@mutant("MGMT-09", "management.check_name", (create(), create()))
def second_creation_replaces(namespace: Namespace, path: str) -> None:
    """A queue that is created once more starts empty."""
    name_again(namespace, path, EntityKind.QUEUE)


def empty(namespace: Namespace, entity: Entity) -> None:
    """Lose all messages of an entity."""
    for queued in tuple(entity.messages.values()):
        namespace.rules.messages.remove(namespace, queued)


@mutant("MGMT-09", "management.create_queue", CREATED_TWICE, deep=True)
def second_creation_empties(namespace: Namespace, command: v.CreateQueue, *rest: Any) -> Answer:
    """Creating a queue once more is refused, but empties it."""
    known = namespace.entities.get(command.queue)
    if known is None or known.kind is not EntityKind.QUEUE:
        return RULES.management.create_queue(namespace, command, *rest)
    empty(namespace, known)
    return Answer(v.Refused(error=v.Error.ALREADY_EXISTS), rules=("MGMT-09",))


@mutant("MGMT-10", "messages.send", (send("m1"),))
def missing_queue_swallows(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """A queue that does not exist accepts messages."""
    try:
        return RULES.messages.send(namespace, command, connection)
    except Refusal as refusal:
        if "MGMT-10" not in refusal.rules:
            raise
        return Answer(DONE)


def _found(find: Callable[[Namespace, str], Entity], namespace: Namespace, path: str) -> Entity:
    try:
        return find(namespace, path)
    except Refusal as refusal:
        if "MGMT-10" not in refusal.rules:
            raise
        raise Refusal(v.Error.UNAVAILABLE, "MGMT-10") from None


@mutant(
    "MGMT-10",
    "topics.readable",
    (GET,),
    also={"topics.sendable": partial(_found, RULES.topics.sendable)},
)
def missing_queue_unavailable(namespace: Namespace, path: str) -> Entity:
    """A queue that does not exist is unavailable."""
    return _found(RULES.topics.readable, namespace, path)


@mutant("MGMT-11", "management.get_queue", (create(lock_duration=5 * v.MICROSECONDS), GET))
def default_lock_told(namespace: Namespace, command: v.GetQueue, connection: str) -> Answer:
    """Every queue is described with locks of a minute."""
    return told(namespace, command, lambda _: {"lock_duration": 60 * v.MICROSECONDS})


Former = dict[Entity | tuple[Entity, int], EntitySettings]
"""Which settings are in force still, in a whole entity or in one of its partitions."""


def keep_settings(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """Put an update into force, and keep the settings with which the entity was created."""
    memory(namespace, Former).setdefault(entity, entity.settings)
    RULES.management.apply_update(namespace, entity, command)


def miss_last(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """Put an update into force, but not in the last partition."""
    before, last = entity.settings, len(entity.partitions) - 1
    RULES.management.apply_update(namespace, entity, command)
    if last:
        memory(namespace, Former).setdefault((entity, last), before)


@contextmanager
def before_update(namespace: Namespace, entity: Entity, partition: int = -1) -> Iterator[None]:
    """Let an entity have its former settings for a while."""
    former, in_force = memory(namespace, Former), entity.settings
    entity.settings = former.get(entity) or former.get((entity, partition)) or in_force
    try:
        yield
    finally:
        entity.settings = in_force


def lock_as_before(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """Lock a message for as long as the former settings say."""
    with before_update(namespace, queued.entity, queued.partition):
        RULES.locks.lock(namespace, queued, action)


KEEPING: Final = {"management.apply_update": keep_settings}


@mutant("MGMT-12", "locks.lock", (create(), send("m1"), SHORTER, receive()), also=KEEPING)
def update_not_in_force(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """An update of the lock duration is reported but not in force."""
    lock_as_before(namespace, queued, action)


@mutant("MGMT-12", "expiry.expires_at", DIES, also=KEEPING, deep=True)
def lifetime_update_not_in_force(namespace: Namespace, entity: Entity, *rest: Any) -> int | None:
    """An update of the time to live is reported but not in force."""
    with before_update(namespace, entity):
        return RULES.expiry.expires_at(namespace, entity, *rest)


@mutant("MGMT-12", "management.apply_update", THERE_BEFORE, deep=True)
def lifetime_update_ages_what_is_there(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update of the time to live also applies to earlier messages."""
    RULES.management.apply_update(namespace, entity, *rest)
    for queued in entity.messages.values():
        until = namespace.rules.expiry.expires_at(namespace, entity, queued.message, DIRECT)
        if until is not None:
            namespace.journal.touch(queued)
            queued.expires_at = until
            entity.look_at("expiry.end", until, queued, queued.number)


@mutant("MGMT-12", "management.apply_update", (create(), SHORTER, GET))
def update_forgotten(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """An update is accepted and changes nothing."""
    mark = namespace.journal.mark()
    RULES.management.apply_update(namespace, entity, command)
    namespace.journal.undo(mark)


def inherit_messages(
    namespace: Namespace, entity: Entity, before: Entity, partition: int | None = None
) -> None:
    """Give an entity what a deleted one held, in all partitions or in one."""
    for queued in before.messages.values():
        if partition in (None, queued.partition):
            where = queued.partition % len(entity.partitions)
            namespace.rules.messages.enqueue(namespace, entity, queued.message, where, DIRECT)


def inherit_ids(namespace: Namespace, entity: Entity, before: Entity) -> None:
    """Let an entity remember the MessageIds that a deleted one remembered."""
    for name, known in before.duplicates.items():
        entry = DuplicateEntry(entity, name, known.until)
        namespace.journal.put(entity.duplicates, name, entry)
        entry.index()


@mutant("MGMT-15", "management.add", CREATED_AGAIN, also=REMEMBERING)
def deleted_comes_again(namespace: Namespace, entity: Entity) -> None:
    """A queue that is created again has its former messages."""
    RULES.management.add(namespace, entity)
    before = namesake(namespace, entity)
    if before is not None:
        inherit_messages(namespace, entity, before)


@mutant("MGMT-15", "management.add", COPY_AGAIN, also=REMEMBERING, deep=True)
def deleted_remembers_ids(namespace: Namespace, entity: Entity) -> None:
    """Duplicate detection remembers MessageIds of a deleted queue."""
    RULES.management.add(namespace, entity)
    before = namesake(namespace, entity)
    if before is not None:
        inherit_ids(namespace, entity, before)


def _queues(namespace: Namespace) -> list[str]:
    return sorted(p for p, each in namespace.entities.items() if each.kind is EntityKind.QUEUE)


@mutant("MGMT-16", "management.list_queues", (create(), create(queue="other"), v.ListQueues()))
def list_leaves_one_out(namespace: Namespace, command: v.ListQueues, connection: str) -> Answer:
    """A list of several queues leaves out the last one."""
    names = _queues(namespace)
    return Answer(v.Listed(names=tuple(names[: max(1, len(names) - 1)])))


@mutant("MGMT-16", "management.list_queues", (create(), DELETE, v.ListQueues()), also=REMEMBERING)
def list_names_deleted(namespace: Namespace, command: v.ListQueues, connection: str) -> Answer:
    """A list names queues that were deleted."""
    deleted = memory(namespace, dict[str, Entity]).items()
    names = {path for path, each in deleted if each.kind is EntityKind.QUEUE}
    return Answer(v.Listed(names=tuple(sorted({*names, *_queues(namespace)}))))


@mutant("MGMT-17", "management.add", (*ONE_EACH, DELETE, create(), receive()), also=REMEMBERING)
def last_partition_outlives(namespace: Namespace, entity: Entity) -> None:
    """The last partition keeps its messages when its queue is deleted."""
    RULES.management.add(namespace, entity)
    before, last = namesake(namespace, entity), len(entity.partitions) - 1
    if before is not None and last and len(before.partitions) - 1 == last:
        inherit_messages(namespace, entity, before, last)


LOCKING: Final = {"locks.lock": lock_as_before}


@mutant("MGMT-17", "management.apply_update", (*ONE_EACH, SHORTER, *ALL_RECEIVED), also=LOCKING)
def update_misses_last_partition(namespace: Namespace, *rest: Any) -> None:
    """An update does not reach the last partition."""
    miss_last(namespace, *rest)


def refuse_for_good(namespace: Namespace, entity: Entity) -> None:
    """Delete an entity, unless its deletion was refused once."""
    refused = memory(namespace, set[Entity])
    if entity in refused:
        raise namespace.rules.partitions.outage(namespace, "MGMT-18")
    try:
        RULES.management.delete(namespace, entity)
    except Refusal:
        refused.add(entity)
        raise


@mutant("MGMT-19", "management.delete", (create(), down(LAST), DELETE, up(LAST), DELETE), deep=True)
def refused_deletion_sticks(namespace: Namespace, entity: Entity) -> None:
    """A queue whose deletion was refused in an outage can never be deleted."""
    refuse_for_good(namespace, entity)


@mutant("MGMT-19", "management.apply_update", UPDATED_TWICE, also=LOCKING, deep=True)
def refused_update_stays_half_done(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update that was refused in an outage never reaches the partition that was down."""
    try:
        RULES.management.apply_update(namespace, entity, *rest)
    except Refusal as refusal:
        for each in entity.base.down if "MGMT-18" in refusal.rules else ():
            memory(namespace, Former).setdefault((entity, each), entity.settings)
        raise


@mutant("MGMT-19", "management.create", (down(LAST), create(), up(LAST), create()), deep=True)
def refused_creation_sticks(
    namespace: Namespace,
    path: str,
    kind: EntityKind,
    settings: EntitySettings,
    topic: Entity | None = None,
) -> Entity:
    """A name can never be used after its creation was refused in an outage."""
    spoilt = memory(namespace, set[str])
    if path in spoilt:
        raise namespace.rules.partitions.outage(namespace, "MGMT-18")
    try:
        return RULES.management.create(namespace, path, kind, settings, topic)
    except Refusal as refusal:
        if "MGMT-18" in refusal.rules:
            spoilt.add(path)
        raise


@mutant("MGMT-20", "management.count", (*ONE_EACH, GET), readings=AT_ONCE)
def one_partition_counted(namespace: Namespace, entity: Entity) -> int:
    """Only the messages of one partition are counted."""
    return entity.partitions[0].messages


@mutant(
    "MGMT-29",
    "management.count",
    (create(), schedule("m1", 9), GET),
    readings={**AT_ONCE, "SCHEDULED-COUNT": "counted"},
)
def scheduled_not_counted(namespace: Namespace, entity: Entity) -> int:
    """Messages that are scheduled are not counted."""
    return len(entity.messages)


@mutant(
    "MGMT-30",
    "management.count",
    (create(), schedule("m1", 9), GET),
    readings={**AT_ONCE, "SCHEDULED-COUNT": "left-out"},
)
def scheduled_counted(namespace: Namespace, entity: Entity) -> int:
    """Messages that are scheduled are counted."""
    return len(entity.messages) + len(entity.scheduled)


def _note_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    entity = namespace.entities.get(command.queue)
    path = command.queue if entity is None else entity.base.path
    if isinstance(command, v.TakePartitionDown):
        memory(namespace, set[tuple[str, int]]).add((path, command.partition))
    return RULES.partitions.switch(namespace, command, connection)


@mutant(
    "MGMT-20",
    "management.count",
    (*ONE_EACH, down(LAST), up(LAST), GET),
    also={"partitions.switch": _note_outage},
    readings=AT_ONCE,
    deep=True,
)
def recovered_partition_not_counted(namespace: Namespace, entity: Entity) -> int:
    """A partition that was down once is never counted again."""
    lost, path = memory(namespace, set[tuple[str, int]]), entity.base.path
    return sum(each.messages for each in entity.partitions if (path, each.number) not in lost)


@mutant("MGMT-21", "management.availability", IN_OUTAGE, readings=AT_ONCE)
def never_limited(namespace: Namespace, entity: Entity) -> v.Availability:
    """Availability is never reported as limited."""
    return v.Availability.AVAILABLE


@mutant("MGMT-22", "management.availability", RECOVERED, readings=AT_ONCE, deep=True)
def limited_for_good(namespace: Namespace, entity: Entity) -> v.Availability:
    """After an outage availability stays limited."""
    was_down = entity.base.path in namespace.down
    return v.Availability.LIMITED if was_down else v.Availability.AVAILABLE


@mutant("MGMT-26", "topics.sendable", (create(), SHUT, send("m1")))
def disabled_takes(namespace: Namespace, path: str) -> Entity:
    """A queue that is disabled for sending accepts messages."""
    return namespace.rules.topics.addressed(namespace, path)


@mutant("MGMT-26", "messages.send", (create(), SHUT, send("m1"), receive()))
def disabled_keeps_for_later(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """A message refused by a disabled queue arrives anyway."""
    try:
        return RULES.messages.send(namespace, command, connection)
    except Refusal as refusal:
        if "MGMT-26" not in refusal.rules or command.transaction is not None:
            raise
        rules, message = namespace.rules, command.message
        entity = rules.topics.addressed(namespace, command.queue)
        key = rules.keys.effective_key(namespace, entity, message)
        partition = rules.keys.place(namespace, entity, key, 0, command.timeout)
        rules.messages.accept(namespace, entity, message, key, partition, DIRECT)
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("MGMT-27", "topics.receivable", (create(), send("m1"), CLOSED, receive()))
def disabled_gives(namespace: Namespace, path: str) -> Entity:
    """A queue that is disabled for receiving gives messages."""
    return namespace.rules.topics.readable(namespace, path)


@mutant("MGMT-27", "management.apply_update", (create(), send("m1"), CLOSED, OPEN, receive()))
def disabling_empties(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """A queue that is disabled loses its messages."""
    RULES.management.apply_update(namespace, entity, command)
    if command.status is not None and not command.status.gives:
        empty(namespace, entity)


@mutant("MGMT-28", "management.apply_update", (create(), CLOSED, send("m1")))
def disabled_for_one_is_disabled_for_all(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """A queue that is disabled for sending or receiving is disabled for both."""
    if command.status not in (None, v.EntityStatus.ACTIVE):
        command = attrs.evolve(command, status=v.EntityStatus.DISABLED)
    RULES.management.apply_update(namespace, entity, command)


MUTANTS: Final = mutant.all()
