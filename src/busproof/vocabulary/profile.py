"""Profile: the edition, tier and readings that apply to a namespace."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

import attrs
from immutables import Map

from busproof.errors import UsageError
from busproof.vocabulary.values import RuleId, Tier

if TYPE_CHECKING:
    from busproof.spec import Catalogue

__all__ = [
    "NAMESPACE_PARTITIONS",
    "PARTITIONED_PREMIUM",
    "Profile",
    "namespace_of",
    "profile_for",
]

PARTITIONED_PREMIUM: Final = "partitioned-premium"
"""The kind of a partitioned Premium namespace, as the rules' `tiers` name it."""
NAMESPACE_PARTITIONS: Final = (1, 2, 4)
"""PREM-14: possible numbers of partitions of a Premium namespace; with 1 it is not partitioned."""


def _frozen_map(readings: Mapping[str, str]) -> Map[str, str]:
    return Map(readings)


@attrs.frozen(kw_only=True)
class Profile:
    """The rules that apply to a namespace: its edition, its tier, and readings of ambiguities.

    Attributes:
        edition: id of the edition of the documents.
        tier: the namespace's tier.
        readings: the reading of each ambiguity in the register, by its id.
        silent: rules that this edition or tier does not state, so that they allow and forbid
            nothing.
        partitions: how many partitions a partitioned entity has.
        namespace_partitions: how many partitions the namespace itself was created with; more than 1
            only in Premium, where every entity then has as many (PREM-14, PREM-16).
        messaging_units: messaging units of a Premium namespace, a multiple of its partitions.
    """

    edition: str
    tier: Tier = Tier.STANDARD
    readings: Map[str, str] = attrs.field(factory=Map, converter=_frozen_map)
    silent: frozenset[RuleId] = frozenset()
    partitions: int = attrs.field(default=16, validator=attrs.validators.ge(1))
    namespace_partitions: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    messaging_units: int = attrs.field(default=1, validator=attrs.validators.ge(1))

    @property
    def numbers_name_partitions(self) -> bool:
        """Whether a sequence number shows its partition (SEQUENCE-EXPOSES)."""
        return self.readings.get("SEQUENCE-EXPOSES") != "opaque"

    @property
    def is_partitioned(self) -> bool:
        """Whether the namespace is partitioned as a whole, and so are all of its entities."""
        return self.namespace_partitions > 1

    @property
    def is_premium(self) -> bool:
        """Whether the tier is Premium, with or without partitions."""
        return self.tier is Tier.PREMIUM

    @property
    def may_partition(self) -> bool:
        """Whether partitioned entities can be created: not in Premium without partitions."""
        return self.tier is not Tier.PREMIUM or self.is_partitioned

    @property
    def may_have_lost(self) -> bool:
        """PREM-18: whether a forced change of region may have lost or doubled any message."""
        return self.readings.get("REGION-CHANGE") == "forced"

    @property
    def kind(self) -> str:
        """The kind of namespace, as `tiers` of rules name it: the tier or `partitioned-premium`."""
        return PARTITIONED_PREMIUM if self.is_partitioned else self.tier.value


def namespace_of(tiers: Collection[str]) -> tuple[Tier, int]:
    """Return the tier and the number of partitions of a namespace in which a rule holds.

    `tiers` are those of the rule. The tier is Standard if the rule holds there, and the namespace
    is partitioned only if the rule holds nowhere else.
    """
    tier = Tier.STANDARD if Tier.STANDARD in tiers else next(iter(tiers))
    return (Tier.PREMIUM, 2) if tier == PARTITIONED_PREMIUM else (Tier(tier), 1)


def profile_for(
    catalogue: "Catalogue",
    *,
    edition: str | None = None,
    tier: str = Tier.STANDARD,
    readings: Mapping[str, str] | None = None,
    partitions: int | None = None,
    namespace_partitions: int = 1,
    messaging_units: int | None = None,
) -> Profile:
    """Return the profile of an edition (the default one if none is named) and tier, with readings.

    Args:
        catalogue: the catalogue of rules.
        edition: id of the edition; by default the catalogue's own.
        tier: the namespace's tier.
        readings: readings other than the defaults.
        partitions: partitions of a partitioned entity; 16 by default, and in a partitioned
            namespace those of the namespace.
        namespace_partitions: partitions of a Premium namespace: 1 (not partitioned), 2 or 4.
        messaging_units: messaging units of a Premium namespace; by default one for each partition.

    Raises:
        UsageError: the edition, an ambiguity or a reading is unknown, or no namespace can have
            these partitions or messaging units.
    """
    _check_namespace(tier, namespace_partitions, messaging_units)
    partitioned = namespace_partitions > 1
    chosen = catalogue.edition(edition).id if edition else catalogue.default_edition
    if partitioned:
        catalogue.check_partitioned(chosen)
    if partitioned and partitions not in (None, namespace_partitions):
        raise UsageError(
            f"a partitioned entity cannot have {partitions} partitions in a namespace of "
            f"{namespace_partitions}; leave the number of its partitions out"
        )
    kind = PARTITIONED_PREMIUM if partitioned else str(tier)
    taken = catalogue.readings(readings or {})
    silent = catalogue.silent(chosen, kind)
    if taken.get("SILENT-EDITION") == "carried-over":
        silent = frozenset(rule.id for rule in catalogue.rules if kind not in rule.tiers)
    return Profile(
        edition=chosen,
        tier=Tier(tier),
        readings=taken,
        silent=silent,
        partitions=partitions or (namespace_partitions if partitioned else 16),
        namespace_partitions=namespace_partitions,
        messaging_units=messaging_units or namespace_partitions,
    )


def _check_namespace(tier: str, partitions: int, units: int | None) -> None:
    """QUOTA-14, PREM-14: check the namespace's partitions and messaging units."""
    if partitions not in NAMESPACE_PARTITIONS:
        raise UsageError(
            f"a namespace cannot have {partitions} partitions; Premium has namespaces of 1 "
            "(not partitioned), 2 or 4"
        )
    if tier != Tier.PREMIUM and (partitions > 1 or units not in (None, 1)):
        wrong = f"{partitions} partitions" if partitions > 1 else f"{units} messaging units"
        raise UsageError(
            f"a namespace of tier {tier} cannot have {wrong}; choose the tier premium, or leave "
            "them out"
        )
    if units is not None and (units < 1 or units % partitions):
        raise UsageError(
            f"a namespace of {partitions} partitions cannot have {units} messaging units; they are "
            f"spread evenly, so give a multiple of {partitions}"
        )
