"""What may be sent in a transaction, and what becomes of it."""

import pytest
from observing import DONE, GONE, INVALID, LOST, OTHER, Observer, is_allowed, observing, received

from busproof.vocabulary.commands import (
    AddRule,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Receive,
    RemoveRule,
    RollBackTransaction,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Outcome, Refused, Scheduled
from busproof.vocabulary.subscription_rules import TrueFilter
from busproof.vocabulary.values import Error, ReceiveMode, Tier

UNKNOWN = Refused(error=Error.NOT_FOUND)
BEGIN = BeginTransaction(transaction="t")
COMMIT = CommitTransaction(transaction="t")
ROLL_BACK = RollBackTransaction(transaction="t")
RECEIVE = Receive(queue="q")


def begun(observer: Observer, **settings: object) -> Observer:
    observer.queue(**settings)
    observer.has(BEGIN)
    return observer


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
@pytest.mark.parametrize(("reading", "ended"), [("either", True), ("continues", False)])
def test_a_refusal_in_an_outage_may_end_the_transaction_as_any_refusal_may(
    reading: str, ended: bool, scheduled: bool
) -> None:
    """Its partition is up again, and the next send is nevertheless refused, or the commit is."""
    message = Message(body="late", partition_key="a")
    asked: Schedule | Send = Send(queue="q", message=message, transaction="t")
    if scheduled:
        asked = Schedule(queue="q", message=message, delay=1, transaction="t")
    for settings in ({}, {"partitioned": False}):
        observer = begun(observing({"TXN-AFTER-REFUSAL": reading}), **settings)
        observer.has(TakePartitionDown(queue="q", partition=0))
        observer.has(asked, GONE)
        observer.has(BringPartitionUp(queue="q", partition=0))
        sent = Send(queue="q", message=Message(body="m", partition_key="a"), transaction="t")
        for outcome, allowed in ((DONE, True), (INVALID, ended)):
            assert is_allowed(observer, COMMIT, outcome) is allowed
            assert is_allowed(observer, sent, outcome) is allowed


def test_a_transaction_pins_to_the_partition_that_the_key_has_outside(observer: Observer) -> None:
    begun(observer)
    observer.send(partition=1, partition_key="a")
    assert observer.send(transaction="t", partition=1, partition_key="a").rules[0] == "TXN-05"
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.send(GONE, transaction="t", partition_key="a").rules[0] == "KEY-03"
    assert observer.send(transaction="t", partition=2, partition_key="a").possible == ()


@pytest.mark.parametrize(("reading", "accepted"), [("either", True), ("refused", False)])
def test_readings_decide_on_an_outage_between_send_and_commit(reading: str, accepted: bool) -> None:
    for outcome, allowed in ((DONE, accepted), (GONE, True)):
        observer = begun(observing({"TXN-OUTAGE": reading}))
        observer.send(transaction="t", partition=1, partition_key="a")
        observer.has(TakePartitionDown(queue="q", partition=1))
        assert bool(observer.saw(COMMIT, outcome).possible) is allowed


def test_an_outage_of_a_regular_queue_reaches_transactions(observer: Observer) -> None:
    begun(observer, partitioned=False)
    observer.has(TakePartitionDown(queue="q", partition=0))
    assert observer.send(transaction="t").possible == ()
    assert observer.send(GONE, transaction="t").possible
    observer.has(BringPartitionUp(queue="q", partition=0))
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
        observer.has(CreateQueue(queue="other"))
        observer.send(transaction="t", partition_key="a")
        elsewhere = Send(
            queue="other", message=Message(body="o", partition_key="a"), transaction="t"
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
        observer.has(CreateQueue(queue="other", partitioned=second))
        observer.send(transaction="t", partition_key="a")
        elsewhere = Send(
            queue="other", message=Message(body="o", partition_key="a"), transaction="t"
        )
        assert bool(observer.saw(elsewhere, outcome).possible) is allowed


def test_entity_that_was_sent_to_before_is_not_a_second_one() -> None:
    observer = begun(observing({"TXN-ENTITIES": "either"}), partitioned=False)
    observer.has(CreateQueue(queue="other", partitioned=False))
    observer.send(transaction="t")
    observer.has(Send(queue="other", message=Message(body="o"), transaction="t"))
    assert not observer.send(INVALID, transaction="t").possible
    assert observer.send(transaction="t").possible


@pytest.mark.parametrize("reading", ["either", "refused", "accepted"])
def test_regular_queue_may_be_a_second_entity_beside_what_is_scheduled_or_a_rule(
    reading: str,
) -> None:
    """Whether those count is not said either, so both answers are permitted."""
    for other in (
        Schedule(queue="p", message=Message(body="s"), delay=9, transaction="t"),
        AddRule(topic="t", subscription="a", rule="one", filter=TrueFilter(), transaction="t"),
    ):
        observer = begun(observing({"TXN-ENTITIES": reading}), partitioned=False)
        observer.has(CreateQueue(queue="p", partitioned=False))
        observer.has(CreateTopic(topic="t", partitioned=False))
        observer.has(CreateSubscription(topic="t", subscription="a"))
        outcome = Scheduled(sequence_number=1) if isinstance(other, Schedule) else DONE
        observer.has(other, outcome)
        command = Send(queue="q", message=Message(body="o"), transaction="t")
        assert is_allowed(observer, command, DONE)
        refused = reading != "accepted" or isinstance(other, Schedule)
        assert is_allowed(observer, command, INVALID) is refused


def test_rule_may_change_beside_a_send_to_another_entity_or_not() -> None:
    for reading, refused in (("either", True), ("refused", True), ("accepted", False)):
        observer = observing({"TXN-ENTITIES": reading, "REGULAR-RULES": "supported"})
        begun(observer, partitioned=False)
        observer.has(CreateTopic(topic="t", partitioned=False))
        observer.has(CreateSubscription(topic="t", subscription="a"))
        observer.send(transaction="t")
        change = RemoveRule(topic="t", subscription="a", rule="$Default", transaction="t")
        assert is_allowed(observer, change, DONE)
        assert is_allowed(observer, change, INVALID) is refused


def test_a_refused_second_queue_may_end_the_transaction_as_any_refusal_may(
    observer: Observer,
) -> None:
    """Found by comparing the TLA+ spec's graph with the model in every state."""
    begun(observer)
    observer.has(CreateQueue(queue="other"))
    observer.send(transaction="t", partition_key="a")
    elsewhere = Send(queue="other", message=Message(body="o", partition_key="a"), transaction="t")
    assert not observer.saw(COMMIT, INVALID).possible
    observer.has(elsewhere, INVALID)
    assert observer.saw(COMMIT, INVALID).possible


def test_a_commit_makes_everything_receivable_and_nothing_before(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a")).rules[0] == "TXN-12"
    observer.has(RECEIVE, Empty())
    assert observer.saw(COMMIT).rules == ("TXN-12",)
    assert "TXN-12" in observer.saw(RECEIVE, Empty()).rules
    assert observer.saw(COMMIT, UNKNOWN).possible
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible


def test_a_commit_drops_copies(observer: Observer) -> None:
    begun(observer, duplicate_detection=True)
    observer.send(partition=1, message_id="x")
    observer.send(transaction="t", partition=1, message_id="x")
    observer.has(COMMIT)
    assert observer.saw(RECEIVE, received("m2", 1, 2, message_id="x")).possible == ()


def test_a_rollback_forgets_everything(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    assert observer.saw(ROLL_BACK).rules == ("TXN-13",)
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a")).rules[0] == "TXN-13"
    assert observer.saw(ROLL_BACK, UNKNOWN).possible
    assert observer.saw(ROLL_BACK).possible == ()


def test_a_doubtful_transaction_may_have_ended(observer: Observer) -> None:
    begun(observer)
    observer.send(INVALID, transaction="t")
    assert observer.saw(ROLL_BACK, UNKNOWN).possible


def test_an_unknown_transaction_is_refused(observer: Observer) -> None:
    observer.queue()
    assert observer.send(transaction="t", partition_key="a").possible == ()
    assert observer.send(UNKNOWN, transaction="t", partition_key="a").possible


def test_a_running_transaction_is_not_begun_again(observer: Observer) -> None:
    begun(observer)
    assert observer.saw(BEGIN).possible == ()
    assert observer.saw(BEGIN, Refused(error=Error.ALREADY_EXISTS)).possible
    observer.has(COMMIT)
    assert observer.saw(BEGIN).possible


def test_basic_may_have_no_transactions() -> None:
    observer = observing(tier=Tier.BASIC)
    assert observer.saw(BEGIN, INVALID).possible
    assert observing().saw(BEGIN, INVALID).possible == ()


def test_a_transaction_may_be_over_after_two_minutes_or_a_hundred_messages() -> None:
    observer = begun(observing())
    observer.has(AdvanceClock(duration=120_000_000))
    assert observer.saw(COMMIT, UNKNOWN).possible
    observer = begun(observing())
    for _ in range(100):
        observer.send(transaction="t", partition=1, partition_key="a")
    assert observer.send(OTHER, transaction="t", partition_key="a").possible


def test_every_end_of_a_lost_begin_stays_possible(observer: Observer) -> None:
    observer.queue()
    observer.has(BEGIN, LOST)
    assert observer.send(UNKNOWN, transaction="t", partition_key="a").possible
    assert observer.send(transaction="t", partition_key="a").possible


def test_every_end_of_a_lost_send_stays_possible(observer: Observer) -> None:
    begun(observer)
    observer.send(LOST, transaction="t", partition_key="a")
    observer.has(COMMIT)
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible
    assert observer.send(LOST, transaction="nothing", partition_key="a").possible


def test_every_end_of_a_lost_commit_stays_possible(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.has(COMMIT, LOST)
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible
    assert observer.saw(COMMIT, UNKNOWN).possible
    assert observer.saw(CommitTransaction(transaction="nothing"), LOST).possible


def test_every_end_of_a_lost_rollback_stays_possible(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.has(ROLL_BACK, LOST)
    assert observer.saw(COMMIT, UNKNOWN).possible
    assert observer.saw(RollBackTransaction(transaction="nothing"), LOST).possible


@pytest.mark.parametrize(
    ("end", "given"), [(CommitTransaction, True), (RollBackTransaction, False)]
)
@pytest.mark.parametrize("begin", [DONE, LOST])
def test_an_end_that_was_lost_may_come_once_it_has_begun(
    observer: Observer, end: type, given: bool, begin: Outcome
) -> None:
    """It was asked for before; a transaction of another name is none of its business."""
    observer.queue()
    observer.has(end(transaction="t"), LOST)
    observer.has(RollBackTransaction(transaction="t"), LOST)
    observer.has(BeginTransaction(transaction="t"), begin)
    observer.has(BeginTransaction(transaction="other"))
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.send(transaction="other", partition=1, partition_key="a")
    assert observer.saw(COMMIT, UNKNOWN).possible
    early = received("m1", 1, partition_key="a", lock_token="l")
    assert bool(observer.saw(RECEIVE, early).possible) is given


def test_that_it_comes_is_no_excuse_for_another(observer: Observer) -> None:
    observer.queue()
    observer.has(COMMIT, LOST)
    observer.has(BeginTransaction(transaction="other"))
    observer.send(transaction="other", partition=1, partition_key="a")
    assert not observer.saw(CommitTransaction(transaction="other"), UNKNOWN).possible
    early = received("m1", 1, partition_key="a", lock_token="l")
    assert not observer.saw(RECEIVE, early).possible


@pytest.mark.parametrize("identity", ["x", "x-{}"])
def test_refusals_for_different_reasons_leave_one_state(identity: str) -> None:
    """Where a refusal could mean two things, the states do not double with every such send.

    The key may be at home where a partition is down, or there may be none: always the same, or
    another each time.
    """
    observer = observing(partitions=4)
    observer.queue()
    observer.has(BEGIN)
    observer.has(TakePartitionDown(queue="q", partition=1))
    for number in range(12):
        observer.send(INVALID, transaction="t", message_id=identity.format(number))
    assert len(observer.possible) <= 4


def test_a_refusal_for_no_reason_that_is_known_leaves_its_states() -> None:
    """Outside the documents, a transaction may be over or a regular queue be down."""
    observer = observing(partitions=4)
    observer.queue(partitioned=False)
    observer.has(BEGIN, LOST)
    observer.has(TakePartitionDown(queue="q", partition=0))
    assert observer.send(UNKNOWN, transaction="t").possible
    assert observer.possible


@pytest.mark.parametrize("end", [CommitTransaction, RollBackTransaction])
def test_a_body_that_was_sent_before_is_still_known_after_a_transaction(end: type) -> None:
    """What else had it can be received whatever becomes of the transaction."""
    observer = observing()
    observer.queue()
    observer.send(partition=1, body="same", partition_key="a")
    observer.has(BeginTransaction(transaction="t"))
    observer.send(partition=1, transaction="t", body="same", partition_key="a")
    observer.has(end(transaction="t"))
    observer.has(
        Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE),
        received("same", 1, 1, partition_key="a"),
    )
    again = received("same", 1, 2, partition_key="a")
    assert bool(observer.saw(Receive(queue="q"), again).possible) is (end is CommitTransaction)


def _two_sent(observer: Observer, *ends: str) -> None:
    """`m1` in transaction t and `m2` in u, of one key; committed as given, u sent last."""
    observer.queue()
    observer.has(BEGIN)
    observer.send(transaction="t", partition=1, partition_key="a")
    if ends[0] == "before":
        observer.has(COMMIT)
    observer.has(BeginTransaction(transaction="u"))
    observer.send(transaction="u", partition=1, partition_key="a")
    for name in ends[1:]:
        observer.has(CommitTransaction(transaction=name))


@pytest.mark.parametrize("ends", [("side by side", "t", "u"), ("side by side", "u", "t")])
@pytest.mark.parametrize("first", ["m1", "m2"])
def test_which_comes_first_of_transactions_side_by_side_is_open(
    ends: tuple[str, ...], first: str
) -> None:
    """The order of sending may be that of the sends or that of the commits."""
    observer = observing(partitions=4)
    _two_sent(observer, *ends)
    assert observer.saw(RECEIVE, received(first, 1, partition_key="a", lock_token="l")).possible


def test_commit_before_a_send_comes_first() -> None:
    observer = observing(partitions=4)
    _two_sent(observer, "before", "u")
    found = observer.saw(RECEIVE, received("m2", 1, partition_key="a", lock_token="l"))
    assert not found.possible
    assert "KEY-17" in found.rules
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible


def test_send_after_a_commit_comes_after_it() -> None:
    """Though another message arrived between the send and the commit."""
    observer = observing(partitions=4)
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.send(partition=1, partition_key="a")
    observer.has(COMMIT)
    observer.send(partition=1, partition_key="a")
    late = received("m3", 1, 3, partition_key="a", lock_token="l")
    assert not observer.saw(RECEIVE, late).possible


def test_a_copy_that_was_overtaken_by_its_original_is_eliminated() -> None:
    observer = observing(partitions=4)
    begun(observer, duplicate_detection=True)
    observer.send(transaction="t", partition=1, partition_key="a", message_id="x")
    observer.send(partition=1, partition_key="a", message_id="x")
    observer.has(COMMIT)
    copy = received("m1", 1, partition_key="a", message_id="x", lock_token="l")
    assert not observer.saw(RECEIVE, copy).possible
    original = received("m2", 1, partition_key="a", message_id="x", lock_token="l")
    assert observer.saw(RECEIVE, original).possible


@pytest.mark.parametrize("reading", ["at-send", "at-commit", "either"])
def test_a_partition_that_is_down_refuses_at_the_send_by_any_reading(reading: str) -> None:
    """TXN-REFUSAL is about what is wrong with the message; KEY-03 refuses the send."""
    observer = observing({"TXN-REFUSAL": reading}, partitions=4)
    begun(observer)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.send(GONE, transaction="t", partition_key="a").possible
