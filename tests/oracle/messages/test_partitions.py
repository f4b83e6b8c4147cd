"""What outages, front ends and caches let a client see of partitions."""

import pytest
from observing import DONE, GONE, OTHER, Observer, observing, received

from busproof.vocabulary.commands import (
    Abandon,
    AdvanceClock,
    BringPartitionUp,
    Complete,
    CreateQueue,
    DeleteQueue,
    Receive,
    ReceiveDeferred,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Indeterminate, ReceivedSeveral, Refused
from busproof.vocabulary.values import Error, ReceiveMode

RECEIVE = Receive(queue="q")
DELETE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
LOCK_LOST = Refused(error=Error.LOCK_LOST)
PARTITIONS = 4
KEYED = {"partition_key": "a"}


def down(observer: Observer, *partitions: int) -> None:
    for partition in partitions or range(PARTITIONS):
        observer.has(TakePartitionDown(queue="q", partition=partition))


def up(observer: Observer, *partitions: int) -> None:
    for partition in partitions or range(PARTITIONS):
        observer.has(BringPartitionUp(queue="q", partition=partition))


def passes(observer: Observer, seconds: int) -> None:
    observer.has(AdvanceClock(duration=seconds * 1_000_000))


def to_other(body: str = "n1", **properties: object) -> Send:
    return Send(queue="other", message=Message(body=body, **properties))


@pytest.mark.parametrize("properties", [{}, KEYED, {"session_id": "s"}])
def test_a_regular_queue_takes_nothing_while_its_store_is_down(
    observer: Observer, properties: dict[str, str]
) -> None:
    observer.queue(partitioned=False)
    down(observer, 0)
    assert observer.send(**properties).rules[0] in ("KEY-03", "KEY-18", "PART-01")
    assert "PART-01" in observer.send(**properties).rules
    assert observer.send(OTHER, **properties).rules[0] == "PART-01"
    up(observer, 0)
    assert observer.saw(RECEIVE, received("m3", **properties)).rules[0] == "PART-01"


def test_regular_queue_in_an_outage_gives_only_what_a_cache_may_hold(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send()
    down(observer, 0)
    broken = observer.saw(RECEIVE, received("m1", 0))
    assert not broken.possible
    assert "PART-01" in broken.rules
    assert "PART-01" in observer.saw(RECEIVE, GONE).rules
    assert "PART-01" in observer.saw(RECEIVE, Empty()).rules
    # A front end may have been given it by now.
    assert observer.saw(RECEIVE, received("m1", 0)).possible


@pytest.mark.parametrize(
    "observability",
    [{"left_out": frozenset({"c9"})}, {"partial": True}],
    ids=["left-out", "partial"],
)
def test_cached_delivery_is_allowed_under_less_observability(
    observability: dict[str, object],
) -> None:
    observer = observing(**observability)
    observer.queue(partitioned=False)
    observer.send()
    down(observer, 0)
    assert observer.saw(RECEIVE, received("m1", 0)).possible


def test_an_edition_that_is_silent_on_it_lets_it_be_given() -> None:
    observer = observing(silent=frozenset({"PART-01"}))
    observer.queue(partitioned=False)
    observer.send()
    down(observer, 0)
    assert observer.saw(RECEIVE, received("m1", 0)).possible


def test_an_outage_concerns_the_keys_of_its_partition(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, **KEYED)
    down(observer, 2)
    refused = observer.send(GONE, **KEYED)
    assert not refused.possible
    assert "PART-02" in refused.rules
    assert "PART-02" in observer.send(partition=1, **KEYED).rules
    assert "PART-02" not in observer.send(partition=3).rules


@pytest.mark.parametrize(("number", "allowed"), [(1, False), (2, True)])
def test_readings_decide_what_must_work_with_several_partitions_down(
    number: int, allowed: bool
) -> None:
    observer = observing({"AVAILABLE": "one-store", "OUTAGE-ERROR": "either"})
    observer.queue()
    observer.send(partition=3, **KEYED)
    down(observer, *range(number))
    assert bool(observer.send(OTHER, **KEYED).possible) is allowed
    assert bool(observer.send(OTHER).possible) is allowed
    assert observer.send(partition=3, **KEYED).possible


@pytest.mark.parametrize("properties", [{}, KEYED])
def test_with_all_partitions_down_nothing_is_accepted(
    observer: Observer, properties: dict[str, str]
) -> None:
    observer.queue()
    down(observer)
    taken = observer.send(partition=0, **properties)
    assert not taken.possible
    assert "PART-03" in taken.rules
    assert observer.send(GONE, **properties).rules[0] == "PART-03"
    up(observer)
    assert ("PART-03", "KEY-03") == observer.saw(RECEIVE, received("m2", **properties)).rules[:2]


def test_what_was_there_outlasts_an_outage(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    down(observer, 1)
    up(observer, 1)
    observer.send(partition=1)
    lost = observer.saw(RECEIVE, Empty())
    assert not lost.possible
    assert {"PART-04", "PART-02"} <= set(lost.rules)
    assert "PART-04" in observer.saw(DELETE, received("m1", 1, 1)).rules
    again = observer.saw(RECEIVE, received("m1", 1, 1))
    assert not again.possible
    assert "PART-04" in again.rules
    assert "PART-04" not in observer.saw(RECEIVE, received("m2", 1, 2)).rules


def test_during_an_outage_nothing_has_outlasted_it(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    down(observer, 1)
    assert "PART-04" not in observer.saw(RECEIVE, received("m1", 1)).rules


def test_an_outage_of_one_entity_is_none_of_another(observer: Observer) -> None:
    observer.queue()
    observer.has(CreateQueue(queue="other"))
    observer.has(to_other("n1"), partition=0)
    down(observer)
    refused = observer.saw(to_other("n2"), GONE)
    assert not refused.possible
    assert "PART-05" in refused.rules
    assert "PART-05" in observer.saw(to_other("n3"), DONE, partition=1).rules
    withheld = observer.saw(Receive(queue="other"), Empty())
    assert not withheld.possible
    assert "PART-05" in withheld.rules
    assert "PART-05" in observer.saw(Receive(queue="other"), received("n1", 0)).rules
    up(observer)
    assert "PART-05" not in observer.saw(Receive(queue="other"), received("n3", 1)).rules


def test_what_was_there_at_an_earlier_receive_comes_with_a_later_one(observer: Observer) -> None:
    observer.queue()
    for partition in range(3):
        observer.send(partition=partition)
    assert not {"PART-09", "PART-23"} & set(observer.saw(DELETE, received("m1", 0)).rules)
    withheld = observer.saw(DELETE, Empty())
    assert not withheld.possible
    assert "PART-09" in withheld.rules
    assert {"PART-09", "PART-23"} <= set(observer.saw(DELETE, received("m2", 1)).rules)


def test_with_many_messages_nothing_is_said_of_low_volume(observer: Observer) -> None:
    observer.queue()
    for place in range(8):
        observer.send(partition=place % PARTITIONS)
    observer.has(DELETE, received("m1", 0))
    shown = observer.saw(DELETE, received("m2", 1)).rules
    assert "PART-09" in shown
    assert "PART-23" not in shown


def test_what_one_connection_has_locked_is_given_to_no_other(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 0, lock_token="l"))
    again = observer.saw(RECEIVE, received("m1", 0, lock_token="k"), connection="c2")
    assert not again.possible
    assert "PART-10" in again.rules
    other = observer.saw(RECEIVE, received("m2", 1, lock_token="k"), connection="c2")
    assert {"PART-10", "PART-11"} <= set(other.rules)
    assert "PART-10" in observer.saw(RECEIVE, Empty(), connection="c3").rules


def test_another_connection_may_be_given_nothing_meanwhile(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 0, lock_token="l"))
    nothing = observer.saw(RECEIVE, Empty(), connection="c2").rules
    assert {"PART-10", "PART-11"} <= set(nothing)
    assert "PART-28" not in nothing


@pytest.mark.parametrize(("reading", "gone"), [("either", True), ("kept", False)])
def test_message_deleted_into_a_cache_may_be_invisible_to_others(reading: str, gone: bool) -> None:
    observer = observing({"CACHE-DELETE": reading})
    observer.queue()
    for partition in range(3):
        observer.send(partition=partition)
    observer.has(DELETE, received("m1", 0))
    passes(observer, 61)
    # Over its own connection it must still come.
    assert not observer.saw(RECEIVE, Empty()).possible
    observer.has(DELETE, received("m2", 1))
    passes(observer, 61)
    nothing = observer.saw(RECEIVE, Empty(), connection="c2")
    assert bool(nothing.possible) is gone
    if gone:
        assert {"PART-28", "PART-11"} <= set(nothing.rules)
        there = observer.saw(RECEIVE, received("m3", 2, lock_token="l"), connection="c2")
        assert "PART-28" in there.rules


def test_message_deleted_by_an_unanswered_receive_may_be_gone(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.has(DELETE, Indeterminate())
    observer.send(partition=1)
    passes(observer, 121)
    assert observer.saw(RECEIVE, Empty(), connection="c2").possible


def test_a_regular_queue_has_no_caches_to_speak_of(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send()
    observer.send()
    observer.has(RECEIVE, received("m1", 0, lock_token="l"))
    part = {"PART-09", "PART-10", "PART-11", "PART-12"}
    assert not part & set(observer.saw(RECEIVE, Empty(), connection="c2").rules)
    assert not part & set(observer.saw(RECEIVE, received("m2", 0, lock_token="k")).rules)
    assert not part & set(observer.saw(Complete(queue="q", lock_token="k")).rules)
    refused = observer.saw(Complete(queue="q", lock_token="l"), LOCK_LOST)
    assert not refused.possible
    assert "PART-12" not in refused.rules


def test_a_settlement_does_not_ask_where_its_message_is(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 0, lock_token="l", locked_until=60_000_000))
    observer.has(RECEIVE, received("m2", 1, lock_token="k", locked_until=60_000_000))
    refused = observer.saw(Abandon(queue="q", lock_token="k"), LOCK_LOST)
    assert not refused.possible
    assert "PART-12" in refused.rules
    assert "PART-12" in observer.saw(Abandon(queue="q", lock_token="k")).rules
    withheld = observer.saw(RECEIVE, Empty())
    assert "PART-12" in withheld.rules
    other = observer.saw(RECEIVE, received("m1", 0, lock_token="j"))
    assert {"PART-12", "PART-09"} <= set(other.rules)


def test_missing_queue_is_not_blamed_on_partitions(observer: Observer) -> None:
    observer.queue()
    down(observer, 1)
    assert not observer.saw(Receive(queue="nowhere"), Empty()).possible
    observer.has(DeleteQueue(queue="q"), GONE)


def test_numbers_that_reveal_no_partition_are_of_any(observer: Observer) -> None:
    opaque = observing({"SEQUENCE-EXPOSES": "opaque"})
    for each, allowed in ((observer, False), (opaque, True)):
        each.queue()
        each.send(partition=1)
        assert bool(each.saw(DELETE, received("m1", 2)).possible) is allowed


def test_numbers_that_reveal_no_partition_may_be_of_several(observer: Observer) -> None:
    opaque = observing({"SEQUENCE-EXPOSES": "opaque"})
    asked = ReceiveDeferred(queue="q", sequence_numbers=(1, 2))
    for each in (observer, opaque):
        each.queue()
        assert not each.saw(asked, ReceivedSeveral()).possible


def test_a_large_outage_reveals_nothing_of_a_key_that_it_refuses() -> None:
    observer = observing({"AVAILABLE": "one-store"})
    observer.queue()
    down(observer, 1, 2)
    assert observer.send(GONE, partition_key="a").possible
    assert observer.send(partition=3, partition_key="a").possible
