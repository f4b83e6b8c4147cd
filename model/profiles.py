"""From what a user asks for and an adapter declares to what the model is held to."""

from collections.abc import Collection, Mapping

from busproof.model.values import Clock, Profile, Tier, Vantage
from busproof.spec import Catalogue

__all__ = ["profile_for", "vantage_from"]


def profile_for(
    catalogue: Catalogue,
    *,
    edition: str | None = None,
    tier: str = Tier.STANDARD,
    readings: Mapping[str, str] | None = None,
    partitions: int = 16,
) -> Profile:
    """The profile of an edition (the newest by default) and tier, readings filled in.

    Raises:
        UsageError: an unknown edition, ambiguity or reading.
    """
    chosen = catalogue.edition(edition).id if edition else catalogue.editions[-1].id
    taken = catalogue.readings(readings or {})
    silent = catalogue.silent(chosen, tier)
    if taken.get("SILENT-EDITION") == "carried-over":
        silent = frozenset(rule.id for rule in catalogue.rules if tier not in rule.tiers)
    return Profile(
        edition=chosen, tier=Tier(tier), readings=taken, silent=silent, partitions=partitions
    )


def vantage_from(clock: Clock, slack: int, capabilities: Collection[str]) -> Vantage:
    """What the model may take as seen, of an implementation with these capabilities."""
    return Vantage(
        clock=clock,
        slack=slack,
        partitions="witness" in capabilities or "outages" in capabilities,
        witness="witness" in capabilities,
        assigns_message_ids="client-library" in capabilities,
        limits="limits" in capabilities,
    )
