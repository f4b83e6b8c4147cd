"""What an implementation is held to, and what can be observed of it."""

from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.spec import load

NEWEST = "en-2026-02"
"""The edition that has partitioned namespaces."""


def test_observability_follows_the_declaration() -> None:
    """An outage reveals a partition even without a witness."""
    seen = {
        capability: v.Declaration(
            implementation=v.Implementation(name="a bus"),
            capabilities=frozenset({v.Capability(capability)}),
            clock=v.Clock.REAL,
            slack=7,
        ).observability
        for capability in ("witness", "outages", "sessions")
    }
    assert [(v.Clock.REAL, 7)] * 3 == [(each.clock, each.slack) for each in seen.values()]
    assert [True, True, False] == [each.partitions for each in seen.values()]
    assert [True, False, False] == [each.witness for each in seen.values()]


def test_a_silent_edition_may_be_read_as_carrying_rules_over() -> None:
    catalogue = load()
    silent = v.profile_for(catalogue, edition="fr-2016-09")
    carried = v.profile_for(
        catalogue, edition="fr-2016-09", readings={"SILENT-EDITION": "carried-over"}
    )
    assert "KEY-17" in silent.silent
    assert "KEY-17" not in carried.silent


@pytest.mark.parametrize("partitions", [2, 4])
def test_an_entity_has_the_partitions_of_its_namespace(partitions: int) -> None:
    profile = v.profile_for(
        load(), edition=NEWEST, tier=v.Tier.PREMIUM, namespace_partitions=partitions
    )
    assert partitions == profile.partitions == profile.messaging_units
    assert (True, True, "partitioned-premium") == (
        profile.is_partitioned,
        profile.may_partition,
        profile.kind,
    )
    assert {"KEY-01", "PREM-14", "LIMIT-04"}.isdisjoint(profile.silent)
    assert {"PREM-01", "SIZE-05", "QUOTA-02", "LIMIT-02"} <= profile.silent


def test_a_namespace_of_one_partition_is_not_partitioned() -> None:
    profile = v.profile_for(load(), edition=NEWEST, tier=v.Tier.PREMIUM, messaging_units=8)
    assert (16, 1, 8, False, False, "premium") == (
        profile.partitions,
        profile.namespace_partitions,
        profile.messaging_units,
        profile.is_partitioned,
        profile.may_partition,
        profile.kind,
    )


def test_a_partitioned_namespace_has_an_edition_that_knows_such() -> None:
    assert NEWEST == v.profile_for(load(), tier=v.Tier.PREMIUM, namespace_partitions=2).edition


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"namespace_partitions": 3}, "cannot have 3 partitions; Premium has namespaces of 1"),
        ({"namespace_partitions": 16}, "cannot have 16 partitions"),
        ({"tier": "standard", "namespace_partitions": 2}, "tier standard cannot have 2 partitions"),
        ({"tier": "basic", "messaging_units": 2}, "tier basic cannot have 2 messaging units"),
        ({"namespace_partitions": 4, "messaging_units": 6}, "give a multiple of 4"),
        ({"namespace_partitions": 4, "messaging_units": 2}, "give a multiple of 4"),
        ({"namespace_partitions": 2, "partitions": 16}, "cannot have 16 partitions in a namespace"),
        ({"namespace_partitions": 2, "edition": "de-2021-04"}, f"choose one of {NEWEST}"),
    ],
)
def test_a_namespace_that_cannot_be_is_refused(asked: dict[str, Any], said: str) -> None:
    """By a sentence with the value, and with what is allowed."""
    with pytest.raises(UsageError) as refused:
        v.profile_for(load(), **({"tier": "premium"} | asked))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("tiers", "namespace"),
    [
        (("basic", "standard", "premium"), (v.Tier.STANDARD, 1)),
        (("premium", "partitioned-premium"), (v.Tier.PREMIUM, 1)),
        (("partitioned-premium",), (v.Tier.PREMIUM, 2)),
    ],
)
def test_a_rule_has_a_namespace_where_it_holds(tiers, namespace) -> None:
    assert namespace == v.namespace_of(tiers)


@pytest.mark.parametrize("reading", ["none", "forced"])
def test_only_a_forced_change_of_region_may_have_lost_messages(reading: str) -> None:
    profile = v.profile_for(load(), readings={"REGION-CHANGE": reading})
    assert profile.may_have_lost is (reading == "forced")
