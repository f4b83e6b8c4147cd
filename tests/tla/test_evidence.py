"""Mutants and what is recorded of them, and what a rule is shown by."""

import json
import re
from collections.abc import Callable

import pytest

from busproof.cli.main import main
from busproof.errors import SpecificationError
from busproof.spec import load as load_catalogue
from busproof.tla.coverage import find_shown, reasons_in
from busproof.tla.evidence import load_evidence, select_configurations, stale
from busproof.tla.evidence import select_mutants as changed_since
from busproof.tla.manifest import FOLDER, Kind, Manifest, Size, load, read_toml
from busproof.tla.mutants import load_mutants

Changed = Callable[..., Manifest]


@pytest.mark.slow
def test_mutants_die_and_are_recorded(manifest, capsys) -> None:
    arguments = ["modelcheck", "--specs", str(manifest.folder), "--mutants", "--record"]
    assert 0 == main(arguments)
    assert "2 of 2 mutants killed" in capsys.readouterr().out
    recorded = load_evidence(manifest.folder)["mutants"]
    assert {"loses-all", "receives-twice"} == set(recorded)
    assert "property NothingIsLost" == recorded["loses-all"]["told"]
    assert () == changed_since(manifest, load_mutants(manifest))
    assert 0 == main([*arguments, "--changed"])
    assert "no mutant's sources changed" in capsys.readouterr().err


@pytest.mark.slow
def test_a_mutant_that_nothing_notices_is_alive(changed, capsys) -> None:
    manifest = changed("mutants.toml", 'new = "IF Len(here) > 1"', 'new = "IF Len(here) > 9"')
    assert 1 == main(["modelcheck", "--specs", str(manifest.folder), "--mutants", "loses-all"])
    text = capsys.readouterr().out
    assert "ALIVE" in text
    assert "nothing was noticed" in text


def test_unrecorded_check_counts_as_changed(manifest: Manifest) -> None:
    before = [each.name for each in changed_since(manifest, load_mutants(manifest))]
    assert ["receives-twice", "loses-all"] == before
    assert "shelf-graph" in stale(manifest, load_mutants(manifest))


@pytest.mark.slow
def test_a_check_whose_sources_are_recorded_is_not_run_again(manifest, changed) -> None:
    """Every graph is, for what it is compared with has sources of its own."""
    arguments = ["modelcheck", "--specs", str(manifest.folder), "--record"]
    gate = manifest.of_size(Size.GATE)
    assert gate == select_configurations(manifest, gate)
    assert 0 == main(arguments)
    assert ["shelf-graph"] == [each.name for each in select_configurations(manifest, gate)]
    other = changed("Shelf.tla", "ELSE Tail(here)", "ELSE here")
    assert other.of_size(Size.GATE) == select_configurations(other, other.of_size(Size.GATE))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ELSE Tail(here)", "ELSE Head(here)", "stands in Shelf.tla 0 times"),
        ('killer = "graph"', 'killer = "luck"', "mutant receives-twice"),
        ('name = "loses-all"', 'name = "receives-twice"', "two mutants are called"),
    ],
)
def test_a_broken_mutant_is_reported(changed: Changed, old: str, new: str, said: str) -> None:
    manifest = changed("mutants.toml", old, new)
    with pytest.raises(SpecificationError, match=said):
        load_mutants(manifest)


@pytest.mark.slow
def test_a_recorded_graph_shows_its_rules_without_java(manifest, monkeypatch) -> None:
    assert 0 == main(["modelcheck", "--specs", str(manifest.folder), "--record", "shelf-graph"])
    (manifest.folder / "operators.toml").write_text(
        'format = 1\n[[rule]]\nid = "KEY-01"\noperators = ["Shelf!Send", "Shelf!TypeOK"]\n'
    )
    monkeypatch.setenv("PATH", "")
    shown = find_shown(manifest.folder)
    assert [{"module": "Shelf", "name": "Send"}] == shown["KEY-01"]["operators"]
    assert [{"module": "Shelf", "name": "TypeOK"}] == shown["KEY-01"]["properties"]
    assert "shelf-graph" == shown["LIFE-01"]["edges"][0]["graph"]
    assert "loses-all" == shown["KEY-01"]["mutants"][0]["name"]


# Our own specs: nothing in them may be vacuous, and what is recorded must be of today.

OURS = load()


def test_recorded_evidence_matches_the_current_specs() -> None:
    """`busproof modelcheck --record` writes it anew; what is not recorded, make modelcheck runs."""
    evidence = load_evidence(OURS.folder)
    recorded = {*evidence["checks"], *evidence["graphs"], *evidence["mutants"]}
    assert set() == recorded & set(stale(OURS, load_mutants(OURS)))
    assert recorded


def test_every_check_has_a_witness_for_its_module() -> None:
    """What only ever holds may hold of nothing."""
    checks = {each.module for each in OURS.configurations if each.kind is Kind.CHECK}
    witnesses = {
        each.module for each in OURS.configurations if each.kind in (Kind.WITNESS, Kind.DENIED)
    }
    assert set() == checks - witnesses


def test_every_liveness_fails_without_fairness() -> None:
    live = {each.module for each in OURS.configurations if each.kind is Kind.LIVENESS}
    unfair = {each.module for each in OURS.configurations if each.kind is Kind.UNFAIR}
    assert live
    assert set() == live - unfair


def test_an_action_that_is_idle_somewhere_is_not_idle_everywhere() -> None:
    """Each configuration is held to its list; this holds the lists to each other."""
    succeeding = [each for each in OURS.configurations if each.expect == "success"]
    everywhere: dict[str, list[str]] = {}
    for each in succeeding:
        for action in each.idle:
            others = [other for other in succeeding if other.module == each.module]
            if all(action in other.idle for other in others):
                everywhere.setdefault(each.module, []).append(action)
    assert everywhere == {}


def test_witnesses_check_one_thing() -> None:
    """Beside others, another failure could pass for the expected one."""
    for each in OURS.configurations:
        if each.kind in (Kind.WITNESS, Kind.DENIED):
            text = OURS.text(each)
            assert 1 == sum(
                line.startswith(("INVARIANT", "PROPERTY")) for line in text.splitlines()
            )
            assert text.rstrip().endswith(each.expect)


def test_every_rule_that_must_hold_has_an_operator_or_a_reason() -> None:
    """About a tenth do with a reason, besides rules of reading texts: specs have no texts."""
    catalogue = load_catalogue()
    shown = find_shown(FOLDER)
    must = [rule.id for rule in catalogue.rules if rule.modality in ("must", "must-not")]
    without = {
        rule
        for rule in must
        if not shown.get(rule, {}).get("operators") and not shown.get(rule, {}).get("properties")
    }
    reasons = reasons_in(FOLDER)
    assert set() == without - set(reasons)
    of_texts = {rule for rule in without if reasons[rule].startswith("a rule of reading")}
    assert len(without - of_texts) <= 40, without


def test_no_rule_has_both_an_operator_and_a_reason_for_having_none() -> None:
    named = read_toml(FOLDER / "operators.toml")["rule"]
    assert set() == set(reasons_in(FOLDER)) & {entry["id"] for entry in named}
    assert all(reasons_in(FOLDER).values())


def test_the_operators_that_are_named_are_there() -> None:
    """A renamed operator would show nothing any more."""
    missing = []
    for entry in read_toml(FOLDER / "operators.toml")["rule"]:
        for name in entry["operators"]:
            module, _, operator = name.partition("!")
            text = (FOLDER / f"{module}.tla").read_text(encoding="utf-8")
            if not re.search(rf"^(ASSUME )?{operator}(\(.*\))? ==", text, re.MULTILINE):
                missing.append(name)
    assert [] == missing


def test_the_rules_command_names_what_the_specs_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["rules", "KEY-03", "--format", "json"])
    (rule,) = json.loads(capsys.readouterr().out)["rules"]
    assert {"operators", "properties", "edges", "mutants"} == set(rule["tla"])
    assert all(rule["tla"].values())
