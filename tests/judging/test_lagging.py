"""Descriptions that are still wrong after two minutes, and those that may lag (GET-LAG)."""

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Oracle
from busproof.judging.driver import Driver, Recording
from busproof.judging.liveness import BOUND
from busproof.judging.violation import Violation
from busproof.model import Family
from busproof.model.management import Management
from busproof.model.state import Entity
from busproof.model.values import Refusal
from busproof.spec import load

CATALOGUE = load()
MINUTE = 60 * v.MICROSECONDS
QUEUE = v.CreateQueue(queue="q", lock_duration=MINUTE)
SENT = v.Send(queue="q", message=v.Message(body="m", partition_key="k"))
GET = v.GetQueue(queue="q")


class OneTooFew(Management):
    def count(self, entity: Entity) -> int:
        return max(0, super().count(entity) - 1)


class NoneForAMinute(Management):
    def count(self, entity: Entity) -> int:
        return 0 if self.namespace.now < MINUTE else super().count(entity)


def asked(
    *commands: v.Command,
    wait: int = BOUND,
    readings: dict[str, str] | None = None,
    management: type[Family] = Management,
) -> Violation | None:
    """Return what is wrong with a description some time after these commands."""
    profile = v.profile_for(CATALOGUE, readings=readings or {})
    adapter = ModelAdapter(families={"management": management})
    adapter.start(profile)
    recording = Recording(record=lambda _: None, sentence=str)
    bus = Driver(adapter, profile, Oracle.STRICT, recording)
    for command in (*commands, v.AdvanceClock(duration=wait), GET):
        _, violation = bus.ask(command, "c1")
        assert violation is None
    return bus.overdue


def test_count_that_is_wrong_after_two_minutes_is_a_violation() -> None:
    violation = asked(QUEUE, SENT, management=OneTooFew)
    assert "MGMT-20" in violation.rules


@pytest.mark.parametrize("readings", [{"GET-LAG": "unbounded"}, {}])
def test_count_may_be_old_for_less_than_two_minutes_or_longer_without_a_bound(readings) -> None:
    wait = BOUND if readings else BOUND - 1
    assert asked(QUEUE, SENT, wait=wait, readings=readings, management=OneTooFew) is None


def test_count_that_becomes_right_is_no_violation() -> None:
    assert asked(QUEUE, SENT, management=NoneForAMinute) is None


def test_count_is_right_though_a_lock_has_ended_meanwhile() -> None:
    assert asked(QUEUE, SENT, v.Receive(queue="q")) is None
    assert asked(QUEUE, SENT, v.Receive(queue="q"), management=OneTooFew) is not None


@pytest.mark.parametrize(
    "last",
    [
        v.Send(queue="q", message=v.Message(body="n", time_to_live=BOUND - MINUTE)),
        v.Schedule(queue="q", message=v.Message(body="n"), delay=MINUTE),
    ],
    ids=["a message has expired", "a message has become due"],
)
def test_count_may_be_that_of_before_a_message_expired_or_became_due(last: v.Command) -> None:
    assert asked(QUEUE, SENT, last, management=OneTooFew) is None


class Silent(Management):
    """Nothing is told in an outage."""

    def availability(self, entity: Entity) -> v.Availability:
        told = super().availability(entity)
        if told is v.Availability.LIMITED:
            raise Refusal(v.Error.UNAVAILABLE)
        return told


DOWN = v.TakePartitionDown(queue="q", partition=0)
SEVEN = v.AdvanceClock(duration=7 * v.MICROSECONDS)


def test_description_that_is_refused_through_a_whole_outage_is_missed() -> None:
    """Nobody can be told that availability is limited."""
    violation = asked(QUEUE, DOWN, *(SEVEN, GET) * 19, wait=SEVEN.duration, management=Silent)
    assert ("MGMT-21",) == violation.rules


@pytest.mark.parametrize(
    "commands",
    [
        (QUEUE, DOWN, *(SEVEN, GET) * 18),
        (QUEUE, DOWN, *(GET,) * 19),
        (QUEUE, DOWN, *(SEVEN, GET) * 15, SENT, *(SEVEN, GET) * 15),
        (QUEUE, *(attrs.evolve(DOWN, partition=each) for each in range(16)), *(SEVEN, GET) * 30),
    ],
    ids=["seldom", "soon", "changed", "everything down"],
)
def test_description_may_be_refused_in_an_outage_for_a_while(commands: list[v.Command]) -> None:
    assert asked(*commands, wait=SEVEN.duration, management=Silent) is None


def test_description_may_be_refused_where_the_reading_says_so() -> None:
    readings = {"COUNTS-IN-OUTAGE": "refused"}
    commands = (QUEUE, DOWN, *(SEVEN, GET) * 30)
    assert asked(*commands, wait=SEVEN.duration, readings=readings, management=Silent) is None
