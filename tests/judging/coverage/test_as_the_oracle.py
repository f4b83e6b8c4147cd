"""The replay shows the rules that the oracle shows, on the shortest runs of the mutants."""

import os

import pytest

from busproof import vocabulary as v
from busproof.adapters.faults import conforming
from busproof.adapters.finding import find
from busproof.judging.replay.explanation import explain
from busproof.judging.second_opinion import SecondOpinion
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 1_000 if FULL else 25
TRIED = [
    mutant
    for mutant in MUTANTS
    if not (mutant.equivalent or mutant.literal) and len(mutant.run) <= LONGEST
]

NOT_SHOWN = frozenset(("KEY-18", "LIFE-13"))
"""Rules that only the oracle shows on these runs; the list may only shrink.

The oracle credits KEY-18 although the timeout is long, and LIFE-13 although no cache is involved.
"""


def shown_on(mutant: Mutant) -> tuple[set[v.RuleId], set[v.RuleId]]:
    """The rules that the oracle and the replay show on a run of the model without the fault."""
    rule = load().rule(mutant.rule)
    tier, partitions = v.namespace_of(rule.tiers)
    profile = v.profile_for(
        load(),
        edition=EDITION if EDITION in rule.editions else rule.editions[-1],
        tier=tier,
        readings=mutant.readings,
        partitions=PARTITIONS if partitions == 1 else None,
        namespace_partitions=partitions,
    )
    bus = find(conforming(mutant), timeout=1)
    bus.start(profile)
    events = list(play(bus, mutant.run))
    bus.stop()
    observability = bus.declaration.observability
    oracle = SecondOpinion(profile, observability)
    oracle.hear(events)
    found = explain(events, profile, observability)
    if oracle.violation is not None or oracle.exhausted or not found.is_found:
        return set(), set()
    return set(oracle.decided.evidence()), set(found.evidence)


@pytest.mark.slow
def test_the_replay_shows_what_the_oracle_shows() -> None:
    """Over all of these runs together; which event shows a rule may differ."""
    old, new = set[v.RuleId](), set[v.RuleId]()
    for mutant in TRIED:
        by_oracle, by_replay = shown_on(mutant)
        old |= by_oracle
        new |= by_replay
    assert len(old) > 300
    assert old - new == NOT_SHOWN
