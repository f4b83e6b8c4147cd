"""Where messages go: keys, homes, spread, outages."""

import pytest
from observing import DONE, GONE, INVALID, LOST, OTHER, Observer, observing, received

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


def down(observer: Observer, *partitions: int) -> None:
    for partition in partitions:
        observer.has(TakePartitionDown(queue="q", partition=partition))


def test_a_key_that_was_seen_in_one_partition_is_not_accepted_in_another(
    observer: Observer,
) -> None:
    observer.queue()
    assert observer.send(partition=2, partition_key="a").possible
    broken = observer.send(partition=3, partition_key="a")
    assert broken.possible == ()
    assert broken.rules[:2] == ("KEY-07", "KEY-02")


def test_a_session_id_selects_before_anything_else(observer: Observer) -> None:
    observer.queue(duplicate_detection=True)
    observer.send(partition=1, session_id="a", message_id="x")
    assert observer.send(partition=1, session_id="a", message_id="y").rules[:2] == (
        "KEY-24",
        "KEY-04",
    )
    assert observer.send(partition=0, session_id="a", message_id="z").rules[0] == "KEY-24"


def test_a_message_id_selects_under_duplicate_detection_only() -> None:
    detecting, plain = observing(), observing()
    detecting.queue(duplicate_detection=True)
    plain.queue()
    for observer in (detecting, plain):
        observer.has(Send(queue="q", message=Message(body="m", message_id="x")), DONE, partition=1)
        down(observer, 1)
    assert detecting.send(GONE, message_id="x").rules == ("KEY-03", "KEY-10", "KEY-20")
    assert plain.send(GONE, message_id="x").rules[:2] == ("KEY-15", "KEY-12")
    assert plain.send(partition=2, message_id="x").rules[0] == "KEY-12"


def test_differing_properties_are_refused_as_invalid_and_nothing_else(observer: Observer) -> None:
    observer.queue()
    assert observer.send(session_id="a", partition_key="b").rules[0] == "KEY-08"
    assert observer.send(OTHER, session_id="a", partition_key="b").possible == ()
    assert observer.send(INVALID, session_id="a", partition_key="b").rules == ("KEY-08",)


@pytest.mark.parametrize(
    ("reading", "accepted", "refused"),
    [("either", True, True), ("refused", False, True), ("accepted", True, False)],
)
def test_readings_decide_on_differing_properties_of_a_regular_queue(
    reading: str, accepted: bool, refused: bool
) -> None:
    observer = observing({"REGULAR-KEYS": reading})
    observer.queue(partitioned=False)
    assert bool(observer.send(session_id="a", partition_key="b").possible) is accepted
    assert bool(observer.send(INVALID, session_id="a", partition_key="b").possible) is refused


def test_either_error_may_come_first_where_a_partition_is_down_too() -> None:
    for reading, allowed in (("either", True), ("key-first", False)):
        observer = observing({"ERROR-PRECEDENCE": reading})
        observer.queue()
        down(observer, 0)
        assert bool(observer.send(GONE, session_id="a", partition_key="b").possible) is allowed


@pytest.mark.parametrize(
    ("reading", "as_set", "as_unset"),
    [("either", True, True), ("set", True, False), ("unset", False, True)],
)
def test_readings_decide_whether_an_empty_property_is_set(
    reading: str, as_set: bool, as_unset: bool
) -> None:
    observer = observing({"EMPTY-KEY": reading})
    observer.queue()
    assert bool(observer.send(INVALID, session_id="", partition_key="b").possible) is as_set
    observer = observing({"EMPTY-KEY": reading})
    observer.queue()
    assert bool(observer.send(session_id="", partition_key="b").possible) is as_unset


def test_bus_that_takes_an_empty_session_as_set_keeps_doing_so(observer: Observer) -> None:
    observer.queue()
    observer.send(INVALID, session_id="", partition_key="b")
    assert len(observer.possible) == 1
    assert observer.send(session_id="", partition_key="b").possible == ()


@pytest.mark.parametrize(
    ("reading", "moved"), [("either", True), ("one-key", False), ("two-keys", True)]
)
def test_readings_decide_whether_two_properties_make_one_key(reading: str, moved: bool) -> None:
    observer = observing({"KEY-PROPERTIES": reading})
    observer.queue()
    observer.send(partition=1, session_id="a")
    assert bool(observer.send(partition=2, partition_key="a").possible) is moved


def test_a_refusal_in_an_outage_shows_where_a_key_is_at_home(observer: Observer) -> None:
    observer.queue()
    down(observer, 0, 1)
    assert observer.send(GONE, partition_key="a").rules == ("KEY-03",)
    observer.has(BringPartitionUp(queue="q", partition=0))
    assert observer.send(partition_key="a").possible
    assert observer.send(partition=2, partition_key="a").possible == ()


def test_a_key_pins_after_its_outage_as_before(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, partition_key="a")
    down(observer, 1)
    assert observer.send(partition=2, partition_key="a").rules[0] == "KEY-03"
    assert observer.send(GONE, partition_key="a").rules == ("KEY-03", "KEY-07", "KEY-20")
    observer.has(BringPartitionUp(queue="q", partition=1))
    assert observer.send(partition=1, partition_key="a").rules[0] == "KEY-20"
    assert observer.send(partition=3, partition_key="a").rules[0] == "KEY-20"


def test_short_timeout_changes_nothing_without_an_outage(observer: Observer) -> None:
    observer.queue()
    assert "KEY-25" in observer.send(timeout=1).rules
    assert "KEY-25" not in observer.send().rules
    observer.has(TakePartitionDown(queue="q", partition=0), LOST)
    assert "KEY-25" not in observer.send(timeout=1).rules


def test_a_refusal_without_outage_is_held_against_the_bus(observer: Observer) -> None:
    observer.queue()
    assert observer.send(GONE).rules[0] == "KEY-12"
    assert observer.send(GONE, timeout=1).rules[0] == "KEY-25"
    assert observer.send(GONE, partition_key="a").rules[0] == "KEY-01"
    assert observer.send(GONE, session_id="a", partition_key="a").rules[0] == "KEY-09"


def test_a_known_key_refused_in_an_outage_elsewhere_is_held_against_its_property(
    observer: Observer,
) -> None:
    observer.queue()
    observer.send(partition=1, partition_key="a")
    down(observer, 2)
    assert observer.send(GONE, partition_key="a").rules[:2] == ("KEY-02", "KEY-07")


def test_the_error_of_an_outage_is_free_unless_a_reading_says_which() -> None:
    for reading, allowed in (("any", True), ("unavailable", False)):
        observer = observing({"OUTAGE-ERROR": reading})
        observer.queue()
        down(observer, 0, 1, 2, 3)
        assert bool(observer.send(OTHER, partition_key="a").possible) is allowed
        assert bool(observer.send(OTHER).possible) is allowed


def test_an_unkeyed_message_goes_round_an_outage_unless_nothing_is_left(observer: Observer) -> None:
    observer.queue()
    down(observer, 0)
    assert observer.send(partition=1).rules == ("KEY-15", "KEY-01")
    assert observer.send(partition=0).rules[0] == "KEY-15"
    assert observer.send(GONE).possible == ()
    assert observer.send(GONE, timeout=15_000_000).rules == ("KEY-18",)
    assert observer.send(timeout=15_000_000, partition=1).rules[0] == "KEY-18"
    down(observer, 1, 2, 3)
    assert observer.send(GONE).possible
    assert observer.send(partition=1).possible == ()


def test_messages_without_key_must_reach_every_partition_in_time(observer: Observer) -> None:
    observer.queue()
    for number in range(97):
        assert observer.send(partition=number % 3).possible
    broken = observer.send(partition=0)
    if broken.possible:
        observer.send(partition=1)
        broken = observer.send(partition=2)
    assert broken.rules[0] == "KEY-14"
    assert observer.send(partition=3).rules[0] == "KEY-14"


def test_an_edition_without_the_spread_does_not_ask_for_it() -> None:
    observer = observing(silent=frozenset({"KEY-14"}))
    observer.queue()
    assert all(observer.send(partition=0).possible for _ in range(120))


def test_a_client_learns_of_no_partition() -> None:
    observer = observing(partitions=4)
    blind = Observer(
        observer.possible[0].profile, observer.possible[0].observability.__class__(partitions=False)
    )
    blind.queue()
    assert blind.send(partition=1, partition_key="a").possible
    assert blind.send(partition=2, partition_key="a").possible
    down(blind, 0)
    assert blind.send(GONE, partition_key="a").possible
    assert blind.send(partition_key="a").possible
    assert blind.send(GONE).possible == ()


def test_a_send_without_witness_is_placed_when_it_is_received(observer: Observer) -> None:
    observer.queue()
    observer.send(partition_key="a")
    observer.send(partition=2, partition_key="a")
    mode = Receive(queue="q")
    wrong = observer.saw(mode, received("m1", 1, partition_key="a"))
    assert wrong.rules[:2] == ("KEY-07", "KEY-02")
    right = observer.saw(mode, received("m1", 2, partition_key="a"))
    assert "KEY-02" in right.rules


def test_a_copy_is_dropped_within_its_window(observer: Observer) -> None:
    observer.queue(duplicate_detection=True)
    observer.send(partition=1, message_id="x")
    assert observer.send(partition=1, message_id="x").rules[0] == "KEY-11"
    observer.has(Receive(queue="q"), received("m1", 1, message_id="x", lock_token="t"))
    assert (
        observer.saw(Receive(queue="q"), received("m2", 1, 2, message_id="x")).rules[0] == "KEY-11"
    )


def test_a_message_without_id_may_be_refused_where_duplicates_are_detected(
    observer: Observer,
) -> None:
    observer.queue(duplicate_detection=True)
    assert observer.send(partition=0).possible
    assert observer.send(OTHER).possible


def test_the_same_id_under_two_keys_is_open_unless_a_reading_says_so() -> None:
    for reading, dropped in (("either", True), ("per-key", False)):
        observer = observing({"DUPLICATES-ACROSS-KEYS": reading})
        observer.queue(duplicate_detection=True)
        observer.send(partition=1, partition_key="a", message_id="x")
        observer.has(
            Receive(queue="q"),
            received("m1", 1, partition_key="a", message_id="x", lock_token="t"),
        )
        observer.send(partition=1, partition_key="b", message_id="x")
        assert bool(observer.saw(Receive(queue="q"), Empty()).possible) is dropped


def test_an_assigned_message_id_is_a_key_nobody_has_seen() -> None:
    observer = observing(assigns_message_ids=True)
    observer.queue(duplicate_detection=True)
    down(observer, 0)
    assert observer.send(GONE).possible
    assert observer.send(partition=1).possible
    unassigned = observer.saw(Receive(queue="q"), received("m2", 1))
    assert unassigned.rules[0] == "KEY-13"
    assert observer.saw(Receive(queue="q"), received("m2", 1, message_id="id")).possible
    misplaced = Observer(observer.possible[0].profile, observer.possible[0].observability)
    misplaced.queue(duplicate_detection=True)
    misplaced.send(partition=1)
    wrong = misplaced.saw(Receive(queue="q"), received("m1", 2, message_id="id"))
    assert wrong.rules[:2] == ("KEY-01", "LIFE-12")


def test_a_queue_is_created_once(observer: Observer) -> None:
    observer.queue()
    assert observer.saw(CreateQueue(queue="q")).possible == ()
    assert observer.saw(CreateQueue(queue="q"), Refused(error=Error.ALREADY_EXISTS)).possible


def test_an_unknown_queue_is_refused(observer: Observer) -> None:
    assert observer.send(Refused(error=Error.NOT_FOUND)).possible
    assert observer.send(Done()).possible == ()
    assert observer.saw(Send(queue="q", message=Message(body="lost")), LOST).possible


def test_premium_may_refuse_or_ignore_partitioning() -> None:
    observer = observing(tier=Tier.PREMIUM)
    assert observer.saw(CreateQueue(queue="p"), INVALID).possible
    assert len(observer.saw(CreateQueue(queue="q")).possible) == 1
    oldest = observing(tier=Tier.PREMIUM, silent=frozenset({"PREM-01"}))
    assert len(oldest.saw(CreateQueue(queue="q")).possible) == 2


@pytest.mark.parametrize("asked", [{"requires_session": True}, {"duplicate_detection": True}])
def test_basic_may_refuse_or_ignore_what_it_need_not_have(asked: dict[str, bool]) -> None:
    assert observing(tier=Tier.BASIC).saw(CreateQueue(queue="q", **asked), INVALID).possible
    assert observing().saw(CreateQueue(queue="q", **asked), INVALID).possible == ()

    observer = observing(tier=Tier.BASIC)
    assert len(observer.saw(CreateQueue(queue="q", **asked)).possible) == 2


def test_basic_need_not_drop_copies_on_a_queue_that_it_accepted() -> None:
    observer = observing(tier=Tier.BASIC)
    observer.has(CreateQueue(queue="q", duplicate_detection=True))
    observer.send(partition=0, message_id="a", body="first")
    observer.send(partition=1, message_id="a", body="second")
    given = received("second", partition=1, message_id="a")
    assert observer.saw(Receive(queue="q"), given).possible


def test_basic_refuses_no_plain_queue() -> None:
    assert observing(tier=Tier.BASIC).saw(CreateQueue(queue="q"), INVALID).possible == ()


def test_a_partition_that_does_not_exist_cannot_be_taken_down(observer: Observer) -> None:
    observer.queue()
    for kind in (TakePartitionDown, BringPartitionUp):
        assert observer.saw(kind(queue="q", partition=4), Refused(error=Error.NOT_FOUND)).possible
        assert observer.saw(kind(queue="q", partition=4)).possible == ()


def test_a_new_key_is_not_accepted_where_a_partition_is_down(observer: Observer) -> None:
    observer.queue()
    down(observer, 0)
    assert observer.send(partition=0, partition_key="new").rules[0] == "KEY-20"


def test_a_witness_of_a_receive_names_the_partition(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    given = Received(message=MessageView(body="m1"))
    assert observer.saw(Receive(queue="q"), given, partition=2).possible == ()
    assert observer.saw(Receive(queue="q"), given, partition=1).possible


def test_a_copy_with_the_body_of_its_original_hides_nothing() -> None:
    observer = observing()
    observer.queue(duplicate_detection=True)
    for _ in range(2):
        assert observer.send(partition=1, body="same", message_id="x").possible
    assert observer.saw(
        Receive(queue="q"), received("same", 1, message_id="x", lock_token="l")
    ).possible


@pytest.mark.parametrize(("keys", "offered"), [(8, 8), (100, 4)])
def test_the_own_bus_offers_the_first_of_each_key_unless_there_are_many(
    keys: int, offered: int
) -> None:
    observer = observing()
    observer.queue()
    for number in range(keys):
        observer.send(partition=number % 4, partition_key=f"key {number}")
    offered_now = observer.step(Receive(queue="q"))
    bodies = [each.outcome.message.body for each in offered_now if each.outcome != Empty()]
    assert offered == len(bodies)
    assert bodies[:4] == ["m1", "m2", "m3", "m4"]
