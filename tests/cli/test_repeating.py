"""What broke is repeated by copying the command that any form of the report has."""

import json
import shlex

import pytest

from busproof.history.conformance import Verdict

pytestmark = pytest.mark.slow

TERMS = (
    *("--adapter", "faulty:mismatch-accepted", "--edition", "es-2020-06", "--tier", "standard"),
    *("--partitions", "4", "--reading", "KEY-ORDER=sessions-only", "--timeout", "7"),
)
REPLAY = ("--replay", "reports/runs/it/failures/KEY-08/commands.json")


@pytest.fixture
def broken(busproof):
    """What a run printed that breaks KEY-08 by terms that are not the default ones."""
    ended = busproof("run", *TERMS, "--rule", "KEY-08", "--name", "it")
    assert 1 == ended.code
    return ended.out


def test_the_printed_command_repeats_the_violation_and_nothing_else(busproof, broken) -> None:
    """On the same adapter, by the same terms; each rule has one page."""
    (line,) = [line for line in broken.splitlines() if line.startswith("Again: ")]
    command, *words = shlex.split(line.removeprefix("Again: "))
    assert "busproof" == command
    ended = busproof(*words, "--name", "again")
    assert 1 == ended.code
    first, again = busproof.run("it").report, busproof.run("again").report
    assert first.subject == again.subject
    assert [("KEY-08", Verdict.VIOLATED)] == [(each.id, each.verdict) for each in again.rules]
    assert len(ended.out.splitlines()) <= 40


def test_each_form_of_the_report_has_the_same_whole_command(busproof, broken) -> None:
    expected = shlex.join(["busproof", "run", *TERMS, *REPLAY])
    assert 0 == busproof("report", "it", "--output", "page.html", "--allure", "allure").code
    folder = busproof.run("it").folder
    (rule,) = json.loads((folder / "conformance.json").read_text())["rules"]
    assert expected == rule["again"]
    assert f"Again: {expected}\n" in broken
    assert f"\n{expected}\n" in (folder / "conformance.md").read_text()
    assert json.dumps(expected) in (busproof.folder / "page.html").read_text()
    cases = [json.loads(each.read_text()) for each in busproof.folder.glob("allure/*-result.json")]
    (case,) = [each for each in cases if each["name"].startswith("KEY-08")]
    assert expected in case["description"]


@pytest.mark.usefixtures("broken")
def test_a_replay_on_a_bus_that_was_mended_ends_well(busproof) -> None:
    """The rule is shown then, and no other is asked for."""
    ended = busproof("run", *TERMS[2:], *REPLAY, "--name", "mended")
    assert 0 == ended.code
    assert "1 of 1 applicable rule shown" in ended.out


def test_a_rule_that_does_not_apply_was_asked_for_in_vain(busproof) -> None:
    """Not declared is no pass."""
    ended = busproof("run", "--rule", "PREM-01", "--rule", "KEY-08", "--name", "it")
    assert 3 == ended.code
    expected = "PREM-01 was asked for, and does not apply: tier: standard is not one of premium"
    assert expected == ended.problems


def test_report_names_commit_address_contact_and_date(busproof) -> None:
    about = ("--commit", "3f1c0de", "--url", "https://user:key@bus.example/x", "--contact", "Ann")
    busproof("run", "--rule", "KEY-08", "--name", "it", *about)
    report = json.loads((busproof.run("it").folder / "conformance.json").read_text())
    named = {name: report["implementation"][name] for name in ("commit", "url", "contact")}
    assert {"commit": "3f1c0de", "url": "https://…@bus.example/x", "contact": "Ann"} == named
    assert "T" in report["at"]
    assert report["seconds"] < 600
    page = (busproof.run("it").folder / "conformance.md").read_text()
    assert f"| run at | {report['at']}, {report['seconds']} s |" in page
