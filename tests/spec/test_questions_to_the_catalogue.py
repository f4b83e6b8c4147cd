"""What the rest of the project asks the catalogue."""

import pytest

from busproof.errors import UsageError
from busproof.spec import Catalogue
from busproof.vocabulary.values import Tier


@pytest.mark.parametrize("wanted", ["KEY-99", "key-03", "KEY-3"])
def test_an_unknown_rule_is_refused_with_the_nearest_ids(catalogue: Catalogue, wanted: str) -> None:
    with pytest.raises(UsageError, match=rf"'{wanted}'; nearest: .*KEY-\d\d.*`busproof rules`"):
        catalogue.rule(wanted)


def test_an_unknown_family_is_refused_with_all_families(catalogue: Catalogue) -> None:
    with pytest.raises(UsageError, match=r"'KEYS'; nearest: KEY; use one of .*KEY, LIFE,.* TXN"):
        catalogue.family("KEYS")


def test_readings_are_the_defaults_where_nothing_else_is_asked(catalogue: Catalogue) -> None:
    readings = catalogue.readings({})

    assert {entry.id: entry.default for entry in catalogue.ambiguities} == readings
    assert readings["TXN-REFUSAL"] == "at-send"


def test_a_reading_that_nothing_can_reveal_is_refused_with_the_reason(catalogue: Catalogue) -> None:
    """A run that took it would be held to the same, and say that it was held to something else."""
    assert catalogue.readings({"OVERLOAD": "either"}) == catalogue.readings({})
    with pytest.raises(UsageError, match=r"OVERLOAD is on record only.*cannot overload it.*either"):
        catalogue.readings({"OVERLOAD": "like-an-outage"})


def test_a_rule_is_in_force_where_edition_and_tier_have_it(catalogue: Catalogue) -> None:
    in_force = catalogue.in_force("fr-2016-09", "standard")

    assert {"KEY-03", "TXN-01", "TXN-12", "LIFE-02"} <= in_force
    assert not {"KEY-16", "KEY-17", "KEY-21", "KEY-23"} & in_force


def test_basic_is_held_to_no_feature_that_it_need_not_have(catalogue: Catalogue) -> None:
    """Public documentation denies it transactions, sessions, copies, topics and forwarding."""
    lacking = {"transactions", "sessions", "duplicate-detection", "topics", "forwarding"}

    assert set() == {
        rule
        for rule in catalogue.in_force("de-2021-04", Tier.BASIC)
        if lacking & set(catalogue.rule(rule).needs)
    }


def test_premium_has_no_rules_on_partition_keys(catalogue: Catalogue) -> None:
    families = {rule.partition("-")[0] for rule in catalogue.in_force("de-2021-04", "premium")}

    assert "LIFE" in families
    assert "KEY" not in families


def test_what_is_not_in_force_is_silent(catalogue: Catalogue) -> None:
    in_force = catalogue.in_force("fr-2016-09", "standard")
    silent = catalogue.silent("fr-2016-09", "standard")

    assert {rule.id for rule in catalogue.rules} == in_force | silent
    assert frozenset() == in_force & silent


def test_a_diff_shows_what_only_one_edition_states(catalogue: Catalogue) -> None:
    diff = catalogue.diff("fr-2016-09", "de-2021-04")

    only_in_a, only_in_b = (
        [rule for rule in only if rule.startswith("KEY-")]
        for only in (diff.only_in_a, diff.only_in_b)
    )
    assert only_in_a == []
    assert only_in_b == ["KEY-16", "KEY-17", "KEY-21", "KEY-23", "KEY-26"]


def test_a_diff_shows_which_rules_are_cited_otherwise(catalogue: Catalogue) -> None:
    changed = {change.rule: change for change in catalogue.diff("es-2020-06", "cs-2020-12").changed}

    assert [citation.remark for citation in changed["TXN-03"].in_a] == [None]
    assert [citation.remark for citation in changed["TXN-03"].in_b] == [
        "slip: the exception itself is called invalid"
    ]
    assert "KEY-02" not in changed


def test_a_diff_has_each_statement_that_went_or_came(catalogue: Catalogue) -> None:
    diff = catalogue.diff("de-2021-04", "en-2026-02")

    assert ["B5", "F14", "G4", "G9"] == [statement.id for statement in diff.gone]
    assert ["A14", "B12", "B13", "B14"] == [statement.id for statement in diff.new]
    assert "that maximum size is 256 KB" in [statement.says for statement in diff.gone]


def test_the_order_of_citations_is_no_difference(catalogue: Catalogue) -> None:
    """FWD-08 cites the same two sections in both."""
    changed = {change.rule for change in catalogue.diff("de-2021-04", "en-2026-02").changed}

    assert "FWD-08" not in changed
    assert "MGMT-04" in changed


def test_a_need_of_either_kind_is_met_by_one_of_them(catalogue: Catalogue) -> None:
    rule = catalogue.rule("KEY-10")

    assert rule.unmet({"duplicate-detection", "outages"}) == ()
    assert rule.unmet({"duplicate-detection", "witness"}) == ()
    assert rule.unmet({"duplicate-detection"}) == ("witness|outages",)
    assert rule.needs == rule.unmet(())


def test_the_ambiguities_of_a_rule_are_those_that_touch_it(catalogue: Catalogue) -> None:
    touching = [entry.id for entry in catalogue.concerning({"KEY-18"})]

    assert touching == ["OUTAGE-ERROR", "SHORT-TIMEOUT"]
