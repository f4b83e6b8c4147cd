"""Forwarding: hops, destinations that are gone, full or down, and circles."""

from collections.abc import Iterable
from typing import TypeVar

from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import RoundRobin, ways

T = TypeVar("T")


def test_forwarded_message_goes_where_there_is_room(bus: Bus) -> None:
    bus.create("r")
    bus.create("q", forward_to="r")
    for number in range(3):
        bus.send(f"m{number}", size=2**30, stands_in=True)
    bus.send("m4", size=1)
    bus.send("m5", size=1, session_id="a")
    assert 2 == len(bus.namespace.entities["q" + v.TRANSFERS].messages)
    bus.bodies("r")
    bus.send("large", queue="r", size=2**30, stands_in=True)
    for number in range(3):
        bus.send(f"n{number}", size=1)
    assert 4 == len(bus.bodies("r"))


def test_message_id_pins_a_forwarded_message_if_so_read() -> None:
    bus = Bus(profile(FORWARD_MESSAGE_ID="key"))
    bus.create("r")
    bus.create("q", duplicate_detection=True, duplicate_window=20 * SECOND, forward_to="r")
    for number in range(3):
        bus.send(f"m{number}", message_id="i")
        bus.wait(21)
    bus.send("n")
    held = bus.namespace.entities["r"].messages.values()
    assert 1 == len({each.partition for each in held if each.message.message_id == "i"})


def test_dead_letters_that_forward_in_a_circle_stay_in_the_end(bus: Bus) -> None:
    bus.create("q", requires_session=True)
    bus.create("d", forward_dead_letters_to="q", max_delivery_count=1)
    bus.done(v.DeleteQueue(queue="q"))
    bus.create("q", requires_session=True, forward_dead_letters_to="d")
    bus.done(v.DeleteQueue(queue="d"))
    bus.create("d", requires_session=True, forward_dead_letters_to="q")
    bus.create("s", forward_to="d")
    bus.send("m", queue="s")
    assert [1] == [
        len(each.messages)
        for each in bus.namespace.entities.values()
        if each.path.endswith(v.DEAD_LETTERS) and each.messages
    ]


def test_message_without_key_is_forwarded_to_any_partition(bus: Bus) -> None:
    bus.create("r")
    bus.create("q", forward_to="r")
    for number in range(3):
        bus.send(f"m{number}", message_id="i")
    held = bus.namespace.entities["r"].messages.values()
    assert 3 == len({each.partition for each in held})


def dead_letter_of(bus: Bus, body: str, **values: object) -> None:
    """Let a message of queue q become a dead letter."""
    bus.send(body, **values)
    bus.done(v.DeadLetter(queue="q", lock_token=bus.receive("q").lock_token, reason="why"))


DEAD = "q" + v.DEAD_LETTERS


def test_dead_letters_go_on_once_their_destination_is_enabled_again(bus: Bus) -> None:
    """In their order, with their reason, and each of them once."""
    bus.create("r", partitioned=False)
    bus.create("q", partitioned=False, forward_dead_letters_to="r")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    dead_letter_of(bus, "m1")
    dead_letter_of(bus, "m2")
    assert 2 == len(bus.namespace.entities[DEAD].messages)
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.RECEIVE_DISABLED))
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.ACTIVE))
    first = bus.receive("r")
    assert ("m1", "why") == (first.body, first.dead_letter_reason)
    assert ["m2"] == bus.bodies("r")
    assert 0 == len(bus.namespace.entities[DEAD].messages)


def test_dead_letter_that_is_gone_or_has_no_destination_is_not_tried_again(bus: Bus) -> None:
    """A queue that is created again under the name does not know of it."""
    bus.create("r")
    bus.create("q", forward_dead_letters_to="r", time_to_live=2 * SECOND)
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    dead_letter_of(bus, "m1")
    bus.done(v.DeleteQueue(queue="q"))
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.ACTIVE))
    assert [] == bus.bodies("r")
    bus.create("q", forward_dead_letters_to="r")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    dead_letter_of(bus, "m2")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.ACTIVE))
    assert ["m2"] == bus.bodies("r")
    bus.done(v.DeleteQueue(queue="r"))
    dead_letter_of(bus, "m3")
    assert 1 == len(bus.namespace.entities[DEAD].messages)


def test_dead_letter_waits_further_after_a_way_in_which_it_went_on(bus: Bus) -> None:
    """Looking at the ways of a command leaves everything as it was."""
    bus.create("r")
    bus.create("q", forward_dead_letters_to="r")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    dead_letter_of(bus, "m")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.ACTIVE))
    pause = v.AdvanceClock(duration=1)
    left = [len(bus.namespace.entities[DEAD].messages) for _ in ways(bus.namespace, pause, "c1")]
    assert {0, 1} == set(left)
    assert ["m"] == bus.bodies("r")


class Leaving(RoundRobin):
    """A policy that tries nothing again."""

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        return list(candidates)[-1] if name == "FWD-37" else super().pick(name, candidates)


def test_bus_may_leave_dead_letters_where_they_are() -> None:
    """No document says that they are tried again."""
    bus = Bus(choices=Leaving())
    bus.create("r")
    bus.create("q", forward_dead_letters_to="r")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    dead_letter_of(bus, "m")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.ACTIVE))
    assert [] == bus.bodies("r")


def test_what_cannot_be_forwarded_may_stay_where_dead_letters_are_forwarded() -> None:
    """FWD-36: users saw a message of too many hops there."""
    bus = Bus(profile(FORWARD_FAILED="dead-letter"))
    bus.create("dead")
    bus.create("r")
    bus.create("q", forward_to="r", forward_dead_letters_to="dead")
    bus.done(v.UpdateQueue(queue="r", status=v.EntityStatus.DISABLED))
    command = v.Send(queue="q", message=v.Message(body="m"))
    places = [
        path
        for _ in ways(bus.namespace, command, "c1")
        for path, entity in bus.namespace.entities.items()
        if entity.messages
    ]
    assert {"dead", DEAD} == set(places)


def test_forwarded_message_may_keep_the_time_to_live_of_its_source() -> None:
    """FORWARD-LIFETIME: one page says so, another that it arrives as if it was sent there."""
    bus = Bus()
    bus.create("d")
    bus.create("q", forward_to="d", time_to_live=30 * SECOND)
    command = v.Send(queue="q", message=v.Message(body="m"))
    ends = set()
    for _, _answer in ways(bus.namespace, command, "c1"):
        (message,) = bus.namespace.entities["d"].messages.values()
        ends.add(message.expires_at)
    assert {None, 30 * SECOND} == ends


def test_with_one_reading_a_forwarded_message_lives_anew() -> None:
    bus = Bus(profile(FORWARD_LIFETIME="anew"))
    bus.create("d", time_to_live=40 * SECOND)
    bus.create("q", forward_to="d", time_to_live=30 * SECOND)
    bus.send("m")
    (message,) = bus.namespace.entities["d"].messages.values()
    assert 40 * SECOND == message.expires_at
