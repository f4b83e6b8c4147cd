"""Mutants of MGMT: creating, describing, listing, changing, disabling and deleting queues."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.premium import PARTITIONS_SINCE
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import EntityKind, EntitySettings, Refusal
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import QUEUE, Run, create, receive, send
from busproof.mutants.wrappers import instead_of, with_other

__all__ = [
    "DELETE",
    "GET",
    "REMEMBERING",
    "change_fixed",
    "described",
    "empty",
    "name_again",
]

REGULAR: Final = create(partitioned=False)
WITH_SESSIONS: Final = create(requires_session=True)
GET: Final = v.GetQueue(queue=QUEUE)
DELETE: Final = v.DeleteQueue(queue=QUEUE)
WITH_BOTH: Final = create(requires_session=True, duplicate_detection=True)
CREATED_TWICE: Final[Run] = (create(), send("m1"), create(), receive())


def fixed(**changes: Any) -> Run:
    """An update of what is fixed at creation."""
    return (create(), v.UpdateQueue(queue=QUEUE, **changes), GET)


def described(
    namespace: Namespace, command: v.GetQueue, changes: Callable[[v.QueueDescription], Any]
) -> Answer:
    """Return the description of a queue with some values changed."""
    outcome = RULES.management.get_queue(namespace, command, "").outcome
    if not isinstance(outcome, v.Described):
        raise AssertionError("a description that is not refused is one")  # noqa: TRY004
    description = attrs.evolve(outcome.description, **changes(outcome.description))
    return Answer(v.Described(description=description), rules=("MGMT-11",))


@mutant("MGMT-01", "management.get_queue", (create(), GET))
def partitioning_not_told(namespace: Namespace, command: v.GetQueue) -> Answer:
    """A partitioned queue is described as a regular one."""
    return described(
        namespace, command, lambda description: {"partitioned": description.partitioned and False}
    )


@mutant("MGMT-01", "premium.partitioned", (create(), GET))
def option_ignored(namespace: Namespace, wanted: bool | None, version: str | None = None) -> bool:
    """A queue that is created with the option has no partitions."""
    RULES.premium.partitioned(namespace, wanted, version)
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


@mutant("MGMT-03", "premium.partitioned", (create(partitioned=None), GET), with_other("wanted"))
def partitioned_unasked(wanted: bool | None) -> bool | None:
    """A queue is partitioned unless the option says no."""
    return wanted is not False


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


REMEMBERING: Final = {"management.delete": keep_deleted}


@mutant(
    "MGMT-05",
    "management.create",
    (create(), DELETE, REGULAR, GET),
    with_other("settings"),
    also=REMEMBERING,
)
def created_again_as_before(
    namespace: Namespace, path: str, settings: EntitySettings, topic: Entity | None = None
) -> EntitySettings:
    """A queue that is created again has the partitioning option of its deleted namesake."""
    before = memory(namespace, dict[str, Entity]).get(path)
    if before is None or topic is not None:
        return settings
    return attrs.evolve(settings, partitioned=before.settings.partitioned)


@mutant("MGMT-06", "premium.partitioned", (create(api_version="2013-10"),))
def first_version_refused(
    namespace: Namespace, wanted: bool | None, version: str | None = None
) -> bool:
    """api-version 2013-10 is too old for partitions."""
    if wanted and version is not None and version <= PARTITIONS_SINCE:
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-06")
    return RULES.premium.partitioned(namespace, wanted, version)


@mutant("MGMT-07", "premium.partitioned", (create(api_version="2014-01"),))
def later_version_refused(
    namespace: Namespace, wanted: bool | None, version: str | None = None
) -> bool:
    """Only api-version 2013-10 knows partitions."""
    if wanted and version not in (None, PARTITIONS_SINCE):
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-07")
    return RULES.premium.partitioned(namespace, wanted, version)


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


@mutant("MGMT-10", "messages.send", (send("m1"),), instead_of("MGMT-10"))
def missing_queue_swallows() -> Answer:
    """A queue that does not exist accepts messages."""
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
def default_lock_told(namespace: Namespace, command: v.GetQueue) -> Answer:
    """Every queue is described with locks of a minute."""
    return described(namespace, command, lambda _: {"lock_duration": 60 * v.MICROSECONDS})
