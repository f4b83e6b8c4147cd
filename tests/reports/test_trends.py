"""The history of runs keeps each run once, and shows what changed."""

import json
from pathlib import Path

import attrs
import pytest

from busproof.errors import HistoryError
from busproof.history.conformance import Conformance, Verdict
from busproof.reports.trends import entry_of, extend, find_moved, read_entries, series

AT = "2026-11-22T05:50Z"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "runs.jsonl"


@pytest.fixture
def entry(conformance, catalogue):
    return entry_of(conformance, catalogue, AT, "a1b2c3")


def test_what_was_added_is_read_back(entry, file) -> None:
    assert extend(file, [entry]) == read_entries(file) == (entry,)


def test_a_run_shows_its_counts_and_each_rule(entry, conformance) -> None:
    assert entry.counted(Verdict.SHOWN) == conformance.counted(Verdict.SHOWN)
    assert entry.counted(Verdict.KNOWN_FAILURE) == 0
    assert entry.by_rule() == {rule.id: rule.verdict.value for rule in conformance.rules}


def test_a_run_is_kept_once(entry, conformance, catalogue, file) -> None:
    again = entry_of(conformance, catalogue, "2026-12-01T00:00Z")
    assert extend(file, [entry]) == (entry,)
    assert extend(file, [again, again]) == (entry,)
    assert file.read_bytes().count(b"\n") == 1


def test_a_file_without_its_last_line_end_is_gone_on_with(entry, with_rule, catalogue, file):
    extend(file, [entry])
    file.write_bytes(file.read_bytes().rstrip())
    other = entry_of(with_rule("KEY-02", verdict=Verdict.ERRORED), catalogue, AT)
    assert extend(file, [other]) == (entry, other) == read_entries(file)


def test_what_moved_is_reported_by_rule(entry, with_rule, catalogue) -> None:
    later = with_rule("KEY-08", verdict=Verdict.SHOWN, counterexample=None)
    later = attrs.evolve(later, rules=later.rules[:-1])
    last = entry.by_rule().keys() - {rule.id for rule in later.rules}
    assert set(find_moved(entry, entry_of(later, catalogue, AT))) == {
        ("KEY-08", "violated", "shown"),
        *((rule, entry.by_rule()[rule], "") for rule in last),
    }
    assert find_moved(entry, entry) == ()


def other(conformance: Conformance, **fields) -> Conformance:
    return attrs.evolve(conformance, subject=attrs.evolve(conformance.subject, **fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Other"},
        {"adapter": "amqp"},
        {"edition": "fr-2016-09"},
        {"tier": "premium"},
        {"partitions": 4},
        {"slack": 0},
        {"readings": {}},
    ],
)
def test_runs_of_others_or_held_to_something_else_are_no_series(
    conformance, catalogue, entry, fields
) -> None:
    assert series([entry], conformance, catalogue) == (entry,)
    assert series([entry], other(conformance, **fields), catalogue) == ()


def test_another_version_goes_on_with_the_series(conformance, catalogue, entry) -> None:
    assert series([entry], other(conformance, version="3.0"), catalogue) == (entry,)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{}", "runs.jsonl:2 is not a run of a history of runs: "),
        (b"nonsense", "runs.jsonl:2 is not a run of a history of runs: "),
    ],
)
def test_a_line_that_is_no_run_is_named(entry, file, line, said) -> None:
    extend(file, [entry])
    file.write_bytes(file.read_bytes() + line)
    with pytest.raises(HistoryError, match=said):
        extend(file, [entry])


def test_a_line_of_a_newer_busproof_is_refused(entry, file) -> None:
    extend(file, [entry])
    newer = json.loads(file.read_bytes()) | {"schema": 2}
    file.write_text(json.dumps(newer))
    with pytest.raises(HistoryError, match="has schema 2, and this busproof reads 1: upgrade"):
        read_entries(file)
