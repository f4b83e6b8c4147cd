"""TTL: messages that outlive their time to live, or do not."""

from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.expiry import Expiry
from busproof.model.life_cycle import State
from busproof.model.state import Entity, QueuedMessage

__all__ = ["SeenExpiry", "of_delivery", "of_empty"]


class SeenExpiry(Expiry):
    """Observer of messages that expire."""

    def expire(self, queued: QueuedMessage) -> None:
        """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13: note what the absence of a message shows."""
        coverage = coverage_of(self)
        entity = queued.entity
        own = queued.message.time_to_live
        notes = coverage.at(entity)
        most = entity.settings.time_to_live
        late = "released" in coverage.noted
        cases = (
            (True, "TTL-01"),
            (self._is_by_update(coverage, queued), "MGMT-12"),
            (own is None, "TTL-03"),
            (own is not None and most not in (None, own), "TTL-04"),
            (late, "TTL-06"),
            (queued.partition in entity.base.down, "TTL-13"),
        )
        rules = [rule for holds, rule in cases if holds]
        session = None if queued.session is None else queued.session.name
        before = notes.expired.get(session, ())
        more = tuple(dict.fromkeys((*before, *rules)))
        coverage.journal.put(notes.expired, session, more)
        if notes.receives > coverage.message(queued).since and entity.settings.partitioned:
            coverage.change(notes)
            notes.cached_until = notes.received_at + entity.settings.lock_duration
        super().expire(queued)

    def _is_by_update(self, coverage: Coverage, queued: QueuedMessage) -> bool:
        """MGMT-12: return whether an updated time to live made a message expire."""
        notes = coverage.at(queued.entity)
        own = queued.message.time_to_live
        most = queued.entity.settings.time_to_live
        newer = 0 <= notes.lifetime_since <= coverage.message(queued).place
        return newer and most is not None and (own is None or own > most)

    def end(self, queued: QueuedMessage) -> None:
        """TTL-10: note a deferred message that outlived its time."""
        super().end(queued)
        if queued.state in (State.DEFERRED, State.DEFERRED_LOCKED) and queued.is_there:
            coverage = coverage_of(self)
            notes = coverage.at(queued.entity)
            coverage.change(notes)
            notes.aside_expired = True


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """TTL-02, TTL-14, MGMT-12: show the rules on a message with a time to live."""
    queued = one.queued
    of_entity = one.of_entity
    if queued.expires_at is None:
        return
    life = one.entity.settings.time_to_live
    left = queued.expires_at - coverage.slack - coverage.now
    # Early in its life, a bus that keeps messages too briefly gives it as well, so only the second
    # half is evidence.
    late = 0 < left <= coverage.now - queued.enqueued_at
    older = one.notes.place < of_entity.lifetime_since and life is not None
    outlived = older and queued.enqueued_at + (life or 0) + coverage.slack < coverage.now
    coverage.show_if(
        (late, "TTL-02"),
        (late and outlived, "MGMT-12"),
        (left < 0, "TTL-14"),
    )


def of_empty(coverage: Coverage, entity: Entity, session_id: str | None) -> None:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13, TTL-14: show the rules on expired messages."""
    notes = coverage.at(entity)
    dark = bool(entity.base.down)
    shown = notes.expired.get(session_id, ())
    # In an outage the message may only be out of reach, which does not show that it has expired.
    coverage.show(*(rule for rule in shown if rule != "TTL-13" or not dark))
    coverage.show_if((coverage.now <= notes.cached_until, "TTL-14"))
