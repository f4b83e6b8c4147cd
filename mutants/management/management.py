"""Mutants of MGMT: creating, describing, listing, changing, disabling and deleting queues."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.premium import PARTITIONS_SINCE
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import DIRECT, EntityKind, EntitySettings
from busproof.mutants.entities import Switch
from busproof.mutants.mutant import Rule, beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
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
from busproof.mutants.wrappers import (
    afterwards,
    beforehand,
    does,
    instead_of,
    refuses,
    refuses_as,
    refuses_yet,
    tells,
    with_other,
)

REGULAR: Final = create(partitioned=False)
WITH_SESSIONS: Final = create(requires_session=True)
GET: Final = v.GetQueue(queue=QUEUE)
LAST: Final = PARTITIONS - 1
ONE_EACH: Final[Run] = (create(), *(send(f"m{number}") for number in range(PARTITIONS)))
DELETE: Final = v.DeleteQueue(queue=QUEUE)
WITH_BOTH: Final = create(requires_session=True, duplicate_detection=True)
CREATED_TWICE: Final[Run] = (create(), send("m1"), create(), receive())


def fixed(**changes: Any) -> Run:
    """Return a run that updates settings that are fixed at creation."""
    return (create(), v.UpdateQueue(queue=QUEUE, **changes), GET)


UPDATE: Final = "management.apply_update"


@mutant("MGMT-01", "management.get_queue", (create(), GET), tells("description"))
def partitioning_not_told(usual: v.QueueDescription) -> v.QueueDescription:
    """A partitioned queue is described as a regular one."""
    return attrs.evolve(usual, partitioned=usual.partitioned and False)


@mutant("MGMT-01", "premium.partitioned", (create(), GET))
def option_ignored(namespace: Namespace, wanted: bool | None, version: str | None = None) -> bool:
    """A queue that is created with partitions is described so, but has none."""
    RULES.premium.partitioned(namespace, wanted, version)
    return False


@mutant("MGMT-02", "management.create_queue", (WITH_SESSIONS,), refuses("MGMT-02"))
def no_partitions_with_sessions(command: v.CreateQueue) -> bool:
    """A queue that requires sessions cannot be partitioned."""
    return bool(command.partitioned and command.requires_session)


@mutant("MGMT-02", "management.create_queue", (WITH_BOTH,), refuses("MGMT-02"), deep=True)
def no_partitions_with_sessions_and_detection(command: v.CreateQueue) -> bool:
    """A queue with both sessions and duplicate detection cannot be partitioned."""
    both = command.requires_session and command.duplicate_detection
    return bool(command.partitioned and both)


@mutant("MGMT-03", "premium.partitioned", (create(partitioned=None), GET), with_other("wanted"))
def partitioned_unasked(wanted: bool | None) -> bool | None:
    """A queue is partitioned if its creation leaves the option out."""
    return wanted is not False


def changes_fixed(name: str) -> Rule:
    """Return a function that applies an update, and changes a fixed setting as requested."""

    def change(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
        other: Any = {name: None}
        RULES.management.apply_update(namespace, entity, attrs.evolve(command, **other))
        if getattr(command, name) is not None:
            namespace.journal.touch(entity)
            entity.settings = attrs.evolve(entity.settings, **{name: getattr(command, name)})

    return change


@mutant("MGMT-04", UPDATE, fixed(partitioned=False), does(changes_fixed("partitioned")))
def update_changes_partitioning() -> None:
    """An update changes whether a queue is partitioned."""


@mutant("MGMT-13", UPDATE, fixed(requires_session=True), does(changes_fixed("requires_session")))
def update_changes_sessions() -> None:
    """An update changes whether sessions are required."""


@mutant("MGMT-14", UPDATE, how=does(changes_fixed("duplicate_detection")))
@run(*fixed(duplicate_detection=True))
def update_changes_detection() -> None:
    """An update changes whether duplicates are detected."""


@beside("management.delete", afterwards)
def remember_deleted(namespace: Namespace, entity: Entity) -> None:
    """Remember a deleted entity, for a later one of its name."""
    memory(namespace, dict[str, Entity])[entity.path] = entity


@mutant("MGMT-05", "management.create", how=with_other("settings"), also=remember_deleted)
@run(create(), DELETE, REGULAR, GET)
def created_again_as_before(
    namespace: Namespace, path: str, settings: EntitySettings, topic: Entity | None = None
) -> EntitySettings:
    """A queue that is created again is partitioned if the deleted queue of its name was."""
    before = memory(namespace, dict[str, Entity]).get(path)
    if before is None or topic is not None:
        return settings
    return attrs.evolve(settings, partitioned=before.settings.partitioned)


@mutant("MGMT-06", "premium.partitioned", (create(api_version="2013-10"),), refuses("MGMT-06"))
def first_version_refused(wanted: bool | None, version: str | None = None) -> bool:
    """A request with api-version 2013-10 cannot create a partitioned queue."""
    return bool(wanted) and version is not None and version <= PARTITIONS_SINCE


@mutant("MGMT-07", "premium.partitioned", (create(api_version="2014-01"),), refuses("MGMT-07"))
def later_version_refused(wanted: bool | None, version: str | None = None) -> bool:
    """Only a request with api-version 2013-10 can create a partitioned queue."""
    return bool(wanted) and version not in (None, PARTITIONS_SINCE)


def name_again(namespace: Namespace, path: str, kind: EntityKind) -> None:
    """Check a name after deleting the entity of this kind that has it."""
    known = namespace.entities.get(path)
    if known is not None and known.kind is kind:
        namespace.rules.management.delete(known)
    RULES.management.check_name(namespace, path)


@mutant("MGMT-09", "management.check_name", (create(), create()))
def second_creation_replaces(namespace: Namespace, path: str) -> None:
    """Creating an existing queue again succeeds, and leaves it empty."""
    name_again(namespace, path, EntityKind.QUEUE)


def empty(namespace: Namespace, entity: Entity) -> None:
    """Remove all messages of an entity."""
    for queued in tuple(entity.messages.values()):
        namespace.rules.messages.remove(queued)


@mutant("MGMT-09", "management.create_queue", CREATED_TWICE, deep=True)
def second_creation_empties(namespace: Namespace, command: v.CreateQueue, *rest: Any) -> Answer:
    """Creating an existing queue again is refused, but removes its messages."""
    known = namespace.entities.get(command.queue)
    if known is None or known.kind is not EntityKind.QUEUE:
        return RULES.management.create_queue(namespace, command, *rest)
    empty(namespace, known)
    return Answer(v.Refused(error=v.Error.ALREADY_EXISTS), rules=("MGMT-09",))


@mutant("MGMT-10", "messages.send", (send("m1"),), instead_of("MGMT-10"))
def missing_queue_swallows() -> Answer:
    """A send to a queue that does not exist succeeds."""
    return Answer(DONE)


UNAVAILABLE: Final = refuses_as(v.Error.UNAVAILABLE, "MGMT-10")


@beside("topics.sendable", UNAVAILABLE)
def _unsendable() -> None:
    """Refuse sends with that error as well."""


@mutant("MGMT-10", "topics.readable", (GET,), UNAVAILABLE, also=_unsendable)
def missing_queue_unavailable() -> None:
    """A request for a missing queue is refused as unavailable, not as not found."""


@mutant("MGMT-11", "management.get_queue", how=tells("description"))
@run(create(lock_duration=5 * v.MICROSECONDS), GET)
def default_lock_told(usual: v.QueueDescription) -> v.QueueDescription:
    """Every queue is described with a lock duration of one minute."""
    return attrs.evolve(usual, lock_duration=60 * v.MICROSECONDS)


IN_OUTAGE: Final[Run] = (create(), down(LAST), wait(1), GET)
AT_ONCE: Final = {"GET-LAG": "at-once"}
"""By default a description may be late, and the judge alone sees nothing."""
SHUT: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.SEND_DISABLED)
CLOSED: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.ACTIVE)
RECOVERED: Final[Run] = (create(), down(LAST), up(LAST), wait(1), GET)


@mutant("MGMT-20", "management.count", (*ONE_EACH, GET), readings=AT_ONCE)
def one_partition_counted(entity: Entity) -> int:
    """Only the messages of one partition are counted."""
    return entity.partitions[0].messages


@mutant("MGMT-29", "management.count", readings={**AT_ONCE, "SCHEDULED-COUNT": "counted"})
@run(create(), schedule("m1", 9), GET)
def scheduled_not_counted(entity: Entity) -> int:
    """Messages that are scheduled are not counted."""
    return len(entity.messages)


@mutant("MGMT-30", "management.count", readings={**AT_ONCE, "SCHEDULED-COUNT": "left-out"})
@run(create(), schedule("m1", 9), GET)
def scheduled_counted(entity: Entity) -> int:
    """Messages that are scheduled are counted."""
    return len(entity.messages) + len(entity.scheduled)


@beside("partitions.switch", beforehand)
def _note_outage(namespace: Namespace, command: Switch) -> None:
    entity = namespace.entities.get(command.queue)
    path = command.queue if entity is None else entity.base.path
    if isinstance(command, v.TakePartitionDown):
        memory(namespace, set[tuple[str, int]]).add((path, command.partition))


@mutant("MGMT-20", "management.count", also=_note_outage, readings=AT_ONCE, deep=True)
@run(*ONE_EACH, down(LAST), up(LAST), GET)
def recovered_partition_not_counted(namespace: Namespace, entity: Entity) -> int:
    """The messages of a partition that was down once are not counted any more."""
    lost, path = memory(namespace, set[tuple[str, int]]), entity.base.path
    return sum(
        partition.messages
        for partition in entity.partitions
        if (path, partition.number) not in lost
    )


@mutant("MGMT-21", "management.availability", IN_OUTAGE, readings=AT_ONCE)
def never_limited() -> v.Availability:
    """Availability is never reported as limited."""
    return v.Availability.AVAILABLE


@mutant("MGMT-22", "management.availability", RECOVERED, readings=AT_ONCE, deep=True)
def limited_for_good(namespace: Namespace, entity: Entity) -> v.Availability:
    """After an outage the availability is reported as limited forever."""
    was_down = entity.base.path in namespace.down
    return v.Availability.LIMITED if was_down else v.Availability.AVAILABLE


@mutant("MGMT-26", "topics.sendable", (create(), SHUT, send("m1")))
def disabled_takes(namespace: Namespace, path: str) -> Entity:
    """A queue that is disabled for sending accepts messages."""
    return namespace.rules.topics.addressed(path)


@mutant("MGMT-26", "messages.send", how=refuses_yet("MGMT-26", in_transactions=False))
@run(create(), SHUT, send("m1"), receive())
def disabled_keeps_for_later(namespace: Namespace, command: v.Send) -> None:
    """A message refused by a disabled queue arrives anyway."""
    rules, message = namespace.rules, command.message
    entity = rules.topics.addressed(command.queue)
    key = rules.keys.effective_key(entity, message)
    partition = rules.keys.place(entity, key, 0, command.timeout)
    rules.messages.accept(entity, message, key, partition, DIRECT)


@mutant("MGMT-27", "topics.receivable", (create(), send("m1"), CLOSED, receive()))
def disabled_gives(namespace: Namespace, path: str) -> Entity:
    """A queue that is disabled for receiving gives messages."""
    return namespace.rules.topics.readable(path)


@mutant("MGMT-27", UPDATE, (create(), send("m1"), CLOSED, OPEN, receive()), afterwards)
def disabling_empties(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """A queue loses its messages when it is disabled."""
    if command.status is not None and not command.status.gives:
        empty(namespace, entity)


@mutant("MGMT-28", "management.apply_update", (create(), CLOSED, send("m1")), with_other("command"))
def disabled_for_one_is_disabled_for_all(command: v.UpdateQueue) -> v.UpdateQueue:
    """A queue that is disabled for sending or receiving is disabled for both."""
    if command.status not in (None, v.EntityStatus.ACTIVE):
        command = attrs.evolve(command, status=v.EntityStatus.DISABLED)
    return command
