"""Each opening comes to the situation that it is named after."""

from typing import Final

import attrs
import pytest

from busproof.adapters.faults import SeededBus
from busproof.judging.judge import Judge, vantage_of
from busproof.model.commands import CreateQueue
from busproof.model.outcomes import Event
from busproof.steps.machine import Watch, scope_of, terms_of
from busproof.steps.openings import begun_with
from busproof.steps.worlds import KEYS, Scope, World

COMES_TO: Final = {
    "remembered": {"DUP-01", "DUP-08", "DUP-10", "KEY-11"},
    "elsewhere": {"DUP-05", "DUP-13"},
    "overtaken": {"SCHED-07", "SCHED-08", "SCHED-13"},
    "lifetimes": {"TTL-03", "TTL-04"},
    "expired": {"TTL-05", "TTL-10", "TTL-13"},
    "settled within": {"LOCK-11"},
    "undone": {"LOCK-12", "LOCK-13"},
    "given again": {"LOCK-07", "SESS-09"},
    "blackout": {"PART-03", "PART-05"},
    "spread": {"KEY-14"},
    "many settled": {"PART-12"},
    "limits of windows": {"DUP-01", "DUP-02", "DUP-03"},
}
"""What its events were decided by, among others."""


def asked(name: str, **scope: int) -> tuple[list[Event], Judge]:
    """What came of an opening on a conforming bus, and who has judged it."""
    bus = SeededBus()
    terms = terms_of(bus)
    found = scope_of(bus, terms)
    world = World(scope=attrs.evolve(found, **scope), keys=KEYS[0])
    sequence = Watch(bus, terms).opened()
    judge = Judge(terms.profile, vantage_of(bus.declaration.vantage, terms.oracle))
    first = CreateQueue(queue="q1")
    world.queues.append(first)
    sequence.ask(first, "c1")
    for command in begun_with(name, world, first):
        event = sequence.ask(command, "c1")
        if event is not None:
            world.learn(event, None)
    for event in sequence.events:
        assert judge.saw(event) is None
    return sequence.events, judge


@pytest.mark.parametrize("name", COMES_TO)
def test_an_opening_comes_to_what_it_is_about(name: str) -> None:
    """By the rules that decided its events."""
    _, judge = asked(name)
    assert set() == COMES_TO[name] - set(judge.evidence)


def test_no_windows_of_days_are_waited_for_in_real_time() -> None:
    """Locks are the shortest that there are where the clock is real."""
    events, _ = asked("limits of windows", lock=5_000_000)
    assert 1 == len(events)


@pytest.mark.parametrize("name", COMES_TO)
def test_an_opening_bears_refusals(name: str) -> None:
    """It goes by what it was told, here nothing at all."""
    world = World(scope=Scope(capabilities=SeededBus.capabilities))
    assert list(begun_with(name, world, CreateQueue(queue="q1")))
