"""Which api-versions know partitioned entities.

A version is a year and a month, and two of them compare as dates: as text, "2013-9" would be later
than "2013-10". What else a request names is malformed, and what it gets is left open
(API-VERSION-FORM).
"""

import re
from typing import Final

from busproof import vocabulary as v

__all__ = ["is_old", "knows_partitions", "must_refuse_version", "version_shown"]

_FORM: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_FIRST: Final = "2013-10"
"""MGMT-06: the first api-version that knows partitioned entities."""


def _is_malformed(version: str) -> bool:
    return version != "" and _FORM.fullmatch(version) is None


def version_shown(version: str) -> v.RuleId | None:
    """The rule that speaks of this api-version; "" is none at all, which MGMT-08 speaks of."""
    if _is_malformed(version):
        return None
    # Of the same form, text and dates have the same order.
    return "MGMT-08" if version < _FIRST else "MGMT-06" if version == _FIRST else "MGMT-07"


def knows_partitions(profile: v.Profile, version: str | None) -> bool:
    """MGMT-06, MGMT-07: whether requests of this api-version must know partitioned entities.

    `None` is the version that the implementation's own requests name.
    """
    if version is None:
        return True
    rule = version_shown(version)
    return rule in ("MGMT-06", "MGMT-07") and rule not in profile.silent


def is_old(version: str | None) -> bool:
    """MGMT-08: whether no edition says that requests of this api-version work."""
    return version is not None and version_shown(version) in ("MGMT-08", None)


def must_refuse_version(profile: v.Profile, version: str | None) -> bool:
    """Whether a malformed api-version is refused by the reading of API-VERSION-FORM."""
    malformed = version is not None and _is_malformed(version)
    return malformed and profile.readings.get("API-VERSION-FORM") == "refused"
