"""MGMT: what descriptions, lists, updates and deletions show."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage, coverage_of
from busproof.model.family import Family
from busproof.model.management import FIXED, Management, parts
from busproof.model.premium import DATED, PARTITIONS_SINCE
from busproof.model.state import Entity
from busproof.model.values import EntityKind

__all__ = ["SeenManagement", "of_created", "of_described", "of_missing", "of_repeated"]

OPTIONS: Final = ("partitioned", "requires_session", "duplicate_detection")


RESIZED: Final = "resized"
"""Among what was tried with an entity: another size than that of its creation."""


class SeenManagement(Management):
    """Observer of entities that are created, changed and deleted."""

    def add(self, entity: Entity) -> None:
        """MGMT-05, MGMT-15, PREM-04, PREM-06: note what was there under this name before."""
        super().add(entity)
        coverage = coverage_of(self)
        before = coverage.gone.get(entity.path)
        notes = coverage.at(entity)
        if before is not None:
            partitioned, restored, _ = before
            notes.before = True
            notes.other_before = partitioned is not entity.settings.partitioned
            notes.restored_before = restored
        topic = entity.base
        if entity.kind is EntityKind.SUBSCRIPTION:
            notes.late = bool(coverage.at(topic).accepted)
        _note_tried(self, entity)

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        """MGMT-04, MGMT-12 to MGMT-14, FWD-05: note which settings a request changed, or tried."""
        coverage = coverage_of(self)
        redirected = command.forward_to is not None
        tried = {
            name
            for name in FIXED
            if getattr(command, name) not in (None, getattr(entity.settings, name))
        }
        coverage.noted["tried"] = tried
        size = entity.settings.max_size
        super().apply_update(entity, command)
        notes = coverage.at(entity)
        coverage.change(notes)
        notes.updated = True
        if entity.settings.max_size != size:
            notes.tried |= {RESIZED}
        notes.redirected = notes.redirected or redirected
        if command.time_to_live is not None:
            notes.lifetime_since = notes.arrivals
        if entity.dead_letters is not None:
            of_dead = coverage.at(entity.dead_letters)
            coverage.change(of_dead)
            of_dead.updated = True

    def delete(self, entity: Entity) -> None:
        """MGMT-15, TOPIC-22, TOPIC-23: note what was there under a name."""
        coverage = coverage_of(self)
        of_topic = entity.kind is EntityKind.TOPIC
        gone = parts(entity)
        super().delete(entity)
        for part in gone:
            known = (part.settings.partitioned, coverage.at(part).restored, of_topic)
            coverage.journal.put(coverage.gone, part.path, known)
        if entity.kind is EntityKind.SUBSCRIPTION:
            notes = coverage.at(entity.base)
            coverage.change(notes)
            notes.parted = True


def _note_tried(family: Family, entity: Entity) -> None:
    """SIZE-02, PREM-01, DUP-03: note what the creation asked for and did not get."""
    coverage = coverage_of(family)
    command = coverage.event.command
    notes = coverage.at(entity)
    notes.restored = isinstance(command, v.RestoreQueue)
    if not isinstance(command, v.CreateQueue | v.CreateTopic):
        return
    tried = set()
    if command.max_size not in (None, entity.settings.max_size):
        tried.add("max_size")
    if command.partitioned and not entity.settings.partitioned:
        tried.add("partitions")
    notes.tried = frozenset(tried)
    notes.beyond = command.duplicate_window != entity.settings.duplicate_window


def note_refused_update(coverage: Coverage, entity: Entity) -> None:
    """MGMT-04, MGMT-13, MGMT-14: note settings that an update tried to change and did not."""
    tried = coverage.noted.get("tried")
    if tried:
        notes = coverage.at(entity)
        coverage.change(notes)
        notes.tried |= tried


def note_outage(coverage: Coverage, path: str) -> None:
    """MGMT-19: note a request that was refused in an outage."""
    key = (path, type(coverage.event.command))
    coverage.journal.put(coverage.refused, key, None)


def of_repeated(coverage: Coverage, path: str, entity: Entity | None) -> None:
    """MGMT-18, MGMT-19: show that a request succeeds in an outage, or after one refused it."""
    dark = entity is not None and bool(entity.base.down)
    repeated = (path, type(coverage.event.command)) in coverage.refused
    coverage.show_if((dark, "MGMT-18"), (repeated and not dark, "MGMT-19"))


def of_missing(coverage: Coverage, path: str) -> None:
    """MGMT-15, TOPIC-22: show that an entity is gone since its deletion."""
    gone = coverage.gone.get(path)
    if gone is not None:
        base = path.partition(v.SUBSCRIPTIONS)[0]
        with_topic = gone[2] and path != base
        coverage.show_if((with_topic, "TOPIC-22"), (True, "MGMT-15"))


def of_created(coverage: Coverage, command: v.CreateQueue | v.CreateTopic) -> None:
    """MGMT-02, MGMT-06 to MGMT-08, MGMT-24, SIZE-01, PREM-07: show the rules on a creation."""
    name = command.queue if isinstance(command, v.CreateQueue) else command.topic
    entity = coverage.namespace.entities[name]
    profile = coverage.namespace.profile
    version = command.api_version
    partitioned = entity.settings.partitioned
    premium = profile.tier is v.Tier.PREMIUM
    basic = profile.tier is v.Tier.BASIC
    rule = None if version is None else _of_version(version)
    ignored = command.partitioned and not partitioned and rule == "MGMT-08"
    granted = command.max_size is not None and command.max_size == entity.settings.max_size
    beyond_basic = isinstance(command, v.CreateQueue) and command.requires_session
    coverage.show_if(
        (granted and not basic, "PREM-07" if premium else "SIZE-01"),
        (basic and (beyond_basic or command.duplicate_detection), "MGMT-24"),
        (partitioned and not premium, "MGMT-02"),
    )
    if rule is not None and (partitioned or ignored):
        coverage.show(rule)


def _of_version(version: str) -> v.RuleId | None:
    """MGMT-06 to MGMT-08: return the rule on requests of an api-version."""
    if version and not DATED.fullmatch(version):
        return None
    if version < PARTITIONS_SINCE:
        return "MGMT-08"
    return "MGMT-06" if version == PARTITIONS_SINCE else "MGMT-07"


def of_described(
    coverage: Coverage, entity: Entity, told: v.QueueDescription | v.TopicDescription
) -> None:
    """Show the rules on the description of an entity."""
    notes = coverage.at(entity)
    of_topic = isinstance(told, v.TopicDescription)
    dark = bool(entity.base.down)
    partitioned = entity.settings.partitioned
    if isinstance(told, v.QueueDescription):
        changeable = told.lock_duration is not None and told.max_delivery_count is not None
        set_once = told.lock_duration is not None
        count = told.message_count
    else:
        changeable = told.time_to_live is not None
        set_once, count = told.duplicate_detection is not None, None
    updated = notes.updated and changeable
    # Without seeing partitions, several messages are the best evidence that they are added up.
    occupied = sum(partition.messages > 0 for partition in entity.partitions)
    spread = occupied > 1 if coverage.strict else len(entity.messages) > 1
    for name in OPTIONS:
        if getattr(told, name, None) is not None and name in notes.tried:
            coverage.show(FIXED[name])
    available = v.Availability.AVAILABLE
    coverage.show_if(
        (updated, "MGMT-12"),
        (updated and not of_topic and partitioned, "MGMT-17"),
        (set_once, "MGMT-11"),
        (told.availability is v.Availability.LIMITED and dark, "MGMT-21"),
        (told.availability is available and not dark, "MGMT-22"),
        (count is not None and dark, "MGMT-23"),
        (count is not None and partitioned and spread and not dark, "MGMT-20"),
        (getattr(told, "subscription_count", None) is not None, "TOPIC-24"),
    )
    if count is not None and entity.scheduled:
        reading = coverage.namespace.profile.readings.get("SCHEDULED-COUNT")
        coverage.show_if((reading == "counted", "MGMT-29"), (reading == "left-out", "MGMT-30"))
    if told.partitioned is not None:
        _of_partitioning(coverage, entity)
    if told.max_size is not None:
        _of_size(coverage, entity)


def _of_partitioning(coverage: Coverage, entity: Entity) -> None:
    """MGMT-01, MGMT-03, MGMT-05, PREM-01, PREM-04, PREM-06, PREM-14: show why it is partitioned."""
    notes = coverage.at(entity)
    profile = coverage.namespace.profile
    if profile.is_partitioned:
        coverage.show("PREM-14", "MGMT-01")
    elif profile.tier is not v.Tier.PREMIUM:
        coverage.show("MGMT-01" if entity.settings.partitioned else "MGMT-03")
        coverage.show_if((notes.other_before, "MGMT-05"))
    elif notes.restored:
        coverage.show("PREM-04")
    else:
        again = notes.restored_before
        coverage.show_if((again, "PREM-06"), (again or "partitions" in notes.tried, "PREM-01"))


def _of_size(coverage: Coverage, entity: Entity) -> None:
    """SIZE-01 to SIZE-04, SIZE-06, PREM-07 to PREM-10: show the rules on the size of an entity."""
    notes = coverage.at(entity)
    profile = coverage.namespace.profile
    standard = profile.tier is v.Tier.STANDARD
    premium = profile.tier is v.Tier.PREMIUM
    partitioned = entity.settings.partitioned
    default = entity.settings.max_size == 1
    listed = "PREM-08" if premium else "SIZE-02"
    if listed in profile.silent or profile.is_partitioned or (premium and partitioned):
        return
    if standard and partitioned and "SIZE-04" in profile.silent:
        return
    if RESIZED in notes.tried or "max_size" in notes.tried:
        coverage.show("SIZE-16" if RESIZED in notes.tried else listed)
        return
    coverage.show_if(
        (standard, "SIZE-04" if partitioned else "SIZE-06"),
        (standard and default, "SIZE-03"),
        (premium, "PREM-10"),
        (premium and default, "PREM-09"),
        (True, "PREM-07" if premium else "SIZE-01"),
    )
