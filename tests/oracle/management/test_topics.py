"""TOPIC-01 to TOPIC-20: what a topic and its subscriptions may answer, and what they may not."""

import pytest
from managed_topics import (
    EXISTS,
    NOT_FOUND,
    UNAVAILABLE,
    dead,
    path,
    publish,
    subscribe,
    take,
    with_topic,
)
from observing import INVALID, LOST, OTHER, Observer, observing, received, view

from busproof import vocabulary as v


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
    seen = observer.saw(take(), v.Empty())
    assert seen.possible == ()
    assert {"TOPIC-01", "TOPIC-09"} <= set(seen.rules)


def test_copies_do_not_depend_on_each_other(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"))
    locked = received("m", 1, lock_token="k")
    observer.has(v.Receive(queue=path("s")), locked)
    assert "TOPIC-20" in observer.saw(v.Complete(queue=path("s"), lock_token="k")).rules
    observer.has(take("r"), received("m", 1))


def test_a_message_from_before_the_subscription_is_not_in_it(observer: Observer) -> None:
    with_topic(observer)
    observer.has(publish("m"))
    observer.has(subscribe())
    assert "TOPIC-03" in observer.saw(take(), received("m")).rules
    assert "TOPIC-03" in observer.saw(take(), v.Empty()).rules


def test_a_message_that_nobody_subscribes_to_is_accepted(observer: Observer) -> None:
    with_topic(observer)
    assert "TOPIC-04" in observer.saw(publish("m")).rules
    refused = observer.saw(publish("n"), OTHER)
    assert refused.possible == ()
    assert "TOPIC-04" in refused.rules


@pytest.mark.parametrize(
    ("command", "nothing"), [(v.Receive(queue="t"), v.Empty()), (v.Peek(queue="t"), v.Peeked())]
)
@pytest.mark.parametrize("refusal", [INVALID, OTHER, NOT_FOUND])
def test_a_topic_gives_no_message(command: object, nothing: v.Outcome, refusal: v.Outcome) -> None:
    observer = with_topic(observing(), "s")
    observer.has(publish("m"))
    assert "TOPIC-05" in observer.saw(command, nothing).rules
    assert "TOPIC-05" in observer.saw(command, refusal).rules
    shown = received("m") if isinstance(nothing, v.Empty) else v.Peeked(messages=(view("m"),))
    wrong = observer.saw(command, shown)
    assert wrong.possible == ()
    assert "TOPIC-05" in wrong.rules


@pytest.mark.parametrize(
    "command",
    [
        v.Send(queue=path("s"), message=v.Message(body="m")),
        v.TakePartitionDown(queue=path("s"), partition=0),
        v.CreateSubscription(topic=path("s"), subscription="r"),
    ],
)
def test_a_subscription_is_not_asked_what_a_topic_is(observer: Observer, command: object) -> None:
    with_topic(observer, "s")
    assert "TOPIC-06" in observer.saw(command, INVALID).rules
    assert observer.saw(command).possible == ()


def test_a_queue_has_no_subscriptions(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="t"))
    assert observer.saw(subscribe()).possible == ()
    observer.has(subscribe(), INVALID)
    observer.has(subscribe(), LOST)
    observer.has(take(), NOT_FOUND)


def test_a_subscription_needs_its_topic(observer: Observer) -> None:
    assert observer.saw(subscribe()).rules == ("TOPIC-19",)
    assert observer.saw(subscribe(), OTHER).possible == ()
    assert observer.saw(subscribe(), NOT_FOUND).rules == ("TOPIC-19",)


@pytest.mark.parametrize(
    "otherwise",
    [
        v.CreateSubscription(topic="t" * 261, subscription="s"),
        subscribe("s" * 51),
        subscribe(forward_to="nowhere"),
        subscribe(lock_duration=301 * v.MICROSECONDS),
    ],
)
def test_any_error_may_come_first_without_the_topic(observer: Observer, otherwise: object) -> None:
    observer.has(otherwise, INVALID)
    observer.has(otherwise, NOT_FOUND)
    assert observer.saw(otherwise).possible == ()


def test_a_long_name_of_nothing_may_be_invalid(observer: Observer) -> None:
    observer.has(v.GetQueue(queue="q" * 261), INVALID)
    assert observer.saw(v.GetQueue(queue="q" * 260), INVALID).possible == ()


def test_names_of_topics_and_subscriptions_are_taken_once(observer: Observer) -> None:
    with_topic(observer, "s")
    for command in (v.CreateTopic(topic="t"), subscribe("s"), v.CreateQueue(queue="t")):
        assert observer.saw(command).possible == ()
        observer.has(command, EXISTS)


def test_copies_are_detected_at_the_topic(observer: Observer) -> None:
    with_topic(observer, "s", duplicate_detection=True)
    observer.has(publish("m", message_id="x"))
    assert "TOPIC-12" in observer.saw(publish("n", message_id="x")).rules
    observer.has(take(), received("m", message_id="x"))
    wrong = observer.saw(take(), received("n", number=2, message_id="x"))
    assert wrong.possible == ()
    assert "TOPIC-12" in wrong.rules
    observer.has(take(), v.Empty())


def test_a_subscription_may_require_sessions(observer: Observer) -> None:
    with_topic(observer, "plain")
    observer.has(subscribe(requires_session=True))
    for body in ("m", "n"):
        observer.has(publish(body, session_id="a"))
    observer.has(publish("o"))
    accepting = v.AcceptSession(queue=path("s"), session_id="a")
    assert observer.saw(take(session_id="a"), received("m", session_id="a")).possible == ()
    observer.has(accepting)
    wrong = observer.saw(take(session_id="a"), received("n", session_id="a"))
    assert wrong.possible == ()
    assert "TOPIC-14" in wrong.rules
    right = observer.saw(take(session_id="a"), received("m", session_id="a"))
    assert {"TOPIC-13", "TOPIC-14"} <= set(right.rules)
    observer.has(take(session_id="a"), received("n", number=2, session_id="a"))
    observer.has(take(session_id="a"), v.Empty())
    observer.has(take("plain"), received("o"))


def test_a_transaction_reaches_all_subscriptions_at_its_commit(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"))
    early = observer.saw(take(), received("m", partition_key="a"))
    assert early.possible == ()
    assert "TOPIC-15" in early.rules
    assert "TOPIC-15" in observer.saw(v.CommitTransaction(transaction="x")).rules
    for name in ("s", "r"):
        observer.has(take(name), received("m", partition_key="a"))


def test_a_transaction_on_a_partitioned_topic_needs_one_key(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(v.BeginTransaction(transaction="x"))
    assert "TOPIC-16" in observer.saw(publish("m", "x")).rules
    assert "TOPIC-16" in observer.saw(publish("m", "x"), INVALID).rules


@pytest.mark.parametrize("outcome", [v.Done(), INVALID])
def test_premium_need_not_have_partitioned_topics(outcome: v.Outcome) -> None:
    observer = observing(tier=v.Tier.PREMIUM)
    observer.has(v.CreateTopic(topic="t"), outcome)


@pytest.mark.parametrize("outcome", [v.Done(), INVALID])
def test_basic_need_not_have_topics(outcome: v.Outcome) -> None:
    observer = observing(tier=v.Tier.BASIC)
    observer.has(v.CreateTopic(topic="t"), outcome)


def test_time_passes_in_subscriptions(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m"))
    observer.has(v.Receive(queue=path("s")), received("m", lock_token="k"))
    observer.has(v.AdvanceClock(duration=70_000_000))
    again = observer.saw(v.Receive(queue=path("s")), received("m", lock_token="l"))
    assert "TOPIC-20" in again.rules


def test_a_subscription_has_dead_letters_of_its_own(observer: Observer) -> None:
    """Which are as available as the topic is, before and after they came to be."""
    with_topic(observer, "s", "r")
    observer.has(publish("m"), partition=1)
    observer.has(v.Receive(queue=path("s")), received("m", 1, lock_token="k"))
    observer.has(v.DeadLetter(queue=path("s"), lock_token="k", reason="bad"))
    from_dead = v.Receive(queue=dead(path("s")), mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert not observer.saw(from_dead, v.Empty()).possible
    assert observer.saw(from_dead, received("m", 1, dead_letter_reason="bad")).possible
    observer.has(v.TakePartitionDown(queue="t", partition=1))
    assert observer.saw(from_dead, UNAVAILABLE).possible
    observer.has(v.BringPartitionUp(queue="t", partition=1))
    assert not observer.saw(from_dead, UNAVAILABLE).possible
    assert observer.saw(v.Receive(queue=dead(path("r"))), v.Empty()).possible
    observer.has(take("r"), received("m", 1))


def test_a_topic_has_no_dead_letters(observer: Observer) -> None:
    """Who asks for some is refused, or given none; nothing is sent there."""
    with_topic(observer, "s")
    observer.has(publish("m"))
    for outcome in (v.Empty(), OTHER):
        assert observer.saw(v.Receive(queue=dead("t")), outcome).possible
    assert not observer.saw(v.Receive(queue=dead("t")), received("m")).possible
    assert not observer.saw(v.Send(queue=dead("t"), message=v.Message(body="n"))).possible


@pytest.mark.parametrize(
    "creation", [v.CreateTopic(topic=dead("t")), subscribe("$deadletterqueue")]
)
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
    observer.has(v.Receive(queue=path("s")), received("m", 1, lock_token="k"))
    observer.has(v.AdvanceClock(duration=300_000_001))
    assert observer.saw(take(), received("m", 1)).possible
