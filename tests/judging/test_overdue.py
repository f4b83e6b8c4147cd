"""Recorded histories that only the time between allowed answers shows to be wrong (GET-LAG).

Each line of `overdue.jsonl` has what one client asked, one request after another, some of them
several times, and the rules that are charged in the end. Time passes with its requests for that.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from rows import rows_of

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.codec import structure
from busproof.history.records import Header, Oracle, Scenario
from busproof.judging.driver import Driver, Recording
from busproof.judging.liveness import BOUND
from busproof.judging.scenario_result import Checker, Heard
from busproof.model.management import Management
from busproof.model.state import Entity
from busproof.spec import load

ROWS = rows_of(__file__, "overdue")
CATALOGUE = load()
DECLARED = (
    *("witness", "outages", "dead-letter", "peek-lock", "time-to-live", "scheduling"),
    *("forwarding", "regular-queues", "management", "availability"),
)
"""What the rules need; a rule that does not apply is charged with nothing."""


def unpack_events(events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each event as often as it happened."""
    for event in events:
        for _ in range(event.get("times", 1)):
            yield from event.get("events", (event,))


def heard_of(row: dict[str, Any]) -> Heard:
    """Return the verdict on the history of a row."""
    now = 0
    events = []
    for told in unpack_events(row["events"]):
        called = now
        now += told["command"]["duration"] if told["command"]["type"] == "AdvanceClock" else 0
        events.append(structure({**told, "called": called, "returned": now}, v.Event))
    header = Header(
        profile=v.profile_for(CATALOGUE, readings=row.get("readings", {})),
        capabilities=tuple(row.get("capabilities", DECLARED)),
        clock=v.Clock(row.get("clock", v.Clock.VIRTUAL)),
    )
    return Checker(header, CATALOGUE).check(Scenario(events=tuple(events)))


@pytest.mark.parametrize("row", ROWS, ids=[row["about"] for row in ROWS])
def test_only_what_is_overdue_is_charged(row: dict[str, Any]) -> None:
    assert row["blamed"] == [*heard_of(row).blamed]


def test_what_is_overdue_is_shown_with_all_that_was_asked() -> None:
    heard = heard_of(ROWS[0])
    assert heard.counterexample.allowed[0].startswith("a message is overdue")
    assert heard.shown == tuple(range(len(heard.counterexample.events)))


class OneTooFew(Management):
    def count(self, entity: Entity) -> int:
        return max(0, super().count(entity) - 1)


def test_count_that_is_still_wrong_is_a_violation_while_a_bus_is_asked() -> None:
    profile = v.profile_for(CATALOGUE)
    adapter = ModelAdapter(families={"management": OneTooFew})
    adapter.start(profile)
    bus = Driver(adapter, profile, Oracle.STRICT, Recording(record=lambda _: None, sentence=str))
    sent = v.Send(queue="q", message=v.Message(body="m"))
    waited = v.AdvanceClock(duration=BOUND)
    for command in (v.CreateQueue(queue="q"), sent, waited, v.GetQueue(queue="q")):
        _, violation = bus.ask(command, "c1")
        assert violation is None
    assert "MGMT-20" in bus.overdue.rules
