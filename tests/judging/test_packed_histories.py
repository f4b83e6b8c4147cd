"""Long histories are judged the same whether their events are compressed or not."""

import attrs
import pytest
import recorded_cases as cases

from busproof.history.packed import PackedEvents
from busproof.history.records import Header, Scenario
from busproof.judging.scenario_result import Checker
from busproof.spec import load
from busproof.vocabulary.values import Clock


@pytest.fixture(scope="module")
def histories() -> list[cases.Case]:
    return [
        *cases.clean("round-robin", (1, 2)),
        *cases.corrupted("key moved", 4, 1),
        *cases.corrupted("never sent", 4, 1),
    ]


@pytest.mark.parametrize("clock", Clock)
@pytest.mark.parametrize("witnessed", [True, False], ids=["witnessed", "without"])
def test_compressed_events_have_the_verdicts_of_all_at_once(
    histories: list[cases.Case], clock: Clock, witnessed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    header: Header = attrs.evolve(cases.header(), clock=clock)
    checker = Checker(header, load())
    broken = 0
    for case in histories:
        events = case.events
        if not witnessed:
            events = tuple(attrs.evolve(event, witness=None) for event in events)
        whole = checker.check(Scenario(name=case.name, events=events))
        with monkeypatch.context() as small:
            small.setattr("busproof.history.packed.IN_A_CHUNK", 7)
            packed = PackedEvents(events)
            assert not packed.is_short
            assert whole == checker.check(Scenario(name=case.name, events=packed))
        broken += whole.counterexample is not None
    assert broken > 0
