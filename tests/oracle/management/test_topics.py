"""TOPIC-01 to TOPIC-20: what a topic and its subscriptions may answer, and what they may not."""

import pytest
from observing import DONE, INVALID, LOST, OTHER, Observer, observing, received, view

from busproof.vocabulary.commands import (
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Peek,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Empty, Outcome, Peeked, Refused
from busproof.vocabulary.values import Error, ReceiveMode, Tier

NOT_FOUND = Refused(error=Error.NOT_FOUND)
EXISTS = Refused(error=Error.ALREADY_EXISTS)
UNAVAILABLE = Refused(error=Error.UNAVAILABLE)


def path(name: str) -> str:
    return f"t/subscriptions/{name}"


def dead(name: str) -> str:
    return f"{name}/$deadletterqueue"


def subscribe(name: str = "s", **settings: object) -> CreateSubscription:
    return CreateSubscription(topic="t", subscription=name, **settings)


def publish(body: str, transaction: str | None = None, **properties: object) -> Send:
    return Send(queue="t", message=Message(body=body, **properties), transaction=transaction)


def take(name: str = "s", session_id: str | None = None) -> Receive:
    return Receive(queue=path(name), mode=ReceiveMode.RECEIVE_AND_DELETE, session_id=session_id)


def with_topic(observer: Observer, *subscriptions: str, **settings: object) -> Observer:
    observer.has(CreateTopic(topic="t", **settings))
    for name in subscriptions:
        observer.has(subscribe(name))
    return observer


def test_every_subscription_gives_a_copy_once(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"), partition=2)
    for name in ("s", "r"):
        seen = observer.saw(take(name), received("m", 2))
        assert {"TOPIC-01", "TOPIC-08", "TOPIC-09"} <= set(seen.rules)
    assert "TOPIC-02" in seen.rules
    again = observer.saw(take(), received("m", 2))
    assert again.possible == ()
    assert {"TOPIC-01", "LIFE-03"} <= set(again.rules)


def test_a_subscription_that_gives_nothing_withholds_its_copy(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m"))
    seen = observer.saw(take(), Empty())
    assert seen.possible == ()
    assert {"TOPIC-01", "TOPIC-09"} <= set(seen.rules)


def test_copies_do_not_depend_on_each_other(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"))
    locked = received("m", 1, lock_token="k")
    observer.has(Receive(queue=path("s")), locked)
    assert "TOPIC-20" in observer.saw(Complete(queue=path("s"), lock_token="k")).rules
    observer.has(take("r"), received("m", 1))


def test_a_message_from_before_the_subscription_is_not_in_it(observer: Observer) -> None:
    with_topic(observer)
    observer.has(publish("m"))
    observer.has(subscribe())
    assert "TOPIC-03" in observer.saw(take(), received("m")).rules
    assert "TOPIC-03" in observer.saw(take(), Empty()).rules


def test_a_message_that_nobody_subscribes_to_is_accepted(observer: Observer) -> None:
    with_topic(observer)
    assert "TOPIC-04" in observer.saw(publish("m")).rules
    refused = observer.saw(publish("n"), OTHER)
    assert refused.possible == ()
    assert "TOPIC-04" in refused.rules


@pytest.mark.parametrize(
    ("command", "nothing"), [(Receive(queue="t"), Empty()), (Peek(queue="t"), Peeked())]
)
@pytest.mark.parametrize("refusal", [INVALID, OTHER, NOT_FOUND])
def test_a_topic_gives_no_message(command: object, nothing: Outcome, refusal: Outcome) -> None:
    observer = with_topic(observing(), "s")
    observer.has(publish("m"))
    assert "TOPIC-05" in observer.saw(command, nothing).rules
    assert "TOPIC-05" in observer.saw(command, refusal).rules
    shown = received("m") if isinstance(nothing, Empty) else Peeked(messages=(view("m"),))
    wrong = observer.saw(command, shown)
    assert wrong.possible == ()
    assert "TOPIC-05" in wrong.rules


@pytest.mark.parametrize(
    "command",
    [
        Send(queue=path("s"), message=Message(body="m")),
        TakePartitionDown(queue=path("s"), partition=0),
        CreateSubscription(topic=path("s"), subscription="r"),
    ],
)
def test_a_subscription_is_not_asked_what_a_topic_is(observer: Observer, command: object) -> None:
    with_topic(observer, "s")
    assert "TOPIC-06" in observer.saw(command, INVALID).rules
    assert observer.saw(command).possible == ()


def test_a_queue_has_no_subscriptions(observer: Observer) -> None:
    observer.has(CreateQueue(queue="t"))
    assert observer.saw(subscribe()).possible == ()
    observer.has(subscribe(), INVALID)
    observer.has(subscribe(), LOST)
    observer.has(take(), NOT_FOUND)


def test_a_subscription_needs_its_topic(observer: Observer) -> None:
    assert observer.saw(subscribe()).rules == ("TOPIC-19",)
    assert observer.saw(subscribe(), OTHER).possible == ()
    assert observer.saw(subscribe(), NOT_FOUND).rules == ("TOPIC-19",)


def test_names_of_topics_and_subscriptions_are_taken_once(observer: Observer) -> None:
    with_topic(observer, "s")
    for command in (CreateTopic(topic="t"), subscribe("s"), CreateQueue(queue="t")):
        assert observer.saw(command).possible == ()
        observer.has(command, EXISTS)


def test_a_key_selects_a_partition_of_the_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    wrong = observer.saw(publish("n", partition_key="a"), DONE, 2)
    assert wrong.possible == ()
    assert "TOPIC-07" in wrong.rules
    assert "TOPIC-07" in observer.saw(publish("n", partition_key="a"), DONE, 1).rules


def test_a_key_selects_a_partition_of_each_subscription(observer: Observer) -> None:
    with_topic(observer, "s")
    for body in ("m", "n", "o"):
        observer.has(publish(body, partition_key="a"), partition=1)
    observer.has(take(), received("m", 3, 1, partition_key="a"))
    wrong = observer.saw(take(), received("n", 2, 2, partition_key="a"))
    assert wrong.possible == ()
    assert "TOPIC-07" in wrong.rules
    assert "TOPIC-07" in observer.saw(take(), received("n", 3, 2, partition_key="a")).rules


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("same", False)])
def test_the_readings_of_where_copies_are_differ_in_their_partition(
    reading: str, allowed: bool
) -> None:
    observer = with_topic(observing({"SUBSCRIPTION-PARTITIONS": reading}), "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    elsewhere = received("m", 2, partition_key="a")
    assert bool(observer.saw(take(), elsewhere).possible) is allowed


def test_copies_in_the_partition_of_their_message_show_where_keys_lead() -> None:
    observer = with_topic(observing({"SUBSCRIPTION-PARTITIONS": "same"}), "s")
    observer.has(publish("m", partition_key="a"))
    observer.has(take(), received("m", 3, partition_key="a"))
    assert observer.saw(publish("n", partition_key="a"), DONE, 2).possible == ()
    observer.has(publish("n", partition_key="a"), DONE, partition=3)


def test_a_key_whose_partition_is_down_is_refused_by_the_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    observer.has(TakePartitionDown(queue="t", partition=1))
    assert observer.saw(publish("n", partition_key="a"), DONE, 2).possible == ()
    assert "TOPIC-10" in observer.saw(publish("n", partition_key="a"), UNAVAILABLE).rules
    observer.has(BringPartitionUp(queue="t", partition=1))
    wrong = observer.saw(take(), received("n", 1))
    assert wrong.possible == ()
    assert "TOPIC-10" in wrong.rules


def test_a_subscription_has_the_outages_of_its_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    observer.has(TakePartitionDown(queue="t", partition=1))
    observer.has(take(), Empty())
    observer.has(BringPartitionUp(queue="t", partition=1))
    assert observer.saw(take(), Empty()).possible == ()


def test_a_message_without_key_goes_round_an_outage_of_the_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(TakePartitionDown(queue="t", partition=0))
    wrong = observer.saw(publish("m"), UNAVAILABLE)
    assert wrong.possible == ()
    assert "TOPIC-11" in wrong.rules
    assert "TOPIC-11" in observer.saw(publish("m"), DONE, 3).rules


def test_copies_are_detected_at_the_topic(observer: Observer) -> None:
    with_topic(observer, "s", duplicate_detection=True)
    observer.has(publish("m", message_id="x"))
    assert "TOPIC-12" in observer.saw(publish("n", message_id="x")).rules
    observer.has(take(), received("m", message_id="x"))
    wrong = observer.saw(take(), received("n", number=2, message_id="x"))
    assert wrong.possible == ()
    assert "TOPIC-12" in wrong.rules
    observer.has(take(), Empty())


def test_a_subscription_may_require_sessions(observer: Observer) -> None:
    with_topic(observer, "plain")
    observer.has(subscribe(requires_session=True))
    for body in ("m", "n"):
        observer.has(publish(body, session_id="a"))
    observer.has(publish("o"))
    accepting = AcceptSession(queue=path("s"), session_id="a")
    assert observer.saw(take(session_id="a"), received("m", session_id="a")).possible == ()
    observer.has(accepting)
    wrong = observer.saw(take(session_id="a"), received("n", session_id="a"))
    assert wrong.possible == ()
    assert "TOPIC-14" in wrong.rules
    right = observer.saw(take(session_id="a"), received("m", session_id="a"))
    assert {"TOPIC-13", "TOPIC-14"} <= set(right.rules)
    observer.has(take(session_id="a"), received("n", number=2, session_id="a"))
    observer.has(take(session_id="a"), Empty())
    observer.has(take("plain"), received("o"))


def test_a_transaction_reaches_all_subscriptions_at_its_commit(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"))
    early = observer.saw(take(), received("m", partition_key="a"))
    assert early.possible == ()
    assert "TOPIC-15" in early.rules
    assert "TOPIC-15" in observer.saw(CommitTransaction(transaction="x")).rules
    for name in ("s", "r"):
        observer.has(take(name), received("m", partition_key="a"))


def test_a_transaction_on_a_partitioned_topic_needs_one_key(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(BeginTransaction(transaction="x"))
    assert "TOPIC-16" in observer.saw(publish("m", "x")).rules
    assert "TOPIC-16" in observer.saw(publish("m", "x"), INVALID).rules


def test_a_send_that_was_lost_may_be_in_every_subscription_or_in_none(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"), LOST)
    observer.has(take("s"), Empty())
    observer.has(take("r"), received("m"))


def test_a_send_lost_in_a_transaction_may_arrive_after_it(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"), LOST)
    observer.has(CommitTransaction(transaction="x"))
    observer.has(take(), Empty())
    observer.has(take(), received("m", partition_key="a"))


def test_a_creation_that_was_lost_may_have_happened(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(subscribe(), NOT_FOUND)
    observer.has(subscribe(), LOST)
    observer.has(subscribe(), LOST)
    observer.has(publish("m"), NOT_FOUND)
    observer.has(publish("n"))
    observer.has(take(), Empty())
    observer.has(publish("o"))
    assert observer.saw(take(), NOT_FOUND).possible == ()
    observer.has(take(), received("n"))
    observer.has(take(), received("o", number=2))
    assert observer.saw(CreateTopic(topic="t")).possible == ()


def test_a_creation_that_was_lost_can_be_repeated(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(CreateTopic(topic="t"), DONE)
    observer.has(subscribe(), LOST)
    observer.has(subscribe(), DONE)
    observer.has(publish("m"))
    assert observer.saw(take(), Empty()).possible == ()


@pytest.mark.parametrize("outcome", [Done(), INVALID])
def test_premium_need_not_have_partitioned_topics(outcome: Outcome) -> None:
    observer = observing(tier=Tier.PREMIUM)
    observer.has(CreateTopic(topic="t"), outcome)


@pytest.mark.parametrize("outcome", [Done(), INVALID])
def test_basic_need_not_have_topics(outcome: Outcome) -> None:
    observer = observing(tier=Tier.BASIC)
    observer.has(CreateTopic(topic="t"), outcome)


def test_time_passes_in_subscriptions(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m"))
    observer.has(Receive(queue=path("s")), received("m", lock_token="k"))
    observer.has(AdvanceClock(duration=70_000_000))
    again = observer.saw(Receive(queue=path("s")), received("m", lock_token="l"))
    assert "TOPIC-20" in again.rules


def test_a_subscription_has_dead_letters_of_its_own(observer: Observer) -> None:
    """Which are as available as the topic is, before and after they came to be."""
    with_topic(observer, "s", "r")
    observer.has(publish("m"), partition=1)
    observer.has(Receive(queue=path("s")), received("m", 1, lock_token="k"))
    observer.has(DeadLetter(queue=path("s"), lock_token="k", reason="bad"))
    from_dead = Receive(queue=dead(path("s")), mode=ReceiveMode.RECEIVE_AND_DELETE)
    assert not observer.saw(from_dead, Empty()).possible
    assert observer.saw(from_dead, received("m", 1, dead_letter_reason="bad")).possible
    observer.has(TakePartitionDown(queue="t", partition=1))
    assert observer.saw(from_dead, UNAVAILABLE).possible
    observer.has(BringPartitionUp(queue="t", partition=1))
    assert not observer.saw(from_dead, UNAVAILABLE).possible
    assert observer.saw(Receive(queue=dead(path("r"))), Empty()).possible
    observer.has(take("r"), received("m", 1))


def test_a_topic_has_no_dead_letters(observer: Observer) -> None:
    """Who asks for some is refused, or given none; nothing is sent there."""
    with_topic(observer, "s")
    observer.has(publish("m"))
    for outcome in (Empty(), OTHER):
        assert observer.saw(Receive(queue=dead("t")), outcome).possible
    assert not observer.saw(Receive(queue=dead("t")), received("m")).possible
    assert not observer.saw(Send(queue=dead("t"), message=Message(body="n"))).possible


@pytest.mark.parametrize("creation", [CreateTopic(topic=dead("t")), subscribe("$deadletterqueue")])
def test_no_entity_is_named_like_dead_letters(observer: Observer, creation: object) -> None:
    with_topic(observer)
    assert observer.saw(creation, OTHER).possible
    assert not observer.saw(creation).possible


def test_a_subscription_has_no_longer_locks_than_a_queue(observer: Observer) -> None:
    """LOCK-03: it is refused, or its locks are shorter."""
    with_topic(observer)
    longer = subscribe(lock_duration=301_000_000)
    assert "LOCK-03" in observer.saw(longer, INVALID).rules
    assert "LOCK-03" in observer.saw(longer).rules
    observer.has(publish("m"))
    observer.has(Receive(queue=path("s")), received("m", 1, lock_token="k"))
    observer.has(AdvanceClock(duration=300_000_001))
    assert observer.saw(take(), received("m", 1)).possible


def test_either_of_two_unanswered_creations_may_be_first(observer: Observer) -> None:
    with_topic(observer)
    observer.has(CreateQueue(queue="end"))
    observer.has(subscribe(forward_to="end"), LOST)
    observer.has(subscribe(), LOST)
    observer.has(subscribe(), LOST)
    assert 2 == len(observer.possible)
    observer.has(publish("m"), partition=0)
    observer.has(take(), received("m"))
    assert 1 == len(observer.possible)
    observer.has(subscribe(), EXISTS)


def test_a_creation_that_cannot_succeed_leaves_nothing_when_its_answer_is_lost(
    observer: Observer,
) -> None:
    observer.has(subscribe(), NOT_FOUND)
    observer.has(CreateQueue(queue="q", forward_to="end"), LOST)
    observer.has(CreateQueue(queue="q", forward_to="end"), NOT_FOUND)
    assert observer.saw(Peek(queue="q"), Peeked()).possible == ()


def test_subscriptions_outlast_the_doubt_whether_their_topic_was_there(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t", partitioned=False), LOST)
    observer.has(subscribe(), LOST)
    observer.has(CreateTopic(topic="t"))
    observer.has(publish("m"), partition=2)
    observer.has(take(), received("m", 2))
    observer.has(subscribe(), EXISTS)


def test_a_subscription_that_forwards_passes_on_what_arrives_late(observer: Observer) -> None:
    with_topic(observer)
    observer.has(CreateQueue(queue="end"))
    observer.has(publish("m"), LOST)
    observer.has(subscribe(forward_to="end"))
    observer.has(Receive(queue="end"), received("m", 1))
