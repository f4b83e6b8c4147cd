"""Conformance levels of a run: what is claimed and shown, and what is required."""

import json
from xml.etree import ElementTree

import attrs
import pytest

from busproof.errors import UsageError
from busproof.history.conformance import Verdict
from busproof.reports.badges import write_badges
from busproof.reports.document import conformance_of, view
from busproof.reports.levels import State, check_required, levels_found, not_met
from busproof.reports.markdown import page
from busproof.spec import load_levels
from busproof.vocabulary.capabilities import Capability


@pytest.fixture
def perfect(conformance):
    """Everything is declared, and every rule shown."""
    subject = attrs.evolve(conformance.subject, capabilities=tuple(map(str, Capability)))
    rules = tuple(
        attrs.evolve(rule, verdict=Verdict.SHOWN, cause="", counterexample=None)
        for rule in conformance.rules
    )
    return attrs.evolve(conformance, subject=subject, rules=rules)


def states(conformance, catalogue) -> dict[str, str]:
    return {each.level.id: each.state.value for each in levels_found(conformance, catalogue)}


def changed(conformance, rule, verdict):
    rules = tuple(
        attrs.evolve(each, verdict=verdict) if each.id == rule else each
        for each in conformance.rules
    )
    return attrs.evolve(conformance, rules=rules)


def without(conformance, *capabilities):
    """What an adapter that leaves them out declares."""
    left = tuple(each for each in conformance.subject.capabilities if each not in capabilities)
    return attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, capabilities=left))


def test_what_is_declared_and_shown_is_full(perfect, catalogue) -> None:
    assert {State.FULL.value} == set(states(perfect, catalogue).values())


@pytest.mark.parametrize("verdict", [each for each in Verdict if each is not Verdict.SHOWN])
def test_rule_that_is_not_shown_makes_its_level_partial(perfect, catalogue, verdict) -> None:
    """Except where it does not apply, which some rule of any level does not in some tier."""
    found = states(changed(perfect, "SESS-01", verdict), catalogue)
    expected = "full" if verdict is Verdict.NOT_APPLICABLE else "partial"
    assert expected == found.pop("sessions")
    assert {"full"} == set(found.values())


def test_level_is_not_claimed_where_nothing_of_it_is_declared(perfect, catalogue) -> None:
    some = without(perfect, "session-state")
    none = without(perfect, "sessions", "next-session", "session-state", "session-listing")
    assert "partial" == states(some, catalogue)["sessions"]
    assert "not claimed" == states(none, catalogue)["sessions"]
    (sessions,) = [each for each in levels_found(some, catalogue) if each.level.id == "sessions"]
    assert sessions.words.endswith("not declared: session-state")


def test_bus_that_declares_nothing_has_no_full_level(perfect, catalogue) -> None:
    """Whatever it does, it shows no more than a part of the core."""
    nothing = without(perfect, *map(str, Capability))
    found = states(nothing, catalogue)
    assert "partial" == found.pop("core")
    assert {"not claimed"} == set(found.values())


def test_level_without_a_rule_that_applies_is_not_full(perfect, catalogue) -> None:
    levels = load_levels()
    rules = tuple(
        attrs.evolve(each, verdict=Verdict.NOT_APPLICABLE)
        if levels.of(catalogue.rule(each.id)).id == "sessions"
        else each
        for each in perfect.rules
    )
    found = states(attrs.evolve(perfect, rules=rules), catalogue)
    assert "partial" == found["sessions"]


def test_limited_run_says_nothing_of_levels(perfect, catalogue) -> None:
    assert () == levels_found(attrs.evolve(perfect, only=("KEY-08",)), catalogue)


def test_required_level_is_met_only_if_full(perfect, catalogue) -> None:
    assert () == not_met(perfect, catalogue, ["sessions", "core", "session-state"])
    broken = changed(perfect, "SESS-01", Verdict.NOT_SHOWN)
    (said,) = not_met(broken, catalogue, ["sessions", "topics"])
    assert said.startswith("required level sessions is partial: ")
    assert said.endswith("not shown: SESS-01")


def test_required_capability_is_met_only_if_claimed_and_shown(perfect, catalogue) -> None:
    unclaimed = without(perfect, "session-state")
    (said,) = not_met(unclaimed, catalogue, ["session-state"])
    assert "required capability session-state is not claimed" == said
    (rule, *_) = [rule.id for rule in catalogue.rules if "session-state" in rule.needs]
    (said,) = not_met(changed(perfect, rule, Verdict.ERRORED), catalogue, ["session-state"])
    assert f"required capability session-state is not shown: {rule}" == said


def test_what_cannot_be_required_is_refused(catalogue) -> None:
    check_required(["core", "peek-lock"], catalogue)
    for wrong in ("gold", "timestamps"):
        with pytest.raises(UsageError, match=f"--require is '{wrong}'; give a level .core, "):
            check_required([wrong], catalogue)


def test_levels_are_in_json_and_are_worked_out_anew_when_read(conformance, perfect) -> None:
    assert [each["state"] for each in view(perfect)["levels"]] == ["full"] * 9
    old = view(conformance) | {"schema": 4}
    del old["levels"]
    assert conformance == conformance_of(old)
    assert conformance == conformance_of(json.loads(json.dumps(view(conformance))))


def test_markdown_has_a_table_of_levels(conformance, catalogue) -> None:
    text = page(conformance, catalogue)
    assert "## Levels" in text
    assert "| Transactions | not claimed |  |" in text


def test_each_level_has_a_badge_of_two_kinds(conformance, catalogue, tmp_path) -> None:
    files = write_badges(conformance, catalogue, tmp_path / "badges")
    assert 2 * len(load_levels().all) == len(files)
    badge = json.loads((tmp_path / "badges" / "transactions.json").read_text())
    assert {"schemaVersion": 1, "label": "busproof transactions", "message": "not claimed"} == {
        key: badge[key] for key in ("schemaVersion", "label", "message")
    }
    image = ElementTree.fromstring((tmp_path / "badges" / "core.svg").read_text())
    assert "busproof core: partial" == image.attrib["aria-label"]
    texts = [each.text for each in image.iter("{http://www.w3.org/2000/svg}text")]
    assert ["busproof core", "partial"] == texts


def test_nothing_is_required_of_a_limited_run(perfect, catalogue) -> None:
    (said,) = not_met(attrs.evolve(perfect, only=("KEY-08",)), catalogue, ["core"])
    assert "limited to KEY-08" in said


def test_level_names_the_rules_that_were_violated(perfect, catalogue) -> None:
    found = levels_found(changed(perfect, "SESS-01", Verdict.VIOLATED), catalogue)
    (words,) = [each.words for each in found if each.level.id == "sessions"]
    assert words.endswith("; violated: SESS-01")
