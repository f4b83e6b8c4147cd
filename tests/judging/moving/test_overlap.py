"""Clients whose requests overlap: the order of a history is not the order of the bus."""

from random import Random

import pytest
from model_driver import catalogue

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.moves import BREAKS, Move
from busproof.history.records import Header
from busproof.judging.moving.comparison import Comparison
from busproof.judging.moving.histories import compare_events
from busproof.judging.moving.targets import target_profile
from busproof.judging.workload import Habits, work

PROFILE = v.profile_for(catalogue())


def compare(target: v.Profile, seed: int, habits: Habits) -> Move:
    random = Random(f"overlap/{seed}")
    events = work(ModelAdapter(), PROFILE, random, 300, clients=6, habits=habits)
    comparison = Comparison(PROFILE, target)
    compare_events(comparison, Header(profile=PROFILE, clock=v.Clock.REAL), "", events)
    return comparison.move


@pytest.mark.slow
@pytest.mark.parametrize("habits", [Habits(), Habits(regular=True), Habits(batching=0.3)])
def test_overlapping_clients_break_nothing_of_their_own_namespace(habits: Habits) -> None:
    moves = [compare(PROFILE, seed, habits) for seed in range(10)]

    assert not any(move.breaks for move in moves)
    # Two settlements of one lock may have taken effect in the other order.
    assert sum(sum(move.apart.values()) for move in moves) * 20 < sum(m.compared for m in moves)


@pytest.mark.slow
def test_partitioned_queues_of_overlapping_clients_move_to_premium_as_they_are() -> None:
    target = target_profile(catalogue(), PROFILE, "premium:4")
    moves = [compare(target, seed, Habits()) for seed in range(10)]

    assert not any(move.of(BREAKS) for move in moves)
    assert sum(move.compared for move in moves) > 2_000
