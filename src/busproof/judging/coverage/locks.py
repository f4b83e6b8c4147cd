"""LOCK: locks begin, last, and end."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.life_cycle import Action, State
from busproof.model.locks import ACTIONS, Locks
from busproof.model.state import Entity, QueuedMessage

__all__ = ["SeenLocks", "of_delivery", "of_lost_lock", "of_settled", "of_several"]

DEFAULT_DURATION: Final = 60 * v.MICROSECONDS
"""LOCK-02: lock duration in microseconds of an entity that is created without one."""


class SeenLocks(Locks):
    """Observer of locks."""

    def lock(self, queued: QueuedMessage, action: Action) -> None:
        """Note when a lock begins, and when it would end."""
        super().lock(queued, action)
        coverage = coverage_of(self)
        notes = coverage.message(queued)
        coverage.change(notes)
        notes.locked_at, notes.first_end = self.namespace.now, queued.locked_until
        notes.settled_before = coverage.at(queued.entity).settlements
        notes.spared = False

    def apply(self, queued: QueuedMessage, action: Action, reason: str) -> None:
        """LOCK-10: note a settlement, and the lock as it was."""
        coverage = coverage_of(self)
        coverage.noted.setdefault("settled", []).append(queued)
        of_entity = coverage.at(queued.entity)
        coverage.change(of_entity)
        of_entity.settlements += 1
        if action is Action.DEFER:
            of_entity.aside = queued
            of_entity.deferred |= {queued.number}
        super().apply(queued, action, reason)

    def release(self, queued: QueuedMessage, action: Action) -> None:
        """LIFE-04, LIFE-05, SESS-08, SESS-11, DEFER-06: note why a message is available again."""
        coverage = coverage_of(self)
        rule = coverage.noted.get("release") or "LIFE-05"
        if action is Action.ABANDON:
            rule = "LIFE-04"
        elif queued.session is not None and "release" not in coverage.noted:
            rule = "SESS-11"
        if queued.state is State.DEFERRED_LOCKED:
            rule = "DEFER-06"
        coverage.noted["released"] = True
        super().release(queued, action)
        del coverage.noted["released"]
        if queued.is_there:
            notes = coverage.message(queued)
            coverage.change(notes)
            notes.released = rule
            notes.since = coverage.at(queued.entity).receives


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """LOCK-01, LOCK-02, LOCK-08, LOCK-09: show the rules on a lock that begins, or began before."""
    queued, of_entity, duration = one.queued, one.of_entity, one.entity.settings.lock_duration
    if one.again:
        coverage.show_if(
            (one.notes.resisted, "LOCK-08"),
            (one.notes.place + 1 < of_entity.arrivals, "LOCK-09"),
        )
    if one.view.locked_until is None or queued.session is not None:
        return
    if queued.locked_until - duration == coverage.now:
        coverage.show("LOCK-01")
        coverage.show_if(
            (duration == DEFAULT_DURATION, "LOCK-02"),
            (of_entity.updated, "MGMT-12"),
            (of_entity.updated and one.entity.settings.partitioned, "MGMT-17"),
        )


def of_settled(coverage: Coverage, command: v.Command) -> None:
    """LOCK-01, LOCK-02, LOCK-04, LOCK-10, LOCK-12, PART-12: show the rules on a settlement."""
    kind = ACTIONS.get(type(command))
    for queued in coverage.noted.get("settled", ()):
        entity = queued.entity
        notes = coverage.message(queued)
        of_entity = coverage.at(entity)
        duration = entity.settings.lock_duration
        # An abandoned message goes back and expires at once, so abandoning does not show that it
        # outlived its time.
        expired = queued.expires_at is not None and queued.expires_at <= coverage.now
        coverage.show_if(
            (expired and kind is not Action.ABANDON, "TTL-05"),
            (entity.settings.partitioned and of_entity.arrivals > 1, "PART-12"),
            (notes.spared, "LOCK-12"),
        )
        if queued.session is not None:
            renewed = ("renewed", queued.session.name) in of_entity.sessions
            coverage.show_if((renewed and kind is Action.COMPLETE, "SESS-14"))
            continue
        # A bus with too short locks accepts an early settlement as well, so only a late one is
        # evidence.
        late = 2 * (coverage.now - notes.locked_at) >= duration
        coverage.show_if(
            (coverage.now > notes.first_end, "LOCK-04"),
            (late, "LOCK-01"),
            (late and duration == DEFAULT_DURATION, "LOCK-02"),
            (of_entity.settlements > notes.settled_before + 1, "LOCK-10"),
        )


def of_lost_lock(coverage: Coverage, entity: Entity, token: str) -> None:
    """LOCK-07, LOCK-08: show that an earlier token is refused, or note it until the redelivery."""
    number = token.partition("/")[0]
    queued = entity.messages.get(int(number)) if number.isdecimal() else None
    if queued is None:
        return
    if queued.token is not None:
        coverage.show("LOCK-07")
        return
    notes = coverage.message(queued)
    coverage.change(notes)
    notes.resisted = True


def of_several(coverage: Coverage, entity: Entity, tokens: Sequence[str], together: str) -> None:
    """LOCK-14 to LOCK-16, LOCK-18: show the rules on a request for several locks."""
    numbers = [token.partition("/")[0] for token in tokens]
    found = [int(number) >> v.SEQUENCE_BITS for number in numbers if number.isdecimal()]
    spans = entity.settings.partitioned and coverage.strict and len({*found}) > 1
    if spans:
        coverage.show("LOCK-15", "LOCK-16")
    elif len(tokens) > 1:
        coverage.show(together)
