"""Verdicts, faults and specs become Allure results that no other implementation's can hide."""

import json
import shutil
from pathlib import Path

import attrs
import pytest

from busproof.cli.main import main
from busproof.errors import HistoryError, UsageError
from busproof.history.conformance import Verdict
from busproof.history.render.gherkin import request_of
from busproof.reports.allure import clean_results, collect_results
from busproof.reports.allure_cases import (
    Case,
    fault_cases,
    severity,
    spec_cases,
    verdict_cases,
    write_cases,
)
from busproof.reports.conformance import write
from busproof.reports.printed import Fate, read_modelcheck


def results(folder: Path) -> list[dict]:
    return [json.loads(file.read_text()) for file in folder.glob("*-result.json")]


@pytest.fixture
def case_of(catalogue):
    """The case of one rule of a run."""

    def found(run, rule: str, label: str = "Acme Bus 2.1") -> Case:
        cases = verdict_cases(label, run, catalogue)
        return next(each for each in cases if ("rule", rule) in each.labels)

    return found


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict.SHOWN, "passed"),
        (Verdict.VIOLATED, "failed"),
        (Verdict.KNOWN_FAILURE, "skipped"),
        (Verdict.NOT_APPLICABLE, "skipped"),
        (Verdict.NOT_SHOWN, "unknown"),
        (Verdict.INCONCLUSIVE, "unknown"),
        (Verdict.ERRORED, "broken"),
    ],
)
def test_each_verdict_has_its_status(case_of, with_rule, verdict, status) -> None:
    case = case_of(with_rule("KEY-02", verdict=verdict, cause="because"), "KEY-02")
    assert case.status == status
    expected = "" if verdict is Verdict.SHOWN else f"{verdict.value}: because"
    assert case.message == expected


def test_a_case_is_filed_by_family_and_rule(case_of, conformance, catalogue) -> None:
    case = case_of(conformance, "KEY-08")
    assert dict(case.labels) == {
        "epic": "KEY",
        "feature": "KEY-08",
        "story": "The verdict",
        "rule": "KEY-08",
        "severity": "critical",
        "verdict": "violated",
    }
    assert dict(case.parameters) == {
        "implementation": "Acme Bus 2.1",
        "adapter": "acme.adapter:make",
        "edition": "de-2021-04",
        "tier": "standard",
        "oracle": "strict",
    }
    assert case.description.startswith(catalogue.rule("KEY-08").statement)
    assert "Stated in:" in case.description


def test_a_case_links_to_what_it_cites_of_its_edition(case_of, conformance) -> None:
    case = case_of(conformance, "KEY-08")
    article = "azure/service-bus-messaging/service-bus-partitioning#using-a-partition-key"
    assert case.links == (
        ("de-2021-04 using-a-partition-key", f"https://learn.microsoft.com/de-de/{article}"),
        (
            "de-2021-04 using-a-partition-key, in English",
            f"https://learn.microsoft.com/en-us/{article}",
        ),
    )


def test_a_violation_has_its_steps_and_what_is_needed_to_ask_it_again(case_of, conformance) -> None:
    case = case_of(conformance, "KEY-08")
    assert [passed for _, passed in case.steps] == [True, True, True, False]
    texts = {name: text for name, _, text in case.attachments}
    assert set(texts) == {"scenario.feature", "commands", "history excerpt"}
    violated = next(rule for rule in conformance.rules if rule.id == "KEY-08")
    commands = [event.command for event in violated.counterexample.events]
    steps = texts["scenario.feature"].splitlines()[2:-1]
    assert commands == [request_of(step.partition(" asks: ")[2]) for step in steps]
    assert len(json.loads(texts["commands"])) == len(commands)
    assert texts["history excerpt"].count("\n") == len(commands)


@pytest.mark.parametrize(
    ("rules", "gravity"),
    [
        (["KEY-01"], "critical"),
        (["NEW-99"], "normal"),
        ([], "normal"),
    ],
)
def test_severity_is_by_modality(catalogue, rules, gravity) -> None:
    assert severity(catalogue, rules) == gravity


def test_the_gravest_rule_decides(catalogue) -> None:
    may = next(rule.id for rule in catalogue.rules if rule.modality == "may")
    assert severity(catalogue, [may]) == "minor"
    assert severity(catalogue, [may, "KEY-01"]) == "critical"


def test_a_scenarios_result_has_the_severity_of_its_rule(tmp_path, catalogue) -> None:
    may = next(rule.id for rule in catalogue.rules if rule.modality == "may")
    labels = [{"name": "rule", "value": may}, {"name": "severity", "value": "critical"}]
    (tmp_path / "1-result.json").write_text(json.dumps({"labels": labels}))
    (tmp_path / "2-result.json").write_text(json.dumps({"labels": labels[1:]}))
    clean_results(tmp_path, catalogue)
    cases = [json.loads((tmp_path / f"{each}-result.json").read_text()) for each in (1, 2)]
    assert cases[0]["labels"] == [labels[0], {"name": "severity", "value": "minor"}]
    assert cases[1]["labels"] == labels[1:]
    assert clean_results(tmp_path, catalogue) == ()


def test_fate_of_a_fault_is_a_result(catalogue) -> None:
    fates = [
        Fate(id="a", rule="KEY-08", result="killed", killed_by=("Keys that differ",)),
        Fate(id="b", rule="KEY-08", result="silent", why="KEY-08 was shown"),
        Fate(id="c", rule="KEY-08", result="equivalent", why="nobody can tell"),
    ]
    killed, silent, equal = fault_cases(fates, catalogue)
    assert [killed.status, silent.status, equal.status] == ["passed", "failed", "skipped"]
    assert silent.message == "silent: KEY-08 was shown"
    assert "noticed by: Keys that differ" in killed.description
    assert dict(killed.labels)["feature"] == "KEY-08"


def test_findings_of_tlc_are_results(tmp_path) -> None:
    """Figures that are only counted are passed over."""
    configuration = {"name": "keys", "kind": "invariant", "passed": False, "error": ""}
    configuration |= {"deviations": ["5 states, and 6 are pinned"], "trace": ["one", "two"]}
    configuration |= {"scenario": "Scenario: x", "distinct": 5, "comparison": {"edges": 3}}
    broken = {"name": "broken", "kind": "graph", "passed": False, "error": "no Java"}
    fine = {"name": "fine", "kind": "graph", "passed": True, "error": "", "deviations": []}
    (tmp_path / "m.json").write_text(json.dumps({"configurations": [configuration, broken, fine]}))
    first, second, third = spec_cases(read_modelcheck(tmp_path / "m.json"))
    assert [first.status, second.status, third.status] == ["failed", "broken", "passed"]
    assert (first.message, second.message) == ("5 states, and 6 are pinned", "no Java")
    assert [(name, text) for name, _, text in first.attachments] == [
        ("TLC's trace", "one\ntwo"),
        ("scenario.feature", "Scenario: x"),
    ]
    assert third.attachments == ()


@pytest.mark.parametrize("text", ["{}", "[", '{"configurations": [{}]}'])
def test_file_that_modelcheck_did_not_print_is_named(tmp_path, text) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(HistoryError, match="is not what busproof modelcheck --format json prints"):
        read_modelcheck(tmp_path / "m.json")


def test_results_of_two_implementations_are_never_taken_for_retries(
    conformance, catalogue, tmp_path
) -> None:
    other = attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, adapter="amqp"))
    cases = [
        *verdict_cases("One", conformance, catalogue),
        *verdict_cases("Other", other, catalogue),
        Case(name="x", full_name="x", status="passed"),
        Case(name="x", full_name="y", status="passed"),
    ]
    write_cases(cases, tmp_path)
    found = results(tmp_path)
    assert len({each["historyId"] for each in found}) == len(found) == len(cases)
    of_rule = {each["testCaseId"] for each in found if each["name"].startswith("KEY-08 ")}
    assert len(of_rule) == 1
    write_cases(cases, tmp_path / "again")
    assert {each["historyId"] for each in results(tmp_path / "again")} == {
        each["historyId"] for each in found
    }


def test_a_result_is_written_as_allure_reads_it(case_of, conformance, tmp_path) -> None:
    write_cases([case_of(conformance, "KEY-08")], tmp_path)
    (found,) = results(tmp_path)
    assert found["status"] == "failed"
    assert found["statusDetails"]["message"] == "violated: 1 counterexample"
    assert found["start"] <= found["stop"]
    assert [step["status"] for step in found["steps"]] == [*["passed"] * 3, "failed"]
    for attachment in found["attachments"]:
        assert (tmp_path / attachment["source"]).read_text()
    assert not {"host", "thread"} & {label["name"] for label in found["labels"]}


def test_scenarios_and_verdicts_are_put_together(conformance, tmp_path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "1-result.json").write_text('{"name": "a scenario"}')
    (own / "environment.properties").write_text("implementation=it alone")
    case = Case(name="x", full_name="x", status="passed")
    collect_results({"Acme Bus 2.1": conformance}, [own], [case], tmp_path / "all")
    assert {"a scenario", "x"} == {each["name"] for each in results(tmp_path / "all")}
    environment = (tmp_path / "all" / "environment.properties").read_text()
    assert environment.startswith("Acme\\ Bus\\ 2.1=")
    with pytest.raises(UsageError, match=r"there is .*all already; remove it, or name another"):
        collect_results({}, [], [], tmp_path / "all")


def test_the_command_writes_them(conformance, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    write(conformance, "run")
    assert main(["report", "run", "--allure", "results"]) == 0
    assert "Allure results: results\n" in capsys.readouterr().err
    assert len(results(tmp_path / "results")) == len(conformance.rules)
    assert main(["report", "run", "--allure-from", "results"]) == 2
    assert "--allure-from appears in Allure results only" in capsys.readouterr().err
    assert main(["report", "run", "--modelcheck", "m.json"]) == 2
    assert "--modelcheck appears in Allure results only" in capsys.readouterr().err


def test_results_of_other_tests_are_added_clean(conformance, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(conformance, "run")
    Path("clients").mkdir()
    labels = [{"name": "host", "value": "box7"}, {"name": "epic", "value": "Official clients"}]
    result = {"name": "a client", "labels": labels, "statusDetails": {"trace": "/opt/x/y.py"}}
    Path("clients/1-result.json").write_text(json.dumps(result))
    options = ["--allure", "results", "--allure-from", "clients", "--allure-from", "nowhere"]
    assert main(["report", "run", *options[:4]]) == 0
    (found,) = [each for each in results(tmp_path / "results") if each["name"] == "a client"]
    assert found["labels"] == labels[1:]
    assert found["statusDetails"] == {"trace": "…/y.py"}
    assert json.loads(Path("clients/1-result.json").read_text()) == result
    shutil.rmtree("results")
    assert main(["report", "run", *options]) == 3
