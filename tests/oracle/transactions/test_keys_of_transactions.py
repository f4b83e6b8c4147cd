"""Sends that a transaction takes: keys, sessions, outages and second entities."""

import pytest
from in_transactions import COMMIT, begun
from observing import DONE, GONE, INVALID, OTHER, Observer, is_allowed, observing

from busproof import vocabulary as v


def test_one_key_is_accepted_and_another_is_not(observer: Observer) -> None:
    begun(observer)
    assert observer.send(transaction="t", partition=1, partition_key="a").rules == (
        "TXN-01",
        "TXN-11",
    )
    assert observer.send(transaction="t", partition=1, partition_key="a").rules[0] == "TXN-10"
    assert observer.send(transaction="t", partition=2, partition_key="a").rules[:2] == (
        "TXN-10",
        "TXN-05",
    )
    assert observer.send(transaction="t", partition_key="b").rules[0] == "TXN-04"
    assert observer.send(INVALID, transaction="t", partition_key="b").rules == ("TXN-04",)


def test_no_key_is_refused_as_invalid(observer: Observer) -> None:
    begun(observer)
    assert observer.send(transaction="t").rules[0] == "TXN-03"
    assert observer.send(OTHER, transaction="t").rules[0] == "TXN-03"
    assert observer.send(INVALID, transaction="t").rules == ("TXN-03",)


@pytest.mark.parametrize(
    ("reading", "accepted", "refused"),
    [
        ("either", True, True),
        ("with-duplicate-detection", False, True),
        ("always", True, False),
    ],
)
def test_readings_decide_whether_a_message_id_is_a_key_of_a_transaction(
    reading: str, accepted: bool, refused: bool
) -> None:
    for outcome, allowed in ((DONE, accepted), (INVALID, refused)):
        observer = begun(observing({"TXN-MESSAGE-ID": reading}))
        assert bool(observer.send(outcome, transaction="t", message_id="x").possible) is allowed


def test_an_assigned_message_id_may_be_a_key_of_a_transaction() -> None:
    for outcome in (DONE, INVALID):
        observer = begun(observing(assigns_message_ids=True))
        assert observer.send(outcome, transaction="t").possible


def test_sessions_are_asked_for_and_may_not_differ(observer: Observer) -> None:
    begun(observer, requires_session=True)
    assert observer.send(transaction="t", partition_key="a").rules[0] == "TXN-06"
    assert observer.send(transaction="t", session_id="a", partition_key="b").rules[0] == "TXN-07"
    assert (
        observer.send(OTHER, transaction="t", session_id="a", partition_key="b").rules[0]
        == "TXN-07"
    )
    assert observer.send(OTHER, transaction="t", partition_key="a").rules == ("TXN-06",)


def test_the_error_of_a_missing_session_is_free_unless_a_reading_says_which() -> None:
    observer = begun(observing({"SESSION-ERROR": "invalid-operation"}), requires_session=True)
    assert observer.send(OTHER, transaction="t").possible == ()
    assert observer.send(INVALID, transaction="t").possible


def test_two_sessions_are_accepted_on_a_regular_queue_and_refused_on_a_partitioned() -> None:
    for partitioned, outcome, rule in ((True, INVALID, "TXN-08"), (False, DONE, "TXN-09")):
        observer = begun(observing(), partitioned=partitioned, requires_session=True)
        observer.send(transaction="t", session_id="a")
        assert observer.send(outcome, transaction="t", session_id="b").rules[0] == rule
    observer = begun(observing(), partitioned=False)
    observer.send(transaction="t", session_id="a")
    assert observer.send(INVALID, transaction="t", session_id="b").rules[0] == "TXN-09"
    assert observer.send(DONE, transaction="t").possible


def test_a_refusal_of_a_first_message_is_held_against_the_rule_of_keys(observer: Observer) -> None:
    begun(observer)
    assert observer.send(INVALID, transaction="t", partition_key="a").rules[:2] == (
        "TXN-02",
        "TXN-01",
    )


@pytest.mark.parametrize(
    ("reading", "at_send", "at_commit"),
    [("at-send", True, False), ("at-commit", False, True), ("either", True, True)],
)
def test_readings_decide_when_a_transaction_is_refused(
    reading: str, at_send: bool, at_commit: bool
) -> None:
    observer = begun(observing({"TXN-REFUSAL": reading}))
    assert bool(observer.send(INVALID, transaction="t").possible) is at_send
    observer = begun(observing({"TXN-REFUSAL": reading}))
    assert bool(observer.send(DONE, transaction="t").possible) is at_commit
    if at_commit:
        assert observer.saw(COMMIT).possible == ()
        assert observer.saw(COMMIT, INVALID).possible


def test_a_refusal_without_rule_may_come_at_the_commit_too() -> None:
    observer = begun(observing({"TXN-REFUSAL": "either"}), partitioned=False)
    assert observer.send(transaction="t", session_id="a", partition_key="b").possible


@pytest.mark.parametrize(
    ("reading", "goes_on", "ended"),
    [("either", True, True), ("continues", True, False), ("dead", False, True)],
)
def test_readings_decide_what_a_refused_send_leaves_of_its_transaction(
    reading: str, goes_on: bool, ended: bool
) -> None:
    for outcome, allowed in ((DONE, goes_on), (INVALID, ended)):
        observer = begun(observing({"TXN-AFTER-REFUSAL": reading}))
        observer.send(transaction="t", partition_key="a")
        observer.send(INVALID, transaction="t")
        assert bool(observer.saw(COMMIT, outcome).possible) is allowed


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize(
    ("reading", "goes_on", "ended"),
    [("either", True, True), ("continues", True, False), ("dead", False, True)],
)
def test_a_refusal_in_an_outage_may_end_the_transaction_as_any_refusal_may(
    reading: str, goes_on: bool, ended: bool, scheduled: bool
) -> None:
    """Its partition is up again, and the next send is nevertheless refused, or the commit is.

    The readings speak of sends: after a refused schedule the transaction may always go on.
    """
    message = v.Message(body="late", partition_key="a")
    asked: v.Schedule | v.Send = v.Send(queue="q", message=message, transaction="t")
    if scheduled:
        asked = v.Schedule(queue="q", message=message, delay=1, transaction="t")
    for settings in ({}, {"partitioned": False}):
        observer = begun(observing({"TXN-AFTER-REFUSAL": reading}), **settings)
        observer.has(v.TakePartitionDown(queue="q", partition=0))
        observer.has(asked, GONE)
        observer.has(v.BringPartitionUp(queue="q", partition=0))
        sent = v.Send(queue="q", message=v.Message(body="m", partition_key="a"), transaction="t")
        assert is_allowed(observer, COMMIT, DONE) is (goes_on or scheduled)
        assert is_allowed(observer, sent, DONE)
        for asked_next in (COMMIT, sent):
            assert is_allowed(observer, asked_next, INVALID) is ended


@pytest.mark.parametrize("partitioned", [True, False])
@pytest.mark.parametrize(
    ("reading", "at_commit"), [("at-send", False), ("at-commit", True), ("either", True)]
)
def test_readings_decide_whether_an_outage_refuses_the_commit_of_a_send(
    reading: str, at_commit: bool, partitioned: bool
) -> None:
    """A bus that keeps sends until the commit notices the outage only then."""
    observer = begun(observing({"TXN-REFUSAL": reading}), partitioned=partitioned)
    observer.send(partition=0, partition_key="a")
    observer.has(v.TakePartitionDown(queue="q", partition=0))
    assert bool(observer.send(transaction="t", partition_key="a").possible) is at_commit
    if at_commit:
        assert is_allowed(observer, COMMIT, GONE)
        assert not is_allowed(observer, COMMIT, DONE)


def test_a_transaction_pins_to_the_partition_that_the_key_has_outside(observer: Observer) -> None:
    begun(observer)
    observer.send(partition=1, partition_key="a")
    assert observer.send(transaction="t", partition=1, partition_key="a").rules[0] == "TXN-05"
    observer.has(v.TakePartitionDown(queue="q", partition=1))
    assert observer.send(GONE, transaction="t", partition_key="a").rules[0] == "KEY-03"
    assert observer.send(transaction="t", partition=2, partition_key="a").possible == ()


@pytest.mark.parametrize(("reading", "accepted"), [("either", True), ("refused", False)])
def test_readings_decide_on_an_outage_between_send_and_commit(reading: str, accepted: bool) -> None:
    for outcome, allowed in ((DONE, accepted), (GONE, True)):
        observer = begun(observing({"TXN-OUTAGE": reading}))
        observer.send(transaction="t", partition=1, partition_key="a")
        observer.has(v.TakePartitionDown(queue="q", partition=1))
        assert bool(observer.saw(COMMIT, outcome).possible) is allowed


def test_an_outage_of_a_regular_queue_reaches_transactions(observer: Observer) -> None:
    begun(observer, partitioned=False)
    observer.has(v.TakePartitionDown(queue="q", partition=0))
    assert observer.send(transaction="t").possible == ()
    assert observer.send(GONE, transaction="t").possible
    observer.has(v.BringPartitionUp(queue="q", partition=0))
    assert observer.send(transaction="t").possible


@pytest.mark.parametrize(
    ("reading", "accepted", "refused"),
    [("either", True, True), ("refused", False, True), ("accepted", True, False)],
)
def test_readings_decide_on_a_second_queue_in_a_transaction(
    reading: str, accepted: bool, refused: bool
) -> None:
    for outcome, allowed in ((DONE, accepted), (INVALID, refused)):
        observer = begun(observing({"TXN-ENTITIES": reading}))
        observer.has(v.CreateQueue(queue="other"))
        observer.send(transaction="t", partition_key="a")
        elsewhere = v.Send(
            queue="other", message=v.Message(body="o", partition_key="a"), transaction="t"
        )
        assert bool(observer.saw(elsewhere, outcome).possible) is allowed


@pytest.mark.parametrize(
    ("reading", "accepted", "refused"),
    [("either", True, True), ("refused", False, True), ("accepted", True, False)],
)
@pytest.mark.parametrize(("first", "second"), [(False, False), (False, True), (True, False)])
def test_second_queue_is_read_alike_whether_it_is_partitioned_or_not(
    first: bool, second: bool, reading: str, accepted: bool, refused: bool
) -> None:
    """A bus that takes one entity in a transaction may do so for regular queues, too."""
    for outcome, allowed in ((DONE, accepted), (INVALID, refused)):
        observer = begun(observing({"TXN-ENTITIES": reading}), partitioned=first)
        observer.has(v.CreateQueue(queue="other", partitioned=second))
        observer.send(transaction="t", partition_key="a")
        elsewhere = v.Send(
            queue="other", message=v.Message(body="o", partition_key="a"), transaction="t"
        )
        assert bool(observer.saw(elsewhere, outcome).possible) is allowed


def test_entity_that_was_sent_to_before_is_not_a_second_one() -> None:
    observer = begun(observing({"TXN-ENTITIES": "either"}), partitioned=False)
    observer.has(v.CreateQueue(queue="other", partitioned=False))
    observer.send(transaction="t")
    observer.has(v.Send(queue="other", message=v.Message(body="o"), transaction="t"))
    assert not observer.send(INVALID, transaction="t").possible
    assert observer.send(transaction="t").possible


@pytest.mark.parametrize("reading", ["either", "refused", "accepted"])
def test_regular_queue_may_be_a_second_entity_beside_what_is_scheduled_or_a_rule(
    reading: str,
) -> None:
    """Whether those count is not said either, so both answers are permitted."""
    for other in (
        v.Schedule(queue="p", message=v.Message(body="s"), delay=9, transaction="t"),
        v.AddRule(topic="t", subscription="a", rule="one", filter=v.TrueFilter(), transaction="t"),
    ):
        observer = begun(observing({"TXN-ENTITIES": reading}), partitioned=False)
        observer.has(v.CreateQueue(queue="p", partitioned=False))
        observer.has(v.CreateTopic(topic="t", partitioned=False))
        observer.has(v.CreateSubscription(topic="t", subscription="a"))
        outcome = v.Scheduled(sequence_number=1) if isinstance(other, v.Schedule) else DONE
        observer.has(other, outcome)
        command = v.Send(queue="q", message=v.Message(body="o"), transaction="t")
        assert is_allowed(observer, command, DONE)
        refused = reading != "accepted" or isinstance(other, v.Schedule)
        assert is_allowed(observer, command, INVALID) is refused


def test_rule_may_change_beside_a_send_to_another_entity_or_not() -> None:
    for reading, refused in (("either", True), ("refused", True), ("accepted", False)):
        observer = observing({"TXN-ENTITIES": reading, "REGULAR-RULES": "supported"})
        begun(observer, partitioned=False)
        observer.has(v.CreateTopic(topic="t", partitioned=False))
        observer.has(v.CreateSubscription(topic="t", subscription="a"))
        observer.send(transaction="t")
        change = v.RemoveRule(topic="t", subscription="a", rule="$Default", transaction="t")
        assert is_allowed(observer, change, DONE)
        assert is_allowed(observer, change, INVALID) is refused


def test_a_refused_second_queue_may_end_the_transaction_as_any_refusal_may(
    observer: Observer,
) -> None:
    """Found by comparing the TLA+ spec's graph with the model in every state."""
    begun(observer)
    observer.has(v.CreateQueue(queue="other"))
    observer.send(transaction="t", partition_key="a")
    elsewhere = v.Send(
        queue="other", message=v.Message(body="o", partition_key="a"), transaction="t"
    )
    assert not observer.saw(COMMIT, INVALID).possible
    observer.has(elsewhere, INVALID)
    assert observer.saw(COMMIT, INVALID).possible


@pytest.mark.parametrize("reading", ["at-send", "at-commit", "either"])
def test_a_partition_that_is_down_refuses_at_the_send_by_any_reading(reading: str) -> None:
    """TXN-REFUSAL is about what is wrong with the message; KEY-03 refuses the send."""
    observer = observing({"TXN-REFUSAL": reading}, partitions=4)
    begun(observer)
    observer.has(v.TakePartitionDown(queue="q", partition=1))
    assert observer.send(GONE, transaction="t", partition_key="a").possible
