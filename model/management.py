"""MGMT: creating, describing, changing and deleting entities.

A request applies to all partitions of an entity or to none. While one of them is down it may be
refused, and then this bus changes nothing (MANAGEMENT-IN-OUTAGE). Some settings are fixed at
creation; a change of another one applies to locks and messages that begin after it. A deleted
entity takes its messages with it, and a new one under the same name starts empty.
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.state import NO_PARTITIONS, Entity, Namespace, Partition
from busproof.model.values import EntityKind, EntitySettings, Refusal

__all__ = ["Management", "build", "parts"]

FIXED: Final = {
    "partitioned": "MGMT-04",
    "requires_session": "MGMT-13",
    "duplicate_detection": "MGMT-14",
}
"""Settings that are fixed at creation, each with the rule that says so."""


def create_queue(namespace: Namespace, command: v.CreateQueue, connection: str) -> Answer:
    """MGMT-01 to MGMT-03, MGMT-09, DLQ-04, LOCK-02: check a request, and create its queue."""
    rules = namespace.rules
    rules.management.check_name(namespace, command.queue)
    if command.requires_session or command.duplicate_detection or v.destinations(command):
        rules.management.check_basic(namespace)
    partitioned = rules.premium.partitioned(namespace, command.partitioned, command.api_version)
    size = rules.sizes.granted_size(namespace, command.max_size)
    settings = EntitySettings.of(command, partitioned=partitioned, max_size=size)
    rules.management.create(namespace, command.queue, EntityKind.QUEUE, settings)
    return Answer(DONE, rules=("MGMT-01",))


def restore_queue(namespace: Namespace, command: v.RestoreQueue, connection: str) -> Answer:
    """PREM-03: add a partitioned queue from the time when the tier still permitted creating one."""
    if command.queue in namespace.entities:
        raise Refusal(v.Error.ALREADY_EXISTS, "MGMT-09")
    settings = EntitySettings.of(command, partitioned=True)
    entity = build(namespace, command.queue, EntityKind.QUEUE, settings, None)
    namespace.rules.management.add(namespace, entity)
    return Answer(DONE, rules=("PREM-03",))


def check_name(namespace: Namespace, path: str) -> None:
    """MGMT-09, LIMIT-18, DLQ-08: check that a queue or topic can be created under this name."""
    if path in namespace.entities:
        raise Refusal(v.Error.ALREADY_EXISTS, "MGMT-09")
    if v.is_dead_letter_queue(path):
        raise Refusal(v.Error.INVALID_OPERATION, "DLQ-08")
    namespace.rules.limits.check_name(namespace, path)


def check_basic(namespace: Namespace) -> None:
    """MGMT-24: refuse, in Basic, a request for what that tier lacks, if the reading says so.

    Basic has no topics, sessions, duplicate detection, forwarding or transactions.
    """
    basic, readings = namespace.profile.tier is v.Tier.BASIC, ("offered", "refused")
    if basic and namespace.reading("BASIC-FEATURES", *readings) == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "MGMT-24")


def create(
    namespace: Namespace,
    path: str,
    kind: EntityKind,
    settings: EntitySettings,
    topic: Entity | None = None,
) -> Entity:
    """MGMT-17, MGMT-18: create an entity in all of its partitions, or not at all.

    A subscription can be created in an outage of its topic; no document says that this may fail.
    """
    rules = namespace.rules
    rules.locks.check_duration(namespace, settings.lock_duration)
    rules.forwarding.check_settings(namespace, settings)
    if settings.duplicate_detection:
        rules.duplicates.check_window(namespace, settings.duplicate_window)
    entity = build(namespace, path, kind, settings, topic)
    rules.quotas.check(namespace, kind, len(entity.partitions))
    if topic is None:
        rules.management.check_outage(namespace, entity)
    rules.management.add(namespace, entity)
    return entity


def build(
    namespace: Namespace,
    path: str,
    kind: EntityKind,
    settings: EntitySettings,
    topic: Entity | None,
) -> Entity:
    """DLQ-08, TOPIC-08: build an entity and its dead-letter queues, which share its partitions."""
    sizes = namespace.rules.sizes
    partitioned, size = settings.partitioned, settings.max_size
    count = sizes.partition_count(namespace, partitioned=partitioned, size=size)
    if topic is not None:
        count = len(topic.partitions)
    capacity = sizes.capacity(namespace, partitioned=partitioned, size=size)

    def one(suffix: str, kind: EntityKind, settings: EntitySettings) -> Entity:
        partitions = tuple(Partition(number) for number in range(count))
        return Entity(namespace, path + suffix, kind, settings, partitions, capacity)

    entity = one("", kind, settings)
    entity.base, entity.owner = topic or entity, entity
    if kind is EntityKind.TOPIC:
        entity.subscriptions = ()
    else:
        beneath = attrs.evolve(
            settings,
            requires_session=False,
            duplicate_detection=False,
            forward_to=settings.forward_dead_letters_to,
            forward_dead_letters_to=None,
        )
        entity.dead_letters = one(v.DEAD_LETTERS, EntityKind.DEAD_LETTERS, beneath)
        beneath = attrs.evolve(beneath, forward_to=None)
        entity.transfers = one(v.TRANSFERS, EntityKind.TRANSFERS, beneath)
        for dlq in (entity.dead_letters, entity.transfers):
            dlq.base, dlq.owner = entity.base, entity
    if topic is None:
        down = namespace.down.get(path, NO_PARTITIONS)
        entity.down = frozenset(number for number in down if number < count)
    return entity


def parts(entity: Entity) -> tuple[Entity, ...]:
    """Return an entity with its dead-letter queues, and a topic with its subscriptions, too."""
    beneath = [child for child in (entity.dead_letters, entity.transfers) if child is not None]
    copies = (part for subscription in entity.subscriptions or () for part in parts(subscription))
    return (entity, *beneath, *copies)


def add(namespace: Namespace, entity: Entity) -> None:
    """MGMT-17: add an entity with its dead-letter queues to the namespace, and count it."""
    for part in parts(entity):
        namespace.journal.put(namespace.entities, part.path, part)
    namespace.rules.quotas.count(namespace, entity, 1)


def check_outage(namespace: Namespace, entity: Entity) -> None:
    """MGMT-18, MGMT-19: refuse a request to all partitions while one is down, or let it pass."""
    if not entity.base.down:
        return
    fails = namespace.profile.readings.get("MANAGEMENT-IN-OUTAGE") == "fails"
    if fails or namespace.choices.pick("MGMT-18", ("refused", "done")) == "refused":
        raise namespace.rules.partitions.outage(namespace, "MGMT-18")


def managed(namespace: Namespace, path: str) -> Entity:
    """MGMT-10: return the queue or subscription with this path; a dead-letter queue is refused."""
    entity = namespace.rules.topics.readable(namespace, path)
    if entity.dead_letters is None:
        raise Refusal(v.Error.INVALID_OPERATION)
    return entity


def get_queue(namespace: Namespace, command: v.GetQueue, connection: str) -> Answer:
    """MGMT-11, MGMT-20 to MGMT-23: describe a queue or a subscription."""
    rules = namespace.rules
    entity = managed(namespace, command.queue)
    settings, own = entity.settings, entity.kind is EntityKind.QUEUE
    transfers = entity.transfers
    description = v.QueueDescription(
        queue=entity.path,
        partitioned=settings.partitioned if own else None,
        requires_session=settings.requires_session,
        duplicate_detection=settings.duplicate_detection if own else None,
        duplicate_window=settings.duplicate_window if own else None,
        lock_duration=settings.lock_duration,
        max_delivery_count=settings.max_delivery_count,
        time_to_live=settings.time_to_live,
        max_size=rules.sizes.greatest_size(namespace, entity),
        message_count=rules.management.count(namespace, entity),
        size=rules.sizes.used(namespace, entity),
        availability=rules.management.availability(namespace, entity),
        transfer_dead_letters=0 if transfers is None else len(transfers.messages),
    )
    return Answer(v.Described(description=description), rules=("MGMT-11",))


def count(namespace: Namespace, entity: Entity) -> int:
    """MGMT-20, MGMT-23, MGMT-29, MGMT-30: return the message count in an entity's description.

    COUNTS-IN-OUTAGE decides whether messages in partitions that are down count, and SCHEDULED-COUNT
    whether scheduled ones do.
    """
    down = entity.base.down
    if down:
        answers = ("COUNTS-IN-OUTAGE", "MGMT-23", "left-out", "counted")
        if namespace.rules.partitions.answer_of(namespace, *answers) == "left-out":
            return sum(part.messages for part in entity.partitions if part.number not in down)
    scheduled = len(entity.scheduled)
    if scheduled and namespace.reading("SCHEDULED-COUNT", "left-out", "counted") == "left-out":
        scheduled = 0
    return len(entity.messages) + scheduled


def availability(namespace: Namespace, entity: Entity) -> v.Availability:
    """MGMT-21, MGMT-22: return the availability, which is limited while a partition is down."""
    return v.Availability.LIMITED if entity.base.down else v.Availability.AVAILABLE


def list_queues(namespace: Namespace, command: v.ListQueues, connection: str) -> Answer:
    """MGMT-16: return the name of each queue once."""
    names = (path for path, entity in namespace.entities.items() if entity.kind is EntityKind.QUEUE)
    return Answer(v.Listed(names=tuple(sorted(names))), rules=("MGMT-16",))


def update_queue(namespace: Namespace, command: v.UpdateQueue, connection: str) -> Answer:
    """MGMT-04, MGMT-12 to MGMT-14, FWD-05: change the settings of a queue or subscription.

    Whether an update of a subscription may name a setting of its topic is open (ROLE-STATUS).
    """
    entity = managed(namespace, command.queue)
    if entity.kind is EntityKind.SUBSCRIPTION:
        of_topic = (command.partitioned, command.duplicate_detection) != (None, None)
        refused = of_topic and namespace.profile.readings.get("ROLE-STATUS") == "refused"
        if refused or command.status is v.EntityStatus.SEND_DISABLED:
            raise Refusal(v.Error.INVALID_OPERATION)
    namespace.rules.management.apply_update(namespace, entity, command)
    return Answer(DONE, rules=("MGMT-12",))


def apply_update(namespace: Namespace, entity: Entity, command: v.UpdateQueue) -> None:
    """MGMT-04, MGMT-12 to MGMT-14: apply all changes of an update, or refuse it."""
    rules, before = namespace.rules, entity.settings
    for name, rule in FIXED.items():
        if getattr(command, name) not in (None, getattr(before, name)):
            raise Refusal(v.Error.INVALID_OPERATION, rule)
    rules.locks.check_duration(namespace, command.lock_duration)
    after = attrs.evolve(
        before,
        lock_duration=command.lock_duration or before.lock_duration,
        max_delivery_count=command.max_delivery_count or before.max_delivery_count,
        time_to_live=command.time_to_live or before.time_to_live,
    )
    if command.forward_to is not None:
        after = attrs.evolve(after, forward_to=command.forward_to or None)
        if command.forward_to:
            rules.forwarding.check_settings(namespace, after)
    rules.management.check_outage(namespace, entity)
    journal, dlq = namespace.journal, entity.dead_letters
    journal.touch(entity)
    entity.settings = after
    entity.status = command.status or entity.status
    if dlq is not None:
        journal.touch(dlq)
        dlq.settings = attrs.evolve(dlq.settings, lock_duration=after.lock_duration)


def delete_queue(namespace: Namespace, command: v.DeleteQueue, connection: str) -> Answer:
    """MGMT-15: delete a queue or a subscription."""
    namespace.rules.management.delete(namespace, managed(namespace, command.queue))
    return Answer(DONE, rules=("MGMT-15",))


def delete(namespace: Namespace, entity: Entity) -> None:
    """MGMT-05, MGMT-15, TOPIC-22, TOPIC-23: delete an entity and everything that belongs to it."""
    rules, journal = namespace.rules, namespace.journal
    rules.management.check_outage(namespace, entity)
    topic = entity.base
    if entity.kind is EntityKind.SUBSCRIPTION:
        journal.touch(topic)
        others = (other for other in topic.subscriptions or () if other is not entity)
        topic.subscriptions = tuple(others)
    for part in parts(entity):
        journal.drop(namespace.entities, part.path)
        for table in (part.messages, part.scheduled, part.sessions, part.duplicates):
            namespace.timers.stale += len(table)
    for counted in (entity, *(entity.subscriptions or ())):
        rules.quotas.count(namespace, counted, -1)


@attrs.frozen
class Management:
    """Functions that decide the MGMT rules; a mutant replaces one of them."""

    create_queue: Callable[[Namespace, v.CreateQueue, str], Answer] = create_queue
    restore_queue: Callable[[Namespace, v.RestoreQueue, str], Answer] = restore_queue
    check_name: Callable[[Namespace, str], None] = check_name
    check_basic: Callable[[Namespace], None] = check_basic
    create: Callable[..., Entity] = create
    add: Callable[[Namespace, Entity], None] = add
    check_outage: Callable[[Namespace, Entity], None] = check_outage
    get_queue: Callable[[Namespace, v.GetQueue, str], Answer] = get_queue
    count: Callable[[Namespace, Entity], int] = count
    availability: Callable[[Namespace, Entity], v.Availability] = availability
    list_queues: Callable[[Namespace, v.ListQueues, str], Answer] = list_queues
    update_queue: Callable[[Namespace, v.UpdateQueue, str], Answer] = update_queue
    apply_update: Callable[[Namespace, Entity, v.UpdateQueue], None] = apply_update
    delete_queue: Callable[[Namespace, v.DeleteQueue, str], Answer] = delete_queue
    delete: Callable[[Namespace, Entity], None] = delete
