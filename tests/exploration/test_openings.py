"""Openings of explorations come to the situation that they are named after."""

import os
from typing import Final

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import CAPABILITIES, ModelAdapter
from busproof.exploration.machine import LOCK, Sequence, Watch, scope_of, terms_of
from busproof.exploration.prologues.table import openings, play_prologue
from busproof.exploration.state import Scope, Shape, World
from busproof.exploration.strategies.table import queue_kinds
from busproof.judging.judge import Judge
from busproof.spec import load

TIERS = ("standard", "premium", "basic")
FIRST = v.CreateQueue(queue="q1", lock_duration=LOCK)
SEEDS: Final = 8 if os.environ.get("BUSPROOF_SIZE") == "full" else 1
MOST: Final = 75
"""Commands of an opening, for a bus that may be far away."""

COMES_TO: Final = {
    "onward": {"FWD-01", "FWD-02", "FWD-03", "FWD-04", "FWD-05", "FWD-06", "FWD-30"},
    "unique end": {"FWD-11", "FWD-13", "FWD-26"},
    "chain": {"FWD-16"},
    "closed end": {"FWD-19"},
    "scheduled": {"SCHED-02", "SCHED-03", "SCHED-14"},
    "scheduled in outage": {"SCHED-11"},
    "actions": {"FILTER-21", "FILTER-22", "FILTER-23", "FILTER-24"},
    "long names of rules": {"TOPIC-17", "TOPIC-18", "FILTER-26", "FILTER-27"},
    "topic around": {"TOPIC-11"},
    "copies of topic": {"TOPIC-12", "DUP-01", "DUP-04"},
    "session of subscription": {"TOPIC-14"},
    "fixed": {"MGMT-13", "MGMT-14"},
    "fixed of topic": {"MGMT-12", "MGMT-13", "MGMT-14", "TTL-01"},
    "made again": {"MGMT-15", "MGMT-17"},
    "topic made again": {"MGMT-15", "TOPIC-21"},
    "refused in outage": {"MGMT-19"},
    "creation in outage": {"MGMT-19"},
    "topic refused in outage": {"MGMT-19", "MGMT-21", "MGMT-22"},
    "remembered": {"DUP-01", "DUP-08", "DUP-10", "KEY-11"},
    "elsewhere": {"DUP-05", "DUP-13"},
    "overtaken": {"SCHED-07", "SCHED-08", "SCHED-13"},
    "lifetimes": {"TTL-03", "TTL-04"},
    "expired": {"TTL-05", "TTL-10"},
    "settled within": {"LOCK-11"},
    "undone": {"LOCK-12", "LOCK-13"},
    "given again": {"LOCK-07", "SESS-09"},
    "blackout": {"PART-03", "PART-05"},
    "spread": {"KEY-14"},
    "many settled": {"PART-12"},
    "limits of windows": {"DUP-01", "DUP-02", "DUP-03"},
    "large messages": {"LIMIT-01", "LIMIT-02", "LIMIT-14"},
    "large, later or together": {"LIMIT-06", "LIMIT-21"},
    "large batches": {"BATCH-01", "BATCH-03", "BATCH-07"},
    "long transactions": {"LIMIT-15", "LIMIT-16", "BATCH-08"},
    "long names": {"LIMIT-17", "LIMIT-18"},
    "large states": {"LIMIT-19", "LIMIT-20"},
    "copies at once": {"BATCH-09", "DUP-04"},
    "sizes": {"SIZE-01", "SIZE-02"},
    "full whole": {"SIZE-10", "SIZE-12"},
    "set aside": {"SIZE-10", "SIZE-13"},
    "full of a batch": {"BATCH-10"},
    "crowd of topics": {"QUOTA-03", "QUOTA-06"},
}
"""What its events are decided by, among others, on the standard tier."""

IN_PREMIUM: Final = {
    "large messages": {"LIMIT-03", "LIMIT-14"},
    "large batches": {"BATCH-01"},
    "sizes": {"PREM-01", "PREM-07", "PREM-08"},
    "from before": {"PREM-03", "PREM-04", "PREM-06"},
    "full whole": {"SIZE-10", "SIZE-12"},
}
CASES = [
    *(("standard", name, rules) for name, rules in COMES_TO.items()),
    *(("premium", name, rules) for name, rules in IN_PREMIUM.items()),
]


class Unwilling(ModelAdapter):
    """Does nothing that it is asked."""

    def do(self, command: v.Command, connection: str) -> v.Observed:  # noqa: ARG002 - whatever it is
        return v.Observed(v.Refused(error=v.Error.INVALID_OPERATION))


class Indifferent(Watch):
    """Goes on with a sequence, whatever the judge says of it."""

    def violated(self, sequence: Sequence, violation: object) -> None:  # noqa: ARG002 - whatever it is
        sequence.over = False


def asked_of(
    adapter: v.Adapter, profile: v.Profile, name: str, watch: type[Watch]
) -> list[v.Event]:
    """What comes of one opening."""
    terms = terms_of(adapter, profile)
    scope = scope_of(adapter, terms)
    sequence = watch(adapter, terms).opened()
    world = World(scope=scope, palette=(Shape(),), filters=(v.CorrelationFilter(session_id="a"),))
    world.queues.append(first_of(scope))
    sequence.ask(world.queues[0], "c1")
    for command in play_prologue(name, world, world.queues[0]):
        event = sequence.ask(command, "c1")
        if event is not None:
            world.learn(event, None)
    return sequence.events


def first_of(scope: Scope) -> v.CreateQueue:
    """The simplest queue that the tier has."""
    return attrs.evolve(queue_kinds(scope)[0], queue=FIRST.queue)


def there(tier: str, adapter: type[v.Adapter] = ModelAdapter) -> list[str]:
    """The openings of a tier."""
    profile = v.profile_for(load(), tier=tier)
    names = openings(scope_of(adapter(), terms_of(adapter(), profile)))
    return [name for name in dict.fromkeys(names) if name]


@pytest.mark.parametrize(("tier", "name", "rules"), CASES)
def test_an_opening_tries_the_rules_that_it_is_for(tier: str, name: str, rules: set[str]) -> None:
    """By the rules that decide its events."""
    profile = v.profile_for(load(), tier=tier)
    adapter = ModelAdapter()
    judge = Judge(profile, adapter.declaration.observability)
    for event in asked_of(adapter, profile, name, Watch):
        assert judge.saw(event) is None
    assert set() == rules - set(judge.evidence)


@pytest.mark.parametrize(("name", "tier"), [(name, tier) for tier in TIERS for name in there(tier)])
def test_an_opening_goes_to_its_end_whatever_it_is_refused(name: str, tier: str) -> None:
    """On a bus that refuses everything, and for nothing."""
    assert asked_of(Unwilling(), v.profile_for(load(), tier=tier), name, Indifferent)


@pytest.mark.parametrize(
    ("name", "tier"), [(name, tier) for tier in TIERS for name in there(tier, ModelAdapter)]
)
def test_an_opening_accuses_no_model_however_it_answers(name: str, tier: str) -> None:
    """Hostile: answers that are late or never come, and every timer wrong; the patience too."""
    for seed in range(SEEDS):
        adapter = ModelAdapter(policy="hostile", seed=seed)
        assert asked_of(adapter, v.profile_for(load(), tier=tier), name, Watch)


@pytest.mark.parametrize("tier", TIERS)
def test_an_opening_is_cheap_unless_the_namespace_is_its_own(tier: str) -> None:
    profile = v.profile_for(load(), tier=tier)

    class Shared(ModelAdapter):
        @property
        def declaration(self) -> v.Declaration:
            fewer = CAPABILITIES - {v.Capability.DISPOSABLE_NAMESPACE}
            return attrs.evolve(super().declaration, capabilities=fewer)

    counted = {name: len(asked_of(Shared(), profile, name, Watch)) for name in there(tier, Shared)}
    assert counted
    assert {} == {name: number for name, number in counted.items() if number > MOST}


def test_no_windows_of_days_are_waited_for_in_real_time() -> None:
    scope = Scope(capabilities=CAPABILITIES, clock=v.Clock.REAL)
    assert [] == list(play_prologue("limits of windows", World(scope=scope), FIRST))
