"""Room that is taken and given back, batches, and whose turn it is among the partitions."""

from typing import Any

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import ways

GB = 2**30
MB = 2**20
FULL = v.Refused(error=v.Error.QUOTA_EXCEEDED)
DELETE = v.ReceiveMode.RECEIVE_AND_DELETE


def large(queue: str = "q", size: int = GB, **properties: Any) -> v.Send:
    """A send of what fills an entity of one gigabyte, or a partition of one."""
    message = v.Message(body="large", size=size, stands_in=True, **properties)
    return v.Send(queue=queue, message=message)


def kinds(bus: Bus, command: v.Command) -> set[v.Outcome | type]:
    """All that a command could be answered: refusals, and kinds of other outcomes."""
    found = (answer.outcome for _, answer in ways(bus.namespace, command, "c1"))
    return {each if isinstance(each, v.Refused) else type(each) for each in found}


def test_partition_is_full_to_the_byte() -> None:
    bus = Bus(profile(partitions=1))
    bus.create()
    bus.done(large(size=GB - 1, partition_key="a"))
    assert v.Error.QUOTA_EXCEEDED is bus.refused(large(size=2, partition_key="a"))
    bus.done(large(size=1, partition_key="a"))
    assert v.Error.QUOTA_EXCEEDED is bus.refused(large(size=0, partition_key="a"))


def test_where_no_edition_says_how_large_a_partition_is_it_may_be_full_or_have_room() -> None:
    """As long as all partitions together might be as large as was asked for, it has room."""
    bus = Bus(profile(edition="de-2021-04", partitions=2))
    bus.create()
    assert {v.Done} == kinds(bus, large(size=GB // 2, partition_key="a"))
    bus.done(large(size=GB // 2, partition_key="a"))
    assert {FULL, v.Done} == kinds(bus, large(size=1, partition_key="a"))
    assert {FULL, v.Done} == kinds(bus, large(partition_key="a"))


def test_where_no_edition_says_it_the_size_of_one_partition_or_of_all_is_told() -> None:
    bus = Bus(profile(edition="de-2021-04", partitions=2))
    bus.create()
    asked = v.GetQueue(queue="q")
    told = [answer.outcome for _, answer in ways(bus.namespace, asked, "c1")]
    assert {1, 2} == {each.description.max_size for each in told if isinstance(each, v.Described)}


def test_outside_of_standard_a_regular_queue_may_give_in_an_outage() -> None:
    bus = Bus(profile(tier="premium"))
    bus.create(partitioned=False)
    bus.send("m")
    bus.done(v.TakePartitionDown(queue="q", partition=0))
    assert {v.Received, v.Empty} < kinds(bus, v.Receive(queue="q"))


def test_where_no_edition_says_it_a_peek_that_cannot_show_all_begins_anywhere() -> None:
    bus = Bus(profile(edition="fr-2016-09"))
    bus.create(partitioned=False)
    for number in range(3):
        bus.send(f"m{number}")
    peeks = [answer.outcome for _, answer in ways(bus.namespace, v.Peek(queue="q", count=2), "c1")]
    shown = [[view.body for view in each.messages] for each in peeks if isinstance(each, v.Peeked)]
    assert [["m0", "m1"], ["m1", "m2"]] == shown


def test_keyless_message_may_be_refused_by_a_full_partition() -> None:
    bus = Bus(profile(FULL_UNKEYED="refused", partitions=2))
    bus.create()
    bus.done(large(partition_key="a"))
    assert {FULL, v.Done} == kinds(bus, large(size=1))


def test_partition_that_is_up_is_full_while_the_rest_is_down() -> None:
    bus = Bus(profile(partitions=2))
    bus.create()
    bus.down(1)
    bus.done(large())
    assert v.Done not in kinds(bus, large(size=1))


def test_expired_message_frees_its_space(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.done(large(time_to_live=SECOND))
    assert v.Error.QUOTA_EXCEEDED is bus.refused(large(size=1))
    bus.wait(1)
    bus.done(large(size=1))


def test_topic_and_what_it_is_forwarded_take_no_room_of_their_own(bus: Bus) -> None:
    bus.done(v.CreateTopic(topic="t"))
    bus.create("q", forward_to="t")
    for queue in ("t", "t", "q"):
        bus.done(large(queue, partition_key="a"))
    bus.done(v.CreateSubscription(topic="t", subscription="a"))
    bus.send("m", queue="q", size=1)
    assert ["m"] == bus.bodies("t/subscriptions/a")


@pytest.mark.parametrize("scheduled", [False, True], ids=["sent", "scheduled"])
def test_buffered_send_needs_space_in_its_own_queue(bus: Bus, *, scheduled: bool) -> None:
    bus.create(partitioned=False)
    bus.create("other", partitioned=False)
    bus.done(v.BeginTransaction(transaction="x"))
    for command in (large(size=GB - 1), large("other", size=2)):
        bus.done(v.Send(queue=command.queue, message=command.message, transaction="x"))
    message = large(size=2).message
    more: v.Command = v.Send(queue="q", message=message, transaction="x")
    if scheduled:
        more = v.Schedule(queue="q", message=message, delay=SECOND, transaction="x")
    assert v.Error.QUOTA_EXCEEDED is bus.refused(more)


@pytest.mark.parametrize(("reading", "kind"), [("when-due", v.Scheduled), ("when-scheduled", None)])
def test_with_all_partitions_down_it_is_scheduled_if_its_place_comes_later(
    reading: str, kind: type | None
) -> None:
    bus = Bus(profile(SCHEDULE_PLACE=reading))
    bus.create()
    for number in range(3):
        bus.down(number)
    for key in (None, "k"):
        message = v.Message(body="m", partition_key=key)
        found = bus.ask(v.Schedule(queue="q", message=message, delay=SECOND)).outcome
        assert isinstance(found, kind or v.Refused)


def batch(*messages: v.Message) -> v.SendBatch:
    return v.SendBatch(queue="q", messages=messages)


ALIKE = batch(*(v.Message(body=f"m{number}") for number in range(3)))
TWO_KEYS = batch(*(v.Message(body=key, partition_key=key) for key in "ab"))


def test_batch_goes_to_any_one_partition_as_a_whole(bus: Bus) -> None:
    bus.create()
    places = {answer.partition for _, answer in ways(bus.namespace, ALIKE, "c1")}
    assert {0, 1, 2} <= places
    bus.done(ALIKE)
    assert ["m0", "m1", "m2"] == bus.bodies()


@pytest.mark.parametrize(("reading", "kind"), [("refused", v.Refused), ("split", v.Done)])
def test_batch_of_several_keys_is_refused_or_split_as_read(reading: str, kind: type) -> None:
    bus = Bus(profile(BATCH_KEYS=reading))
    bus.create()
    assert isinstance(bus.ask(TWO_KEYS).outcome, kind)
    assert (kind is v.Done) is ({"a", "b"} == set(bus.bodies()))


def test_batch_that_does_not_fit_in_leaves_nothing(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.done(large(size=GB - 2))
    assert v.Error.QUOTA_EXCEEDED is bus.refused(
        batch(*(v.Message(body=f"m{number}", size=1) for number in range(3)))
    )
    assert ["large"] == bus.bodies()


def test_receive_of_several_is_given_as_many_as_there_are_or_fewer(bus: Bus) -> None:
    bus.create(partitioned=False)
    bus.done(ALIKE)
    for count, given in ((5, {1, 2, 3}), (2, {1, 2})):
        outcomes = [
            answer.outcome
            for _, answer in ways(bus.namespace, v.ReceiveBatch(queue="q", count=count), "c1")
        ]
        numbers = {len(each.messages) for each in outcomes if isinstance(each, v.ReceivedSeveral)}
        assert given == numbers
    bus.bodies()
    assert v.Empty() == bus.done(v.ReceiveBatch(queue="q", count=5))


def test_batch_takes_one_turn_and_a_key_takes_none(bus: Bus) -> None:
    """KEY-14: however often a key is sent to, what has none goes on where it was."""
    bus.create()
    places = []
    for number in range(4):
        places.append(bus.send(f"m{number}"))
        for _ in range(number):
            bus.send("keyed", partition_key="k")
    assert [0, 1, 2, 0] == places


@pytest.mark.parametrize(("reading", "empty"), [("next-partition", False), ("nothing", True)])
def test_peek_may_meet_a_partition_that_has_nothing_if_so_read(
    reading: str, *, empty: bool
) -> None:
    bus = Bus(profile(PEEK_EMPTY=reading))
    bus.create()
    bus.send("m")
    outcomes = [answer.outcome for _, answer in ways(bus.namespace, v.Peek(queue="q"), "c1")]
    assert empty is (v.Peeked() in outcomes)


def test_nothing_is_left_of_messages_that_are_gone(bus: Bus) -> None:
    bus.create()
    queue = bus.namespace.entities["q"]
    for number in range(20):
        bus.send(f"m{number}", message_id=f"{number}", partition_key="k")
    tokens = [bus.receive().lock_token or "" for _ in range(10)]
    bus.done(v.Abandon(queue="q", lock_token=tokens[0]))
    for token in reversed(tokens[2:]):
        bus.done(v.Complete(queue="q", lock_token=token))
    bus.done(v.DeadLetter(queue="q", lock_token=tokens[1], reason="r"))
    assert 11 == len(queue.messages) == len(bus.bodies())
    assert not queue.messages
    assert 0 == sum(each.messages for each in queue.partitions)
