"""Long histories are judged the same whether their events are compressed or not."""

from collections import Counter

import attrs
import pytest
import recorded_cases as cases

from busproof import vocabulary as v
from busproof.history.packed import PackedEvents
from busproof.history.records import Header, Scenario
from busproof.judging.applicability import profile_of
from busproof.judging.linearization import overlap
from busproof.judging.linearization.overlap import Judged, judged, judged_part
from busproof.judging.scenario_result import Checker
from busproof.spec import load

NOTHING = Judged(evidence=Counter())


@pytest.fixture(scope="module")
def histories() -> list[cases.Case]:
    return [
        *cases.clean("round-robin", (1, 2)),
        *cases.corrupted("key moved", 4, 1),
        *cases.corrupted("never sent", 4, 1),
    ]


@pytest.mark.parametrize("times", [(0, 2, 4), (0, 4, 2)], ids=["as-recorded", "in-another"])
def test_order_is_held_only_if_it_is_not_the_recorded_one(times: tuple[int, ...]) -> None:
    header = attrs.evolve(cases.header(), clock=v.Clock.REAL)
    observability = v.observability_from(v.Clock.REAL, 0, ())
    commands = (
        v.CreateQueue(queue="q"),
        *(v.Send(queue="q", message=v.Message(body=b)) for b in "ab"),
    )
    events = [
        v.Event(command=command, outcome=v.Done(), called=at, returned=at + 1)
        for command, at in zip(commands, times, strict=True)
    ]
    order = judged_part(events, profile_of(load(), header), observability).order
    assert sorted(range(3), key=times.__getitem__) == list(order)
    assert (times == (0, 2, 4)) == isinstance(order, range)


def test_history_of_one_part_is_judged_without_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy would hold all events as objects."""
    seen = []
    monkeypatch.setattr(overlap, "judged_part", lambda events, *_: seen.append(events) or NOTHING)
    events = [v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done())]
    observability = v.observability_from(v.Clock.REAL, 0, ())
    assert judged(events, profile_of(load(), cases.header()), observability) is NOTHING
    assert seen[0] is events


@pytest.mark.parametrize("clock", v.Clock)
@pytest.mark.parametrize("witnessed", [True, False], ids=["witnessed", "without"])
def test_compressed_events_have_the_verdicts_of_all_at_once(
    histories: list[cases.Case], clock: v.Clock, witnessed: bool, monkeypatch: pytest.MonkeyPatch
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
