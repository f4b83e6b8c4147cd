"""Each rule cites the editions and sections that state it, and no others, by the second reading."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from busproof.spec import Catalogue, Rule

READING = yaml.safe_load(
    (Path(__file__).parents[2] / "spec" / "statements.yaml").read_text(encoding="utf-8")
)
STATEMENTS = {"A": 14, "B": 14, "C": 19, "D": 8, "E": 3, "F": 14, "G": 9, "H": 3}
IN_PART = {entry["rule"]: set(entry["editions"]) for entry in READING["in_part"]}


def sections(statement: str) -> dict[str, set[str]]:
    """Each edition that makes the statement, and the sections where it does."""
    found: dict[str, Any] = READING["statements"][statement]
    own = {edition: set(found["in"]) for edition in found["editions"]}
    return own | {edition: set(where) for edition, where in found.get("apart", {}).items()}


def expected(rule: Rule) -> set[tuple[str, str]]:
    """The places at which a rule is stated."""
    stated = [sections(statement) for statement in rule.covers]
    editions: set[str] = set()
    if stated:
        combine = set.intersection if rule.id in READING["together"] else set.union
        editions = combine(*(set(each) for each in stated))
    editions = IN_PART.get(rule.id, editions)
    return {
        (edition, section)
        for each in stated
        for edition, where in each.items()
        if edition in editions
        for section in where
    }


def cited(catalogue: Catalogue, rule: Rule) -> set[tuple[str, str | None]]:
    """The places that a rule cites in the editions."""
    editions = {edition.id for edition in catalogue.editions}
    return {(each.source, each.anchor) for each in rule.citations if each.source in editions}


def test_every_statement_was_read_again() -> None:
    numbered = {f"{kind}{n + 1}" for kind, most in STATEMENTS.items() for n in range(most)}
    assert numbered == set(READING["statements"])


def test_every_section_of_the_reading_is_one_of_its_edition(catalogue: Catalogue) -> None:
    anchors = {edition.id: set(edition.anchors) for edition in catalogue.editions}
    for statement in READING["statements"]:
        for edition, where in sections(statement).items():
            assert set() == where - anchors[edition], statement


def test_every_rule_cites_exactly_the_places_that_state_it(catalogue: Catalogue) -> None:
    wrong = {
        rule.id: (expected(rule) - cited(catalogue, rule), cited(catalogue, rule) - expected(rule))
        for rule in catalogue.rules
        if expected(rule) != cited(catalogue, rule)
    }
    assert {} == wrong


@pytest.mark.parametrize("list_of", ["together", "in_part"])
def test_exceptions_of_the_reading_are_needed(catalogue: Catalogue, list_of: str) -> None:
    """An exception whose rule is stated without it is taken out of the list."""
    listed = {"together": READING["together"], "in_part": list(IN_PART)}[list_of]
    for name in listed:
        rule = catalogue.rule(name)
        any_of_them = set.union(*(set(sections(each)) for each in rule.covers))
        assert any_of_them != {edition for edition, _ in cited(catalogue, rule)}, name
