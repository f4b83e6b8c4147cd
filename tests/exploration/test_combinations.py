"""Operations in circumstances: what is covered, what is sent, and that nobody is wronged."""

from itertools import combinations

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.exploration.combinations.cells import (
    Cell,
    cells,
    plan_cells,
    repeat_cells,
)
from busproof.exploration.combinations.circumstances import CIRCUMSTANCES
from busproof.exploration.combinations.operations import OPERATIONS
from busproof.exploration.combinations.search import Combinations, play
from busproof.exploration.machine import terms_of
from busproof.exploration.sizes import SIZES
from busproof.history.records import Ended, Record, ScenarioVerdict
from busproof.spec import load

EACH_ONCE = len(OPERATIONS) * len(CIRCUMSTANCES) // 2


def records_of(
    adapter: ModelAdapter, *some: Cell, profile: v.Profile | None = None
) -> list[Record]:
    """What is recorded of these cells."""
    records: list[Record] = []
    terms = terms_of(adapter, profile)
    Combinations(adapter, terms, size=SIZES["quick"], write=records.append).send_all(some)
    return records


def endings(records: list[Record]) -> set[ScenarioVerdict]:
    return {record.verdict for record in records if isinstance(record, Ended)}


def test_every_operation_meets_every_circumstance_first() -> None:
    first = plan_cells(EACH_ONCE, 7)
    met = {(cell.operation, name) for cell in first for name in cell.circumstances}
    assert met == {(operation, name) for operation in OPERATIONS for name in CIRCUMSTANCES}


def test_then_every_pair_of_circumstances() -> None:
    planned = plan_cells(100_000, 7)
    assert len(planned) == len(set(planned))
    assert set(planned) == set(cells())
    assert {cell.circumstances for cell in planned} == set(combinations(CIRCUMSTANCES, 2))


def test_the_seed_decides_the_order() -> None:
    assert plan_cells(50, 1) == plan_cells(50, 1)
    assert plan_cells(50, 1) != plan_cells(50, 2)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_succeeds_with_nothing_else(operation: str) -> None:
    """Otherwise its circumstances would show nothing; the cancellation aims at a wrong message."""
    adapter = ModelAdapter()
    adapter.start(v.profile_for(load()))
    outcomes: list[v.Outcome] = []

    def ask(command: v.Command, connection: str) -> v.Event:
        observed = adapter.do(command, connection)
        outcomes.append(observed.outcome)
        return v.Event(command=command, outcome=observed.outcome, witness=observed.witness)

    play(Cell(operation, ("with nothing else",)), ask, {})
    is_wrong = operation == "cancellation of an active message"
    assert isinstance(outcomes[-1], v.Refused | v.Empty) == is_wrong


@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_conforming_bus_is_accused(policy: str, seed: int) -> None:
    records = records_of(ModelAdapter(policy, seed=seed), *plan_cells(60, seed))
    assert endings(records) == {ScenarioVerdict.PASSED}


def test_a_premium_namespace_gets_regular_queues() -> None:
    profile = v.profile_for(load(), tier=v.Tier.PREMIUM)
    records = records_of(ModelAdapter(), *plan_cells(30, 1), profile=profile)
    assert endings(records) == {ScenarioVerdict.PASSED}


def test_what_is_not_declared_is_not_asked() -> None:
    class Poor(ModelAdapter):
        @property
        def declaration(self):  # type: ignore[no-untyped-def]
            """Nothing but queues."""
            return attrs.evolve(super().declaration, capabilities=frozenset())

    records = records_of(Poor(), *plan_cells(60, 1))
    asked = {type(record.command) for record in records if isinstance(record, v.Event)}
    assert asked <= {v.CreateQueue, v.Send, v.Receive, v.AdvanceClock}
    assert endings(records) == {ScenarioVerdict.PASSED}


def test_a_bus_on_a_real_clock_is_not_made_to_wait() -> None:
    assert records_of(ModelAdapter(clock=v.Clock.REAL), *plan_cells(5, 1)) == []


class Forgetful(ModelAdapter):
    """A bus that answers one request of a kind as usual, and then does as if it had not come."""

    def __init__(self, kind: type[v.Command], nth: int) -> None:
        super().__init__()
        self._kind = kind
        self._nth = nth
        self._seen = 0

    def start(self, profile: v.Profile) -> None:
        """Begin anew."""
        self._seen = 0
        super().start(profile)

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Leave out what comes at the wrong time."""
        self._seen += isinstance(command, self._kind)
        if isinstance(command, self._kind) and self._seen == self._nth:
            return v.Observed(v.Done(), v.Witness(partition=0) if self._kind is v.Send else None)
        return super().do(command, connection)


@pytest.mark.parametrize("times", [13, 101])
@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("send", v.Send),
        ("completion", v.Complete),
        ("deferral", v.Defer),
        ("dead-lettering", v.DeadLetter),
        ("listing of the queues", v.CreateQueue),
        ("getting of the state", v.SetSessionState),
    ],
)
def test_a_fault_that_begins_late_is_found(operation, kind, times) -> None:
    """And not with one time less."""
    adapter = Forgetful(kind, times + (kind is v.CreateQueue))
    terms = terms_of(adapter)
    found = []
    for number in (times // 2, times):
        search = Combinations(adapter, terms, size=SIZES["quick"], write=lambda _: None)
        search.send(Cell(operation, times=number))
        found.append(bool(search.failures))
    assert found == [False, True]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        (Cell("addition of a subscription rule"), v.AddRule),
        (Cell("removal of a subscription rule"), v.RemoveRule),
        (Cell("change of the topic's time to live"), v.UpdateTopic),
        (Cell("send", ("in a subscription",)), v.Send),
        (Cell("receive", ("in a subscription with a filter",)), v.RemoveRule),
    ],
)
def test_a_fault_of_topics_is_found(cell: Cell, kind: type[v.Command]) -> None:
    """A request that does nothing; without it the same cell passes."""
    for adapter, found in ((ModelAdapter(), False), (Forgetful(kind, 1), True)):
        search = Combinations(adapter, terms_of(adapter), size=SIZES["quick"], write=lambda _: None)
        search.send(cell)
        assert bool(search.failures) == found


def test_what_can_be_done_again_is_repeated() -> None:
    assert repeat_cells(0) == ()
    repeated = {cell.operation for cell in repeat_cells(13)}
    assert set(OPERATIONS) - repeated == {
        "deletion of the queue",
        "accepting of the session",
        "accepting of the next session",
    }
    assert repeat_cells(101)[0].name == "Send, 101 times"
