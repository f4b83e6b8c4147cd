"""No distilled sequence accuses a conforming bus, however hostile it is.

The sequences were found and minimised on the most regular bus. A hostile one gives other answers:
some are late or never come, and every choice that the documents leave open is made the other way.
"""

import os

import attrs
import pytest
from distilled_commands import ask_adapter, commands_in

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Oracle
from busproof.judging.judge import Judge, observability_for
from busproof.judging.linearization.overlap import judged
from busproof.spec import load
from busproof.steps.distilled import DistilledSequence, distilled_sequences

pytestmark = pytest.mark.usefixtures("impatient")

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = range(10 if FULL else 1)
EVERY = 1 if FULL else 4
"""On a real clock the gate tries one sequence in so many."""
EDITION = "cs-2020-12"
CATALOGUE = load()
ALL = distilled_sequences()


def accusations(adapter: v.Adapter, few: tuple[DistilledSequence, ...]) -> list[str]:
    """Return what either oracle objects to."""
    observability = adapter.declaration.observability
    found = []
    for sequence in few:
        profile = v.profile_for(CATALOGUE, edition=EDITION, tier=sequence.tier.value)
        adapter.start(profile)
        events = list(ask_adapter(adapter, sequence))
        for oracle in Oracle:
            judge = Judge(profile, observability_for(observability, oracle))
            broken = next(filter(None, map(judge.saw, events)), None)
            if broken is not None:
                found.append(f"{sequence.name}: {oracle} accuses it of {broken.rules}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random", "hostile"])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_situation_accuses_a_hostile_bus_by_either_oracle(policy: str, seed: int) -> None:
    assert [] == accusations(ModelAdapter(policy=policy, seed=seed), ALL)


@pytest.mark.slow
def test_no_situation_accuses_a_hostile_bus_on_a_real_clock() -> None:
    found = []
    for sequence in ALL[::EVERY]:
        if any(isinstance(each.command, v.AdvanceClock) for each in commands_in(sequence)):
            continue
        adapter = ModelAdapter(policy="hostile", clock=v.Clock.REAL)
        profile = v.profile_for(CATALOGUE, edition=EDITION, tier=sequence.tier.value)
        adapter.start(profile)
        events = list(ask_adapter(adapter, sequence, clock=True))
        for oracle in Oracle:
            view = observability_for(adapter.declaration.observability, oracle)
            broken = judged(events, profile, view).violation
            if broken is not None:
                found.append(f"{sequence.name}: {oracle} accuses it of {broken.rules}")
    assert [] == found


def test_a_bus_that_breaks_a_rule_would_be_accused() -> None:
    """The checks above see what a sequence was found for."""

    class Forgetful(ModelAdapter):
        def do(self, command: v.Command, connection: str) -> object:
            observed = super().do(command, connection)
            if isinstance(command, v.BeginTransaction):
                return attrs.evolve(observed, outcome=v.Refused(error=v.Error.ALREADY_EXISTS))
            return observed

    few = tuple(each for each in ALL if each.rule == "TXN-01")
    assert few
    assert accusations(Forgetful(), few)
