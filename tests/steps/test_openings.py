"""Openings of explorations come to the situation that they are named after."""

import attrs
import pytest

from busproof.adapters.base import Adapter, Observed
from busproof.adapters.faults import SeededBus
from busproof.adapters.model import ModelAdapter
from busproof.judging.judge import Judge
from busproof.model.commands import Command, CreateQueue
from busproof.model.filters import CorrelationFilter
from busproof.model.outcomes import Event, Refused
from busproof.model.profiles import profile_for
from busproof.model.values import Error, Profile
from busproof.spec import load
from busproof.steps.generating import queue_kinds
from busproof.steps.machine import LOCK, Sequence, Watch, scope_of, terms_of
from busproof.steps.openings import begun_with, openings
from busproof.steps.worlds import Scope, Shape, World

TIERS = ("standard", "premium", "basic")
FIRST = CreateQueue(queue="q1", lock_duration=LOCK)

SHOWN = [
    ("large messages", "standard", {"LIMIT-01", "LIMIT-02", "LIMIT-14"}),
    ("large messages", "basic", {"LIMIT-01", "LIMIT-02", "LIMIT-14"}),
    ("large messages", "premium", {"LIMIT-03", "LIMIT-14"}),
    ("large, later or together", "standard", {"LIMIT-06", "LIMIT-21"}),
    ("large batches", "standard", {"BATCH-01", "BATCH-03", "BATCH-07"}),
    ("large batches", "premium", {"BATCH-01"}),
    ("long transactions", "standard", {"LIMIT-15", "LIMIT-16", "BATCH-08"}),
    ("long names", "standard", {"LIMIT-17", "LIMIT-18"}),
    ("large states", "standard", {"LIMIT-19", "LIMIT-20"}),
    ("copies at once", "standard", {"BATCH-09", "DUP-04"}),
    ("sizes", "standard", {"SIZE-01", "SIZE-02"}),
    ("sizes", "premium", {"PREM-01", "PREM-07", "PREM-08"}),
    ("from before", "premium", {"PREM-03", "PREM-04", "PREM-06"}),
    ("full whole", "standard", {"SIZE-10", "SIZE-12"}),
    ("full whole", "premium", {"SIZE-10", "SIZE-12"}),
    ("set aside", "standard", {"SIZE-10", "SIZE-13"}),
    ("full of a batch", "standard", {"BATCH-10"}),
    ("crowd of topics", "standard", {"QUOTA-03", "QUOTA-06"}),
]


class Unwilling(SeededBus):
    """Does nothing that it is asked."""

    def do(self, command: Command, connection: str) -> Observed:  # noqa: ARG002
        return Observed(Refused(error=Error.INVALID_OPERATION))


class Indifferent(Watch):
    """Goes on with a sequence, whatever the judge says of it."""

    def violated(self, sequence: Sequence, violation: object) -> None:  # noqa: ARG002
        sequence.over = False


def asked_of(adapter: Adapter, profile: Profile, name: str) -> list[Event]:
    """What comes of one opening."""
    terms = terms_of(adapter, profile)
    scope = scope_of(adapter, terms)
    sequence = Indifferent(adapter, terms).opened()
    world = World(scope=scope, palette=(Shape(),), filters=(CorrelationFilter(session_id="a"),))
    world.queues.append(first_of(scope))
    sequence.ask(world.queues[0], "c1")
    for command in begun_with(name, world, world.queues[0]):
        event = sequence.ask(command, "c1")
        if event is not None:
            world.learn(event, None)
    return sequence.events


def first_of(scope: Scope) -> CreateQueue:
    """The simplest queue that the tier has."""
    return attrs.evolve(queue_kinds(scope)[0], queue=FIRST.queue)


def there(tier: str) -> list[str]:
    """The openings of a tier."""
    profile = profile_for(load(), tier=tier)
    names = openings(scope_of(SeededBus(), terms_of(SeededBus(), profile)))
    return [name for name in dict.fromkeys(names) if name]


@pytest.mark.parametrize(("name", "tier", "rules"), SHOWN)
def test_an_opening_tries_the_rules_that_it_is_for(name: str, tier: str, rules: set[str]) -> None:
    """By the rules that decide its events, on the model and on a bus that tells of sizes too."""
    profile = profile_for(load(), tier=tier)
    shown: set[str] = set()
    for adapter in (ModelAdapter(), SeededBus()):
        judge = Judge(profile, adapter.declaration.vantage)
        for event in asked_of(adapter, profile, name):
            assert judge.saw(event) is None
        shown |= set(judge.evidence)
    assert set() == rules - shown


@pytest.mark.parametrize(("name", "tier"), [(name, tier) for tier in TIERS for name in there(tier)])
def test_an_opening_goes_to_its_end_whatever_it_is_refused(name: str, tier: str) -> None:
    """On a bus that refuses everything, and for nothing."""
    assert asked_of(Unwilling(), profile_for(load(), tier=tier), name)


@pytest.mark.parametrize("tier", TIERS)
def test_an_opening_is_cheap_unless_it_is_of_a_crowd(tier: str) -> None:
    """Some 40 commands at most, for a bus that may be far away."""
    profile = profile_for(load(), tier=tier)
    counted = {name: len(asked_of(SeededBus(), profile, name)) for name in there(tier)}
    assert {} == {
        name: number for name, number in counted.items() if number > 42 and "crowd" not in name
    }
