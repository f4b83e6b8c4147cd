"""Where messages go: keys, homes, spread, outages."""

import pytest
from telling import DONE, GONE, INVALID, LOST, OTHER, Told, received, telling

from busproof.vocabulary.commands import (
    BringPartitionUp,
    CreateQueue,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Done, Empty, Received, Refused
from busproof.vocabulary.values import Error, Tier


def down(told: Told, *partitions: int) -> None:
    for partition in partitions:
        told.has(TakePartitionDown(queue="q", partition=partition))


def test_a_key_that_was_seen_in_one_partition_is_not_accepted_in_another(told: Told) -> None:
    told.queue()
    assert told.send(partition=2, partition_key="a").possible
    broken = told.send(partition=3, partition_key="a")
    assert broken.possible == ()
    assert broken.rules[:2] == ("KEY-07", "KEY-02")


def test_a_session_id_selects_before_anything_else(told: Told) -> None:
    told.queue(duplicate_detection=True)
    told.send(partition=1, session_id="a", message_id="x")
    assert told.send(partition=1, session_id="a", message_id="y").rules[:2] == ("KEY-24", "KEY-04")
    assert told.send(partition=0, session_id="a", message_id="z").rules[0] == "KEY-24"


def test_a_message_id_selects_under_duplicate_detection_only() -> None:
    detecting, plain = telling(), telling()
    detecting.queue(duplicate_detection=True)
    plain.queue()
    for told in (detecting, plain):
        told.has(Send(queue="q", message=Message(body="m", message_id="x")), DONE, partition=1)
        down(told, 1)
    assert detecting.send(GONE, message_id="x").rules == ("KEY-03", "KEY-10", "KEY-20")
    assert plain.send(GONE, message_id="x").rules[:2] == ("KEY-15", "KEY-12")
    assert plain.send(partition=2, message_id="x").rules[0] == "KEY-12"


def test_differing_properties_are_refused_as_invalid_and_nothing_else(told: Told) -> None:
    told.queue()
    assert told.send(session_id="a", partition_key="b").rules[0] == "KEY-08"
    assert told.send(OTHER, session_id="a", partition_key="b").possible == ()
    assert told.send(INVALID, session_id="a", partition_key="b").rules == ("KEY-08",)


@pytest.mark.parametrize(
    ("reading", "accepted", "refused"),
    [("either", True, True), ("refused", False, True), ("accepted", True, False)],
)
def test_readings_decide_on_differing_properties_of_a_regular_queue(
    reading: str, accepted: bool, refused: bool
) -> None:
    told = telling({"REGULAR-KEYS": reading})
    told.queue(partitioned=False)
    assert bool(told.send(session_id="a", partition_key="b").possible) is accepted
    assert bool(told.send(INVALID, session_id="a", partition_key="b").possible) is refused


def test_either_error_may_come_first_where_a_partition_is_down_too() -> None:
    for reading, allowed in (("either", True), ("key-first", False)):
        told = telling({"ERROR-PRECEDENCE": reading})
        told.queue()
        down(told, 0)
        assert bool(told.send(GONE, session_id="a", partition_key="b").possible) is allowed


@pytest.mark.parametrize(
    ("reading", "as_set", "as_unset"),
    [("either", True, True), ("set", True, False), ("unset", False, True)],
)
def test_readings_decide_whether_an_empty_property_is_set(
    reading: str, as_set: bool, as_unset: bool
) -> None:
    told = telling({"EMPTY-KEY": reading})
    told.queue()
    assert bool(told.send(INVALID, session_id="", partition_key="b").possible) is as_set
    told = telling({"EMPTY-KEY": reading})
    told.queue()
    assert bool(told.send(session_id="", partition_key="b").possible) is as_unset


def test_bus_that_takes_an_empty_session_as_set_keeps_doing_so(told: Told) -> None:
    told.queue()
    told.send(INVALID, session_id="", partition_key="b")
    assert len(told.possible) == 1
    assert told.send(session_id="", partition_key="b").possible == ()


@pytest.mark.parametrize(
    ("reading", "moved"), [("either", True), ("one-key", False), ("two-keys", True)]
)
def test_readings_decide_whether_two_properties_make_one_key(reading: str, moved: bool) -> None:
    told = telling({"KEY-PROPERTIES": reading})
    told.queue()
    told.send(partition=1, session_id="a")
    assert bool(told.send(partition=2, partition_key="a").possible) is moved


def test_a_refusal_in_an_outage_tells_where_a_key_is_at_home(told: Told) -> None:
    told.queue()
    down(told, 0, 1)
    assert told.send(GONE, partition_key="a").rules == ("KEY-03",)
    told.has(BringPartitionUp(queue="q", partition=0))
    assert told.send(partition_key="a").possible
    assert told.send(partition=2, partition_key="a").possible == ()


def test_a_key_pins_after_its_outage_as_before(told: Told) -> None:
    told.queue()
    told.send(partition=1, partition_key="a")
    down(told, 1)
    assert told.send(partition=2, partition_key="a").rules[0] == "KEY-03"
    assert told.send(GONE, partition_key="a").rules == ("KEY-03", "KEY-07", "KEY-20")
    told.has(BringPartitionUp(queue="q", partition=1))
    assert told.send(partition=1, partition_key="a").rules[0] == "KEY-20"
    assert told.send(partition=3, partition_key="a").rules[0] == "KEY-20"


def test_short_timeout_changes_nothing_without_an_outage(told: Told) -> None:
    told.queue()
    assert "KEY-25" in told.send(timeout=1).rules
    assert "KEY-25" not in told.send().rules
    told.has(TakePartitionDown(queue="q", partition=0), LOST)
    assert "KEY-25" not in told.send(timeout=1).rules


def test_a_refusal_without_outage_is_held_against_the_bus(told: Told) -> None:
    told.queue()
    assert told.send(GONE).rules[0] == "KEY-12"
    assert told.send(GONE, timeout=1).rules[0] == "KEY-25"
    assert told.send(GONE, partition_key="a").rules[0] == "KEY-01"
    assert told.send(GONE, session_id="a", partition_key="a").rules[0] == "KEY-09"


def test_a_known_key_refused_in_an_outage_elsewhere_is_held_against_its_property(
    told: Told,
) -> None:
    told.queue()
    told.send(partition=1, partition_key="a")
    down(told, 2)
    assert told.send(GONE, partition_key="a").rules[:2] == ("KEY-02", "KEY-07")


def test_the_error_of_an_outage_is_free_unless_a_reading_says_which() -> None:
    for reading, allowed in (("any", True), ("unavailable", False)):
        told = telling({"OUTAGE-ERROR": reading})
        told.queue()
        down(told, 0, 1, 2, 3)
        assert bool(told.send(OTHER, partition_key="a").possible) is allowed
        assert bool(told.send(OTHER).possible) is allowed


def test_an_unkeyed_message_goes_round_an_outage_unless_nothing_is_left(told: Told) -> None:
    told.queue()
    down(told, 0)
    assert told.send(partition=1).rules == ("KEY-15", "KEY-01")
    assert told.send(partition=0).rules[0] == "KEY-15"
    assert told.send(GONE).possible == ()
    assert told.send(GONE, timeout=15_000_000).rules == ("KEY-18",)
    assert told.send(timeout=15_000_000, partition=1).rules[0] == "KEY-18"
    down(told, 1, 2, 3)
    assert told.send(GONE).possible
    assert told.send(partition=1).possible == ()


def test_messages_without_key_must_reach_every_partition_in_time(told: Told) -> None:
    told.queue()
    for number in range(97):
        assert told.send(partition=number % 3).possible
    broken = told.send(partition=0)
    if broken.possible:
        told.send(partition=1)
        broken = told.send(partition=2)
    assert broken.rules[0] == "KEY-14"
    assert told.send(partition=3).rules[0] == "KEY-14"


def test_an_edition_without_the_spread_does_not_ask_for_it() -> None:
    told = telling(silent=frozenset({"KEY-14"}))
    told.queue()
    assert all(told.send(partition=0).possible for _ in range(120))


def test_a_client_is_told_of_no_partition() -> None:
    told = telling(partitions=4)
    blind = Told(
        told.possible[0].profile, told.possible[0].observability.__class__(partitions=False)
    )
    blind.queue()
    assert blind.send(partition=1, partition_key="a").possible
    assert blind.send(partition=2, partition_key="a").possible
    down(blind, 0)
    assert blind.send(GONE, partition_key="a").possible
    assert blind.send(partition_key="a").possible
    assert blind.send(GONE).possible == ()


def test_a_send_without_witness_is_placed_when_it_is_received(told: Told) -> None:
    told.queue()
    told.send(partition_key="a")
    told.send(partition=2, partition_key="a")
    mode = Receive(queue="q")
    wrong = told.saw(mode, received("m1", 1, partition_key="a"))
    assert wrong.rules[:2] == ("KEY-07", "KEY-02")
    right = told.saw(mode, received("m1", 2, partition_key="a"))
    assert "KEY-02" in right.rules


def test_a_copy_is_dropped_within_its_window(told: Told) -> None:
    told.queue(duplicate_detection=True)
    told.send(partition=1, message_id="x")
    assert told.send(partition=1, message_id="x").rules[0] == "KEY-11"
    told.has(Receive(queue="q"), received("m1", 1, message_id="x", lock_token="t"))
    assert told.saw(Receive(queue="q"), received("m2", 1, 2, message_id="x")).rules[0] == "KEY-11"


def test_a_message_without_id_may_be_refused_where_duplicates_are_detected(told: Told) -> None:
    told.queue(duplicate_detection=True)
    assert told.send(partition=0).possible
    assert told.send(OTHER).possible


def test_the_same_id_under_two_keys_is_open_unless_a_reading_says_so() -> None:
    for reading, dropped in (("either", True), ("per-key", False)):
        told = telling({"DUPLICATES-ACROSS-KEYS": reading})
        told.queue(duplicate_detection=True)
        told.send(partition=1, partition_key="a", message_id="x")
        told.has(
            Receive(queue="q"),
            received("m1", 1, partition_key="a", message_id="x", lock_token="t"),
        )
        told.send(partition=1, partition_key="b", message_id="x")
        assert bool(told.saw(Receive(queue="q"), Empty()).possible) is dropped


def test_an_assigned_message_id_is_a_key_nobody_has_seen() -> None:
    told = telling(assigns_message_ids=True)
    told.queue(duplicate_detection=True)
    down(told, 0)
    assert told.send(GONE).possible
    assert told.send(partition=1).possible
    unassigned = told.saw(Receive(queue="q"), received("m2", 1))
    assert unassigned.rules[0] == "KEY-13"
    assert told.saw(Receive(queue="q"), received("m2", 1, message_id="id")).possible
    misplaced = Told(told.possible[0].profile, told.possible[0].observability)
    misplaced.queue(duplicate_detection=True)
    misplaced.send(partition=1)
    wrong = misplaced.saw(Receive(queue="q"), received("m1", 2, message_id="id"))
    assert wrong.rules[:2] == ("KEY-01", "LIFE-12")


def test_a_queue_is_created_once(told: Told) -> None:
    told.queue()
    assert told.saw(CreateQueue(queue="q")).possible == ()
    assert told.saw(CreateQueue(queue="q"), Refused(error=Error.ALREADY_EXISTS)).possible


def test_an_unknown_queue_is_refused(told: Told) -> None:
    assert told.send(Refused(error=Error.NOT_FOUND)).possible
    assert told.send(Done()).possible == ()
    assert told.saw(Send(queue="q", message=Message(body="lost")), LOST).possible


def test_premium_may_refuse_or_ignore_partitioning() -> None:
    told = telling(tier=Tier.PREMIUM)
    assert told.saw(CreateQueue(queue="p"), INVALID).possible
    assert len(told.saw(CreateQueue(queue="q")).possible) == 1
    oldest = telling(tier=Tier.PREMIUM, silent=frozenset({"PREM-01"}))
    assert len(oldest.saw(CreateQueue(queue="q")).possible) == 2


@pytest.mark.parametrize("asked", [{"requires_session": True}, {"duplicate_detection": True}])
def test_basic_may_refuse_or_ignore_what_it_need_not_have(asked: dict[str, bool]) -> None:
    assert telling(tier=Tier.BASIC).saw(CreateQueue(queue="q", **asked), INVALID).possible
    assert telling().saw(CreateQueue(queue="q", **asked), INVALID).possible == ()

    told = telling(tier=Tier.BASIC)
    assert len(told.saw(CreateQueue(queue="q", **asked)).possible) == 2


def test_basic_need_not_drop_copies_on_a_queue_that_it_accepted() -> None:
    told = telling(tier=Tier.BASIC)
    told.has(CreateQueue(queue="q", duplicate_detection=True))
    told.send(partition=0, message_id="a", body="first")
    told.send(partition=1, message_id="a", body="second")
    given = received("second", partition=1, message_id="a")
    assert told.saw(Receive(queue="q"), given).possible


def test_basic_refuses_no_plain_queue() -> None:
    assert telling(tier=Tier.BASIC).saw(CreateQueue(queue="q"), INVALID).possible == ()


def test_a_partition_that_does_not_exist_cannot_be_taken_down(told: Told) -> None:
    told.queue()
    for kind in (TakePartitionDown, BringPartitionUp):
        assert told.saw(kind(queue="q", partition=4), Refused(error=Error.NOT_FOUND)).possible
        assert told.saw(kind(queue="q", partition=4)).possible == ()


def test_a_new_key_is_not_accepted_where_a_partition_is_down(told: Told) -> None:
    told.queue()
    down(told, 0)
    assert told.send(partition=0, partition_key="new").rules[0] == "KEY-20"


def test_a_witness_of_a_receive_names_the_partition(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    given = Received(message=MessageView(body="m1"))
    assert told.saw(Receive(queue="q"), given, partition=2).possible == ()
    assert told.saw(Receive(queue="q"), given, partition=1).possible


def test_a_copy_with_the_body_of_its_original_hides_nothing() -> None:
    told = telling()
    told.queue(duplicate_detection=True)
    for _ in range(2):
        assert told.send(partition=1, body="same", message_id="x").possible
    assert told.saw(
        Receive(queue="q"), received("same", 1, message_id="x", lock_token="l")
    ).possible


@pytest.mark.parametrize(("keys", "offered"), [(8, 8), (100, 4)])
def test_the_own_bus_offers_the_first_of_each_key_unless_there_are_many(
    keys: int, offered: int
) -> None:
    told = telling()
    told.queue()
    for number in range(keys):
        told.send(partition=number % 4, partition_key=f"key {number}")
    offered_now = told.step(Receive(queue="q"))
    bodies = [each.outcome.message.body for each in offered_now if each.outcome != Empty()]
    assert offered == len(bodies)
    assert bodies[:4] == ["m1", "m2", "m3", "m4"]
