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
            answer = self.namespace.may("API-VERSION-FORM", "either", *answers)
        elif version < PARTITIONS_SINCE:
            answer = self.namespace.choices.pick("MGMT-08", answers)
        else:
            return wanted
        if answer == "refused":
            raise Refusal(v.Error.INVALID_OPERATION, "MGMT-08")
        return wanted and answer == "done"

    def partitioned(self, wanted: bool | None, version: str | None = None) -> bool:
        """MGMT-01, MGMT-03, MGMT-06 to MGMT-08, PREM-01: whether a new entity is partitioned."""
        if self.namespace.profile.is_partitioned:
            return self.in_partitioned(wanted, version)
        if wanted is None:
            reading = self.namespace.reading("PARTITIONING-DEFAULT", "regular", "partitioned")
            wanted = reading == "partitioned"
        wanted = self.as_asked(wanted, version)
        if self.namespace.profile.is_premium:
            return self.in_premium(wanted)
        if not wanted and self.namespace.profile.tier is v.Tier.BASIC:
            return self.namespace.reading("BASIC-REGULAR", "as-asked", "never") == "never"
        return wanted

    def in_premium(self, wanted: bool) -> bool:
        """PREM-01, PREM-02, PREM-06: return whether a new entity is partitioned in Premium."""
        oldest, readings = (
            "PREM-01" in self.namespace.profile.silent,
            ("not-supported", "supported"),
        )
        if oldest and self.namespace.reading("PREMIUM-OLDEST", *readings) == "supported":
            return wanted
        known = self.namespace.profile.readings
        stated = not oldest or known.get("PREMIUM-OLDEST") == "not-supported"
        if stated and known.get("PREMIUM-CHECKBOX") == "always-on":
            return True
        if (
            wanted
            and self.namespace.reading("PREMIUM-CHECKBOX", "no-effect", "refused") == "refused"
        ):
            raise Refusal(v.Error.INVALID_OPERATION, "PREM-01")
        return False

    def in_partitioned(self, wanted: bool | None, version: str | None) -> bool:
        """PREM-14, PREM-15: return true, because every entity here is partitioned, or refuse.

        A request without the option may count as one that declines it (PREMIUM-UNASKED).
        """
        if wanted is None:
            wanted = (
                self.namespace.reading("PREMIUM-UNASKED", "partitioned", "refused") == "partitioned"
            )
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
