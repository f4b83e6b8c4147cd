"""Overlapping requests: the replay alone explains what conforms, and nothing that does not."""

import os
from collections.abc import Sequence
from random import Random

import attrs
import pytest
from corrupting import CORRUPTIONS, History

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.replay.explanation import Explanation, explain
from busproof.judging.replay.search import Ended
from busproof.judging.workload import Habits, work
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
LENGTH = 400 if FULL else 200
SEEDS = 10 if FULL else 1
CLIENTS = (3, 8, 16, 64)
REAL = v.Observability(clock=v.Clock.REAL)
STEPS_AN_EVENT = 1.1
MOST_GIVEN_UP = {"hostile": 2}
"""Of four histories of the hostile model, whose caches hide much, two may have no verdict."""
IDLE = Habits()


def recorded(policy: str, seed: int, clients: int, habits: Habits = IDLE) -> list[v.Event]:
    profile = v.profile_for(load(), partitions=16)
    return work(ModelAdapter(policy, seed), profile, Random(seed), LENGTH, clients, habits=habits)


def explained(
    events: Sequence[v.Event], policy: str = "round-robin", steps: int | None = None
) -> Explanation:
    observability = attrs.evolve(ModelAdapter(policy).declaration.observability, clock=REAL.clock)
    return explain(events, v.profile_for(load(), partitions=16), observability, steps=steps)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("regular", [False, True], ids=["partitioned", "regular"])
def test_a_conforming_bus_is_explained_almost_without_a_detour(policy: str, regular: bool) -> None:
    steps = events = given_up = 0
    for clients in CLIENTS:
        for seed in range(SEEDS):
            history = recorded(policy, seed, clients, Habits(regular=regular))
            found = explained(history, policy)
            assert found.ended is not Ended.IMPOSSIBLE, (clients, seed)
            if found.ended is Ended.GAVE_UP:
                given_up += 1
                continue
            steps, events = steps + found.steps, events + len(history)
    assert steps <= STEPS_AN_EVENT * events
    assert given_up <= MOST_GIVEN_UP.get(policy, 0) * SEEDS


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_history_that_was_changed_in_one_event_is_not_explained_away(kind: str) -> None:
    """Of duplicates, lost messages, wrong orders and two holders of a lock or session."""
    changed = 0
    for seed in range(12):
        history = recorded("round-robin", seed, 4)
        for events, _ in list(CORRUPTIONS[kind][1](History(history)))[:1]:
            changed += 1
            assert explained(events, steps=3 * LENGTH).ended is not Ended.EXPLAINED
        if changed >= 2 * SEEDS:
            return
