"""SCHED: messages that come later, and those that were cancelled."""

from busproof import vocabulary as v
from busproof.judging.coverage.keys import key_at
from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.life_cycle import Action
from busproof.model.scheduling import Scheduling
from busproof.model.state import NO_PARTITIONS, Entity, ScheduledMessage

__all__ = ["SeenScheduling", "of_delivery", "of_empty", "of_scheduled"]


class SeenScheduling(Scheduling):
    """Observer of scheduled messages."""

    def plan(self, scheduled: ScheduledMessage) -> None:
        """SCHED-07, SCHED-14: note what the entity had when a message was scheduled."""
        super().plan(scheduled)
        coverage = coverage_of(self)
        entity = scheduled.entity
        notes = coverage.at(entity)
        known = (notes.arrivals, self.namespace.now, entity.base.down)
        coverage.journal.put(notes.scheduled, scheduled, known)

    def activate(self, scheduled: ScheduledMessage) -> None:
        """SCHED-02, SCHED-14: tell which message comes because it is due."""
        coverage = coverage_of(self)
        coverage.activating = scheduled
        super().activate(scheduled)
        coverage.activating = None

    def drop(self, scheduled: ScheduledMessage, action: Action) -> None:
        """SCHED-04: note that a message was cancelled."""
        super().drop(scheduled, action)
        if action is Action.CANCEL:
            coverage = coverage_of(self)
            notes = coverage.at(scheduled.entity)
            coverage.change(notes)
            notes.cancelled = max(notes.cancelled, scheduled.due)


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """SCHED-02, SCHED-06, SCHED-07, SCHED-09, SCHED-11, SCHED-14, TTL-12: show the rules."""
    scheduled = one.notes.scheduled
    queued = one.queued
    if scheduled is None or one.again:
        return
    known = coverage.at(scheduled.entity).scheduled.get(scheduled, (0, 0, NO_PARTITIONS))
    _, at, down = known
    key = key_at(one.entity, queued.message)
    lives = None if queued.expires_at is None else queued.expires_at - queued.enqueued_at
    outlived = lives is not None and scheduled.due - at > lives + coverage.slack
    back = queued.partition in coverage.at(one.entity.base).recovered
    coverage.show_if(
        (scheduled.due <= at, "SCHED-14"),
        (True, "SCHED-02"),
        (one.view.sequence_number is not None, "SCHED-06"),
        (outlived, "TTL-12"),
        (one.notes.overtaken, "SCHED-07"),
        (key is not None and one.placed, "SCHED-09"),
        (back and queued.partition in {*down, *one.notes.down}, "SCHED-11"),
    )


def of_empty(coverage: Coverage, entity: Entity, session_id: str | None) -> None:
    """SCHED-01, SCHED-04, SCHED-13: show the rules on messages that do not come, or not yet."""
    waiting = [one for one in entity.scheduled.values() if one.due > coverage.now]
    own = any(one.message.session_id == session_id for one in waiting)
    coverage.show_if(
        (waiting, "SCHED-01"),
        (waiting and session_id is not None and own, "SCHED-13"),
        (0 < coverage.at(entity).cancelled < coverage.now, "SCHED-04"),
    )


def of_scheduled(coverage: Coverage, entity: Entity, message: v.Message) -> None:
    """SCHED-10: show that a message can be scheduled in an outage of its partition."""
    key = key_at(entity, message)
    down = entity.base.down
    home = None if key is None else coverage.at(entity.base).homes.get(key.value)
    coverage.show_if((down and (key is None or home in down), "SCHED-10"))
