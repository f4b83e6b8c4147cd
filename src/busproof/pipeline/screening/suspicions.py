"""Suspicions: what looks like a violation of one of a few rules.

A suspicion is not yet a violation: locks end, entities are deleted and created again, and answers
that never came explain much. The judge decides. What no suspicion points to has not been judged.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.reading import Read
from busproof.pipeline.screening.events import events_of
from busproof.pipeline.screening.facts import Kind, facts_of, groups_of

__all__ = ["SCREENED", "UNREADABLE", "suspicions_of"]

UNREADABLE: Final = ""
"""Instead of a rule, for a line that is not a record."""

_DISAGREE: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        Kind.KEY: "KEY-02",
        Kind.HOME: "LIFE-12",
        Kind.NUMBER: "SEQ-04",
        Kind.NAMED: "SEQ-03",
        Kind.TRANSACTION: "TXN-04",
        Kind.MESSAGE: "LIFE-01",
    }
)
"""Kinds whose facts must have one value, and the rule that is broken otherwise."""

_ALONE: Final = (
    "DLQ-02",
    "KEY-08",
    "LIFE-06",
    "LOCK-07",
    "SESS-01",
    "SESS-02",
)
_IN_ORDER: Final = ("KEY-06", "KEY-11", "LIFE-03")

SCREENED: Final = tuple(sorted({*_DISAGREE.values(), *_ALONE, *_IN_ORDER}))
"""The rules that screening looks for."""

_MOST_DELIVERIES: Final = 10
"""Greatest delivery count of an entity that was created without one (DLQ-04)."""


def suspicions_of(history: Read) -> DataFrame:
    """Return events that look like violations: history_id, line of the event, rule.

    Args:
        history: the histories, as read.
    """
    groups = groups_of(facts_of(events_of(history)))
    alone = groups.withColumn("rule", _suspect_alone()).where(
        sf.col("rule").isNotNull() | _is_compared()
    )
    before = (
        Window.partitionBy("history_id", "kind", "compared")
        .orderBy(sf.asc_nulls_last("first_effect"), "first_cause")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    compared = (
        alone.select(
            "history_id",
            sf.when(_is(Kind.DETECTS), sf.lit(int(Kind.COPY)))
            .otherwise(sf.col("kind"))
            .alias("kind"),
            _comparison_key().alias("compared"),
            _is(Kind.DETECTS).alias("detects"),
            "rule",
            "line",
            "first_cause",
            "first_effect",
            "last_cause",
        )
        .withColumn("earliest", sf.min("first_cause").over(before))
        .withColumn("latest", sf.max("last_cause").over(before))
        .withColumn("is_detected", sf.max("detects").over(before))
    )
    rule = sf.coalesce("rule", _suspect_in_order())
    return compared.select("history_id", "line", rule.alias("rule")).where("rule is not null")


def _is(*kinds: Kind) -> Column:
    return sf.col("kind").isin(*map(int, kinds))


def _suspect_alone() -> Column:
    """Return the rule that a group seems to break on its own evidence; null if none."""
    disagree = sf.col("low") != sf.col("high")
    cause, effect = sf.col("first_cause"), sf.col("first_effect")
    caused, had_effect = cause.isNotNull(), effect.isNotNull()
    settled_twice = cause < sf.col("last_cause")
    limit = sf.coalesce(sf.col("last_cause"), sf.lit(_MOST_DELIVERIES))
    first_rule = sf.when(_is(Kind.UNREADABLE), sf.lit(UNREADABLE))
    for kind, rule in _DISAGREE.items():
        first_rule = first_rule.when(_is(kind) & disagree, sf.lit(rule))
    for rule, suspicious in (
        ("KEY-08", _is(Kind.MISMATCH)),
        ("LIFE-01", _is(Kind.MESSAGE) & had_effect & ~caused),
        ("LIFE-06", _is(Kind.LOCK) & (~had_effect | settled_twice)),
        ("LOCK-07", _is(Kind.LOCK) & (effect < sf.col("last_effect"))),
        ("DLQ-02", _is(Kind.COUNTED) & (sf.col("high") > limit)),
        ("SESS-01", _is(Kind.NEEDS) & caused & had_effect),
        ("SESS-02", _is(Kind.HELD) & had_effect & (~caused | (effect < cause))),
        ("SESS-02", _is(Kind.NEEDS) & caused & sf.col("low").isNotNull()),
    ):
        first_rule = first_rule.when(suspicious, sf.lit(rule))
    return first_rule


def _is_compared() -> Column:
    """Return whether a group has to be compared with others."""
    locked = _is(Kind.LOCK) & sf.col("first_effect").isNotNull()
    sent = _is(Kind.PLACE) & sf.col("first_cause").isNotNull()
    copied = _is(Kind.COPY) & (sf.col("low") != sf.col("high"))
    return locked | sent | copied | _is(Kind.DETECTS)


def _comparison_key() -> Column:
    """Return what groups must share to be compared: their message, session or entity."""
    of_entity = _is(Kind.COPY, Kind.DETECTS)
    return sf.when(of_entity, sf.col("first_cause")).otherwise(sf.col("low"))


def _suspect_in_order() -> Column:
    """Return the rule that a group seems to break, compared with earlier groups; null if none."""
    cause, effect = sf.col("first_cause"), sf.col("first_effect")
    return (
        sf.when(_is(Kind.LOCK) & (sf.col("earliest") < effect), sf.lit("LIFE-03"))
        .when(_is(Kind.LOCK) & (sf.col("latest") > effect), sf.lit("LOCK-07"))
        .when(_is(Kind.PLACE) & (sf.col("latest") > cause), sf.lit("KEY-06"))
        .when(_is(Kind.COPY) & sf.col("is_detected"), sf.lit("KEY-11"))
    )
