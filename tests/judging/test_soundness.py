"""The judge never accuses a conforming bus, however it behaves within what is allowed."""

import os
from random import Random

import pytest

from busproof.adapters.model import POLICIES, ModelAdapter
from busproof.history.records import Oracle
from busproof.history.words import event_words
from busproof.judging.judge import Judge, vantage_of
from busproof.judging.overlap import judged
from busproof.judging.sequences import play
from busproof.model.outcomes import Event
from busproof.model.profiles import profile_for
from busproof.model.values import Clock, Profile
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEQUENCES = 10_000 if FULL else 2_000
SHARDS = 8
LENGTH = 60


def profile(partitions: int) -> Profile:
    return profile_for(load(), partitions=partitions)


def accusation(events: list[Event], held_to: Profile, adapter: ModelAdapter, oracle: Oracle) -> str:
    """The accusation that an oracle raises, in words; empty if it raises none."""
    judge = Judge(held_to, vantage_of(adapter.declaration.vantage, oracle))
    for number, event in enumerate(events):
        if judge.saw(event) is not None:
            told = "\n".join(event_words(each) for each in events[: number + 1])
            return f"{judge.violation}\n{told}"
    return judge.exhausted


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_hostile_but_conforming_model_is_never_accused_by_either_oracle(shard: int) -> None:
    """Last partition first, slack on every timer, cached, empty, lost and late answers."""
    for seed in range(shard, SEQUENCES, SHARDS):
        held_to = profile(partitions=3 if seed % 2 else 16)
        adapter = ModelAdapter(policy="hostile", seed=seed)
        events = play(adapter, held_to, Random(seed), LENGTH)
        for oracle in Oracle:
            assert accusation(events, held_to, adapter, oracle) == "", f"seed {seed}, {oracle}"


@pytest.mark.parametrize("policy", ["round-robin", "random"])
def test_a_regular_and_a_random_model_are_never_accused(policy: str) -> None:
    for seed in range(200):
        held_to = profile(partitions=4)
        adapter = ModelAdapter(policy=policy, seed=seed)
        events = play(adapter, held_to, Random(seed), LENGTH)
        for oracle in Oracle:
            assert accusation(events, held_to, adapter, oracle) == "", f"seed {seed}, {oracle}"


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("oracle", list(Oracle))
def test_a_model_on_a_real_clock_is_never_accused(policy: str, oracle: Oracle) -> None:
    """Locks of 20 ms really expire, somewhere between the call and the return of a request."""
    for seed in range(4):
        held_to = profile(partitions=4)
        adapter = ModelAdapter(policy=policy, seed=seed, clock=Clock.REAL)
        events = play(adapter, held_to, Random(seed), LENGTH, lock=20_000)
        vantage = vantage_of(adapter.declaration.vantage, oracle)
        found = judged(events, held_to, vantage)
        assert found.violation is None, found.violation
        assert found.exhausted == ""
