"""Messages that come later in sessions, in transactions and at topics."""

import attrs
import pytest
from later import CANCEL, NUMBER, later, may_be_given, scheduled
from observing import (
    DONE,
    INVALID,
    LOST,
    SECOND,
    Observer,
    is_allowed,
    observing,
    passes,
    received,
)

from busproof.adapters.model import ModelAdapter
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    ListSessions,
    Receive,
    RollBackTransaction,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Empty,
    Received,
    Refused,
    Scheduled,
    SessionAccepted,
    SessionsListed,
)
from busproof.vocabulary.values import Error

RECEIVE = Receive(queue="q")
NOT_FOUND = Refused(error=Error.MESSAGE_NOT_FOUND)


@pytest.fixture
def queue(observer: Observer) -> Observer:
    observer.queue()
    return observer


def test_scheduled_message_is_not_in_its_session_before_its_time(observer: Observer) -> None:
    observer.queue(requires_session=True)
    scheduled(observer, session_id="a")
    next_one = AcceptNextSession(queue="q")
    assert observer.saw(next_one, SessionAccepted(session_id="a")).rules[0] == "SCHED-13"
    assert "SCHED-13" in observer.saw(next_one, Empty()).rules
    assert observer.saw(ListSessions(queue="q"), SessionsListed(session_ids=("a",))).possible
    observer.has(AcceptSession(queue="q", session_id="a"))
    in_session = Receive(queue="q", session_id="a")
    assert "SCHED-13" in observer.saw(in_session, Empty()).rules
    assert "SCHED-13" in observer.saw(in_session, received("m1", 1, session_id="a")).rules
    passes(observer, 5)
    observer.has(in_session, received("m1", 1, session_id="a"))


def test_a_session_may_be_next_from_when_its_message_may_have_come(observer: Observer) -> None:
    observer.queue(requires_session=True)
    scheduled(observer, session_id="a")
    observer.has(later("m2", 1, session_id="b"), LOST)
    passes(observer, 2)
    before = observer.possible
    for name, allowed in (("a", False), ("b", True)):
        found = observer.saw(AcceptNextSession(queue="q"), SessionAccepted(session_id=name))
        assert bool(found.possible) is allowed
        observer.possible = before
    passes(observer, 3)
    observer.has(AcceptNextSession(queue="q"), SessionAccepted(session_id="a"))


def test_without_a_session_it_may_be_refused_or_never_come(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.has(later(), INVALID)
    scheduled(observer, body="m2")
    observer.has(BeginTransaction(transaction="t"))
    assert observer.saw(later("m3", transaction="t"), INVALID).rules[0] == "SCHED-15"


def test_in_a_transaction_it_comes_with_the_commit(queue: Observer) -> None:
    queue.has(BeginTransaction(transaction="t"))
    within = later(transaction="t", partition_key="k")
    assert queue.saw(within, Scheduled(sequence_number=NUMBER)).rules[0] == "SCHED-15"
    passes(queue, 6)
    assert not may_be_given(queue, partition_key="k")
    queue.has(CommitTransaction(transaction="t"))
    assert may_be_given(queue, partition_key="k")


@pytest.mark.parametrize("end", [CommitTransaction, RollBackTransaction])
def test_rolled_back_schedule_never_arrives(queue: Observer, end: type) -> None:
    queue.has(BeginTransaction(transaction="t"))
    queue.has(later(transaction="t", partition_key="k"), Scheduled(sequence_number=NUMBER))
    queue.has(CANCEL)
    queue.has(end(transaction="t"), LOST)
    passes(queue, 6)
    assert may_be_given(queue, partition_key="k") is (end is CommitTransaction)
    if end is RollBackTransaction:
        queue.has(end(transaction="t"))
        found = queue.saw(RECEIVE, received("m1", 1, partition_key="k"))
        assert found.rules[0] == "TXN-13"


@pytest.mark.parametrize("passed", [5, 6])
def test_sessionless_message_may_be_dead_lettered_when_due(observer: Observer, passed: int) -> None:
    """Committed when its time has come, of which nobody has seen anything yet."""
    observer.queue(requires_session=True)
    observer.has(BeginTransaction(transaction="t"))
    observer.has(later(transaction="t"), Scheduled(sequence_number=NUMBER))
    passes(observer, passed)
    dead = Receive(queue="q/$deadletterqueue")
    assert not is_allowed(observer, dead, received("m1"))
    observer.has(CommitTransaction(transaction="t"))
    assert observer.saw(dead, received("m1")).rules[0] == "SESS-01"


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("sends-only", True, False), ("all", False, True)],
)
def test_reading_decides_whether_a_schedule_needs_the_key(
    reading: str, taken: bool, refused: bool
) -> None:
    observer = observing(readings={"TXN-OTHER-OPERATIONS": reading})
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    first = Send(queue="q", message=Message(body="m0", partition_key="k"), transaction="t")
    observer.has(first, partition=1)
    before = observer.possible
    for keys in ({}, {"partition_key": "other"}):
        within = later(transaction="t", **keys)
        assert bool(observer.saw(within, INVALID).possible) is refused
        observer.possible = before
        assert bool(observer.saw(within, Scheduled(sequence_number=1)).possible) is taken
        observer.possible = before
    same = later(transaction="t", partition_key="k")
    assert not observer.saw(same, INVALID).possible


@pytest.mark.parametrize(
    ("readings", "first", "then", "taken", "refused"),
    [
        ({"TXN-MESSAGE-ID": "either"}, {}, {"message_id": "i"}, True, True),
        ({"TXN-MESSAGE-ID": "always"}, {}, {"message_id": "i"}, True, False),
        ({"TXN-MESSAGE-ID": "with-duplicate-detection"}, {}, {"message_id": "i"}, False, True),
        ({"KEY-PROPERTIES": "either"}, {"partition_key": "k"}, {"session_id": "k"}, True, True),
        ({"KEY-PROPERTIES": "one-key"}, {"partition_key": "k"}, {"session_id": "k"}, True, False),
        ({"KEY-PROPERTIES": "two-keys"}, {"partition_key": "k"}, {"session_id": "k"}, False, True),
    ],
)
def test_schedule_in_a_transaction_follows_the_key_readings(
    readings: dict[str, str],
    first: dict[str, str],
    then: dict[str, str],
    taken: bool,
    refused: bool,
) -> None:
    observer = observing(readings={"TXN-OTHER-OPERATIONS": "all", **readings})
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    if first:
        message = Message(body="m0", **first)
        observer.has(Send(queue="q", message=message, transaction="t"), partition=1)
    within = later(transaction="t", **then)
    assert is_allowed(observer, within, Scheduled(sequence_number=1)) is taken
    assert is_allowed(observer, within, INVALID) is refused


@pytest.mark.parametrize(
    ("reading", "taken"), [("either", True), ("accepted", True), ("refused", False)]
)
def test_schedule_may_name_another_entity_where_a_send_may(reading: str, taken: bool) -> None:
    """The documents name no transaction with a message for each of two entities."""
    observer = observing(readings={"TXN-OTHER-OPERATIONS": "all", "TXN-ENTITIES": reading})
    observer.queue()
    observer.has(CreateQueue(queue="other"))
    observer.has(BeginTransaction(transaction="t"))
    message = Message(body="m0", partition_key="k")
    observer.has(Send(queue="other", message=message, transaction="t"), partition=1)
    within = later(transaction="t", partition_key="k")
    assert is_allowed(observer, within, Scheduled(sequence_number=1)) is taken
    assert is_allowed(observer, within, INVALID)


@pytest.mark.parametrize(
    ("settings", "taken"), [({"partitioned": False}, True), ({"requires_session": True}, False)]
)
def test_schedule_in_a_transaction_needs_a_session_but_no_key_on_a_regular_queue(
    settings: dict[str, bool], taken: bool
) -> None:
    observer = observing(readings={"TXN-OTHER-OPERATIONS": "all"})
    observer.queue(**settings)
    observer.has(BeginTransaction(transaction="t"))
    assert is_allowed(observer, later(transaction="t"), Scheduled(sequence_number=1)) is taken


def test_in_an_unknown_or_doubtful_transaction_it_may_be_refused(queue: Observer) -> None:
    assert queue.saw(later(transaction="t"), Refused(error=Error.NOT_FOUND)).possible
    queue.has(later(transaction="t"), LOST)
    queue.has(BeginTransaction(transaction="t"))
    odd = later("m2", transaction="t", session_id="a", partition_key="b")
    assert queue.saw(odd, INVALID).rules[0] == "SCHED-12"
    queue.has(later("m3", transaction="t", partition_key="k"), LOST)
    queue.has(later("m4", transaction="t", partition_key="k"), Refused(error=Error.NOT_FOUND))


@pytest.mark.parametrize("scheduled_next", [True, False])
def test_transaction_may_have_no_key_or_be_over_after_a_schedule(
    queue: Observer, scheduled_next: bool
) -> None:
    """Whether it gave the transaction its key is open, so what needs another one may end it."""
    queue.has(BeginTransaction(transaction="t"))
    first = later(transaction="t", partition_key="k")
    queue.has(first, Scheduled(sequence_number=NUMBER))
    message = Message(body="m2", partition_key="other")
    again = Send(queue="q", message=message, transaction="t")
    if scheduled_next:
        again = later("m2", transaction="t", partition_key="other")
    assert is_allowed(queue, again, Refused(error=Error.NOT_FOUND))
    assert is_allowed(queue, again, Scheduled(sequence_number=1) if scheduled_next else DONE)


def test_activated_message_belongs_to_its_session(observer: Observer) -> None:
    observer.queue(requires_session=True)
    scheduled(observer, session_id="b")
    passes(observer, 5)
    observer.has(AcceptSession(queue="q", session_id="a"))
    found = observer.saw(Receive(queue="q", session_id="a"), received("m1", 1, session_id="b"))
    assert not found.possible


def test_message_scheduled_at_a_topic_may_reach_its_subscriptions(observer: Observer) -> None:
    observer.has(CreateTopic(topic="q"))
    observer.has(CreateSubscription(topic="q", subscription="s"))
    scheduled(observer)
    at = Receive(queue="q/subscriptions/s")
    passes(observer, 6)
    assert observer.saw(at, Empty()).possible
    assert observer.saw(at, received("m1", 1)).possible
    at_subscription = attrs.evolve(later("m2"), queue="q/subscriptions/s")
    assert observer.saw(at_subscription, INVALID).rules[0] == "TOPIC-06"


@pytest.mark.parametrize("keys", [{}, {"partition_key": "k"}])
@pytest.mark.parametrize("forwards", [True, False])
def test_the_models_own_bus_lets_it_go_on_when_it_is_due(
    forwards: bool, keys: dict[str, str]
) -> None:
    bus = ModelAdapter()
    bus.start(observing().possible[0].profile)
    if forwards:
        bus.do(CreateQueue(queue="end"), "c1")
        bus.do(CreateQueue(queue="q", forward_to="end"), "c1")
        end = Receive(queue="end")
    else:
        bus.do(CreateTopic(topic="q"), "c1")
        bus.do(CreateSubscription(topic="q", subscription="s"), "c1")
        end = Receive(queue="q/subscriptions/s")
    bus.do(later(**keys), "c1")
    assert isinstance(bus.do(end, "c1").outcome, Empty)
    bus.do(AdvanceClock(duration=6 * SECOND), "c1")
    assert isinstance(bus.do(end, "c1").outcome, Received)


@pytest.mark.parametrize(
    ("partitioned", "properties", "answer"),
    [
        (False, {}, Refused(error=Error.OTHER)),
        (True, {"session_id": "a", "partition_key": "b"}, INVALID),
    ],
)
@pytest.mark.parametrize("reading", ["continues", "dead", "either"])
def test_refused_schedule_affects_its_transaction_as_a_refused_send(
    partitioned: bool, properties: dict[str, str], answer: Refused, reading: str
) -> None:
    """It is a refusal like that of a send (TXN-AFTER-REFUSAL), in an outage or of its keys."""
    observer = observing({"TXN-AFTER-REFUSAL": reading})
    observer.queue(partitioned=partitioned)
    observer.has(TakePartitionDown(queue="q", partition=0))
    observer.has(BeginTransaction(transaction="t"))
    message = Message(body="m1", **properties)
    observer.has(Schedule(queue="q", message=message, delay=0, transaction="t"), answer)
    commit = CommitTransaction(transaction="t")
    assert (reading != "continues") is is_allowed(observer, commit, INVALID)
