"""PART: outages, caches of front ends, and peeks."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.messages import is_cached_elsewhere, is_placed, of_number
from busproof.judging.coverage.notes import Coverage, coverage_of
from busproof.model.answers import Answer
from busproof.model.life_cycle import ACTIVE, LOCKED_STATES, State
from busproof.model.partitions import Partitions
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage

__all__ = ["SeenPartitions", "of_delivery", "of_empty", "of_peek"]

MOST_SHOWN: Final = 256 * 1024
"""PART-17: size in bytes beyond which a peek may show fewer messages than requested."""
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
            coverage.change(notes)
            if isinstance(command, v.TakePartitionDown):
                coverage.journal.put(notes.outlasted, command.partition, notes.arrivals)
            else:
                notes.recovered |= {command.partition}
        return answer

    def hand_out(self, queued: QueuedMessage, mode: v.ReceiveMode) -> v.MessageView:
        """Note a cached message that is given."""
        coverage_of(self).given.append(queued)
        return super().hand_out(queued, mode)


def of_delivery(coverage: Coverage, queued: QueuedMessage) -> None:
    """PART-04, PART-09 to PART-11, PART-23, PART-28: show the rules on outages and caches."""
    entity, notes = queued.entity, coverage.message(queued)
    of_entity, dark = coverage.at(entity), bool(entity.base.down)
    last_down = of_entity.outlasted.get(queued.partition, -1)
    coverage.show_if((not dark and last_down > notes.place, "PART-04"))
    if not entity.settings.partitioned or entity.settings.requires_session:
        return
    cached = is_cached_elsewhere(coverage, entity)
    other = cached and notes.since < of_entity.switched
    # An earlier receive might have given it, and this one does in the end.
    withheld = not (cached or dark) and notes.since < of_entity.receives
    few = len(entity.messages) <= FEW and 1 + sum(
        one.state is ACTIVE for one in entity.messages.values()
    ) <= len(entity.partitions)
    coverage.show_if(
        (is_first_of_locked(coverage, entity, but=queued), "PART-10"),
        (other, "PART-11"),
        (other and of_entity.deleters - {of_entity.receiver}, "PART-28"),
        (withheld, "PART-09"),
        (withheld and few, "PART-23"),
    )


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
    notes, messages = coverage.at(entity), entity.messages.values()
    several = entity.settings.partitioned and not entity.settings.requires_session
    kept = any(m.cached_by not in (None, coverage.event.connection) for m in messages)
    elsewhere = several and is_cached_elsewhere(coverage, entity) and kept
    coverage.show_if(
        (entity.base.down and not entity.settings.partitioned and messages, "PART-01"),
        (several and is_first_of_locked(coverage, entity), "PART-10"),
        (elsewhere, "PART-11"),
        (elsewhere and notes.deleters - {notes.receiver}, "PART-28"),
    )


def of_peek(coverage: Coverage, command: v.Peek, views: Sequence[v.MessageView]) -> None:
    """LIFE-07, PART-14 to PART-21, SCHED-08, SESS-23, DEFER-09: show the rules on a peek."""
    entity = coverage.entity
    if entity is None:
        return
    seen = [coverage.find(entity, view) for view in views]
    shown = [one for one in seen if isinstance(one, QueuedMessage)]
    deferred = (State.DEFERRED, State.DEFERRED_LOCKED)
    sessions = {one.message.session_id for one in entity.messages.values()}
    coverage.show_if(
        (views and command.session_id is not None and len(sessions) > 1, "SESS-23"),
        (any(isinstance(one, ScheduledMessage) for one in seen), "SCHED-08"),
        (any(one.state in deferred for one in shown), "DEFER-09"),
        (views and entity.base.down, "PART-29"),
    )
    _of_count(coverage, entity, command, views)
    if shown and command.session_id is None and command.from_sequence_number is None:
        _of_start(coverage, entity, shown[0])
    for one, view in zip(seen, views, strict=True):
        if isinstance(one, QueuedMessage):
            placed = entity.settings.partitioned and is_placed(coverage, view)
            coverage.show_if((placed, "LIFE-12"), (placed, "KEY-01"))
            of_number(coverage, one, view)


def _of_count(
    coverage: Coverage, entity: Entity, command: v.Peek, views: Sequence[v.MessageView]
) -> None:
    """PART-16 to PART-21: show the rules on how many messages a peek shows."""
    there = len(entity.messages)
    if command.session_id is not None or not there or command.from_sequence_number is not None:
        return
    partitioned, several = entity.settings.partitioned, command.count > 1
    many = bool(views) and there > 1
    like = coverage.namespace.profile.readings.get("LIKE-REGULAR") == "identical"
    size = sum(partition.bytes for partition in entity.partitions)
    coverage.show_if(
        (partitioned and there < len(entity.partitions), "PART-21"),
        (many and partitioned and not like, "PART-16"),
        (many and there > command.count, "PART-19"),
        (many and several and partitioned, "PART-18"),
        (many and several and size > MOST_SHOWN, "PART-17"),
    )


def _of_start(coverage: Coverage, entity: Entity, first: QueuedMessage) -> None:
    """PART-14, PART-15: show the rule that a peek begins with the oldest of several messages."""
    partitioned = entity.settings.partitioned
    if partitioned and not coverage.strict:
        return
    partition = entity.partitions[first.partition]
    oldest = next(partition.line.behind(entity.messages, 0), None)
    if oldest is first and partition.messages > 1:
        coverage.show("PART-15" if partitioned else "PART-14")
