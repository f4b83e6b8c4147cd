"""DLQ: dead letters, and what is none."""

from typing import Final

from busproof.judging.coverage.notes import Coverage, Delivery, coverage_of
from busproof.model.ambiguities import MaxDeliveries
from busproof.model.dead_letters import DeadLetters
from busproof.model.expiry import REASON
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind

__all__ = ["SeenDeadLetters", "of_delivery", "of_empty"]

DEFAULT_DELIVERIES: Final = 10
"""DLQ-04: greatest delivery count of an entity that is created without one."""
TOO_OFTEN: Final = "MaxDeliveryCountExceeded"


class SeenDeadLetters(DeadLetters):
    """Observer of messages that are dead-lettered."""

    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        """DLQ-02, DLQ-05, TTL-07: note why a message becomes a dead letter."""
        coverage = coverage_of(self)
        settled = coverage.noted.get("settled", ())
        rule = "DLQ-02" if reason == TOO_OFTEN else "TTL-07" if reason == REASON else "DLQ-05"
        if queued in settled and rule != "DLQ-02":
            rule = "DLQ-05"
        notes = coverage.at(queued.entity)
        if rule == "DLQ-02" and not notes.spent:
            coverage.change(notes)
            notes.spent = True
        with coverage.on_the_way(rule):
            super().dead_letter(queued, reason)


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """DLQ-01, DLQ-03, DLQ-04, DLQ-06, DLQ-07, DLQ-09, DLQ-12, DLQ-13: show the rules."""
    if one.dead:
        _of_dead_letter(coverage, one)
    elif one.again:
        most = one.entity.settings.max_delivery_count
        exactly = coverage.namespace.known_reading(MaxDeliveries) is not MaxDeliveries.ONE_MORE
        coverage.show_if(
            (one.view.delivery_count is not None, "DLQ-01"),
            (one.queued.failed == (most if exactly else most + 1), "DLQ-03"),
        )


def _of_dead_letter(coverage: Coverage, one: Delivery) -> None:
    queued = one.queued
    shows = one.notes.shows
    most = one.entity.owner.settings.max_delivery_count
    coverage.show(*(() if one.again else shows), "DLQ-06")
    coverage.show_if(
        ("DLQ-02" in shows and most == DEFAULT_DELIVERIES and not one.again, "DLQ-04"),
        (one.again, "DLQ-07"),
        (queued.deliveries - (queued.token is not None) >= most, "DLQ-09"),
        (one.entity.settings.partitioned and one.of_entity.arrivals > 1, "DLQ-12"),
        (one.dark, "DLQ-13"),
    )


def of_empty(coverage: Coverage, entity: Entity) -> None:
    """DLQ-02, DLQ-07, DLQ-08, DLQ-13, DLQ-14, DEFER-01, FWD-32, TTL-08, TTL-10: show the rules."""
    notes = coverage.at(entity)
    if entity.dead_letters is not None:
        dead = coverage.at(entity.dead_letters)
        aside = notes.aside
        coverage.show_if(
            (notes.spent, "DLQ-02"),
            (dead.arrivals, "DLQ-14"),
            (aside is not None and aside.is_there and aside.token is None, "DEFER-01"),
        )
        return
    transfers = entity.kind is EntityKind.TRANSFERS
    owner = entity.owner
    of_owner = coverage.at(entity.owner)
    keeps = owner.settings.dead_letter_expired
    coverage.show_if(
        (transfers, "FWD-32"),
        (not transfers and of_owner.expired and not keeps, "TTL-08"),
        (not transfers and keeps and of_owner.aside_expired, "TTL-10"),
        (not notes.arrivals, "DLQ-08"),
        (len(entity.messages) < notes.arrivals, "DLQ-07"),
        (entity.base.down, "DLQ-13"),
    )
