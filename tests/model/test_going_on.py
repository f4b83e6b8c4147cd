"""What goes on to another entity: forwarded, scheduled and dead-lettered messages, and copies."""

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v

TOPIC = v.CreateTopic(topic="t")
SUBSCRIPTION = v.CreateSubscription(topic="t", subscription="a")
PATH = "t/subscriptions/a"
DEAD = "q" + v.DEAD_LETTERS


@pytest.mark.parametrize("key", [None, "k"])
def test_message_scheduled_on_a_topic_is_copied_when_due(bus: Bus, key: str | None) -> None:
    bus.done(TOPIC)
    bus.done(SUBSCRIPTION)
    message = v.Message(body="m", partition_key=key)
    bus.done(v.Schedule(queue="t", message=message, delay=2 * SECOND))
    bus.wait(1)
    assert [] == bus.bodies(PATH)
    bus.wait(1)
    assert ["m"] == bus.bodies(PATH)


def test_copies_are_in_the_partition_of_their_message(bus: Bus) -> None:
    bus.done(TOPIC)
    bus.done(SUBSCRIPTION)
    for number in range(6):
        partition = bus.send(f"m{number}", queue="t")
        assert partition == (bus.receive(PATH).sequence_number or 0) >> v.SEQUENCE_BITS


def test_action_on_a_property_that_is_missing_makes_a_copy(bus: Bus) -> None:
    bus.done(TOPIC)
    bus.done(SUBSCRIPTION)
    named = {"topic": "t", "subscription": "a"}
    bus.done(v.AddRule(**named, rule="r", filter=v.TrueFilter(), action="SET a = missing"))
    bus.send("m", queue="t")
    assert ["m", "m"] == bus.bodies(PATH)


def test_message_without_session_behind_a_hop_is_a_dead_letter(bus: Bus) -> None:
    bus.create("end", requires_session=True)
    bus.create("q", forward_to="end")
    bus.send("m")
    assert "SessionIdMissing" == bus.receive("end" + v.DEAD_LETTERS).dead_letter_reason


def test_copies_are_dropped_at_the_destination_that_detects_them(bus: Bus) -> None:
    bus.create("end", duplicate_detection=True)
    bus.create("q", forward_to="end")
    for body, message_id in (("m", "x"), ("n", "x"), ("o", "y"), ("p", "x")):
        bus.send(body, partition_key="a", message_id=message_id)
    assert ["m", "o"] == bus.bodies("end")


def test_messages_go_where_the_last_update_forwards_them(bus: Bus) -> None:
    bus.create("end")
    bus.create("q")
    bus.done(v.UpdateQueue(queue="q", forward_to="end"))
    bus.send("m1")
    bus.done(v.UpdateQueue(queue="q", forward_to=""))
    bus.send("m2")
    assert ["m1"] == bus.bodies("end")
    assert ["m2"] == bus.bodies("q")


def test_messages_are_forwarded_again_once_the_destination_is_enabled_or_created_again(
    bus: Bus,
) -> None:
    bus.create("end")
    bus.create("q", forward_to="end")
    bus.done(v.DeleteQueue(queue="end"))
    bus.create("end")
    bus.send("m1")
    bus.done(v.UpdateQueue(queue="end", status=v.EntityStatus.SEND_DISABLED))
    assert v.Error.ENTITY_DISABLED is bus.refused(
        v.Send(queue="end", message=v.Message(body="direct"))
    )
    bus.done(v.UpdateQueue(queue="end", status=v.EntityStatus.ACTIVE))
    bus.send("m2")
    assert {"m1", "m2"} == set(bus.bodies("end"))


def test_destination_without_room_is_the_reason_of_the_dead_letter() -> None:
    bus = Bus(profile(FORWARD_FAILED="dead-letter"))
    bus.create("end", partitioned=False)
    bus.create("q", partitioned=False, forward_to="end")
    bus.send("big", queue="end", size=2**30 - 100, stands_in=True)
    bus.send("m", size=101, stands_in=True)
    assert "DestinationFull" == bus.receive(DEAD).dead_letter_reason


@pytest.mark.parametrize("topic", [False, True], ids=["queue", "topic"])
def test_dead_letters_are_forwarded_with_their_reason(bus: Bus, *, topic: bool) -> None:
    if topic:
        bus.done(TOPIC)
        bus.done(SUBSCRIPTION)
    else:
        bus.create("t")
    end = PATH if topic else "t"
    bus.create("q", forward_dead_letters_to="t", max_delivery_count=1)
    bus.send("m")
    bus.receive()
    bus.wait(60)
    given = bus.receive(end)
    assert ("m", "MaxDeliveryCountExceeded") == (given.body, given.dead_letter_reason)
    assert [] == bus.bodies(end)
    assert [] == bus.bodies(DEAD)


def test_message_that_has_expired_is_dropped_or_forwarded_as_a_dead_letter(bus: Bus) -> None:
    bus.create("end")
    mortal = {"time_to_live": SECOND, "forward_dead_letters_to": "end"}
    bus.create("q", dead_letter_expired=True, **mortal)
    bus.create("r", **mortal)
    for queue in "qr":
        bus.send(queue, queue=queue)
    bus.wait(1)
    given = bus.receive("end")
    assert ("q", "TTLExpiredException") == (given.body, given.dead_letter_reason)
    assert [] == bus.bodies("end")


def test_message_that_has_expired_is_peeked_no_more_once_it_is_removed(bus: Bus) -> None:
    bus.create("q", dead_letter_expired=True)
    bus.send("m", time_to_live=SECOND)
    bus.wait(1)
    assert v.Empty() == bus.done(v.Receive(queue="q"))
    assert v.Peeked() == bus.done(v.Peek(queue="q"))
    assert "TTLExpiredException" == bus.receive(DEAD).dead_letter_reason


def test_update_of_the_time_to_live_is_for_messages_to_come(bus: Bus) -> None:
    bus.create()
    bus.send("kept")
    bus.done(v.UpdateQueue(queue="q", time_to_live=SECOND))
    bus.send("gone")
    bus.wait(2)
    assert ["kept"] == bus.bodies()
