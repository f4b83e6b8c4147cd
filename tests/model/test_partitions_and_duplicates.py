"""The partition of a message, and copies of it."""

import attrs
import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import ways


def test_messages_without_key_take_the_partitions_by_turns(bus: Bus) -> None:
    bus.create()
    assert [0, 1, 2, 0] == [bus.send(f"m{number}") for number in range(4)]


def test_strict_round_robin_passes_over_partitions_that_are_down() -> None:
    bus = Bus(profile(ROUND_ROBIN="strict"))
    bus.create()
    bus.down(1)
    assert [0, 2, 0] == [bus.send(f"m{number}") for number in range(3)]
    bus.down(0)
    bus.down(2)
    assert v.Error.UNAVAILABLE is bus.refused(v.Send(queue="q", message=v.Message(body="m")))


def test_short_timeout_may_fail_in_an_outage() -> None:
    command = v.Send(queue="q", message=v.Message(body="m"), timeout=SECOND)
    bus = Bus(profile(SHORT_TIMEOUT="must-fail"))
    bus.create()
    bus.down(1)
    assert v.Error.UNAVAILABLE is bus.refused(command)


@pytest.mark.parametrize(("reading", "partition"), [("set", True), ("unset", False)])
def test_empty_key_counts_as_its_reading_says(reading: str, *, partition: bool) -> None:
    bus = Bus(profile(EMPTY_KEY=reading))
    bus.create()
    places = {bus.send(f"m{number}", partition_key="", session_id="") for number in range(3)}
    assert partition is (len(places) == 1)
    conflict = v.Message(body="m", session_id="a", partition_key="")
    outcome = bus.ask(v.Send(queue="q", message=conflict)).outcome
    assert partition is isinstance(outcome, v.Refused)


def test_either_error_comes_where_keys_differ_and_everything_is_down(bus: Bus) -> None:
    bus.create()
    for number in range(3):
        bus.down(number)
    wrong = v.Message(body="m", session_id="a", partition_key="b")
    answers = [
        answer.outcome for _, answer in ways(bus.namespace, v.Send(queue="q", message=wrong), "c")
    ]
    errors = {outcome.error for outcome in answers if isinstance(outcome, v.Refused)}
    assert {v.Error.INVALID_OPERATION, v.Error.UNAVAILABLE} == errors


def test_regular_queue_in_an_outage_refuses_sends_and_gives_nothing(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.send("m")
    bus.down(0)
    assert v.Error.UNAVAILABLE is bus.refused(v.Send(queue="q", message=v.Message(body="n")))
    assert [] == bus.bodies()


def test_copy_within_the_window_is_dropped_and_behind_it_is_kept(bus: Bus) -> None:
    bus.create(duplicate_detection=True, duplicate_window=20 * SECOND)
    for body in ("m1", "m2"):
        bus.send(body, message_id="i")
    bus.wait(20)
    bus.send("m3", message_id="i")
    assert ["m1", "m3"] == sorted(bus.bodies())


def test_copy_prolongs_the_window_if_so_read() -> None:
    bus = Bus(profile(DUPLICATE_PROLONGS="last"))
    bus.create(duplicate_detection=True, duplicate_window=20 * SECOND)
    for body in ("m1", "m2", "m3"):
        bus.send(body, message_id="i")
        bus.wait(15)
    assert ["m1"] == bus.bodies()


@pytest.mark.parametrize("window", [SECOND, 8 * 86_400 * SECOND])
def test_duplicate_window_out_of_bounds_is_refused(bus: Bus, window: int) -> None:
    command = v.CreateQueue(queue="q", duplicate_detection=True, duplicate_window=window)
    assert v.Error.INVALID_OPERATION is bus.refused(command)


@pytest.mark.parametrize(("reading", "kept"), [("when-scheduled", "late"), ("when-due", "soon")])
def test_copy_that_is_scheduled_is_dropped_as_read(reading: str, kept: str) -> None:
    """DUP-04, SCHEDULED-COPIES: the second one that is scheduled, or the second one that is due."""
    # A profile of the catalogue cannot name it, because observers do not tell the readings apart.
    bus = Bus(attrs.evolve(profile(), readings={"SCHEDULED-COPIES": reading}))
    bus.create(duplicate_detection=True)
    for body, delay in (("late", 2), ("soon", 1)):
        message = v.Message(body=body, message_id="i")
        bus.done(v.Schedule(queue="q", message=message, delay=delay * SECOND))
    bus.wait(3)
    assert [kept] == bus.bodies()
