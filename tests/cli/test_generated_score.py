"""The score of an audit of generated mutants, and what it says of a sample."""

import itertools

import pytest

from busproof.cli import audit_generated
from busproof.cli.audit_generated import _families, _limit_time
from busproof.cli.mutation.score import Counted, Score, score_of
from busproof.mutants.by_machine.made import generate_mutants
from busproof.mutants.by_machine.record import Fate, Result


def counted(made: int, tried: int, noticed: int, apart: int) -> Counted:
    return Counted(made=made, tried=tried, noticed=noticed, apart=apart)


def test_a_score_of_all_mutants_is_exact():
    found = score_of({"keys": counted(10, 10, 3, 4), "locks": counted(20, 20, 6, 8)})
    assert Score(share=75.0, low=75.0, high=75.0) == found


def test_a_score_of_a_sample_has_an_interval_that_contains_it_and_shrinks_with_the_sample():
    few = score_of({"keys": counted(1000, 20, 9, 10)})
    many = score_of({"keys": counted(1000, 200, 90, 100)})
    assert (90.0, 90.0) == (few.share, many.share)
    assert few.low < many.low < 90 < many.high < few.high
    # As Wilson's interval for 9 of 10.
    assert (59.6, 98.2) == (few.low, few.high)


def test_a_family_of_many_mutants_weighs_more_in_a_sample():
    found = score_of({"keys": counted(900, 10, 10, 10), "locks": counted(100, 10, 0, 10)})
    assert 90.0 == found.share


def test_nothing_that_can_be_distinguished_has_no_score():
    assert score_of({"keys": counted(10, 2, 0, 0)}) is None


def fates() -> list[Fate]:
    """Return one mutant of each fate, of one family."""
    mutants = generate_mutants("keys")
    parts = (
        (Result.KILLED, "features"),
        (Result.KILLED, "distilled"),
        (Result.FOUND, "exploration"),
        (Result.FOUND, "search"),
        (Result.UNDECIDED, ""),
    )
    return [
        Fate(id=mutant.id, result=result, part=part)
        for mutant, (result, part) in zip(mutants, parts, strict=False)
    ]


def test_scores_are_of_scenarios_with_situations_and_of_everything():
    *_, every = _families(generate_mutants("keys")[:5], fates())
    shares = [every[f"score{ending}"] for ending in ("_of_features", "", "_of_everything")]
    assert ["all", 25.0, 50.0, 75.0] == [every["family"], *shares]
    assert every["interval"][0] < 50 < every["interval"][1]


def test_an_audit_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch):
    clock = itertools.count(step=30)
    monkeypatch.setattr(audit_generated, "monotonic", lambda: next(clock))
    assert 3 == len(list(_limit_time((each for each in fates() * 9), 1)))
    assert 5 == len(list(_limit_time((each for each in fates()), None)))
