"""The replay explains no history that was changed in one event, and every one that was not."""

import os

import pytest
import recorded_cases as cases
from corrupting import CORRUPTIONS

from busproof import vocabulary as v
from busproof.judging.replay.explanation import explain
from busproof.judging.replay.search import Ended

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
TRIES = 8 if FULL else 2
STEPS = 20_000 if FULL else 1_000
SEEDS = range(0, 240 if FULL else 12, 3)
"""Every third history is of one client."""
REAL = v.Observability(clock=v.Clock.REAL)
BY_TWO = {"given before commit", "session given twice"}
"""What one client alone cannot do."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_no_execution_explains_a_changed_event(kind: str) -> None:
    profile = cases.header().profile
    changed = list(cases.corrupted(kind, 4 if kind in BY_TWO else 1, TRIES))
    assert changed
    explained = [
        case.name for case in changed if explain(case.events, profile, REAL, steps=STEPS).is_found
    ]
    assert [] == explained


@pytest.mark.slow
def test_an_execution_explains_what_one_client_saw() -> None:
    """On a real clock; queues are deleted and made anew in some of them."""
    profile = cases.header().profile
    unexplained = {
        case.name: ended
        for case in cases.clean("round-robin", SEEDS)
        if (ended := explain(case.events, profile, REAL).ended) is not Ended.EXPLAINED
    }
    assert {} == unexplained


def test_numbers_of_a_queue_that_was_made_anew_have_no_order_with_those_before() -> None:
    """A conforming bus was accused, because its first messages had larger numbers."""
    profile = cases.header().profile
    case = next(cases.clean("round-robin", [27]))
    assert any(isinstance(event.command, v.DeleteQueue) for event in case.events)
    assert explain(case.events, profile, REAL).is_found
