"""What a peek has to begin with."""

import pytest
from observing import DONE, Observer, observing, received, view

from busproof import vocabulary as v

LOST = v.Indeterminate()
PEEK = v.Peek(queue="q")
SEVERAL = v.Peek(queue="q", count=4)
LOCK = v.Receive(queue="q")
TAKE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def shown(*bodies: str, partition: int = 0, **seen: object) -> v.Peeked:
    return v.Peeked(messages=tuple(view(each, partition, int(each[1:]), **seen) for each in bodies))


def regular(observer: Observer, number: int = 2, **settings: object) -> Observer:
    observer.queue(partitioned=False, **settings)
    for _ in range(number):
        observer.send()
    return observer


def begins(observer: Observer, body: str, **more: object) -> bool:
    """Whether a peek may begin with this message."""
    return bool(observer.saw(PEEK, shown(body, **more)).possible)


def test_a_peek_into_a_regular_queue_shows_the_oldest(observer: Observer) -> None:
    regular(observer)
    assert observer.saw(PEEK, shown("m2")).rules[0] == "PART-14"
    assert observer.saw(PEEK, v.Peeked()).rules[0] == "PART-14"
    assert "PART-14" in observer.saw(PEEK, shown("m1")).rules
    observer.has(TAKE, received("m1", 0, 1))
    assert "PART-14" not in observer.saw(PEEK, shown("m2")).rules
    observer.has(TAKE, received("m2", 0, 2))
    observer.has(PEEK, v.Peeked())


def test_omitted_first_message_breaks_the_deferral_rule_only_if_deferred(
    observer: Observer,
) -> None:
    """What a peek leaves out breaks the rule on deferred messages only where there is one."""
    regular(observer)
    assert "DEFER-09" not in observer.saw(PEEK, v.Peeked()).rules
    observer.has(LOCK, received("m1", 0, 1, lock_token="l"))
    observer.has(v.Defer(queue="q", lock_token="l"))
    assert ("PART-14", "DEFER-09") == observer.saw(PEEK, v.Peeked()).rules[:2]
    assert ("PART-14", "DEFER-09") == observer.saw(PEEK, shown("m2")).rules[:2]


def test_either_message_of_a_transaction_may_be_the_oldest(observer: Observer) -> None:
    """Of two transactions that follow each other, the first one's."""
    regular(observer, 0)
    for transaction in ("t", "u"):
        observer.has(v.BeginTransaction(transaction=transaction))
        for _ in range(2):
            observer.send(transaction=transaction)
        observer.has(v.CommitTransaction(transaction=transaction))
    assert begins(observer, "m1")
    assert begins(observer, "m2")
    assert observer.saw(PEEK, shown("m3")).rules[0] == "PART-14"


def test_even_if_somebody_has_locked_it(observer: Observer) -> None:
    regular(observer)
    observer.has(LOCK, received("m1", 0, 1, lock_token="l"))
    assert observer.saw(PEEK, shown("m2")).rules[0] == "PART-14"
    observer.has(v.Complete(queue="q", lock_token="l"))
    assert begins(observer, "m2")


def test_message_possibly_dead_lettered_need_not_be_shown_first(observer: Observer) -> None:
    regular(observer, max_delivery_count=1)
    observer.has(LOCK, received("m1", 0, 1, lock_token="l"))
    observer.has(v.Abandon(queue="q", lock_token="l"), LOST)
    assert begins(observer, "m2")


def test_message_possibly_deferred_need_not_be_shown_first(observer: Observer) -> None:
    regular(observer)
    observer.has(LOCK, received("m1", 0, 1, lock_token="l"))
    observer.has(v.Defer(queue="q", lock_token="l"), LOST)
    assert begins(observer, "m2")


def test_message_possibly_over_its_delivery_limit_need_not_be_shown_first(
    observer: Observer,
) -> None:
    regular(observer, max_delivery_count=2, lock_duration=5_000_000)
    observer.has(LOCK, received("m1", 0, 1, lock_token="l"))
    observer.has(v.Abandon(queue="q", lock_token="l"))
    observer.has(LOCK, received("m2", 0, 2, lock_token="k"))
    observer.has(v.AdvanceClock(duration=6_000_000))
    assert begins(observer, "m2")


def test_message_possibly_expired_need_not_be_shown_first(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send(time_to_live=5_000_000)
    observer.send()
    assert not begins(observer, "m2")
    observer.has(v.AdvanceClock(duration=5_000_000))
    assert begins(observer, "m2")


def test_message_possibly_received_need_not_be_shown_first(observer: Observer) -> None:
    regular(observer)
    observer.has(TAKE, LOST)
    assert begins(observer, "m2")
    observer.has(PEEK, v.Peeked())


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("kept", False)])
def test_message_possibly_deleted_into_a_cache_need_not_be_shown_first(
    reading: str, allowed: bool
) -> None:
    """CACHE-DELETE: with what it has given, it may delete all that it holds."""
    observer = regular(observing({"CACHE-DELETE": reading}), 3)
    observer.has(TAKE, received("m1", 0, 1))
    assert allowed is begins(observer, "m3")
    assert allowed is bool(observer.saw(PEEK, v.Peeked()).possible)


def test_deferred_message_is_in_no_cache(observer: Observer) -> None:
    """So none deletes it unseen."""
    regular(observer, 3)
    observer.has(LOCK, received("m1", 0, 1, lock_token="l"))
    observer.has(v.Defer(queue="q", lock_token="l"))
    observer.has(TAKE, received("m2", 0, 2))
    assert not observer.saw(PEEK, v.Peeked()).possible


def test_message_of_an_unanswered_send_need_not_be_shown_first(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send(LOST)
    observer.send()
    assert begins(observer, "m2")


def test_message_of_unknown_place_need_not_be_shown_first(observer: Observer) -> None:
    observer.queue(partitioned=False)
    later = v.Schedule(queue="q", message=v.Message(body="m8"), delay=1_000_000)
    observer.has(later, v.Scheduled(sequence_number=8))
    observer.bodies = 8
    observer.send()
    scheduled = shown("m8", state=v.MessageState.SCHEDULED)
    assert observer.saw(PEEK, scheduled).possible
    observer.has(v.AdvanceClock(duration=2_000_000))
    assert begins(observer, "m9")
    observer.has(SEVERAL, v.Peeked(messages=(view("m9", 0, 9), view("m8", 0, 10))))
    observer.has(PEEK, v.Peeked(messages=(view("m8", 0, 10),)))


def test_locked_scheduled_message_need_not_be_shown_first(observer: Observer) -> None:
    observer.queue()
    later = v.Schedule(queue="q", message=v.Message(body="m8"), delay=1_000_000)
    observer.has(later, v.Scheduled())
    observer.has(v.AdvanceClock(duration=2_000_000))
    observer.has(LOCK, received("m8", 1, 8, lock_token="l"))
    observer.bodies = 8
    observer.send(partition=1)
    assert begins(observer, "m9", partition=1)


def test_either_of_two_equal_messages_may_be_shown(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send()
    observer.send(body="m7")
    observer.send(body="m7")
    assert begins(observer, "m7")


@pytest.mark.parametrize("key", [{}, {"partition_key": "k"}], ids=["without a key", "of one key"])
def test_received_message_of_an_unanswered_send_may_stand_anywhere(
    observer: Observer, key: dict[str, str]
) -> None:
    """It is there, and a receiver holds it; but it may have come after the other."""
    observer.queue()
    observer.send(LOST, **key)
    observer.send(partition=1, **key)
    numbers = (("m2", 1), ("m1", 2))
    for body, number in numbers:
        lock = {"lock_token": body, "locked_until": 60_000_000}
        observer.has(LOCK, received(body, 1, number, **lock, **key))
    observer.has(
        SEVERAL, v.Peeked(messages=tuple(view(body, 1, at, **key) for body, at in numbers))
    )


def test_buffered_send_is_not_older(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(v.BeginTransaction(transaction="t"))
    observer.send(transaction="t")
    observer.send()
    observer.has(v.CommitTransaction(transaction="t"))
    assert begins(observer, "m1")


def test_a_part_of_a_history_does_not_say_what_a_peek_has_to_show() -> None:
    observer = regular(observing(partial=True))
    assert begins(observer, "m2")
    observer.has(PEEK, v.Peeked())


def test_a_silent_edition_names_no_first_message() -> None:
    """But a peek of a regular entity still shows what is there."""
    observer = regular(observing(silent=frozenset({"PART-14"})))
    assert begins(observer, "m2")
    assert observer.saw(PEEK, v.Peeked()).rules[0] == "LIFE-07"


@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "regular"])
def test_a_peek_of_dead_letters_shows_what_is_there(*, partitioned: bool) -> None:
    """In a partitioned entity an empty partition may answer first (PEEK-EMPTY)."""
    observer = observing()
    observer.queue(partitioned=partitioned)
    observer.send(partition=0)
    observer.has(LOCK, received("m1", 0, lock_token="l", locked_until=60_000_000))
    observer.has(v.DeadLetter(queue="q", lock_token="l", reason="spoiled"))
    found = observer.saw(v.Peek(queue="q/$deadletterqueue"), v.Peeked())
    assert bool(found.possible) is partitioned
    assert partitioned or found.rules[0] == "LIFE-07"


def test_a_peek_of_a_regular_subscription_shows_every_copy_by_its_number() -> None:
    observer = observing()
    observer.has(v.CreateTopic(topic="t", partitioned=False))
    observer.has(v.CreateSubscription(topic="t", subscription="s"))
    path = "t/subscriptions/s"
    for body in ("m1", "m2"):
        observer.has(v.Send(queue="t", message=v.Message(body=body)))
    assert observer.saw(v.Peek(queue=path), v.Peeked()).rules[0] == "LIFE-07"
    both = (view("m1", 0, 1), view("m2", 0, 2))
    second = v.Peeked(messages=both[1:])
    observer.has(v.Peek(queue=path), second)
    observer.has(v.Peek(queue=path, count=2), v.Peeked(messages=both))
    assert observer.saw(v.Peek(queue=path), second).rules[0] == "LIFE-07"


def test_peek_from_a_number_or_session_shows_no_first_message(observer: Observer) -> None:
    regular(observer)
    observer.has(v.Peek(queue="q", from_sequence_number=2), shown("m2"))
    observer.has(v.Peek(queue="q", session_id="a"), v.Peeked())


def test_first_message_is_open_in_an_outage(observer: Observer) -> None:
    regular(observer)
    observer.has(v.TakePartitionDown(queue="q", partition=0))
    assert begins(observer, "m2")


def test_first_message_is_open_after_forwarding(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(v.CreateQueue(queue="source", partitioned=False, forward_to="q"))
    observer.has(v.Send(queue="source", message=v.Message(body="n1")))
    observer.send()
    observer.send()
    assert begins(observer, "m2")


def test_on_a_real_clock_sends_side_by_side_have_no_order() -> None:
    observer = observing(clock=v.Clock.REAL)
    observer.has(v.CreateQueue(queue="q", partitioned=False), DONE, at=(0, 1))
    for number, at in enumerate(((2, 9), (4, 8), (20, 21)), start=1):
        message = v.Message(body=f"m{number}")
        observer.has(v.Send(queue="q", message=message), DONE, at=at)
    assert observer.saw(PEEK, shown("m2"), at=(30, 31)).possible
    assert not observer.saw(PEEK, shown("m3"), at=(32, 33)).possible


def test_a_peek_begins_with_the_oldest_of_one_partition(observer: Observer) -> None:
    observer.queue()
    for partition in (1, 2, 1, 2):
        observer.send(partition=partition)
    assert observer.saw(PEEK, shown("m3", partition=1)).rules[0] == "PART-15"
    assert {"PART-15", "PART-16"} <= set(observer.saw(PEEK, shown("m2", partition=2)).rules)
    assert {"PART-15", "PART-16"} <= set(observer.saw(PEEK, shown("m1", partition=1)).rules)
    observer.has(PEEK, v.Peeked())
    observer.has(TAKE, received("m1", 1, 1))
    assert begins(observer, "m3", partition=1)


def test_partition_of_a_message_may_be_learned_before_a_peek(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.send()
    observer.has(PEEK, shown("m2", partition=2))
    observer.has(LOCK, received("m1", 2, 1, lock_token="l"))
    assert observer.saw(PEEK, shown("m2", partition=2)).rules[0] == "PART-15"


def test_observer_without_partitions_allows_any_first_message() -> None:
    observer = observing(partitions=4, witness=False)
    observer.queue()
    observer.send()
    observer.send()
    assert begins(observer, "m2")


@pytest.mark.parametrize(
    ("reading", "allowed"), [("either", True), ("nothing", True), ("next-partition", False)]
)
def test_readings_decide_what_an_empty_partition_shows(reading: str, allowed: bool) -> None:
    observer = observing({"PEEK-EMPTY": reading})
    observer.queue()
    observer.has(PEEK, v.Peeked())
    observer.send(partition=1)
    found = observer.saw(PEEK, v.Peeked())
    assert bool(found.possible) is allowed
    if allowed:
        assert "PART-21" in found.rules
    else:
        assert found.rules[0] == "PART-15"


@pytest.mark.parametrize(("reading", "allowed"), [("exceptions", True), ("identical", False)])
def test_first_message_of_a_peek_follows_the_reading(reading: str, allowed: bool) -> None:
    observer = observing({"LIKE-REGULAR": reading})
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.send(partition=2, partition_key="b")
    second = view("m2", 2, 2, partition_key="b")
    found = observer.saw(PEEK, v.Peeked(messages=(second,)))
    assert bool(found.possible) is allowed
    assert ("PART-15" if not allowed else "PART-16") in found.rules
    first = observer.saw(PEEK, v.Peeked(messages=(view("m1", 1, partition_key="a"),)))
    assert ("PART-16" in first.rules) is allowed
