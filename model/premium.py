"""PREM: Premium with and without partitions; and whether an entity is partitioned, in any tier.

A Premium namespace is partitioned as a whole or not at all. In a partitioned one every entity is
partitioned, and a request for one that is not is refused. In a Premium namespace that is not
partitioned, no partitioned entity can be created; existing ones work as in Standard. What a request
for one gets there depends on PREMIUM-CHECKBOX, and on PREMIUM-OLDEST in the edition that does not
mention Premium. In other tiers an entity is partitioned if the request to create it says so.
"""

import re
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    ApiVersionForm,
    BasicRegular,
    PartitioningDefault,
    PremiumCheckbox,
    PremiumOldest,
    PremiumUnasked,
)
from busproof.model.family import Family
from busproof.model.values import Refusal

__all__ = ["Premium"]

PARTITIONS_SINCE: Final = "2013-10"
"""MGMT-06: the first api-version that has the partitioning option."""
DATED: Final = re.compile("[0-9]{4}-(0[1-9]|1[0-2])")
"""Pattern of a year and a month; texts of this form sort like dates."""


class Premium(Family):
    """The rules of PREM."""

    def as_asked(self, wanted: bool, version: str | None) -> bool:
        """MGMT-06 to MGMT-08: return what the option means in a request of this api-version.

        An old version may know the option, ignore it or be refused. The same holds for a text that
        is not a version (API-VERSION-FORM), because it is neither older nor newer than another.
        """
        answers = ("refused", "ignored", "done")
        if version is None:
            return wanted
        if version and not DATED.fullmatch(version):
            if self.namespace.reading(ApiVersionForm) is ApiVersionForm.REFUSED:
                raise Refusal(v.Error.INVALID_OPERATION, "MGMT-08")
            answer = self.namespace.choices.pick("API-VERSION-FORM", answers)
        elif version < PARTITIONS_SINCE:
            answer = self.namespace.choices.pick("MGMT-08", answers)
        else:
            # Only in an edition that says so does a later version surely have the option.
            rule = "MGMT-06" if version == PARTITIONS_SINCE else "MGMT-07"
            if not wanted or self.namespace.states(rule):
                return wanted
            answer = self.namespace.pick(rule, "done", "ignored", "refused")
        if answer == "refused":
            raise Refusal(v.Error.INVALID_OPERATION, "MGMT-08")
        return wanted and answer == "done"

    def partitioned(self, wanted: bool | None, version: str | None = None) -> bool:
        """MGMT-01, MGMT-03, MGMT-06 to MGMT-08, PREM-01: whether a new entity is partitioned."""
        if self.namespace.profile.is_partitioned:
            return self.in_partitioned(wanted, version)
        if wanted is None:
            reading = self.namespace.reading(PartitioningDefault)
            wanted = reading is PartitioningDefault.PARTITIONED
        wanted = self.as_asked(wanted, version)
        if self.namespace.profile.is_premium:
            return self.in_premium(wanted)
        if not wanted and self.namespace.profile.tier is v.Tier.BASIC:
            return self.namespace.reading(BasicRegular) is BasicRegular.NEVER
        return wanted

    def in_premium(self, wanted: bool) -> bool:
        """PREM-01, PREM-02, PREM-06: return whether a new entity is partitioned in Premium."""
        oldest = "PREM-01" in self.namespace.profile.silent
        if oldest and self.namespace.reading(PremiumOldest) is PremiumOldest.SUPPORTED:
            return wanted
        # Where the edition is silent, only a profile that says so lets the option be always on.
        named = self.namespace.named_reading(PremiumOldest)
        checkbox = self.namespace.known_reading(PremiumCheckbox)
        if checkbox is PremiumCheckbox.ALWAYS_ON and (
            not oldest or named is PremiumOldest.NOT_SUPPORTED
        ):
            return True
        free = (PremiumCheckbox.NO_EFFECT, PremiumCheckbox.REFUSED)
        if wanted and self.namespace.reading(PremiumCheckbox, *free) is PremiumCheckbox.REFUSED:
            raise Refusal(v.Error.INVALID_OPERATION, "PREM-01")
        return False

    def in_partitioned(self, wanted: bool | None, version: str | None) -> bool:
        """PREM-14, PREM-15: return true, because every entity here is partitioned, or refuse.

        A request without the option may count as one that declines it (PREMIUM-UNASKED).
        """
        if wanted is None:
            wanted = self.namespace.reading(PremiumUnasked) is PremiumUnasked.PARTITIONED
        if not wanted:
            raise Refusal(v.Error.INVALID_OPERATION, "PREM-15")
        self.as_asked(wanted, version)
        return True

    def check_batch(self, messages: tuple[v.Message, ...]) -> None:
        """PREM-17: refuse, in a partitioned namespace, a batch with different keys.

        Keys are SessionIds and PartitionKeys; BATCH-KEYS is about messages without either.
        """
        if not self.namespace.profile.is_partitioned:
            return
        for name in ("session_id", "partition_key"):
            if len({getattr(message, name) for message in messages} - {None}) > 1:
                raise Refusal(v.Error.INVALID_OPERATION, "PREM-17")
