"""TOPIC-01 to TOPIC-20: what a topic and its subscriptions may answer, and what they may not."""

import pytest
from telling import DONE, INVALID, LOST, OTHER, Told, received, telling, view

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


def with_topic(told: Told, *subscriptions: str, **settings: object) -> Told:
    told.has(CreateTopic(topic="t", **settings))
    for name in subscriptions:
        told.has(subscribe(name))
    return told


def test_every_subscription_gives_a_copy_once(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(publish("m"), partition=2)
    for name in ("s", "r"):
        seen = told.saw(take(name), received("m", 2))
        assert {"TOPIC-01", "TOPIC-08", "TOPIC-09"} <= set(seen.rules)
    assert "TOPIC-02" in seen.rules
    again = told.saw(take(), received("m", 2))
    assert again.possible == ()
    assert {"TOPIC-01", "LIFE-03"} <= set(again.rules)


def test_a_subscription_that_gives_nothing_withholds_its_copy(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m"))
    seen = told.saw(take(), Empty())
    assert seen.possible == ()
    assert {"TOPIC-01", "TOPIC-09"} <= set(seen.rules)


def test_copies_do_not_depend_on_each_other(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(publish("m"))
    locked = received("m", 1, lock_token="k")
    told.has(Receive(queue=path("s")), locked)
    assert "TOPIC-20" in told.saw(Complete(queue=path("s"), lock_token="k")).rules
    told.has(take("r"), received("m", 1))


def test_a_message_from_before_the_subscription_is_not_in_it(told: Told) -> None:
    with_topic(told)
    told.has(publish("m"))
    told.has(subscribe())
    assert "TOPIC-03" in told.saw(take(), received("m")).rules
    assert "TOPIC-03" in told.saw(take(), Empty()).rules


def test_a_message_that_nobody_subscribes_to_is_accepted(told: Told) -> None:
    with_topic(told)
    assert "TOPIC-04" in told.saw(publish("m")).rules
    refused = told.saw(publish("n"), OTHER)
    assert refused.possible == ()
    assert "TOPIC-04" in refused.rules


@pytest.mark.parametrize(
    ("command", "nothing"), [(Receive(queue="t"), Empty()), (Peek(queue="t"), Peeked())]
)
@pytest.mark.parametrize("refusal", [INVALID, OTHER, NOT_FOUND])
def test_a_topic_gives_no_message(command: object, nothing: Outcome, refusal: Outcome) -> None:
    told = with_topic(telling(), "s")
    told.has(publish("m"))
    assert "TOPIC-05" in told.saw(command, nothing).rules
    assert "TOPIC-05" in told.saw(command, refusal).rules
    shown = received("m") if isinstance(nothing, Empty) else Peeked(messages=(view("m"),))
    wrong = told.saw(command, shown)
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
def test_a_subscription_is_not_asked_what_a_topic_is(told: Told, command: object) -> None:
    with_topic(told, "s")
    assert "TOPIC-06" in told.saw(command, INVALID).rules
    assert told.saw(command).possible == ()


def test_a_queue_has_no_subscriptions(told: Told) -> None:
    told.has(CreateQueue(queue="t"))
    assert told.saw(subscribe()).possible == ()
    told.has(subscribe(), INVALID)
    told.has(subscribe(), LOST)
    told.has(take(), NOT_FOUND)


def test_a_subscription_needs_its_topic(told: Told) -> None:
    assert told.saw(subscribe()).rules == ("TOPIC-19",)
    assert told.saw(subscribe(), OTHER).possible == ()
    assert told.saw(subscribe(), NOT_FOUND).rules == ("TOPIC-19",)


def test_names_of_topics_and_subscriptions_are_taken_once(told: Told) -> None:
    with_topic(told, "s")
    for command in (CreateTopic(topic="t"), subscribe("s"), CreateQueue(queue="t")):
        assert told.saw(command).possible == ()
        told.has(command, EXISTS)


def test_a_key_selects_a_partition_of_the_topic(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m", partition_key="a"), partition=1)
    wrong = told.saw(publish("n", partition_key="a"), DONE, 2)
    assert wrong.possible == ()
    assert "TOPIC-07" in wrong.rules
    assert "TOPIC-07" in told.saw(publish("n", partition_key="a"), DONE, 1).rules


def test_a_key_selects_a_partition_of_each_subscription(told: Told) -> None:
    with_topic(told, "s")
    for body in ("m", "n", "o"):
        told.has(publish(body, partition_key="a"), partition=1)
    told.has(take(), received("m", 3, 1, partition_key="a"))
    wrong = told.saw(take(), received("n", 2, 2, partition_key="a"))
    assert wrong.possible == ()
    assert "TOPIC-07" in wrong.rules
    assert "TOPIC-07" in told.saw(take(), received("n", 3, 2, partition_key="a")).rules


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("same", False)])
def test_the_readings_of_where_copies_are_differ_in_their_partition(
    reading: str, allowed: bool
) -> None:
    told = with_topic(telling({"SUBSCRIPTION-PARTITIONS": reading}), "s")
    told.has(publish("m", partition_key="a"), partition=1)
    elsewhere = received("m", 2, partition_key="a")
    assert bool(told.saw(take(), elsewhere).possible) is allowed


def test_copies_in_the_partition_of_their_message_tell_where_keys_lead() -> None:
    told = with_topic(telling({"SUBSCRIPTION-PARTITIONS": "same"}), "s")
    told.has(publish("m", partition_key="a"))
    told.has(take(), received("m", 3, partition_key="a"))
    assert told.saw(publish("n", partition_key="a"), DONE, 2).possible == ()
    told.has(publish("n", partition_key="a"), DONE, partition=3)


def test_a_key_whose_partition_is_down_is_refused_by_the_topic(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m", partition_key="a"), partition=1)
    told.has(TakePartitionDown(queue="t", partition=1))
    assert told.saw(publish("n", partition_key="a"), DONE, 2).possible == ()
    assert "TOPIC-10" in told.saw(publish("n", partition_key="a"), UNAVAILABLE).rules
    told.has(BringPartitionUp(queue="t", partition=1))
    wrong = told.saw(take(), received("n", 1))
    assert wrong.possible == ()
    assert "TOPIC-10" in wrong.rules


def test_a_subscription_has_the_outages_of_its_topic(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m", partition_key="a"), partition=1)
    told.has(TakePartitionDown(queue="t", partition=1))
    told.has(take(), Empty())
    told.has(BringPartitionUp(queue="t", partition=1))
    assert told.saw(take(), Empty()).possible == ()


def test_a_message_without_key_goes_round_an_outage_of_the_topic(told: Told) -> None:
    with_topic(told, "s")
    told.has(TakePartitionDown(queue="t", partition=0))
    wrong = told.saw(publish("m"), UNAVAILABLE)
    assert wrong.possible == ()
    assert "TOPIC-11" in wrong.rules
    assert "TOPIC-11" in told.saw(publish("m"), DONE, 3).rules


def test_copies_are_detected_at_the_topic(told: Told) -> None:
    with_topic(told, "s", duplicate_detection=True)
    told.has(publish("m", message_id="x"))
    assert "TOPIC-12" in told.saw(publish("n", message_id="x")).rules
    told.has(take(), received("m", message_id="x"))
    wrong = told.saw(take(), received("n", number=2, message_id="x"))
    assert wrong.possible == ()
    assert "TOPIC-12" in wrong.rules
    told.has(take(), Empty())


def test_a_subscription_may_require_sessions(told: Told) -> None:
    with_topic(told, "plain")
    told.has(subscribe(requires_session=True))
    for body in ("m", "n"):
        told.has(publish(body, session_id="a"))
    told.has(publish("o"))
    accepting = AcceptSession(queue=path("s"), session_id="a")
    assert told.saw(take(session_id="a"), received("m", session_id="a")).possible == ()
    told.has(accepting)
    wrong = told.saw(take(session_id="a"), received("n", session_id="a"))
    assert wrong.possible == ()
    assert "TOPIC-14" in wrong.rules
    right = told.saw(take(session_id="a"), received("m", session_id="a"))
    assert {"TOPIC-13", "TOPIC-14"} <= set(right.rules)
    told.has(take(session_id="a"), received("n", number=2, session_id="a"))
    told.has(take(session_id="a"), Empty())
    told.has(take("plain"), received("o"))


def test_a_transaction_reaches_all_subscriptions_at_its_commit(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"))
    early = told.saw(take(), received("m", partition_key="a"))
    assert early.possible == ()
    assert "TOPIC-15" in early.rules
    assert "TOPIC-15" in told.saw(CommitTransaction(transaction="x")).rules
    for name in ("s", "r"):
        told.has(take(name), received("m", partition_key="a"))


def test_a_transaction_on_a_partitioned_topic_needs_one_key(told: Told) -> None:
    with_topic(told, "s")
    told.has(BeginTransaction(transaction="x"))
    assert "TOPIC-16" in told.saw(publish("m", "x")).rules
    assert "TOPIC-16" in told.saw(publish("m", "x"), INVALID).rules


def test_a_send_that_was_lost_may_be_in_every_subscription_or_in_none(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(publish("m"), LOST)
    told.has(take("s"), Empty())
    told.has(take("r"), received("m"))


def test_a_send_lost_in_a_transaction_may_arrive_after_it(told: Told) -> None:
    with_topic(told, "s")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"), LOST)
    told.has(CommitTransaction(transaction="x"))
    told.has(take(), Empty())
    told.has(take(), received("m", partition_key="a"))


def test_a_creation_that_was_lost_may_have_happened(told: Told) -> None:
    told.has(CreateTopic(topic="t"), LOST)
    told.has(CreateTopic(topic="t"), LOST)
    told.has(subscribe(), NOT_FOUND)
    told.has(subscribe(), LOST)
    told.has(subscribe(), LOST)
    told.has(publish("m"), NOT_FOUND)
    told.has(publish("n"))
    told.has(take(), Empty())
    told.has(publish("o"))
    assert told.saw(take(), NOT_FOUND).possible == ()
    told.has(take(), received("n"))
    told.has(take(), received("o", number=2))
    assert told.saw(CreateTopic(topic="t")).possible == ()


def test_a_creation_that_was_lost_can_be_repeated(told: Told) -> None:
    told.has(CreateTopic(topic="t"), LOST)
    told.has(CreateTopic(topic="t"), DONE)
    told.has(subscribe(), LOST)
    told.has(subscribe(), DONE)
    told.has(publish("m"))
    assert told.saw(take(), Empty()).possible == ()


@pytest.mark.parametrize("outcome", [Done(), INVALID])
def test_premium_need_not_have_partitioned_topics(outcome: Outcome) -> None:
    told = telling(tier=Tier.PREMIUM)
    told.has(CreateTopic(topic="t"), outcome)


@pytest.mark.parametrize("outcome", [Done(), INVALID])
def test_basic_need_not_have_topics(outcome: Outcome) -> None:
    told = telling(tier=Tier.BASIC)
    told.has(CreateTopic(topic="t"), outcome)


def test_time_passes_in_subscriptions(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m"))
    told.has(Receive(queue=path("s")), received("m", lock_token="k"))
    told.has(AdvanceClock(duration=70_000_000))
    again = told.saw(Receive(queue=path("s")), received("m", lock_token="l"))
    assert "TOPIC-20" in again.rules


def test_a_subscription_has_dead_letters_of_its_own(told: Told) -> None:
    """Which are as available as the topic is, before and after they came to be."""
    with_topic(told, "s", "r")
    told.has(publish("m"), partition=1)
    told.has(Receive(queue=path("s")), received("m", 1, lock_token="k"))
    told.has(DeadLetter(queue=path("s"), lock_token="k", reason="bad"))
    from_dead = Receive(queue=dead(path("s")), mode=ReceiveMode.RECEIVE_AND_DELETE)
    assert not told.saw(from_dead, Empty()).possible
    assert told.saw(from_dead, received("m", 1, dead_letter_reason="bad")).possible
    told.has(TakePartitionDown(queue="t", partition=1))
    assert told.saw(from_dead, UNAVAILABLE).possible
    told.has(BringPartitionUp(queue="t", partition=1))
    assert not told.saw(from_dead, UNAVAILABLE).possible
    assert told.saw(Receive(queue=dead(path("r"))), Empty()).possible
    told.has(take("r"), received("m", 1))


def test_a_topic_has_no_dead_letters(told: Told) -> None:
    """Who asks for some is refused, or given none; nothing is sent there."""
    with_topic(told, "s")
    told.has(publish("m"))
    for outcome in (Empty(), OTHER):
        assert told.saw(Receive(queue=dead("t")), outcome).possible
    assert not told.saw(Receive(queue=dead("t")), received("m")).possible
    assert not told.saw(Send(queue=dead("t"), message=Message(body="n"))).possible


@pytest.mark.parametrize("creation", [CreateTopic(topic=dead("t")), subscribe("$deadletterqueue")])
def test_no_entity_is_named_like_dead_letters(told: Told, creation: object) -> None:
    with_topic(told)
    assert told.saw(creation, OTHER).possible
    assert not told.saw(creation).possible


def test_a_subscription_has_no_longer_locks_than_a_queue(told: Told) -> None:
    """LOCK-03: it is refused, or its locks are shorter."""
    with_topic(told)
    longer = subscribe(lock_duration=301_000_000)
    assert "LOCK-03" in told.saw(longer, INVALID).rules
    assert "LOCK-03" in told.saw(longer).rules
    told.has(publish("m"))
    told.has(Receive(queue=path("s")), received("m", 1, lock_token="k"))
    told.has(AdvanceClock(duration=300_000_001))
    assert told.saw(take(), received("m", 1)).possible


def test_either_of_two_unanswered_creations_may_be_first(told: Told) -> None:
    with_topic(told)
    told.has(CreateQueue(queue="end"))
    told.has(subscribe(forward_to="end"), LOST)
    told.has(subscribe(), LOST)
    told.has(subscribe(), LOST)
    assert 2 == len(told.possible)
    told.has(publish("m"), partition=0)
    told.has(take(), received("m"))
    assert 1 == len(told.possible)
    told.has(subscribe(), EXISTS)


def test_a_creation_that_cannot_succeed_leaves_nothing_when_its_answer_is_lost(told: Told) -> None:
    told.has(subscribe(), NOT_FOUND)
    told.has(CreateQueue(queue="q", forward_to="end"), LOST)
    told.has(CreateQueue(queue="q", forward_to="end"), NOT_FOUND)
    assert told.saw(Peek(queue="q"), Peeked()).possible == ()


def test_subscriptions_outlast_the_doubt_whether_their_topic_was_there(told: Told) -> None:
    told.has(CreateTopic(topic="t", partitioned=False), LOST)
    told.has(subscribe(), LOST)
    told.has(CreateTopic(topic="t"))
    told.has(publish("m"), partition=2)
    told.has(take(), received("m", 2))
    told.has(subscribe(), EXISTS)


def test_a_subscription_that_forwards_passes_on_what_arrives_late(told: Told) -> None:
    with_topic(told)
    told.has(CreateQueue(queue="end"))
    told.has(publish("m"), LOST)
    told.has(subscribe(forward_to="end"))
    told.has(Receive(queue="end"), received("m", 1))
