"""The rules that apply to a namespace: edition, tier, readings, rules in force."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
from immutables import Map

from busproof.vocabulary.values import RuleId, Tier

if TYPE_CHECKING:
    from busproof.spec import Catalogue

__all__ = ["Profile", "profile_for"]


def _frozen_map(readings: Mapping[str, str]) -> Map[str, str]:
    return Map(readings)


@attrs.frozen(kw_only=True)
class Profile:
    """The rules that apply to a namespace: edition, tier and readings of ambiguities.

    Attributes:
        edition: id of the edition of the documents.
        tier: the namespace's tier.
        readings: ambiguity id to the reading taken, for every ambiguity of the register.
        silent: rules that this edition or tier does not state; they neither allow nor forbid.
        partitions: how many partitions a partitioned entity has.
    """

    edition: str
    tier: Tier = Tier.STANDARD
    readings: Map[str, str] = attrs.field(factory=Map, converter=_frozen_map)
    silent: frozenset[RuleId] = frozenset()
    partitions: int = attrs.field(default=16, validator=attrs.validators.ge(1))

    @property
    def numbers_name_partitions(self) -> bool:
        """Whether a partition can be read from a sequence number (SEQUENCE-EXPOSES)."""
        return self.readings.get("SEQUENCE-EXPOSES") != "opaque"


def profile_for(
    catalogue: "Catalogue",
    *,
    edition: str | None = None,
    tier: str = Tier.STANDARD,
    readings: Mapping[str, str] | None = None,
    partitions: int = 16,
) -> Profile:
    """Return the profile of an edition (the default one if none is named) and tier, with readings.

    Raises:
        UsageError: an unknown edition, ambiguity or reading.
    """
    chosen = catalogue.edition(edition).id if edition else catalogue.default_edition
    taken = catalogue.readings(readings or {})
    silent = catalogue.silent(chosen, tier)
    if taken.get("SILENT-EDITION") == "carried-over":
        silent = frozenset(rule.id for rule in catalogue.rules if tier not in rule.tiers)
    return Profile(
        edition=chosen, tier=Tier(tier), readings=taken, silent=silent, partitions=partitions
    )
