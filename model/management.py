"""MGMT: creating, describing, changing and deleting entities.

A request applies to all partitions of an entity or to none. While one of them is down it may be
refused, and then this bus changes nothing (MANAGEMENT-IN-OUTAGE). Some settings are fixed at
creation; a change of another one applies to locks and messages that begin after it. A deleted
entity takes its messages with it, and a new one under the same name starts empty.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    BasicFeatures,
    CountsInOutage,
    ManagementInOutage,
    RoleStatus,
    ScheduledCount,
)
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family, handles
from busproof.model.state import NO_PARTITIONS, Entity, Partition
from busproof.model.values import EntityKind, EntitySettings, Refusal

__all__ = ["Management", "parts"]

FIXED: Final = {
    "partitioned": "MGMT-04",
    "requires_session": "MGMT-13",
    "duplicate_detection": "MGMT-14",
}
"""Settings that are fixed at creation, each with the rule that says so."""


def parts(entity: Entity) -> tuple[Entity, ...]:
    """Return an entity with its dead-letter queues, and a topic with its subscriptions, too."""
    beneath = [child for child in (entity.dead_letters, entity.transfers) if child is not None]
    copies = (part for subscription in entity.subscriptions or () for part in parts(subscription))
    return (entity, *beneath, *copies)


class Management(Family):
    """The rules of MGMT."""

    @handles(v.CreateQueue)
    def create_queue(self, command: v.CreateQueue, connection: str) -> Answer:
        """MGMT-01 to MGMT-03, MGMT-09, DLQ-04, LOCK-02: check a request, and create its queue."""
        self.check_name(command.queue)
        if command.requires_session or command.duplicate_detection or v.destinations(command):
            self.check_basic()
        partitioned = self.rules.premium.partitioned(command.partitioned, command.api_version)
        size = self.rules.sizes.granted_size(command.max_size)
        settings = EntitySettings.of(command, partitioned=partitioned, max_size=size)
        self.create(command.queue, EntityKind.QUEUE, settings)
        return Answer(DONE, rules=self.rules_of_creation(settings, "MGMT-01"))

    def rules_of_creation(self, settings: EntitySettings, option: v.RuleId) -> tuple[v.RuleId, ...]:
        """MGMT-01 to MGMT-03, PREM-14, PREM-16: return why an entity is partitioned, or not."""
        if not settings.partitioned:
            return ("MGMT-03",)
        return ("PREM-14", "PREM-16") if self.namespace.profile.is_partitioned else (option,)

    @handles(v.RestoreQueue)
    def restore_queue(self, command: v.RestoreQueue, connection: str) -> Answer:
        """PREM-03: add a partitioned queue from the time when the tier still permitted one."""
        if command.queue in self.namespace.entities:
            raise Refusal(v.Error.ALREADY_EXISTS, "MGMT-09")
        settings = EntitySettings.of(command, partitioned=True)
        entity = self.build(command.queue, EntityKind.QUEUE, settings, None)
        self.add(entity)
        return Answer(DONE, rules=("PREM-03",))

    def check_name(self, path: str) -> None:
        """MGMT-09, LIMIT-18, DLQ-08: check that a queue or topic can be created under this name."""
        if path in self.namespace.entities:
            raise Refusal(v.Error.ALREADY_EXISTS, "MGMT-09")
        if v.is_dead_letter_queue(path):
            raise Refusal(v.Error.INVALID_OPERATION, "DLQ-08")
        self.rules.limits.check_name(path)

    def check_basic(self) -> None:
        """MGMT-24: refuse, in Basic, a request for what that tier lacks, if the reading says so.

        Basic has no topics, sessions, duplicate detection, forwarding or transactions.
        """
        basic = self.namespace.profile.tier is v.Tier.BASIC
        if basic and self.namespace.reading(BasicFeatures) is BasicFeatures.REFUSED:
            raise Refusal(v.Error.INVALID_OPERATION, "MGMT-24")

    def create(
        self,
        path: str,
        kind: EntityKind,
        settings: EntitySettings,
        topic: Entity | None = None,
    ) -> Entity:
        """MGMT-17, MGMT-18: create an entity in all of its partitions, or not at all.

        A subscription can be created in an outage of its topic; no document says that this may
        fail.
        """
        self.rules.locks.check_duration(settings.lock_duration)
        self.rules.forwarding.check_settings(settings)
        if settings.duplicate_detection:
            self.rules.duplicates.check_window(settings.duplicate_window)
        entity = self.build(path, kind, settings, topic)
        self.rules.quotas.check(kind, len(entity.partitions))
        if topic is None:
            self.check_outage(entity)
        self.add(entity)
        return entity

    def build(
        self,
        path: str,
        kind: EntityKind,
        settings: EntitySettings,
        topic: Entity | None,
    ) -> Entity:
        """DLQ-08, TOPIC-08: build an entity and its dead-letter queues in its partitions."""
        partitioned, size = settings.partitioned, settings.max_size
        count = self.rules.sizes.partition_count(partitioned=partitioned, size=size)
        if topic is not None:
            count = len(topic.partitions)
        capacity = self.rules.sizes.capacity(partitioned=partitioned, size=size)

        def one(suffix: str, kind: EntityKind, settings: EntitySettings) -> Entity:
            partitions = tuple(Partition(number) for number in range(count))
            return Entity(self.namespace, path + suffix, kind, settings, partitions, capacity)

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
            down = self.namespace.down.get(path, NO_PARTITIONS)
            entity.down = frozenset(number for number in down if number < count)
        return entity

    def add(self, entity: Entity) -> None:
        """MGMT-17: add an entity with its dead-letter queues to the namespace, and count it."""
        for part in parts(entity):
            self.namespace.journal.put(self.namespace.entities, part.path, part)
        self.rules.quotas.count(entity, 1)

    def check_outage(self, entity: Entity) -> None:
        """MGMT-18, MGMT-19: refuse a request to all partitions in an outage, or let it pass."""
        if not entity.base.down:
            return
        fails = self.namespace.reading(ManagementInOutage) is ManagementInOutage.FAILS
        if fails or not self.namespace.prefers("MGMT-18", "done", to="refused"):
            raise self.rules.partitions.outage("MGMT-18")

    def managed(self, path: str) -> Entity:
        """MGMT-10: return the queue or subscription with this path, but no dead-letter queue."""
        entity = self.rules.topics.readable(path)
        if entity.dead_letters is None:
            raise Refusal(v.Error.INVALID_OPERATION)
        return entity

    @handles(v.GetQueue)
    def get_queue(self, command: v.GetQueue, connection: str) -> Answer:
        """MGMT-11, MGMT-20 to MGMT-23: describe a queue or a subscription."""
        entity = self.managed(command.queue)
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
            max_size=self.rules.sizes.greatest_size(entity) if own else None,
            message_count=self.count(entity),
            size=self.rules.sizes.used(entity) if own else None,
            availability=self.availability(entity),
            transfer_dead_letters=0 if transfers is None else len(transfers.messages),
        )
        rules = ("MGMT-11", *self.rules_of_description(entity))
        if own:
            rules += self.rules.sizes.rules_of_size(entity)
        return Answer(v.Described(description=description), rules=rules)

    def rules_of_description(self, entity: Entity) -> tuple[v.RuleId, ...]:
        """MGMT-20 to MGMT-23, MGMT-29, MGMT-30: return what decides what changes of a description.

        A topic has no messages to be counted.
        """
        rules: tuple[v.RuleId, ...] = ("MGMT-21", "MGMT-23") if entity.base.down else ("MGMT-22",)
        if entity.kind is EntityKind.TOPIC:
            return rules[:1]
        if entity.settings.partitioned:
            rules += ("MGMT-20",)
        if entity.scheduled:
            is_counted = self.namespace.reading(ScheduledCount) is ScheduledCount.COUNTED
            rules += ("MGMT-29",) if is_counted else ("MGMT-30",)
        return rules

    def count(self, entity: Entity) -> int:
        """MGMT-20, MGMT-23, MGMT-29, MGMT-30: return the message count in an entity's description.

        COUNTS-IN-OUTAGE decides whether messages in partitions that are down count, and
        SCHEDULED-COUNT whether scheduled ones do.
        """
        down = entity.base.down
        if down:
            answers = ("left-out", "counted")
            if self.rules.partitions.answer_of(CountsInOutage, "MGMT-23", *answers) == "left-out":
                return sum(part.messages for part in entity.partitions if part.number not in down)
        scheduled = len(entity.scheduled)
        if scheduled and self.namespace.reading(ScheduledCount) is ScheduledCount.LEFT_OUT:
            scheduled = 0
        return len(entity.messages) + scheduled

    def availability(self, entity: Entity) -> v.Availability:
        """MGMT-21, MGMT-22: return the availability, which is limited while a partition is down."""
        return v.Availability.LIMITED if entity.base.down else v.Availability.AVAILABLE

    @handles(v.ListQueues)
    def list_queues(self, command: v.ListQueues, connection: str) -> Answer:
        """MGMT-16: return the name of each queue once."""
        names = (
            path
            for path, entity in self.namespace.entities.items()
            if entity.kind is EntityKind.QUEUE
        )
        return Answer(v.Listed(names=tuple(sorted(names))), rules=("MGMT-16",))

    @handles(v.UpdateQueue)
    def update_queue(self, command: v.UpdateQueue, connection: str) -> Answer:
        """MGMT-04, MGMT-12 to MGMT-14, FWD-05: change the settings of a queue or subscription.

        Whether an update of a subscription may name a setting of its topic is open (ROLE-STATUS).
        """
        entity = self.managed(command.queue)
        if entity.kind is EntityKind.SUBSCRIPTION:
            named = (command.partitioned, command.duplicate_detection, command.max_size)
            of_topic = named != (None, None, None)
            refused = of_topic and self.namespace.reading(RoleStatus) is RoleStatus.REFUSED
            if refused or command.status is v.EntityStatus.SEND_DISABLED:
                raise Refusal(v.Error.INVALID_OPERATION)
        self.apply_update(entity, command)
        rules: tuple[v.RuleId, ...] = ("MGMT-12",)
        if entity.settings.partitioned:
            rules += ("MGMT-17",)
        if command.forward_to is not None:
            rules += ("FWD-05",)
        return Answer(DONE, rules=rules)

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        """MGMT-04, MGMT-12 to MGMT-14, SIZE-16: apply all changes of an update, or refuse it."""
        before = entity.settings
        for name, rule in FIXED.items():
            if getattr(command, name) not in (None, getattr(before, name)):
                raise Refusal(v.Error.INVALID_OPERATION, rule)
        self.rules.locks.check_duration(command.lock_duration)
        after = attrs.evolve(
            before,
            lock_duration=command.lock_duration or before.lock_duration,
            max_delivery_count=command.max_delivery_count or before.max_delivery_count,
            time_to_live=command.time_to_live or before.time_to_live,
        )
        if command.forward_to is not None:
            after = attrs.evolve(after, forward_to=command.forward_to or None)
            if command.forward_to:
                self.check_basic()
                self.rules.forwarding.check_settings(after)
        size = self.rules.sizes.size_after_update(entity, command.max_size)
        self.check_outage(entity)
        journal, dlq = self.namespace.journal, entity.dead_letters
        journal.touch(entity)
        entity.settings = after
        if size != after.max_size:
            self.rules.sizes.resize(entity, size)
        entity.status = command.status or entity.status
        if command.status is not None and command.status.takes:
            self.rules.forwarding.try_waiting(entity)
        if dlq is not None:
            journal.touch(dlq)
            dlq.settings = attrs.evolve(dlq.settings, lock_duration=after.lock_duration)

    @handles(v.DeleteQueue)
    def delete_queue(self, command: v.DeleteQueue, connection: str) -> Answer:
        """MGMT-15: delete a queue or a subscription."""
        self.delete(self.managed(command.queue))
        return Answer(DONE, rules=("MGMT-15",))

    def delete(self, entity: Entity) -> None:
        """MGMT-05, MGMT-15, TOPIC-22, TOPIC-23: delete an entity with all that belongs to it."""
        journal = self.namespace.journal
        self.check_outage(entity)
        topic = entity.base
        if entity.kind is EntityKind.SUBSCRIPTION:
            journal.touch(topic)
            others = (other for other in topic.subscriptions or () if other is not entity)
            topic.subscriptions = tuple(others)
        for part in parts(entity):
            journal.drop(self.namespace.entities, part.path)
        for counted in (entity, *(entity.subscriptions or ())):
            self.rules.quotas.count(counted, -1)
