"""The conformance levels of `spec/levels.yaml`."""

import pytest

from busproof import spec
from busproof.errors import SpecificationError
from busproof.vocabulary.capabilities import Capability

LEVELS = spec.load_levels()
RULES = [rule for rule in spec.load().rules if rule.shown_by != "never"]


def test_each_capability_is_in_one_level_or_beside_them() -> None:
    named = [name for level in LEVELS.all for name in level.capabilities]
    assert sorted(map(str, Capability)) == sorted([*named, *LEVELS.beside])


def test_each_level_has_rules() -> None:
    assert {level.id for level in LEVELS.all} == {LEVELS.of(rule).id for rule in RULES}


def test_each_capability_of_a_level_is_needed_by_a_rule_of_it() -> None:
    """What is claimed without a rule to show it could only be believed."""
    for level in LEVELS.all:
        needs = {name for rule in RULES for need in rule.needs for name in need.split("|")}
        assert set(level.capabilities) <= needs, level.id


@pytest.mark.parametrize(
    ("rule", "level"),
    [
        ("KEY-08", "core"),  # needs nothing
        ("SESS-01", "sessions"),
        ("TXN-02", "transactions"),
    ],
)
def test_rule_is_in_the_last_level_that_it_needs(rule: str, level: str) -> None:
    assert level == LEVELS.of(spec.load().rule(rule)).id


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[transactions, transactional-settlement]", "[transactions]", "transactional-settlement"),
        ("[transactions, transactional-settlement]", "[transactions, topics]", "topics"),
        ("beside: [amqp", "beside: [amqp, flying", "flying"),
        ("id: topics", "id: sessions", "sessions"),
        ("title: Topics", "titel: Topics", "title"),
    ],
)
def test_wrong_levels_are_refused(tmp_path, before: str, after: str, said: str) -> None:
    text = (spec.loading._OWN / "levels.yaml").read_text("utf-8")
    assert before in text
    (tmp_path / "levels.yaml").write_text(text.replace(before, after), "utf-8")
    with pytest.raises(SpecificationError, match=said):
        spec.load_levels(tmp_path)
