"""Compressing what belongs to settled messages changes no judgement."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import pytest
import recorded_cases as cases
from corrupting import CORRUPTIONS
from exploring import explored

from busproof.adapters.model import POLICIES, ModelAdapter
from busproof.history.records import Header, Oracle, Scenario
from busproof.judging.scenario_result import Checker, Heard
from busproof.mutants import MUTANTS
from busproof.oracle import packed_map
from busproof.spec import load
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.values import Clock

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = range(60 if FULL else 3)
TRIES = 12 if FULL else 1
SEQUENCES = 1000 if FULL else 4
FAULTS = 1 if FULL else 48
"""One of so many faults is tried."""
KINDS = tuple(CORRUPTIONS) if FULL else tuple(CORRUPTIONS)[::2]


class Judges:
    """A judge that compresses nothing of a short history, and one that compresses all it can.

    Attributes:
        found: how often the second one has looked into what it compressed.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._entries = packed_map._entries
        self.found = 0

    def broken(
        self, header: Header, histories: Iterable[Sequence[Event]], oracle: Oracle | None = None
    ) -> int:
        """How many histories are accused; both judges must say the same of each."""
        checker = Checker(header, load(), oracle)
        accused = 0
        for number, events in enumerate(histories):
            scenario = Scenario(name=str(number), events=tuple(events))
            whole = checker.check(scenario)
            assert self._packing(checker, scenario) == whole
            accused += whole.counterexample is not None
        return accused

    def _packing(self, checker: Checker, scenario: Scenario) -> Heard:
        with self._monkeypatch.context() as small:
            small.setattr("busproof.oracle.settled_messages.AT_LEAST", 0)
            small.setattr(packed_map, "IN_A_BLOCK", 3)
            small.setattr(packed_map, "_entries", self._looked)
            return checker.check(scenario)

    def _looked(self, block: bytes) -> dict[Any, Any]:
        self.found += 1
        return self._entries(block)


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> Judges:
    return Judges(monkeypatch)


def events(several: Iterable[cases.Case]) -> Iterable[Sequence[Event]]:
    return (case.events for case in several)


@pytest.mark.parametrize("clock", Clock)
@pytest.mark.parametrize("policy", POLICIES)
def test_valid_histories(judges: Judges, policy: str, clock: Clock) -> None:
    header = attrs.evolve(cases.header(), clock=clock)
    accused = judges.broken(header, events(cases.clean(policy, SEEDS)))
    # On a virtual clock the events of clients that overlap are judged in the order of their calls.
    assert clock is Clock.VIRTUAL or not accused


@pytest.mark.parametrize("kind", KINDS)
def test_corrupted_histories(judges: Judges, kind: str) -> None:
    for clients in (1, 4):
        judges.broken(cases.header(), events(cases.corrupted(kind, clients, TRIES)))


def test_message_that_comes_a_second_time_is_found_in_what_was_compressed(judges: Judges) -> None:
    accused = judges.broken(cases.header(), events(cases.corrupted("gone peeked", 1, 3)))
    assert (accused, judges.found > 0) == (3, True)


def test_histories_with_lost_answers_or_full_partitions(judges: Judges) -> None:
    several = (*cases.lossy(SEEDS), *cases.crowded(SEEDS))
    assert judges.broken(cases.header(), events(several)) == 0


@pytest.mark.parametrize("faulty", [True, False], ids=["seeded", "without"])
def test_seeded_faults(judges: Judges, faulty: bool) -> None:
    rules = {fault.rule for fault in MUTANTS[::FAULTS]}
    runs = events(cases.seeded(faulty=faulty, rules=rules))
    assert (judges.broken(cases.faults_header(), runs) > 0) == faulty


@pytest.mark.slow
@pytest.mark.parametrize("oracle", Oracle)
@pytest.mark.parametrize("policy", POLICIES)
def test_explorations(judges: Judges, policy: str, oracle: Oracle) -> None:
    adapter = ModelAdapter(policy=policy, seed=1)
    found = explored(adapter, sequences=SEQUENCES, rules=SEQUENCES)
    header = Header(
        profile=found.exploration.terms.profile,
        capabilities=tuple(sorted(found.exploration.terms.capabilities)),
        slack=adapter.declaration.slack,
    )
    assert judges.broken(header, found.sequences, oracle) == 0
