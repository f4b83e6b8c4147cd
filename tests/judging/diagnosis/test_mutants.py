"""The diagnosis charges a mutant's shortest run to the rule that the mutant breaks."""

import os

import pytest

from busproof.adapters.faults import adapter_of
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.replay.explanation import explain
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load
from busproof.vocabulary.profile import Profile, namespace_of, profile_for
from busproof.vocabulary.values import RuleId

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 100
FIRST, AMONG = 0.9, 0.98
"""Least shares of runs in which the right rule is charged first, and at all."""
TRIED = [
    mutant
    for mutant in MUTANTS
    if not (mutant.equivalent or mutant.literal) and len(mutant.run) <= LONGEST
][:: 1 if FULL else 4]


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


def charged(mutant: Mutant) -> list[RuleId]:
    """The rules that the diagnosis charges, without those that only permit something."""
    bus, profile = adapter_of(mutant), profile_of(mutant)
    bus.start(profile)
    events = list(play(bus, mutant.run))
    bus.stop()
    seen = bus.declaration.observability
    explanation = explain(events, profile, seen)
    assert explanation.stuck_at is not None
    found = diagnose(events, explanation.stuck_at, profile, seen)
    assert found.rules
    return [rule for rule in found.rules if load().rule(rule).shown_by not in ("allowed", "never")]


@pytest.mark.slow
def test_most_runs_are_charged_to_the_rule_that_the_mutant_breaks() -> None:
    rules = {mutant.id: (mutant.rule, charged(mutant)) for mutant in TRIED}
    first = [right for right, found in rules.values() if found[:1] == [right]]
    among = [right for right, found in rules.values() if right in found]
    assert len(first) >= FIRST * len(rules)
    assert len(among) >= AMONG * len(rules)
