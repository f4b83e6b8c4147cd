"""Which event of a history shows a rule, and which does not although the rule is near."""

from typing import Any

import pytest
from rows import rows_of

from busproof import vocabulary as v
from busproof.adapters.faults import conforming
from busproof.adapters.finding import find
from busproof.history.codec import structure
from busproof.judging.judge import Judge
from busproof.judging.replay.explanation import explain
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import PARTITIONS, play
from busproof.spec import load

ROWS = rows_of(__file__, "shown")
"""Histories, and which rules an event at a place shows or hides."""
PROFILE = v.profile_for(load(), partitions=3)
EDITION = "cs-2020-12"
"""The edition that states the most."""
LONGEST = 25
NOT_SHOWN = {
    *("DEFER-06", "DLQ-04", "FWD-11", "FWD-22", "FWD-26", "LIFE-13", "LIMIT-15", "LIMIT-16"),
    *("PREM-11", "SCHED-11"),
    *(f"QUOTA-{number:02}" for number in (1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 14, 15)),
}
"""Rules that only scenarios or longer runs show; the list may only shrink."""


@pytest.mark.parametrize("row", ROWS, ids=[row["about"] for row in ROWS])
def test_an_event_shows_its_rules_and_no_others(row: dict[str, Any]) -> None:
    events = [structure(event, v.Event) for event in row["events"]]
    seen = v.Observability(partitions=row.get("partitions", True))
    found = explain(events, PROFILE, seen)
    assert found.is_found
    for place, rules in row.get("shows", {}).items():
        assert set(rules) <= set(found.decided[int(place)])
    for place, rules in row.get("hides", {}).items():
        assert set(rules).isdisjoint(found.decided[int(place)])


def test_a_replay_that_goes_on_shows_the_rules_of_new_events() -> None:
    *first, last = [structure(event, v.Event) for event in ROWS[2]["events"]]
    judge = Judge(PROFILE, v.Observability())
    for event in first:
        judge.saw(event)
    assert "LIFE-02" not in judge.evidence
    judge.saw(last)
    assert "LIFE-02" in judge.decided[-1]


def shown_beside(mutant: Mutant) -> set[v.RuleId]:
    """The rules that a mutant's shortest run shows on the bus without the fault."""
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
    return set(explain(events, profile, bus.declaration.observability).evidence)


@pytest.mark.slow
def test_short_runs_of_mutants_show_nearly_every_rule_without_the_fault() -> None:
    """Over all of these runs together."""
    short = [mutant for mutant in MUTANTS if len(mutant.run) <= LONGEST]
    shown = set().union(*map(shown_beside, short))
    always = {rule.id for rule in load().rules if rule.shown_by == "always"}
    assert NOT_SHOWN == always - shown
