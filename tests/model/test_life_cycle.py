"""The table of a message's life is all that the model goes by, and a client reaches each change."""

import sys
from itertools import product

import pytest
from model_driver import SECOND, Bus, catalogue

from busproof import vocabulary as v
from busproof.model.life_cycle import CHANGES, LIFE_CYCLE, Action, State

DAY = 86_400 * SECOND
DELETE = v.ReceiveMode.RECEIVE_AND_DELETE
SETTLEMENTS = (v.Complete, v.DeadLetter, v.Abandon, v.Defer)


class Noting(dict[tuple[State, Action], State]):
    """The table, which notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__(LIFE_CYCLE)
        self.asked: set[tuple[State, Action]] = set()

    def __getitem__(self, change: tuple[State, Action]) -> State:
        self.asked.add(change)
        return super().__getitem__(change)


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Noting:
    table = Noting()
    for name, module in list(sys.modules.items()):
        if name.startswith("busproof.model.") and hasattr(module, "LIFE_CYCLE"):
            monkeypatch.setattr(module, "LIFE_CYCLE", table)
    return table


def given(bus: Bus, *, deferred: bool) -> v.MessageView:
    """A message that is locked, perhaps after it was deferred."""
    bus.send("m")
    view = bus.receive()
    if not deferred:
        return view
    bus.done(v.Defer(queue="q", lock_token=view.lock_token or ""))
    return again(bus, view)


def again(bus: Bus, view: v.MessageView, **options: object) -> v.MessageView:
    numbers = (view.sequence_number or 0,)
    outcome = bus.done(v.ReceiveDeferred(queue="q", sequence_numbers=numbers, **options))
    return outcome.messages[0]


def test_a_client_reaches_each_change(noting: Noting) -> None:
    bus = Bus()
    bus.create(max_delivery_count=100)
    for kind, deferred in product(SETTLEMENTS, (False, True)):
        view = given(bus, deferred=deferred)
        bus.done(v.RenewLock(queue="q", lock_token=view.lock_token or ""))
        bus.done(kind(queue="q", lock_token=view.lock_token or ""))
        bus.bodies()
    for deferred in (False, True):
        view = given(bus, deferred=deferred)
        bus.done(v.AdvanceClock(duration=61 * SECOND))
    again(bus, view, mode=DELETE)
    bus.send("mortal", time_to_live=SECOND)
    bus.done(v.AdvanceClock(duration=2 * SECOND))
    bus.bodies()
    for number in range(2):
        later = v.Schedule(queue="q", message=v.Message(body=f"later {number}"), delay=DAY)
        found = bus.done(later)
        assert isinstance(found, v.Scheduled)
    bus.done(v.CancelScheduled(queue="q", sequence_number=found.sequence_number or 0))
    bus.done(v.AdvanceClock(duration=DAY))
    assert ["later 0"] == bus.bodies()
    assert set(LIFE_CYCLE) == noting.asked


def test_each_change_stands_once_and_names_a_rule_of_the_catalogue() -> None:
    assert len(CHANGES) == len(LIFE_CYCLE)
    assert {rule for _, _, _, rule in CHANGES} <= {rule.id for rule in catalogue().rules}
