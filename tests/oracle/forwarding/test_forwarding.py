"""FWD-01 to FWD-34, but for FWD-05: where forwarded messages may be, and where they are not."""

import pytest
from observing import (
    DONE,
    INVALID,
    OTHER,
    SECOND,
    Observer,
    is_allowed,
    observing,
    received,
    view,
)

from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Peek,
    Receive,
    RemoveRule,
    RollBackTransaction,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, Message
from busproof.vocabulary.outcomes import (
    Empty,
    Indeterminate,
    Outcome,
    Peeked,
    Refused,
    Scheduled,
)
from busproof.vocabulary.paths import TRANSFERS
from busproof.vocabulary.subscription_rules import DEFAULT_RULE
from busproof.vocabulary.values import Error, ReceiveMode, Tier

NOT_FOUND = Refused(error=Error.NOT_FOUND)
BEGIN = BeginTransaction(transaction="x")
COMMIT = CommitTransaction(transaction="x")
DEAD = "/$deadletterqueue"
TAKE = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)


def send(body: str, queue: str = "q", transaction: str | None = None, **properties: object) -> Send:
    return Send(queue=queue, message=Message(body=body, **properties), transaction=transaction)


def from_dead(queue: str) -> Receive:
    return Receive(queue=queue + DEAD, mode=ReceiveMode.RECEIVE_AND_DELETE)


def from_transfers(queue: str) -> Receive:
    return Receive(queue=queue + TRANSFERS, mode=ReceiveMode.RECEIVE_AND_DELETE)


def pair(
    observer: Observer, source: dict[str, object] | None = None, **settings: object
) -> Observer:
    observer.has(CreateQueue(queue="end", **settings))
    observer.has(CreateQueue(queue="q", forward_to="end", **(source or {})))
    return observer


def chain(observer: Observer, hops: int) -> Observer:
    name = "end"
    observer.has(CreateQueue(queue=name))
    for number in range(hops - 1, -1, -1):
        before = "q" if number == 0 else f"hop{number}"
        observer.has(CreateQueue(queue=before, forward_to=name))
        name = before
    return observer


@pytest.mark.parametrize(
    ("source", "destination", "rule"),
    [
        (True, False, "FWD-01"),
        (False, True, "FWD-02"),
        (True, True, "FWD-03"),
        (False, False, "FWD-06"),
    ],
)
def test_a_forwarded_message_may_take_its_time_and_comes_once(
    observer: Observer, source: bool, destination: bool, rule: str
) -> None:
    pair(observer, {"partitioned": source}, partitioned=destination)
    observer.has(send("m"))
    observer.has(TAKE, Empty())
    seen = observer.saw(TAKE, received("m", 2 * destination))
    assert {rule, "FWD-04", "FWD-14"} <= set(seen.rules)
    again = observer.saw(TAKE, received("m", 2 * destination))
    assert again.possible == ()
    assert {rule, "FWD-14"} <= set(again.rules)


def test_a_forwarded_message_has_what_it_was_sent_with(observer: Observer) -> None:
    pair(observer)
    observer.has(send("m", partition_key="a"))
    wrong = observer.saw(TAKE, received("m"))
    assert wrong.possible == ()
    assert "FWD-07" in wrong.rules
    assert "FWD-07" in observer.saw(TAKE, received("m", partition_key="a")).rules


def test_the_key_leads_where_it_leads_at_the_destination(observer: Observer) -> None:
    pair(observer)
    observer.has(send("m", partition_key="a"), DONE, partition=0)
    observer.has(send("n", "end", partition_key="a"), DONE, partition=3)
    wrong = observer.saw(TAKE, received("m", 1, partition_key="a"))
    assert wrong.possible == ()
    assert "FWD-08" in wrong.rules
    assert "FWD-08" in observer.saw(TAKE, received("m", 3, partition_key="a")).rules


def test_without_a_key_any_partition_may_have_it(observer: Observer) -> None:
    pair(observer)
    observer.has(send("m"), DONE, partition=0)
    assert "FWD-09" in observer.saw(TAKE, received("m", 3)).rules


def test_a_message_id_is_a_key_where_the_destination_makes_it_one(observer: Observer) -> None:
    pair(observer, duplicate_detection=True)
    observer.has(send("m", "end", message_id="x"), DONE, partition=2)
    observer.has(send("n", message_id="x"))
    observer.has(TAKE, received("m", 2, message_id="x"))
    wrong = observer.saw(TAKE, received("n", 1, message_id="x"))
    assert wrong.possible == ()
    assert "FWD-11" in wrong.rules
    assert "FWD-13" in observer.saw(TAKE, Empty()).rules
    assert "FWD-11" in observer.saw(TAKE, received("n", 2, 2, message_id="x")).rules


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("key", False)])
def test_a_message_id_that_was_the_key_may_be_one_at_the_destination(
    reading: str, allowed: bool
) -> None:
    observer = pair(observing({"FORWARD-MESSAGE-ID": reading}), {"duplicate_detection": True})
    for body in ("m", "n"):
        observer.has(send(body, message_id="x" if body == "m" else "y"), DONE, partition=0)
    observer.has(CreateQueue(queue="p", forward_to="end", duplicate_detection=True))
    observer.has(send("o", "p", message_id="x"))
    observer.has(TAKE, received("m", 1, message_id="x"))
    assert bool(observer.saw(TAKE, received("o", 2, 2, message_id="x")).possible) is allowed


def test_a_source_gives_nothing_itself(observer: Observer) -> None:
    pair(observer)
    observer.has(send("m"))
    for outcome in (Empty(), INVALID):
        assert "FWD-15" in observer.saw(Receive(queue="q"), outcome).rules
    wrong = observer.saw(Receive(queue="q"), received("m"))
    assert wrong.possible == ()
    assert {"FWD-14", "FWD-15"} <= set(wrong.rules)
    observer.has(Peek(queue="q"), Peeked(messages=(view("m"),)))
    observer.has(Peek(queue="q"), OTHER)
    assert observer.step(Peek(queue="q"))[-1].outcome == Peeked()


def test_source_may_show_whatever_was_scheduled_there(observer: Observer) -> None:
    pair(observer)
    number = (1 << SEQUENCE_BITS) + 1
    scheduling = Schedule(queue="q", message=Message(body="s"), delay=SECOND)
    observer.has(scheduling, Scheduled(sequence_number=number))
    assert observer.saw(Peek(queue="q"), Peeked(messages=(view("s"),))).possible
    observer.has(CancelScheduled(queue="q", sequence_number=number), DONE)
    assert observer.saw(Peek(queue="q"), Peeked(messages=(view("s"),))).possible
    assert not observer.saw(Peek(queue="q"), Peeked(messages=(view("none"),))).possible


def test_three_hops_are_passed_and_five_are_not() -> None:
    three = chain(observing(), 3)
    three.has(send("m"))
    assert "FWD-16" in three.saw(TAKE, received("m")).rules
    five = chain(observing(), 5)
    five.has(send("m"))
    assert "FWD-18" in five.saw(TAKE, Empty()).rules
    wrong = five.saw(TAKE, received("m"))
    assert wrong.possible == ()
    assert "FWD-18" in wrong.rules


@pytest.mark.parametrize(
    ("reading", "allowed"), [("either", True), ("four", True), ("three", False)]
)
def test_the_readings_of_how_often_differ_in_the_fourth_hop(reading: str, allowed: bool) -> None:
    observer = chain(observing({"FORWARD-HOPS": reading}), 4)
    observer.has(send("m"))
    assert bool(observer.saw(TAKE, received("m")).possible) is allowed


@pytest.mark.parametrize("outcome", [DONE, INVALID, OTHER])
def test_a_source_that_requires_sessions_is_refused_or_does_not_forward(outcome: Outcome) -> None:
    observer = observing()
    observer.has(CreateQueue(queue="end"))
    observer.has(CreateQueue(queue="q", forward_to="end", requires_session=True), outcome)
    if outcome == DONE:
        observer.has(send("m", session_id="a"))
        assert "FWD-25" in observer.saw(TAKE, Empty()).rules
        wrong = observer.saw(TAKE, received("m", session_id="a"))
        assert wrong.possible == ()
        assert "FWD-25" in wrong.rules


def test_a_destination_must_exist(observer: Observer) -> None:
    for session in (False, True):
        source = CreateQueue(queue="q", forward_to="end", requires_session=session)
        wrong = observer.saw(source)
        assert wrong.possible == ()
        assert "FWD-29" in wrong.rules
        assert "FWD-29" in observer.saw(source, NOT_FOUND).rules


@pytest.mark.parametrize("outcome", [DONE, INVALID])
def test_open_cases_of_forwarding_sources_are_permitted(outcome: Outcome) -> None:
    basic = observing(tier=Tier.BASIC)
    basic.has(CreateQueue(queue="end"))
    basic.has(CreateQueue(queue="q", forward_to="end"), outcome)
    observer = observing()
    observer.has(CreateQueue(queue="end"), Indeterminate())
    observer.has(CreateQueue(queue="q", forward_to="end"), outcome)


def test_a_subscription_is_no_destination_that_anything_is_said_of(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(CreateQueue(queue="q", forward_to="t/subscriptions/s"))
    observer.has(send("m"))
    observer.has(Receive(queue="t/subscriptions/s"), Empty())


def test_subscriptions_forward_what_they_take_and_topics_take_it(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateTopic(topic="u"))
    observer.has(CreateSubscription(topic="u", subscription="s"))
    observer.has(CreateSubscription(topic="t", subscription="on", forward_to="u"))
    observer.has(send("m", "t"))
    observer.has(RemoveRule(topic="t", subscription="on", rule=DEFAULT_RULE))
    observer.has(send("n", "t"))
    last = Receive(queue="u/subscriptions/s", mode=ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(last, Empty())
    assert observer.saw(last, received("n")).possible == ()
    assert {"FWD-04", "TOPIC-01"} <= set(observer.saw(last, received("m")).rules)


def test_a_session_source_among_subscriptions_does_not_forward(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"))
    observer.has(CreateTopic(topic="t"))
    source = CreateSubscription(
        topic="t", subscription="s", requires_session=True, forward_to="end"
    )
    assert "FWD-25" in observer.saw(source).rules


def test_a_session_aware_destination_gives_it_in_its_session(observer: Observer) -> None:
    pair(observer, requires_session=True)
    observer.has(send("m", session_id="a"))
    stored = observer.possible[0].queues["end"].messages[0]
    assert "FWD-26" in stored.shows


def test_keys_that_contradict_each_other_bind_to_no_partition(observer: Observer) -> None:
    pair(observer, {"partitioned": False})
    observer.has(send("m", session_id="a", partition_key="b"))
    observer.has(TAKE, received("m", 3, session_id="a", partition_key="b"))


def test_undeliverable_message_may_be_dead_lettered_at_its_source(observer: Observer) -> None:
    """For whatever reason, and once."""
    chain(observer, 2)
    observer.has(send("m"))
    for source in ("q", "hop1"):
        dead = received("m", 1, dead_letter_reason="DestinationGone")
        assert observer.saw(from_dead(source), dead).possible
        assert not observer.saw(from_dead(source), dead).possible
    assert not observer.saw(from_dead("end"), received("m", 1)).possible


def test_a_destination_that_requires_sessions_gives_nobody_what_is_of_none(
    observer: Observer,
) -> None:
    """FWD-27: its dead letters, or those of the source, may have it."""
    pair(observer, requires_session=True)
    observer.has(send("m", partition_key="a"))
    observer.has(AcceptSession(queue="end", session_id="a"))
    in_session = Receive(queue="end", session_id="a", mode=ReceiveMode.RECEIVE_AND_DELETE)
    made_up = observer.saw(in_session, received("m", session_id="a", partition_key="a"))
    assert made_up.possible == ()
    assert "FWD-27" in made_up.rules
    assert "FWD-27" in observer.saw(in_session, Empty()).rules
    dead = received("m", 1, partition_key="a", dead_letter_reason="NoSession")
    assert observer.saw(from_dead("end"), dead).possible


def test_a_session_aware_subscription_dead_letters_what_is_of_no_session(
    observer: Observer,
) -> None:
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s", requires_session=True))
    observer.has(send("m", "t"))
    assert observer.saw(from_dead("t/subscriptions/s"), received("m", 1)).possible


@pytest.mark.parametrize("end", [COMMIT, RollBackTransaction(transaction="x")])
def test_transactional_send_is_forwarded_after_the_commit(observer: Observer, end: object) -> None:
    """FWD-33: and not before it, nor if it is rolled back."""
    pair(observer)
    observer.has(BEGIN)
    assert "FWD-34" in observer.saw(send("m", transaction="x", partition_key="a")).rules
    early = observer.saw(TAKE, received("m", 1, partition_key="a"))
    assert early.possible == ()
    assert "FWD-33" in early.rules
    assert "FWD-33" in observer.saw(TAKE, Empty()).rules
    observer.has(end)
    late = observer.saw(TAKE, received("m", 1, partition_key="a"))
    assert bool(late.possible) is (end is COMMIT)
    assert "FWD-33" in late.rules


def test_a_transaction_asks_for_no_session_of_a_destination(observer: Observer) -> None:
    """FWD-34: the rules of the source are those that hold."""
    pair(observer, requires_session=True)
    observer.has(BEGIN)
    refused = observer.saw(send("m", transaction="x", partition_key="a"), INVALID)
    assert refused.possible == ()
    assert "FWD-34" in refused.rules


def test_a_fourth_hop_may_be_passed(observer: Observer) -> None:
    """FWD-17: either answer is one."""
    chain(observer, 4)
    observer.has(send("m"))
    assert "FWD-17" in observer.saw(TAKE, Empty()).rules
    assert "FWD-17" in observer.saw(TAKE, received("m", 1)).rules


def test_transactional_send_is_at_no_hop_before_the_commit(observer: Observer) -> None:
    chain(observer, 5)
    observer.has(BEGIN)
    observer.has(send("m", transaction="x", partition_key="a"))
    assert not observer.saw(TAKE, received("m", 1, partition_key="a")).possible


def test_a_key_waits_at_the_destination_for_its_partition(observer: Observer) -> None:
    pair(observer)
    at_end = {"queue": "end", "message": Message(body="first", partition_key="a")}
    observer.has(Send(**at_end), partition=2)
    observer.has(TakePartitionDown(queue="end", partition=2))
    observer.send(partition=1, partition_key="a")
    elsewhere = observer.saw(TAKE, received("m1", 1, partition_key="a"))
    assert not elsewhere.possible
    assert "FWD-22" in elsewhere.rules
    observer.has(BringPartitionUp(queue="end", partition=2))
    observer.has(TAKE, received("first", 2, partition_key="a"))
    assert "FWD-22" in observer.saw(TAKE, received("m1", 2, 2, partition_key="a")).rules


def test_without_a_key_it_may_go_round_an_outage_of_the_destination(observer: Observer) -> None:
    pair(observer)
    observer.has(TakePartitionDown(queue="end", partition=2))
    observer.send(partition=1)
    assert is_allowed(observer, TAKE, Empty())
    assert {"FWD-10", "FWD-24"} <= set(observer.saw(TAKE, received("m1", 1)).rules)


def test_keys_that_differ_may_arrive_or_not(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"))
    observer.queue(partitioned=False, forward_to="end")
    both = {"session_id": "a", "partition_key": "b"}
    assert observer.send(**both).possible
    assert is_allowed(observer, TAKE, Empty())
    assert "FWD-28" in observer.saw(TAKE, received("m1", 1, **both)).rules
