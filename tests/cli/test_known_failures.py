"""Known failures from the command line: written, given, stale."""

import json
import os

import pytest

from busproof.history.conformance import Standing, Verdict

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
FAULTY = (
    *("run", "--adapter", "faulty:mismatch-accepted", "--name", "it"),
    *("--only", "features"),
)


def test_a_run_with_its_own_list_ends_well(busproof, broken) -> None:
    """The rule ran and failed, and every form of the report says so."""
    known = ("--known-failures", str(broken.folder / "known.yaml"))
    if FULL:
        ended = busproof(*FAULTY, *known)
    else:
        history = str(broken.run("it").folder)
        ended = busproof("check", history, "--report", "reports/runs/it", *known)
    assert 0 == ended.code, ended.out
    if FULL:
        assert "every applicable rule was shown, except 3 known failures" in ended.out
    assert "KEY-08 failed: failed on" in ended.out
    run = busproof.run("it")
    assert {"KEY-08", "SCHED-12", "TXN-07"} == run.rules(Verdict.KNOWN_FAILURE)
    assert run.verdict("KEY-08").counterexample
    assert [Standing.FAILED] * 3 == [each.standing for each in run.report.known_failures]
    page = (run.folder / "conformance.md").read_text()
    assert "| KEY-08 | failed |" in page.partition("## Known failures")[2]
    report = json.loads((run.folder / "conformance.json").read_text())
    assert (3, 0) == (report["summary"]["known failure"], report["summary"]["violated"])


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{rule: KEY-02, reason: so}", "KEY-02 passed: remove its entry"),
        ("{rule: KEY-99, reason: so}", "KEY-99 is in the list of known failures, but there is"),
        ("{rule: KEY-08, reason: so, expires: 2020-01-01}", "until 2020-01-01, which has passed"),
    ],
)
def test_a_stale_list_ends_with_4_whatever_else_was_found(busproof, briefly_broken, entry, said):
    (busproof.folder / "known.yaml").write_text(f"known_failures: [{entry}]\n")
    history = str(briefly_broken.folder)
    ended = busproof("check", history, "--known-failures", "known.yaml")
    assert 4 == ended.code
    assert said in ended.problems


def test_a_list_that_cannot_be_read_stops_the_run_before_it_begins(busproof) -> None:
    (busproof.folder / "known.yaml").write_text("known_failures:\n- rule: KEY-08\n")
    ended = busproof("run", "--known-failures", "known.yaml")
    assert (2, "") == (ended.code, ended.out)
    assert "known.yaml: KEY-08: reason: this field is missing." == ended.sentence
    assert set() == busproof.runs


def test_a_file_that_is_there_is_not_overwritten(busproof) -> None:
    (busproof.folder / "known.yaml").write_text("mine\n")
    ended = busproof("run", "--write-known-failures", "known.yaml")
    assert 2 == ended.code
    assert "there is a file known.yaml" in ended.sentence
    assert "mine\n" == (busproof.folder / "known.yaml").read_text()


def test_a_list_that_cannot_be_written_hides_no_verdict(busproof, briefly_broken) -> None:
    history = str(briefly_broken.folder)
    ended = busproof("check", history, "--write-known-failures", "nowhere/known.yaml")
    assert 1 == ended.code
    assert "cannot write nowhere/known.yaml: No such file" in ended.sentence
    assert "KEY-08 violated" in ended.out


def test_no_list_is_written_where_nothing_fails(busproof, recorded) -> None:
    ended = busproof("check", str(recorded.folder), "--write-known-failures", "known.yaml")
    assert recorded.report.exit_code == ended.code
    assert "Known failures: none; no file was written" in ended.err
    assert not (busproof.folder / "known.yaml").exists()
