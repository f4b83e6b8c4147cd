"""PART: outages, caches of front ends, and peeks."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage import keys
from busproof.judging.coverage.messages import is_cached_elsewhere, is_placed, of_number
from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.answers import Answer
from busproof.model.life_cycle import ACTIVE, LOCKED_STATES, State
from busproof.model.partitions import Partitions
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage

__all__ = ["SeenPartitions", "of_delivery", "of_empty", "of_peek"]

MOST_SHOWN: Final = 256 * 1024
"""PART-17: size in bytes beyond which a peek may show fewer messages than requested."""
DEFERRED: Final = (State.DEFERRED, State.DEFERRED_LOCKED)
FOREVER: Final = 1 << 62
FEW: Final = 64
"""PART-23: number of messages up to which it is counted how many of them are available."""


class SeenPartitions(Partitions):
    """Observer of outages and of what front ends hand out."""

    def switch(self, command: v.TakePartitionDown | v.BringPartitionUp, connection: str) -> Answer:
        """PART-04: note what an outage may have lost, and which partitions are up again."""
        answer = super().switch(command, connection)
        coverage = coverage_of(self)
        entity = self.namespace.entities.get(command.queue)
        for path, other in self.namespace.entities.items() if entity is not None else ():
            if entity is None or other.base is not entity.base:
                continue
            notes = coverage.at(self.namespace.entities[path])
            now = self.namespace.now
            coverage.change(notes)
            first = isinstance(command, v.TakePartitionDown) and len(entity.base.down) == 1
            begun = now if first else notes.outage[0]
            notes.outage = (begun, FOREVER) if entity.base.down else (notes.outage[0], now)
            if isinstance(command, v.TakePartitionDown):
                coverage.journal.put(notes.outlasted, command.partition, notes.arrivals)
            else:
                notes.recovered |= {command.partition}
        return answer

    def hand_out(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """Note a cached message that is given."""
        coverage_of(self).given.append(queued)
        return super().hand_out(queued, mode)


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """PART-04, PART-09 to PART-11, PART-23, PART-25, PART-28: show outages and caches."""
    entity, notes, of_entity = one.entity, one.notes, one.of_entity
    if of_entity.outlasted and not one.dark:
        last_down = of_entity.outlasted.get(one.queued.partition, -1)
        coverage.show_if((last_down > notes.place, "PART-04"))
    if not entity.settings.partitioned or entity.settings.requires_session:
        return
    if of_entity.receives == of_entity.switched > 0 and is_first_of_locked(
        coverage, entity, but=one.queued
    ):
        coverage.show("PART-10")
    if one.cached and notes.since < of_entity.switched:
        lost = of_entity.deleters - {of_entity.receiver}
        coverage.show_if((True, "PART-11"), (lost, "PART-28"))
    # An earlier receive might have given it, and this one does in the end.
    elif not (one.cached or one.dark) and notes.since < of_entity.receives:
        few = len(entity.messages) <= FEW and 1 + sum(
            other.state is ACTIVE for other in entity.messages.values()
        ) <= len(entity.partitions)
        coverage.show_if((True, "PART-09"), (True, "PART-25"), (few, "PART-23"))


def is_first_of_locked(
    coverage: Coverage, entity: Entity, but: QueuedMessage | None = None
) -> bool:
    """PART-10: return whether this is a new receiver's first receive, and messages are locked."""
    notes = coverage.at(entity)
    return notes.receives == notes.switched > 0 and any(
        one.state in LOCKED_STATES and one is not but for one in entity.messages.values()
    )


def of_empty(coverage: Coverage, entity: Entity) -> None:
    """PART-01, PART-10, PART-11, PART-28: show the rules on a receive that got nothing."""
    notes = coverage.at(entity)
    if not entity.settings.partitioned:
        coverage.show_if((entity.base.down and entity.messages, "PART-01"))
        return
    if entity.settings.requires_session:
        return
    if notes.receives == notes.switched > 0 and is_first_of_locked(coverage, entity):
        coverage.show("PART-10")
    if is_cached_elsewhere(coverage, entity) and any(
        one.cached_by not in (None, coverage.event.connection) for one in entity.messages.values()
    ):
        lost = notes.deleters - {notes.receiver}
        coverage.show_if((True, "LIFE-08"), (True, "PART-11"), (lost, "PART-28"))


def of_peek(coverage: Coverage, command: v.Peek, views: Sequence[v.MessageView]) -> None:
    """LIFE-07, PART-14 to PART-21, SCHED-08, SESS-23, DEFER-09: show the rules on a peek."""
    entity = coverage.entity
    if entity is None:
        return
    if command.session_id is None and command.from_sequence_number is None:
        _of_count(coverage, entity, command, views)
    if not views:
        return
    seen = [coverage.find(entity, view) for view in views]
    shown = [one for one in seen if isinstance(one, QueuedMessage)]
    coverage.show_if(
        (len(shown) < len(seen) and _has_scheduled(seen), "SCHED-08"),
        (any(one.state in DEFERRED for one in shown), "DEFER-09"),
    )
    if command.session_id is not None:
        sessions = {one.message.session_id for one in entity.messages.values()}
        coverage.show_if((len(sessions) > 1, "SESS-23"))
    elif shown and command.from_sequence_number is None:
        _of_start(coverage, entity, shown[0])
    partitioned = entity.settings.partitioned
    for one, view in zip(seen, views, strict=True):
        if isinstance(one, QueuedMessage):
            if partitioned and is_placed(coverage, view):
                coverage.show("LIFE-12", "KEY-01")
                keys.of_place(coverage, one)
            of_number(coverage, one, view)


def _has_scheduled(seen: Sequence[object]) -> bool:
    """SCHED-08: return whether a peek shows a scheduled message."""
    return any(isinstance(one, ScheduledMessage) for one in seen)


def _of_count(
    coverage: Coverage, entity: Entity, command: v.Peek, views: Sequence[v.MessageView]
) -> None:
    """PART-16 to PART-19, PART-21: show the rules on how many messages a peek shows."""
    there = len(entity.messages)
    partitioned = entity.settings.partitioned
    if not there:
        return
    if partitioned and there < len(entity.partitions):
        coverage.show("PART-21")
    if not views or there == 1:
        return
    several = command.count > 1
    like = coverage.namespace.profile.readings.get("LIKE-REGULAR") == "identical"
    coverage.show_if(
        (partitioned and not like, "PART-16"),
        (there > command.count, "PART-19"),
        (several and partitioned, "PART-18"),
        (several and sum(part.bytes for part in entity.partitions) > MOST_SHOWN, "PART-17"),
    )


def _of_start(coverage: Coverage, entity: Entity, first: QueuedMessage) -> None:
    """PART-14, PART-15: show the rule that a peek begins with the oldest of several messages."""
    partitioned = entity.settings.partitioned
    if partitioned and not coverage.strict:
        return
    partition = entity.partitions[first.partition]
    rule = "PART-15" if partitioned else "PART-14"
    if partition.messages > 1 and coverage.namespace.states(rule):
        oldest = next(partition.line.behind(entity.messages, 0), None)
        coverage.show_if((oldest is first, rule))
