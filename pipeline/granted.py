"""What an entity became, as far as it is sure: its tier may give it something else than was asked.

Null stands for what is not known; no query takes it for either answer.
"""

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from busproof.pipeline.terms import Held
from busproof.vocabulary.values import Tier

__all__ = ["LONGEST_LOCK", "beyond_basic", "is_partitioned", "lawful_window"]

LONGEST_LOCK: Final = 300_000_000
"""LOCK-03: no lock lasts longer than 5 minutes, in microseconds."""

_LONGEST_WINDOW: Final = 7 * 86_400 * 1_000_000
"""DUP-03: no duplicate window lasts longer than 7 days, in microseconds."""

_PARTITIONS_KNOWN_SINCE: Final = "2013-10"
"""MGMT-06: the first api-version that knows partitioned entities."""


def is_partitioned(kind: Column, asked: Column, version: Column, held: Held) -> Column:
    """Whether an entity is partitioned, by the request that created it.

    Args:
        kind: the request.
        asked: what it asked for; null where it left that out.
        version: the api-version that it named; null is that of the implementation.
        held: what the history was held to.
    """
    restored = sf.when(kind == "RestoreQueue", asked)
    regular = sf.when(~asked, sf.lit(False))
    if held.profile.tier is Tier.PREMIUM:
        return sf.coalesce(restored, _in_premium(asked, regular, held))
    heard = version.isNull()
    for rule, names in (
        ("MGMT-06", version == _PARTITIONS_KNOWN_SINCE),
        ("MGMT-07", version > _PARTITIONS_KNOWN_SINCE),
    ):
        if rule not in held.profile.silent:
            heard = heard | names
    partitioned = sf.when(asked & sf.coalesce(heard, sf.lit(False)), sf.lit(True))
    if held.profile.tier is Tier.BASIC:
        regular = sf.when(~asked, _regular_in_basic(held))
    return sf.coalesce(restored, partitioned, regular)


def _in_premium(asked: Column, regular: Column, held: Held) -> Column:
    """PREM-01: nothing is, unless a reading says otherwise (PREMIUM-CHECKBOX, PREMIUM-OLDEST)."""
    oldest = held.reads("PREMIUM-OLDEST")
    if "PREM-01" not in held.profile.silent or oldest == "not-supported":
        return sf.lit(held.reads("PREMIUM-CHECKBOX") == "always-on")
    return asked if oldest == "supported" else regular


def _regular_in_basic(held: Held) -> Column:
    """What an entity of Basic is that was not to be partitioned (BASIC-REGULAR)."""
    known = {"never": True, "as-asked": False}
    return sf.lit(known.get(held.reads("BASIC-REGULAR"))).cast("boolean")


def beyond_basic(asked: Column, held: Held) -> Column:
    """Whether an entity has what Basic need not have: sessions, detection (BASIC-FEATURES)."""
    if held.profile.tier is not Tier.BASIC or held.reads("BASIC-FEATURES") == "offered":
        return asked
    return sf.when(~asked, sf.lit(False))


def lawful_window(asked: Column) -> Column:
    """A duplicate window that lasts as long as was asked for, or longer (DUP-03)."""
    return sf.when(asked <= _LONGEST_WINDOW, asked)
