"""Openings come to the situation that their name says, by the rules that decide their events."""

import attrs
import pytest

from busproof.adapters.base import Adapter
from busproof.adapters.model import ModelAdapter
from busproof.judging.judge import Judge, vantage_of
from busproof.model.outcomes import Event
from busproof.model.profiles import profile_for
from busproof.spec import load
from busproof.steps.generating import queue_kinds
from busproof.steps.machine import Watch, scope_of, terms_of
from busproof.steps.openings import begun_with, openings
from busproof.steps.worlds import World

COME_TO = {
    "actions": {"FILTER-21", "FILTER-22", "FILTER-23", "FILTER-24"},
    "long names": {"TOPIC-17", "TOPIC-18", "FILTER-26", "FILTER-27"},
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
}


def begun(adapter: Adapter, name: str, tier: str = "standard") -> list[Event]:
    """What came of an opening, in a sequence whose first queue is the simplest."""
    terms = terms_of(adapter, profile_for(load(), tier=tier))
    scope = scope_of(adapter, terms)
    sequence, world = Watch(adapter, terms).opened(), World(scope=scope)
    queue = attrs.evolve(queue_kinds(scope)[0], queue="q1")
    world.queues.append(queue)
    sequence.ask(queue, "c1")
    for command in begun_with(name, world, queue):
        event = sequence.ask(command, "c1")
        if event is not None:
            world.learn(event, None)
    return sequence.events


def shown(events: list[Event]) -> set[str]:
    """The rules that decided what came."""
    adapter = ModelAdapter()
    terms = terms_of(adapter)
    judge = Judge(terms.profile, vantage_of(adapter.declaration.vantage, terms.oracle))
    for event in events:
        assert judge.saw(event) is None
    return set(judge.evidence)


@pytest.mark.parametrize("name", COME_TO)
def test_an_opening_comes_to_its_situation(name: str) -> None:
    """On the model at its most regular, with no more than some forty commands."""
    events = begun(ModelAdapter(), name)
    assert set() == COME_TO[name] - shown(events)
    assert len(events) <= 41


@pytest.mark.parametrize("name", COME_TO)
@pytest.mark.parametrize("tier", ["standard", "premium"])
def test_an_opening_accuses_no_model_however_it_answers(name: str, tier: str) -> None:
    """Refusals and answers that never come change what is asked, and break nothing."""
    for seed in range(3):
        adapter = ModelAdapter(policy="hostile", seed=seed)
        there = openings(scope_of(adapter, terms_of(adapter, profile_for(load(), tier=tier))))
        if name in there:
            assert begun(adapter, name, tier)
