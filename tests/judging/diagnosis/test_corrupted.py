"""Histories in which one event was changed are charged to the rule that the change breaks."""

import os
from collections.abc import Iterator
from functools import cache
from itertools import islice
from random import Random

import pytest
from corrupting import CORRUPTIONS, Corrupted, History

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.diagnosis.diagnosis import diagnose
from busproof.judging.replay.explanation import explain
from busproof.judging.workload import work
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = 40
CASES = 40 if FULL else 4
TRIES = 10 if FULL else 2
STEPS = 1_000
REAL = v.Observability(clock=v.Clock.REAL)
TAKE_TWO = {"session given twice", "given before commit", "locked again"}
"""What one client alone does not do, or hardly ever."""
KINDS = [kind for kind in CORRUPTIONS if kind not in TAKE_TWO]


@cache
def profile() -> v.Profile:
    return v.profile_for(load(), partitions=16)


@cache
def history(seed: int, connections: int | None) -> list[v.Event]:
    """What one client asks and is answered, 220 times."""
    adapter = ModelAdapter(policy="round-robin", seed=seed)
    return work(adapter, profile(), Random(seed), 220, 1, connections)


def corrupted(kind: str) -> Iterator[Corrupted]:
    """Histories with one event changed in this way."""
    for seed in range(SEEDS):
        connections = 1 if kind == "withheld" else None
        ways = list(CORRUPTIONS[kind][1](History(history(seed, connections))))
        Random(seed).shuffle(ways)
        yield from ways[:TRIES]


def charged(events: list[v.Event]) -> tuple[v.RuleId, ...]:
    """The rules that are charged to the event after the longest execution."""
    explanation = explain(events, profile(), REAL, steps=STEPS)
    assert explanation.stuck_at is not None
    return diagnose(events, explanation.stuck_at, profile(), REAL, STEPS).rules


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_right_rule_is_charged(kind: str) -> None:
    """As the first one, or after one that says more."""
    expected = CORRUPTIONS[kind][0]
    found = [charged(events) for events, _ in islice(corrupted(kind), CASES)]
    assert found
    assert [] == [rules for rules in found if not expected & set(rules)]
    others = [rules for rules in found if rules[0] not in expected | MORE_SPECIFIC.get(kind, set())]
    assert [] == others


MORE_SPECIFIC: dict[str, set[v.RuleId]] = {
    "duplicate given": {"DUP-07"},
    "withheld": {"LIFE-04", "LIFE-05"},
}
"""What may be said first: the first message was settled before its copy; it was given back."""
