"""What `busproof rules` prints."""

import importlib.resources
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from busproof.cli import rules
from busproof.cli.main import main
from busproof.errors import SpecificationError, UsageError
from busproof.mutants.by_machine import record
from busproof.mutants.by_machine.record import Fate, Result, Sample
from busproof.spec.client_rules import load_client_rules

AT_FIRST = ["TXN-OUTAGE", "OUTAGE-ERROR", "ERROR-PRECEDENCE"]
"""The first entries of the register that touched KEY-03."""

FEATURE = """\
@KEY-02
Feature: Partition keys

  Background:
    Given a queue

  @KEY-03 @slow
  Scenario: A keyed send meets an outage
    Given "@KEY-04" in a step

  Rule: Pinning
    @KEY-20
    Scenario Outline: A key pins
      Given <something>

      Examples:
        | something |
        | one       |
"""


@pytest.fixture(autouse=True)
def evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One feature file and two seeded faults of our own, whatever the project has."""
    features = tmp_path / "features"
    features.mkdir()
    (features / "keys.feature").write_text(FEATURE, encoding="utf-8")
    (features / "notes.txt").write_text("@KEY-03", encoding="utf-8")
    files = importlib.resources.files
    own = {"busproof.features": features}
    monkeypatch.setattr(importlib.resources, "files", lambda name: own.get(name) or files(name))
    mutants = (
        SimpleNamespace(id="reroute", rule="KEY-03", summary="sends it elsewhere"),
        SimpleNamespace(id="forget", rule="LIFE-04", summary="drops it"),
    )
    fates = (
        Fate(id="keys.a", result=Result.KILLED, part="distilled", rules=("KEY-03",)),
        Fate(id="keys.b", result=Result.FOUND, part="search", rules=("KEY-03", "KEY-02")),
        Fate(id="keys.c", result=Result.UNDECIDED),
    )
    sample = Sample(on="2026-11-26", seed=1, tries=1, made={"keys": 9}, fates=fates)
    monkeypatch.setattr(record, "load_sample", lambda: sample)
    module = SimpleNamespace(MUTANTS=mutants)
    monkeypatch.setitem(sys.modules, "busproof.mutants", module)
    monkeypatch.delenv("COLUMNS", raising=False)
    return features


def run(*words: str) -> int:
    return rules.run(rules.COMMAND.read(words))


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(*words, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("columns", ["80", "120", None])
def test_the_table_has_every_id_whole(catalogue, capsys, monkeypatch, columns) -> None:
    if columns:
        monkeypatch.setenv("COLUMNS", columns)

    assert run() == 0

    lines = capsys.readouterr().out.splitlines()
    starts = [line.split()[0] for line in lines if line[:1].isupper()]
    assert {rule.id for rule in catalogue.rules} <= set(starts)
    assert max(map(len, lines)) <= int(columns or 160)


def test_the_table_shows_editions_by_marks(capsys: pytest.CaptureFixture[str]) -> None:
    run("--family", "KEY")

    lines = capsys.readouterr().out.splitlines()
    assert "-PSCD" in next(line for line in lines if line.startswith("KEY-16"))
    assert "----D" in next(line for line in lines if line.startswith("KEY-21"))
    assert not [line for line in lines if line.startswith("TXN-")]


def test_an_edition_leaves_out_what_it_does_not_state(capsys: pytest.CaptureFixture[str]) -> None:
    run("--edition", "fr-2016-09")

    out = capsys.readouterr().out
    assert "KEY-15" in out
    assert "KEY-16" not in out


def test_one_rule_is_shown_with_citations_open_questions_and_evidence(capsys) -> None:
    assert run("KEY-03") == 0

    out = capsys.readouterr().out
    for part in ("is refused with an error", "de-2021-04", "OUTAGE-ERROR", "reroute"):
        assert part in out
    assert "A keyed send meets an outage" in out
    assert "A key pins" not in out
    assert "would have noticed 1 of 2 that break it" in out


def test_a_rule_that_no_sampled_fault_breaks_claims_none(capsys) -> None:
    assert run("KEY-04") == 0
    assert "would have noticed" not in capsys.readouterr().out


def test_json_of_one_rule_has_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run_json(capsys, "KEY-03")

    (rule,) = answer["rules"]
    assert tuple(rule[field] for field in ("id", "modality", "shown_by", "error")) == (
        "KEY-03",
        "must",
        "always",
        "any",
    )
    assert rule["scenarios"] == [{"file": "keys.feature", "name": "A keyed send meets an outage"}]
    assert rule["faults"] == [{"id": "reroute", "summary": "sends it elsewhere"}]
    assert rule["generated"] == {"noticed": 1, "of": 2}
    english = "https://learn.microsoft.com/en-us/azure/service-bus-messaging"
    assert {
        "source": "de-2021-04",
        "anchor": "using-a-partition-key",
        "remark": None,
        "english": f"{english}/service-bus-partitioning#using-a-partition-key",
    } in rule["citations"]
    assert rule["says"] == ["an error while that partition is unavailable"]
    touching = [entry["id"] for entry in answer["ambiguities"]]
    assert [each for each in touching if each in AT_FIRST] == AT_FIRST


def test_a_rule_has_the_words_of_the_documents_and_an_english_text_of_each(capsys) -> None:
    run("KEY-08")
    printed = capsys.readouterr().out
    article = "blob/c322c35aa4a798ff394f45ffc2c69cc51d7aa3e1/articles/service-bus-messaging"

    assert "C6   both set must be identical, or the operation is invalid" in printed
    assert f"{article}/service-bus-partitioning.md#using-a-partition-key\n" in printed


def test_json_of_the_list_has_every_rule_with_every_field(catalogue, capsys) -> None:
    answer = run_json(capsys)

    assert [rule.id for rule in catalogue.rules] == [rule["id"] for rule in answer["rules"]]
    assert len(catalogue.ambiguities) == len(answer["ambiguities"])
    assert {frozenset(answer["rules"][0])} == {frozenset(rule) for rule in answer["rules"]}


def test_scenarios_inherit_the_tags_above_them(capsys: pytest.CaptureFixture[str]) -> None:
    rules = {rule["id"]: rule for rule in run_json(capsys)["rules"]}

    assert [scenario["name"] for scenario in rules["KEY-02"]["scenarios"]] == [
        "A keyed send meets an outage",
        "A key pins",
    ]
    assert [scenario["name"] for scenario in rules["KEY-20"]["scenarios"]] == ["A key pins"]
    assert rules["KEY-04"]["scenarios"] == []


def test_ambiguities_are_listed_with_their_default_marked(capsys) -> None:
    assert run("--ambiguities") == 0

    out = capsys.readouterr().out
    assert "one-receiver*: " in out
    assert "sessions-only: " in out


def test_json_of_ambiguities_keeps_the_readings_in_order(capsys) -> None:
    answer = run_json(capsys, "--readings", "--family", "TXN")

    refusal = next(entry for entry in answer["ambiguities"] if entry["id"] == "TXN-REFUSAL")
    assert list(refusal["readings"]) == ["at-send", "at-commit", "either"]
    assert answer["rules"] == []
    assert "KEY-ORDER" not in [entry["id"] for entry in answer["ambiguities"]]


def test_a_diff_names_both_editions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--diff", "es-2020-06", "de-2021-04") == 0

    out = capsys.readouterr().out
    assert "Only in es-2020-06: " in out
    assert re.search(r"Only in de-2021-04: \d+ rules?\n", out)
    assert re.search("KEY-21 +A partition's id is not exposed to users", out)


def test_a_diff_of_an_edition_with_itself_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--diff", "es-2020-06", "es-2020-06") == 0

    out = capsys.readouterr().out
    assert out.count("Only in es-2020-06: nothing\n") == 2
    assert "In both, differing: nothing\n" in out


def test_json_of_a_diff_names_rules_and_places(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run_json(capsys, "--diff", "fr-2016-09", "pt-undated")

    assert (answer["a"], answer["b"]) == ("fr-2016-09", "pt-undated")
    of_keys = [rule for rule in answer["only_in_b"] if rule.startswith("KEY-")]
    assert of_keys == ["KEY-16", "KEY-17", "KEY-23", "KEY-26"]
    assert not any(rule.startswith("KEY-") for rule in answer["only_in_a"])
    changed = {change["id"]: change for change in answer["changed"]}
    assert changed["TXN-04"]["a"][0]["source"] == "fr-2016-09"


def test_missing_documents_are_reported_and_change_the_exit_code(capsys, tmp_path) -> None:
    assert run("--documents", str(tmp_path)) == 2
    assert run("--documents", str(tmp_path), "--format", "json") == 2

    table, document = capsys.readouterr().out.split("{", maxsplit=1)
    assert len(table.splitlines()) == 5
    assert len(json.loads("{" + document)["findings"]) == 5


@pytest.mark.parametrize(
    "words",
    [
        ("KEY-99",),
        ("--edition", "de"),
        ("--family", "KEYS"),
        ("--family", ""),
        ("--diff", "de-2021-04", "de"),
        ("--documents", "absent"),
        ("KEY-03", "--family", "KEY"),
        ("--diff", "de-2021-04", "es-2020-06", "--edition", "de-2021-04"),
    ],
)
def test_what_does_not_exist_or_fit_is_a_usage_error(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(*words)


def test_a_broken_feature_file_is_named(evidence: Path) -> None:
    (evidence / "broken.feature").write_text("Scenario nowhere", encoding="utf-8")

    with pytest.raises(SpecificationError, match=r"features/broken\.feature: "):
        run("KEY-03")


def test_rules_for_clients_are_printed_by_name_and_apart_from_the_others(capsys) -> None:
    assert main(["rules", "client-17"]) == 0
    printed = capsys.readouterr().out
    assert "CLIENT-17: A busy service is left alone for ten seconds" in printed
    assert "facts-throttling" in printed
    assert main(["rules", "CLIENT", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rules"]) == len(load_client_rules())
    assert main(["rules", "CLIENT-99"]) == 2
    assert "there is no rule 'CLIENT-99' for clients" in capsys.readouterr().err
