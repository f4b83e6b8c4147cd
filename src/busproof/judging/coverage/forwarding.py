"""FWD: messages that are forwarded, or cannot be."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.keys import key_at
from busproof.judging.coverage.notes import Coverage, Delivery, Rules, coverage_of
from busproof.model.forwarding import TOO_FAR, Forwarding
from busproof.model.state import Entity
from busproof.model.values import EntityKind, InTransit

__all__ = ["SeenForwarding", "of_delivery", "of_empty"]

OF_KINDS: Final[dict[tuple[bool, bool], v.RuleId]] = {
    (True, False): "FWD-01",
    (False, True): "FWD-02",
    (True, True): "FWD-03",
    (False, False): "FWD-06",
}
"""Whether source and destination are partitioned, to the rule that permits this."""

WHY_KEPT: Final[dict[str, v.RuleId]] = {
    TOO_FAR: "FWD-18",
    "DestinationNotFound": "FWD-20",
    "DestinationDisabled": "FWD-19",
    "DestinationFull": "FWD-21",
}
THREE: Final = 3
"""FWD-17: the fewer hops of two that the documents name."""


class SeenForwarding(Forwarding):
    """Observer of forwarding."""

    def deliver(self, source: Entity, message: v.Message, onward: InTransit) -> str | None:
        """Let a forwarded message show the rules on its way when it is delivered."""
        coverage = coverage_of(self)
        destination = self.namespace.entities.get(source.settings.forward_to or "")
        if destination is None:
            return super().deliver(source, message, onward)
        rules = _of_hop(coverage, source, destination, message, onward)
        with coverage.on_the_way(*rules):
            return super().deliver(source, message, onward)

    def keep(
        self,
        source: Entity,
        message: v.Message,
        partition: int,
        transit: InTransit,
        reason: str,
    ) -> None:
        """FWD-17 to FWD-21, FWD-32: let a message that is kept show why."""
        coverage = coverage_of(self)
        rule = WHY_KEPT[reason]
        if reason == TOO_FAR and transit.hops == THREE:
            rule = "FWD-17"
        destination = self.namespace.entities.get(source.settings.forward_to or "")
        if destination is not None:
            coverage.keep_away(destination, rule)
        with coverage.on_the_way(rule):
            super().keep(source, message, partition, transit, reason)

    def reject_sessionless(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """FWD-27, SESS-01: let a message without its session show why it is a dead letter."""
        coverage = coverage_of(self)
        rule = "FWD-27" if transit.hops else "SESS-01"
        coverage.keep_away(entity, rule)
        with coverage.on_the_way(rule):
            super().reject_sessionless(entity, message, partition, transit)


def _of_hop(
    coverage: Coverage, source: Entity, destination: Entity, message: v.Message, onward: InTransit
) -> Rules:
    """Return the rules that a delivery shows after this hop."""
    if source.kind in (EntityKind.DEAD_LETTERS, EntityKind.TRANSFERS):
        return ("FWD-35",)
    key = key_at(destination, message)
    pair = (source.settings.partitioned, destination.settings.partitioned)
    at_source = key_at(source, message)
    partitioned = pair[1]
    by_id = at_source is not None and at_source.source == "MessageId"
    by_id = by_id and not destination.settings.duplicate_detection
    of_session = destination.settings.requires_session and destination.subscriptions is None
    named = message.session_id or message.partition_key or message.message_id
    conflict = None not in (message.session_id, message.partition_key) and (
        message.session_id != message.partition_key
    )
    notes = coverage.at(destination)
    cases = (
        (of_session, "FWD-26"),
        (any(pair) and notes.arrivals, "FWD-31"),
        (source.kind is EntityKind.SUBSCRIPTION, "FWD-30"),
        (coverage.committing is not None, "FWD-33"),
        (onward.hops == THREE + 1, "FWD-17"),
        (onward.hops == THREE, "FWD-16"),
        (by_id and partitioned, "FWD-12"),
        (conflict and partitioned, "FWD-28"),
        (key is None and partitioned, "FWD-09"),
        (key is None and partitioned, "FWD-10"),
        (named, "FWD-07"),
        (True, OF_KINDS[pair]),
        (True, "FWD-05" if coverage.at(source).redirected else "FWD-04"),
        (True, "FWD-14"),
    )
    return tuple(rule for holds, rule in cases if holds)


def of_empty(coverage: Coverage, entity: Entity) -> None:
    """FWD-15, FWD-36: show that what an entity forwards is not received from it."""
    # Messages from before an update enabled forwarding may be received still.
    if not entity.messages:
        coverage.show("FWD-36" if is_dead_letters(entity) else "FWD-15")


def is_dead_letters(entity: Entity) -> bool:
    """Return whether an entity is a dead-letter queue."""
    return entity.owner is not entity


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """FWD-08, FWD-11, FWD-22 to FWD-24: show the rules on the place and time of a forwarded one."""
    if "FWD-14" not in one.notes.shows or one.again:
        return
    key = key_at(one.entity, one.queued.message)
    of_base = coverage.at(one.entity.base)
    scheduled, late = one.notes.scheduled, False
    if scheduled is not None:
        outage = coverage.at(scheduled.entity).outage
        late = outage[0] <= scheduled.due <= outage[1]
    coverage.show_if(
        (key is None and one.dark and one.entity.settings.partitioned, "FWD-24"),
        (late, "FWD-23"),
    )
    if key is not None:
        rule = "FWD-11" if key.source == "MessageId" else "FWD-08"
        coverage.show_if(
            (key.value in of_base.homes and one.placed, rule),
            (one.queued.partition in of_base.recovered, "FWD-22"),
        )
