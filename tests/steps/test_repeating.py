"""Scenarios are tried again while chance may have kept them from a verdict, and no longer."""

from itertools import count

import pytest

from busproof.judging.scenario_outcome import Inconclusive, Missed
from busproof.steps.repeating import MOST_TRIES, NO_CHANCE, ROUNDS, Repeating
from busproof.vocabulary.values import Clock

RULE = frozenset({"KEY-08"})


def repeating(planned: int = 1) -> Repeating[str]:
    return Repeating(planned, Clock.VIRTUAL)


def tries(places) -> int:
    """After how many tries one that misses its answers at these places is given up."""
    scenarios = repeating()
    for tried, place in enumerate(places, start=1):
        if not scenarios.after("test", "a", RULE, Missed("nothing came", place)):
            return tried
    raise AssertionError("it is never given up")


def test_unanswered_scenario_is_tried_three_times():
    """Whoever waits for each try waits three times at the most."""
    assert 3 == NO_CHANCE == tries([5, 5, 5])


def test_scenario_with_some_answers_goes_on():
    """It missed the same answer three times, and others between them."""
    assert 7 == tries([5, 5, 1, 5, 7, 7, 7])


def test_there_is_an_end():
    """A long scenario may miss another answer each time."""
    assert MOST_TRIES == tries(count())


def test_each_scenario_has_its_own_tries():
    """What one misses says nothing of another."""
    scenarios = repeating(2)
    assert not scenarios.tried("a")
    assert [[each] for each in "abab"] == [
        scenarios.after(each, each, RULE, Missed("", 0)) for each in "abab"
    ]
    assert scenarios.tried("a")
    assert not scenarios.tried("c")


@pytest.mark.parametrize("error", [Inconclusive("given up"), AssertionError(), ValueError()])
def test_scenario_with_another_ending_is_not_tried_again(error):
    """Nor for want of evidence."""
    assert [] == repeating().after("test", "a", RULE, error)


def test_scenario_that_showed_nothing_is_tried_again_at_the_end():
    """Another one may show it until then."""
    scenarios = repeating(2)
    assert [] == scenarios.after("one", "a", RULE, None)
    scenarios.saw({"KEY-09"})
    assert ["one"] == scenarios.after("two", "b", {"KEY-09"}, None)
    assert ["one"] == scenarios.after("one", "a", RULE, None)
    scenarios.saw(RULE)
    assert [] == scenarios.after("one", "a", RULE, None)


@pytest.mark.parametrize("clock", Clock)
def test_situation_that_never_arises_is_given_up(clock):
    """After fewer rounds where time has to pass."""
    scenarios = Repeating(1, clock)
    rounds = sum(scenarios.after("one", "a", RULE, None) == ["one"] for _ in range(50))
    assert ROUNDS[clock] == rounds


def test_answers_missed_in_a_last_round_are_waited_for():
    """The next round begins when nothing is left to try."""
    scenarios = repeating(2)
    scenarios.after("one", "a", RULE, None)
    assert ["two"] == scenarios.after("two", "b", RULE, Missed("", 3))
    assert ["one", "two"] == scenarios.after("two", "b", RULE, None)
