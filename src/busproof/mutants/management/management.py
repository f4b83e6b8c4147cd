"""Mutants of MGMT: creating, describing, listing, changing, disabling and deleting queues."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.management import Management
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.premium import PARTITIONS_SINCE, Premium
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.topics import Topics
from busproof.model.values import DIRECT, EntityKind, EntitySettings
from busproof.mutants.entities import Switch
from busproof.mutants.mutant import memory, mutant, run
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


def update_fixed(**changes: Any) -> Run:
    """Return a run that updates settings that are fixed at creation."""
    return (create(), v.UpdateQueue(queue=QUEUE, **changes), GET)


@mutant("MGMT-01", (create(), GET))
class PartitioningNotTold(Management):
    """A partitioned queue is described as a regular one."""

    @tells("description")
    def get_queue(self, usual: v.QueueDescription) -> v.QueueDescription:
        return attrs.evolve(usual, partitioned=usual.partitioned and False)


@mutant("MGMT-01", (create(), GET))
class OptionIgnored(Premium):
    """A queue that is created with partitions is described so, but has none."""

    def partitioned(self, wanted: bool | None, version: str | None = None) -> bool:
        super().partitioned(wanted, version)
        return False


@mutant("MGMT-02", (WITH_SESSIONS,))
class NoPartitionsWithSessions(Management):
    """A queue that requires sessions cannot be partitioned."""

    @refuses("MGMT-02")
    def create_queue(self, command: v.CreateQueue) -> bool:
        return bool(command.partitioned and command.requires_session)


@mutant("MGMT-02", (WITH_BOTH,), deep=True)
class NoPartitionsWithSessionsAndDetection(Management):
    """A queue with both sessions and duplicate detection cannot be partitioned."""

    @refuses("MGMT-02")
    def create_queue(self, command: v.CreateQueue) -> bool:
        both = command.requires_session and command.duplicate_detection
        return bool(command.partitioned and both)


@mutant("MGMT-03", (create(partitioned=None), GET))
class PartitionedUnasked(Premium):
    """A queue is partitioned if its creation leaves the option out."""

    @with_other("wanted")
    def partitioned(self, wanted: bool | None) -> bool | None:
        return wanted is not False


class ChangesFixed(Management):
    """Apply an update, and change a fixed setting as requested."""

    fixed = ""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        other: Any = {self.fixed: None}
        super().apply_update(entity, attrs.evolve(command, **other))
        wanted = getattr(command, self.fixed)
        if wanted is not None:
            self.namespace.journal.touch(entity)
            entity.settings = attrs.evolve(entity.settings, **{self.fixed: wanted})


@mutant("MGMT-04", update_fixed(partitioned=False))
class UpdateChangesPartitioning(ChangesFixed):
    """An update changes whether a queue is partitioned."""

    fixed = "partitioned"


@mutant("MGMT-13", update_fixed(requires_session=True))
class UpdateChangesSessions(ChangesFixed):
    """An update changes whether sessions are required."""

    fixed = "requires_session"


@mutant("MGMT-14", update_fixed(duplicate_detection=True))
class UpdateChangesDetection(ChangesFixed):
    """An update changes whether duplicates are detected."""

    fixed = "duplicate_detection"


class RememberDeleted(Management):
    """Remember a deleted entity, for a later one of its name."""

    @afterwards
    def delete(self, entity: Entity) -> None:
        memory(self.rules.namespace, dict[str, Entity])[entity.path] = entity


@mutant("MGMT-05", also=(RememberDeleted,))
@run(create(), DELETE, REGULAR, GET)
class CreatedAgainAsBefore(Management):
    """A queue that is created again is partitioned if the deleted queue of its name was."""

    @with_other("settings")
    def create(
        self, path: str, settings: EntitySettings, topic: Entity | None = None
    ) -> EntitySettings:
        before = memory(self.rules.namespace, dict[str, Entity]).get(path)
        if before is None or topic is not None:
            return settings
        return attrs.evolve(settings, partitioned=before.settings.partitioned)


@mutant("MGMT-06", (create(api_version="2013-10"),))
class FirstVersionRefused(Premium):
    """A request with api-version 2013-10 cannot create a partitioned queue."""

    @refuses("MGMT-06")
    def partitioned(self, wanted: bool | None, version: str | None = None) -> bool:
        return bool(wanted) and version is not None and version <= PARTITIONS_SINCE


@mutant("MGMT-07", (create(api_version="2014-01"),))
class LaterVersionRefused(Premium):
    """Only a request with api-version 2013-10 can create a partitioned queue."""

    @refuses("MGMT-07")
    def partitioned(self, wanted: bool | None, version: str | None = None) -> bool:
        return bool(wanted) and version not in (None, PARTITIONS_SINCE)


def name_again(namespace: Namespace, path: str, kind: EntityKind) -> None:
    """Check a name after deleting the entity of this kind that has it."""
    known = namespace.entities.get(path)
    if known is not None and known.kind is kind:
        namespace.rules.management.delete(known)
    Management.check_name(namespace.rules.management, path)


@mutant("MGMT-09", (create(), create()))
class SecondCreationReplaces(Management):
    """Creating an existing queue again succeeds, and leaves it empty."""

    def check_name(self, path: str) -> None:
        name_again(self.rules.namespace, path, EntityKind.QUEUE)


def empty(namespace: Namespace, entity: Entity) -> None:
    """Remove all messages of an entity."""
    for queued in tuple(entity.messages.values()):
        namespace.rules.messages.remove(queued)


@mutant("MGMT-09", CREATED_TWICE, deep=True)
class SecondCreationEmpties(Management):
    """Creating an existing queue again is refused, but removes its messages."""

    def create_queue(self, command: v.CreateQueue, connection: str) -> Answer:
        known = self.namespace.entities.get(command.queue)
        if known is None or known.kind is not EntityKind.QUEUE:
            return super().create_queue(command, connection)
        empty(self.rules.namespace, known)
        return Answer(v.Refused(error=v.Error.ALREADY_EXISTS), rules=("MGMT-09",))


@mutant("MGMT-10", (send("m1"),))
class MissingQueueSwallows(Messages):
    """A send to a queue that does not exist succeeds."""

    @instead_of("MGMT-10")
    def send(self) -> Answer:
        return Answer(DONE)


UNAVAILABLE: Final = refuses_as(v.Error.UNAVAILABLE, "MGMT-10")


class _Unsendable(Topics):
    """Refuse sends with that error as well."""

    @UNAVAILABLE
    def sendable(self) -> None:
        pass


@mutant("MGMT-10", (GET,), also=(_Unsendable,))
class MissingQueueUnavailable(Topics):
    """A request for a missing queue is refused as unavailable, not as not found."""

    @UNAVAILABLE
    def readable(self) -> None:
        pass


@mutant("MGMT-11")
@run(create(lock_duration=5 * v.MICROSECONDS), GET)
class DefaultLockTold(Management):
    """Every queue is described with a lock duration of one minute."""

    @tells("description")
    def get_queue(self, usual: v.QueueDescription) -> v.QueueDescription:
        return attrs.evolve(usual, lock_duration=60 * v.MICROSECONDS)


IN_OUTAGE: Final[Run] = (create(), down(LAST), wait(1), GET)
AT_ONCE: Final = {"GET-LAG": "at-once"}
"""By default a description may be late, and the judge alone sees nothing."""
SHUT: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.SEND_DISABLED)
CLOSED: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN: Final = v.UpdateQueue(queue=QUEUE, status=v.EntityStatus.ACTIVE)
RECOVERED: Final[Run] = (create(), down(LAST), up(LAST), wait(1), GET)


@mutant("MGMT-20", (*ONE_EACH, GET), readings=AT_ONCE)
class OnePartitionCounted(Management):
    """Only the messages of one partition are counted."""

    def count(self, entity: Entity) -> int:
        return entity.partitions[0].messages


@mutant("MGMT-29", readings={**AT_ONCE, "SCHEDULED-COUNT": "counted"})
@run(create(), schedule("m1", 9), GET)
class ScheduledNotCounted(Management):
    """Messages that are scheduled are not counted."""

    def count(self, entity: Entity) -> int:
        return len(entity.messages)


@mutant("MGMT-30", readings={**AT_ONCE, "SCHEDULED-COUNT": "left-out"})
@run(create(), schedule("m1", 9), GET)
class ScheduledCounted(Management):
    """Messages that are scheduled are counted."""

    def count(self, entity: Entity) -> int:
        return len(entity.messages) + len(entity.scheduled)


class _NoteOutage(Partitions):
    @beforehand
    def switch(self, command: Switch) -> None:
        entity = self.namespace.entities.get(command.queue)
        path = command.queue if entity is None else entity.base.path
        if isinstance(command, v.TakePartitionDown):
            memory(self.rules.namespace, set[tuple[str, int]]).add((path, command.partition))


@mutant("MGMT-20", also=(_NoteOutage,), readings=AT_ONCE, deep=True)
@run(*ONE_EACH, down(LAST), up(LAST), GET)
class RecoveredPartitionNotCounted(Management):
    """The messages of a partition that was down once are not counted any more."""

    def count(self, entity: Entity) -> int:
        lost = memory(self.rules.namespace, set[tuple[str, int]])
        path = entity.base.path
        return sum(
            partition.messages
            for partition in entity.partitions
            if (path, partition.number) not in lost
        )


@mutant("MGMT-21", IN_OUTAGE, readings=AT_ONCE)
class NeverLimited(Management):
    """Availability is never reported as limited."""

    def availability(self, entity: Entity) -> v.Availability:
        return v.Availability.AVAILABLE


@mutant("MGMT-21", IN_OUTAGE, readings={**AT_ONCE, "COUNTS-IN-OUTAGE": "left-out"})
class NothingToldInOutage(Management):
    """In an outage every request for a description fails."""

    @refuses("MGMT-21", v.Error.UNAVAILABLE)
    def availability(self, entity: Entity) -> bool:
        return bool(entity.base.down)


@mutant("MGMT-22", RECOVERED, readings=AT_ONCE, deep=True)
class LimitedForGood(Management):
    """After an outage the availability is reported as limited forever."""

    def availability(self, entity: Entity) -> v.Availability:
        was_down = entity.base.path in self.namespace.down
        return v.Availability.LIMITED if was_down else v.Availability.AVAILABLE


@mutant("MGMT-26", (create(), SHUT, send("m1")))
class DisabledTakes(Topics):
    """A queue that is disabled for sending accepts messages."""

    def sendable(self, path: str) -> Entity:
        return self.addressed(path)

    def check_status_last(self, entity: Entity, answer: Answer) -> Answer:
        return answer


@mutant("MGMT-26")
@run(create(), SHUT, send("m1"), receive())
class DisabledKeepsForLater(Messages):
    """A message refused by a disabled queue arrives anyway."""

    @refuses_yet("MGMT-26", in_transactions=False)
    def send(self, command: v.Send) -> None:
        rules = self.rules
        message = command.message
        entity = rules.topics.addressed(command.queue)
        key = rules.keys.effective_key(entity, message)
        partition = rules.keys.place(entity, key, 0, command.timeout)
        rules.messages.accept(entity, message, key, partition, DIRECT)


@mutant("MGMT-27", (create(), send("m1"), CLOSED, receive()))
class DisabledGives(Topics):
    """A queue that is disabled for receiving gives messages."""

    def receivable(self, path: str) -> Entity:
        return self.readable(path)


@mutant("MGMT-27", (create(), send("m1"), CLOSED, OPEN, receive()))
class DisablingEmpties(Management):
    """A queue loses its messages when it is disabled."""

    @afterwards
    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        if command.status is not None and not command.status.gives:
            empty(self.rules.namespace, entity)


@mutant("MGMT-28", (create(), CLOSED, send("m1")))
class DisabledForOneIsDisabledForAll(Management):
    """A queue that is disabled for sending or receiving is disabled for both."""

    @with_other("command")
    def apply_update(self, command: v.UpdateQueue) -> v.UpdateQueue:
        if command.status not in (None, v.EntityStatus.ACTIVE):
            command = attrs.evolve(command, status=v.EntityStatus.DISABLED)
        return command
