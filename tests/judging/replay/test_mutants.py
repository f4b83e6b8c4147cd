"""The replay explains no mutant's shortest run, and the model's answers to each of these runs."""

import os

import pytest

from busproof.adapters.base import Adapter
from busproof.adapters.faults import adapter_of, conforming
from busproof.adapters.finding import find
from busproof.judging.replay.explanation import explain
from busproof.judging.replay.search import Ended
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load
from busproof.vocabulary.profile import Profile, namespace_of, profile_for

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 2_000 if FULL else 100
SEEN = [mutant for mutant in MUTANTS if not (mutant.equivalent or mutant.literal)]
TRIED = [mutant for mutant in SEEN if len(mutant.run) <= LONGEST][:: 1 if FULL else 5]


def profile_of(mutant: Mutant) -> Profile:
    """The profile in which a mutant's run shows its fault."""
    rule = load().rule(mutant.rule)
    tier, partitions = namespace_of(rule.tiers)
    return profile_for(
        load(),
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=mutant.readings,
        partitions=PARTITIONS if partitions == 1 else None,
        namespace_partitions=partitions,
    )


def ended(bus: Adapter, mutant: Mutant) -> Ended:
    """How the replay of a mutant's run ends on this bus."""
    profile = profile_of(mutant)
    bus.start(profile)
    events = list(play(bus, mutant.run))
    bus.stop()
    return explain(events, profile, bus.declaration.observability).ended


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_execution_explains_a_fault(part: int) -> None:
    """One answer is wrong, or many together are."""
    explained = {
        mutant.id
        for mutant in TRIED[part::4]
        if ended(adapter_of(mutant), mutant) is Ended.EXPLAINED
    }
    assert set() == explained


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_an_execution_explains_the_same_run_without_the_fault(part: int) -> None:
    unexplained = {
        mutant.id
        for mutant in TRIED[part::4]
        if ended(find(conforming(mutant), timeout=1), mutant) is not Ended.EXPLAINED
    }
    assert set() == unexplained
