"""A list of known failures excuses what it names, and says when it is out of date."""

from datetime import date

import attrs
import pytest

from busproof.errors import UsageError
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    KnownFailure,
    RuleVerdict,
    Standing,
    Subject,
    Verdict,
)
from busproof.judging.known_failures import marked, read_known_failures, write_known_failures
from busproof.spec import load

TODAY = date(2026, 11, 21)
SUBJECT = Subject(name="a bus", edition="de-2021-04", tier="standard", partitions=16)
EXAMPLE = Counterexample(scenario="s", events=(), seen="Done", allowed=())


def found(problems: tuple[str, ...] = (), **verdicts: Verdict) -> Conformance:
    """A run with these verdicts; KEY_08 stands for KEY-08."""
    rules = tuple(
        RuleVerdict(
            id=name.replace("_", "-"),
            title=name,
            verdict=verdict,
            counterexample=EXAMPLE if verdict is Verdict.VIOLATED else None,
        )
        for name, verdict in verdicts.items()
    )
    return Conformance(subject=SUBJECT, oracle="strict", rules=rules, problems=problems)


def known(rule: str, expires: str = "") -> KnownFailure:
    return KnownFailure(rule=rule, reason="it was always so", expires=expires)


def judged(run: Conformance, *entries: KnownFailure) -> Conformance:
    return marked(run, entries, load(), TODAY)


BROKEN = found(KEY_08=Verdict.VIOLATED, KEY_02=Verdict.SHOWN)


def test_a_listed_rule_that_fails_is_neither_shown_nor_violated() -> None:
    report = judged(BROKEN, known("KEY-08"))
    assert Verdict.KNOWN_FAILURE is report.rules[0].verdict
    assert "known: it was always so" == report.rules[0].cause
    assert EXAMPLE == report.rules[0].counterexample
    assert (1, 0) == (report.counted(Verdict.SHOWN), report.counted(Verdict.VIOLATED))
    assert Standing.FAILED is report.known_failures[0].standing
    assert (ExitCode.OK, ()) == (report.exit_code, report.problems)


STALE = {
    "passed": ((known("KEY-02"),), "KEY-02 passed: remove its entry"),
    "unknown": ((known("KEY-99"),), "KEY-99 is in the list of known failures, but there is no"),
    "never shown": ((known("KEY-17"), known("ZZZ-01")), "ZZZ-01 is in the list"),
    "expired": ((known("KEY-08", "2026-11-20"),), "KEY-08 is in the list of known failures un"),
}


@pytest.mark.parametrize("case", STALE)
def test_a_stale_entry_comes_before_a_violation(case: str) -> None:
    """KEY-08 is violated beside it in every case."""
    entries, said = STALE[case]
    report = judged(BROKEN, *entries)
    assert ExitCode.STALE is report.exit_code
    assert any(problem.startswith(said) for problem in report.problems)
    assert Verdict.VIOLATED is report.rules[0].verdict


def test_a_rule_that_no_scenario_shows_is_no_known_failure() -> None:
    never = next(rule.id for rule in load().rules if rule.shown_by == "never")
    report = judged(BROKEN, known(never), known("KEY-08"))
    assert ExitCode.STALE is report.exit_code
    assert "no scenario shows it" in report.problems[0]


def test_an_entry_counts_on_its_last_day() -> None:
    assert ExitCode.OK is judged(BROKEN, known("KEY-08", "2026-11-21")).exit_code


@pytest.mark.parametrize(
    "verdict",
    [Verdict.NOT_APPLICABLE, Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE, Verdict.ERRORED],
)
def test_a_listed_rule_that_was_not_tried_leaves_the_run_incomplete(verdict: Verdict) -> None:
    report = judged(found(KEY_08=verdict), known("KEY-08"))
    assert ExitCode.INCOMPLETE is report.exit_code
    assert verdict is report.rules[0].verdict
    assert f"KEY-08 is a known failure and was {verdict.value} here" in report.problems[0]


def test_an_unlisted_violation_is_still_one() -> None:
    both = found(KEY_08=Verdict.VIOLATED, KEY_02=Verdict.VIOLATED)
    assert ExitCode.VIOLATION is judged(both, known("KEY-08")).exit_code


def test_a_known_failure_completes_no_run() -> None:
    """Exit code 3 where the run broke off, or a rule was not shown."""
    broken_off = attrs.evolve(BROKEN, problems=("the run broke off",))
    assert ExitCode.INCOMPLETE is judged(broken_off, known("KEY-08")).exit_code
    unshown = found(KEY_08=Verdict.VIOLATED, KEY_02=Verdict.NOT_SHOWN)
    assert ExitCode.INCOMPLETE is judged(unshown, known("KEY-08")).exit_code


def test_the_list_that_is_written_lets_the_same_run_end_well(tmp_path) -> None:
    file = tmp_path / "known.yaml"
    written = write_known_failures(BROKEN, file, TODAY, date(2027, 2, 19))
    entries = read_known_failures(file)
    assert written == entries
    assert [("KEY-08", "failed on 2026-11-21; seen: Done", "2027-02-19")] == [
        (each.rule, each.reason, each.expires) for each in entries
    ]
    assert ExitCode.OK is judged(BROKEN, *entries).exit_code


def test_repeated_known_failure_keeps_its_entry(tmp_path) -> None:
    both = found(KEY_02=Verdict.VIOLATED, KEY_08=Verdict.VIOLATED, KEY_03=Verdict.SHOWN)
    old = attrs.evolve(known("KEY-08"), link="https://example.org/1")
    report = judged(both, old, known("KEY-03"))
    write_known_failures(report, tmp_path / "known.yaml", TODAY, date(2027, 2, 19))
    first, second = read_known_failures(tmp_path / "known.yaml")
    assert ("KEY-02", "2027-02-19") == (first.rule, first.expires)
    assert attrs.evolve(old, standing=Standing.NOT_TRIED) == second


def test_no_list_is_written_where_nothing_is_broken(tmp_path) -> None:
    file = tmp_path / "known.yaml"
    assert () == write_known_failures(found(KEY_02=Verdict.SHOWN), file, TODAY, TODAY)
    assert not file.exists()


ENTRY = "known_failures:\n- rule: KEY-08\n  reason: so\n"
WRONG = {
    "": "the file is empty",
    "[1, 2]": "is not a mapping of named fields",
    "known_failures: KEY-08": "known_failures: 'KEY-08' is not allowed; allowed: a list",
    "known: []": "known_failures: this field is missing",
    "known_failures:\n- rule: KEY-08\n": "KEY-08: reason: this field is missing",
    "known_failures:\n- reason: so\n": "known_failures 1: rule: this field is missing",
    "known_failures:\n- rule: KEY-08\n  reason: ''\n": "a text that is not blank",
    f"{ENTRY}  expires: soon\n": "expires: 'soon' is not allowed; allowed: a day, as in 2027-01-31",
    f"{ENTRY}  expires: 2027-01-31 10:00:00\n": "allowed: a day",
    f"{ENTRY}  expires: 7\n": "expires: 7 is not allowed",
    f"{ENTRY}  until: 2027-01-31\n": "KEY-08: until: there is no such field",
    f"{ENTRY}- rule: KEY-08\n  reason: so\n": "KEY-08 stands in 2 entries; keep one",
    f"{ENTRY}  reason: again\n": "field 'reason' stands twice",
    "known_failures: [": "not valid YAML",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_file_that_is_no_list_is_reported_with_file_and_field(text: str, tmp_path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_known_failures(file)
    assert str(file) in str(raised.value)
    assert WRONG[text] in str(raised.value)


def test_a_list_that_is_not_there_is_a_usage_error(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"known\.yaml: cannot be read: No such file"):
        read_known_failures(tmp_path / "known.yaml")


def test_a_list_may_be_empty(tmp_path) -> None:
    (tmp_path / "known.yaml").write_text("known_failures: []\n")
    assert () == read_known_failures(tmp_path / "known.yaml")
    assert ExitCode.VIOLATION is judged(BROKEN).exit_code
