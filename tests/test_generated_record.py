"""The recorded sample of generated mutants, and the arguments that some are equivalent."""

import pytest

from busproof.errors import HistoryError
from busproof.mutants.by_machine import record
from busproof.mutants.by_machine.made import find_mutant
from busproof.mutants.by_machine.record import Fate, Result, Sample, equivalents, load_sample, write

FATES = (
    Fate(id="keys.a", result=Result.KILLED, part="features", by="One", rules=("KEY-01",)),
    Fate(id="keys.b", result=Result.FOUND, part="search", rules=("KEY-01",), since="Two"),
    Fate(id="locks.c", result=Result.UNDECIDED, why="kept the same records"),
)
SAMPLE = Sample(on="2026-11-26", seed=7, tries=40, made={"keys": 50, "locks": 60}, fates=FATES)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A record of our own."""
    path = tmp_path / "sample.jsonl"
    monkeypatch.setattr(record, "SAMPLE", path)
    load_sample.cache_clear()
    yield path
    load_sample.cache_clear()


def test_a_recorded_sample_is_read_as_it_was_written(kept):
    write(SAMPLE, kept)
    assert SAMPLE == load_sample()


def test_a_mutant_that_is_killed_since_was_not_noticed_by_the_audited_suite():
    assert (1, 2) == SAMPLE.count_noticed("KEY-01")
    assert (0, 0) == SAMPLE.count_noticed("KEY-02")


@pytest.mark.parametrize("text", ["", "{}\n", '{"on": "x"}\n{"id": "a", "result": "fine"}\n'])
def test_a_broken_record_is_named(kept, text):
    kept.write_text(text, encoding="utf-8")
    with pytest.raises(HistoryError, match=r"sample\.jsonl cannot be read: .*; record it again"):
        load_sample()


def test_each_mutant_that_is_argued_to_be_equivalent_exists_and_has_a_sentence():
    for identity, reason in equivalents().items():
        assert identity == find_mutant(identity).id
        assert reason.endswith("."), identity
