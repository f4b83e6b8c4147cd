"""Messages that are set aside, and receiving them by their numbers."""

import pytest
from observing import INVALID, LOST, OTHER, Observer, observing, received, view

from busproof.oracle.step import step
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    BringPartitionUp,
    Complete,
    DeadLetter,
    Defer,
    Peek,
    Receive,
    ReceiveDeferred,
    TakePartitionDown,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageState, MessageView
from busproof.vocabulary.outcomes import Empty, Peeked, Received, ReceivedSeveral, Refused
from busproof.vocabulary.values import Error, ReceiveMode

RECEIVE = Receive(queue="q")
DEFER = Defer(queue="q", lock_token="l")
LOCK_LOST = Refused(error=Error.LOCK_LOST)
NOT_FOUND = Refused(error=Error.MESSAGE_NOT_FOUND)
MINUTE = 60_000_000
DEAD = "q/$deadletterqueue"


def after(observer: Observer, duration: int) -> None:
    observer.has(AdvanceClock(duration=duration))


def number(partition: int = 1, within: int = 1) -> int:
    return (partition << SEQUENCE_BITS) + within


def by(*numbers: int, session: str | None = None, delete: bool = False) -> ReceiveDeferred:
    mode = ReceiveMode.RECEIVE_AND_DELETE if delete else ReceiveMode.PEEK_LOCK
    return ReceiveDeferred(
        queue="q", sequence_numbers=numbers or (number(),), session_id=session, mode=mode
    )


def had(*views: MessageView) -> ReceivedSeveral:
    return ReceivedSeveral(messages=views)


def one(token: str = "n", **seen: object) -> ReceivedSeveral:
    return had(view("m1", 1, lock_token=token, **seen))


def taken(
    observer: Observer, token: str = "l", body: str = "m1", within: int = 1, **seen: object
) -> None:
    received = Received(message=view(body, 1, within, lock_token=token, **seen))
    observer.has(RECEIVE, received)


def locked(observer: Observer, **settings: object) -> Observer:
    observer.queue(**settings)
    observer.send(partition=1)
    taken(observer)
    return observer


def aside(observer: Observer, **settings: object) -> Observer:
    """A queue with one message, which is deferred."""
    locked(observer, **settings)
    observer.has(DEFER)
    return observer


def test_a_deferred_message_is_given_to_no_ordinary_receive(observer: Observer) -> None:
    aside(observer)
    wrong = Received(message=view("m1", 1, lock_token="n"))
    assert observer.saw(RECEIVE, wrong).rules[0] == "DEFER-01"
    assert "DEFER-01" in observer.saw(RECEIVE, Empty()).rules
    after(observer, 10 * MINUTE)
    assert not observer.saw(RECEIVE, wrong).possible


def test_deferred_message_is_received_by_its_sequence_number_only(observer: Observer) -> None:
    aside(observer)
    assert observer.saw(by(), NOT_FOUND).rules[0] == "DEFER-02"
    assert observer.saw(by(number(1, 7)), one()).rules[0] == "DEFER-08"
    assert not observer.saw(by(number(1, 7)), had(MessageView(body="m1", lock_token="n"))).possible
    renumbered = had(view("m1", 1, 7, lock_token="n"))
    assert observer.saw(by(number(1, 7)), renumbered).rules[:2] == ("DEFER-08", "SEQ-04")
    assert observer.saw(by(), had()).possible == ()
    found = observer.saw(by(), one())
    assert found.rules == ("DEFER-02", "DEFER-08", "FEAT-08")
    assert observer.saw(by(), one("o")).rules[0] == "DEFER-05"
    assert observer.saw(by(), NOT_FOUND).rules == ("DEFER-05",)


def test_a_message_that_was_not_set_aside_is_not_had_by_its_number(observer: Observer) -> None:
    locked(observer)
    assert observer.saw(by(), one()).rules[0] == "DEFER-04"
    observer.has(Abandon(queue="q", lock_token="l"))
    assert observer.saw(by(), one()).rules[0] == "DEFER-04"
    assert observer.saw(by(), OTHER).rules == ("DEFER-04",)


def test_a_number_that_nothing_has_is_refused(observer: Observer) -> None:
    observer.queue()
    assert observer.saw(by(), NOT_FOUND).rules == ("DEFER-03",)
    assert observer.saw(by(), one()).rules[:2] == ("DEFER-07", "DEFER-03")


@pytest.mark.parametrize("kind", [Complete, DeadLetter])
def test_settled_deferred_message_cannot_be_received_again(observer: Observer, kind: type) -> None:
    aside(observer)
    observer.has(by(), one())
    observer.has(kind(queue="q", lock_token="n"))
    assert observer.saw(by(), one()).rules[0] == "DEFER-07"
    assert observer.saw(by(), NOT_FOUND).rules == ("DEFER-07", "DEFER-03")


def test_deleted_deferred_message_cannot_be_received_again(observer: Observer) -> None:
    aside(observer)
    observer.has(by(delete=True), had(view("m1", 1)))
    observer.has(by(), NOT_FOUND)


def test_abandoned_deferred_message_stays_deferred(observer: Observer) -> None:
    aside(observer)
    observer.has(by(), one())
    observer.has(Abandon(queue="q", lock_token="n"))
    observer.has(RECEIVE, Empty())
    assert "DEFER-06" in observer.saw(by(), NOT_FOUND).rules
    assert "DEFER-06" in observer.saw(by(), one()).rules
    after(observer, MINUTE + 1)
    wrong = Received(message=view("m1", 1, lock_token="o"))
    assert observer.saw(RECEIVE, wrong).rules[:2] == ("DEFER-01", "DEFER-06")
    assert "DEFER-06" in observer.saw(by(), one("o")).rules


def test_a_lock_that_may_have_ended_may_be_given_by_number_again() -> None:
    observer = aside(observing(slack=1000))
    observer.has(by(), one())
    after(observer, MINUTE)
    observer.has(by(), NOT_FOUND)
    assert "DEFER-06" in observer.saw(by(), one("o")).rules


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_session_accepted_again_may_have_given_a_deferred_message_back(count: int) -> None:
    """Whether that delivery counts is not said."""
    observer = observing()
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(AcceptSession(queue="q", session_id="a"))
    of_session = {"session_id": "a"}
    taken = Received(message=view("m1", 1, lock_token="l", delivery_count=1, **of_session))
    observer.has(Receive(queue="q", **of_session), taken)
    observer.has(DEFER)
    observer.has(by(session="a"), one("o", delivery_count=1, **of_session))
    observer.has(AcceptSession(queue="q", **of_session))
    observer.has(by(session="a"), one("p", delivery_count=count, **of_session))


def test_a_lost_lock_defers_nothing(observer: Observer) -> None:
    locked(observer)
    after(observer, MINUTE + 1)
    assert observer.saw(DEFER).rules[0] == "LOCK-06"
    assert observer.saw(DEFER, LOCK_LOST).rules == ("LOCK-06",)


def test_a_dead_letter_may_be_deferred_or_not(observer: Observer) -> None:
    locked(observer)
    observer.has(DeadLetter(queue="q", lock_token="l"))
    observer.has(Receive(queue=DEAD), Received(message=view("m1", 1, lock_token="d")))
    again = Defer(queue=DEAD, lock_token="d")
    assert observer.saw(again, INVALID).possible
    observer.has(again)


def test_a_deferral_that_was_never_answered_may_have_happened_or_not() -> None:
    wrong = Received(message=view("m1", 1, lock_token="o"))
    for by_number in (True, False):
        observer = locked(observing())
        observer.has(DEFER, LOST)
        observer.has(Defer(queue="q", lock_token="none"), LOST)
        observer.has(by(), NOT_FOUND)
        state = view("m1", 1, state=MessageState.ACTIVE)
        observer.has(Peek(queue="q"), Peeked(messages=(state,)))
        after(observer, MINUTE + 1)
        observer.has(RECEIVE, Empty())
        if by_number:
            observer.has(by(), one())
            assert not observer.saw(RECEIVE, wrong).possible
        else:
            observer.has(RECEIVE, wrong)
            observer.has(by(), NOT_FOUND)
            assert not observer.saw(by(), one()).possible


def test_a_lost_deferral_without_number_and_of_what_is_deferred(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(RECEIVE, Received(message=MessageView(body="m1", lock_token="l")))
    observer.has(DEFER, LOST)
    observer.has(by(), had(MessageView(body="m1", lock_token="n")))
    observer.has(Defer(queue="q", lock_token="n"), LOST)
    after(observer, MINUTE + 1)
    assert not observer.saw(RECEIVE, Received(message=MessageView(body="m1"))).possible


def test_a_message_whose_number_is_unknown_can_be_set_aside(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(RECEIVE, Received(message=MessageView(body="m1", lock_token="l")))
    observer.has(DEFER)
    observer.has(RECEIVE, Empty())
    assert observer.saw(by(), had(MessageView(body="m1", lock_token="n"))).rules[0] == "DEFER-02"


def test_a_receive_by_number_that_was_never_answered_may_have_taken_it() -> None:
    for there in (True, False):
        observer = aside(observing())
        observer.has(by(number(), number(1, 9)), LOST)
        observer.has(by(), NOT_FOUND)
        if there:
            observer.has(by(), one())
        else:
            observer.has(Peek(queue="q"), Peeked())


def test_a_peek_shows_that_it_is_deferred(observer: Observer) -> None:
    aside(observer)
    peek = Peek(queue="q")
    for state in (MessageState.ACTIVE, MessageState.SCHEDULED):
        wrong = Peeked(messages=(view("m1", 1, state=state),))
        assert observer.saw(peek, wrong).rules[0] == "DEFER-09"
    for state in (None, MessageState.DEFERRED):
        right = Peeked(messages=(view("m1", 1, state=state),))
        assert "DEFER-09" in observer.saw(peek, right).rules


def two(observer: Observer, partitions: tuple[int, int] = (1, 1), **settings: object) -> Observer:
    """Two deferred messages, of these partitions."""
    observer.queue(**settings)
    for body, partition, within in (("m1", partitions[0], 1), ("m2", partitions[1], 2)):
        observer.send(partition=partition)
        seen = view(body, partition, within, lock_token=body)
        observer.has(RECEIVE, Received(message=seen))
        observer.has(Defer(queue="q", lock_token=body))
    return observer


def test_messages_of_one_partition_are_given_together(observer: Observer) -> None:
    two(observer)
    both = by(number(1, 1), number(1, 2))
    only = had(view("m1", 1, 1, lock_token="n"))
    assert observer.saw(both, only).rules[0] == "DEFER-11"
    assert "DEFER-11" in observer.saw(both, NOT_FOUND).rules
    all_of_them = had(view("m1", 1, 1, lock_token="n"), view("m2", 1, 2, lock_token="o"))
    assert observer.saw(both, all_of_them).rules[0] == "DEFER-11"


def test_request_that_names_a_number_twice_may_be_refused(observer: Observer) -> None:
    """The documents do not say what it gets."""
    aside(observer)
    twice = observer.saw(by(number(), number()), NOT_FOUND)
    assert twice.possible
    assert twice.rules == ()


def test_messages_of_several_partitions_may_be_refused(observer: Observer) -> None:
    two(observer, (1, 2))
    both = by(number(1, 1), number(2, 2))
    assert observer.saw(both, INVALID).rules == ("DEFER-10",)
    all_of_them = had(view("m1", 1, 1, lock_token="n"), view("m2", 2, 2, lock_token="o"))
    assert observer.saw(both, all_of_them).rules[0] == "DEFER-10"


def test_observer_without_partitions_allows_a_refusal() -> None:
    observer = two(observing(partitions=4, witness=False))
    assert observer.saw(by(number(1, 1), number(1, 2)), INVALID).rules == ("DEFER-10",)
    regular = two(observing(witness=False), (0, 0), partitioned=False)
    assert not regular.saw(by(number(0, 1), number(0, 2)), INVALID).possible


def test_an_outage_hides_it_for_a_while(observer: Observer) -> None:
    aside(observer)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(by(), OTHER).rules == ("LIFE-11",)
    observer.has(BringPartitionUp(queue="q", partition=1))
    assert "DEFER-13" in observer.saw(by(), NOT_FOUND).rules
    assert "DEFER-13" in observer.saw(by(), one()).rules


def in_session(observer: Observer) -> Observer:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(AcceptSession(queue="q", session_id="a"))
    seen = view("m1", 1, lock_token="l", session_id="a")
    observer.has(Receive(queue="q", session_id="a"), Received(message=seen))
    observer.has(DEFER)
    return observer


def test_a_deferred_message_of_a_session_is_its_holders(observer: Observer) -> None:
    in_session(observer)
    seen = one(session_id="a")
    assert observer.saw(by(), INVALID).rules == ("DEFER-12",)
    assert not observer.saw(by(), seen).possible
    observer.has(by(session="a"), Refused(error=Error.SESSION_LOCK_LOST), connection="c2")
    assert not observer.saw(by(session="a"), seen, connection="c2").possible
    observer.has(AcceptSession(queue="q", session_id="b"))
    assert not observer.saw(by(session="b"), seen).possible
    observer.has(by(session="b"), NOT_FOUND)
    assert "DEFER-12" in observer.saw(by(session="a"), NOT_FOUND).rules
    assert "DEFER-12" in observer.saw(by(session="a"), seen).rules


def test_a_session_that_may_have_ended_may_be_refused() -> None:
    observer = in_session(observing(slack=1000))
    after(observer, MINUTE)
    observer.has(by(session="a"), Refused(error=Error.SESSION_LOCK_LOST))
    observer.has(by(session="a"), one(session_id="a"))


def test_its_deliveries_are_counted_and_setting_aside_may_count() -> None:
    for reading, most in (("either", 2), ("stays", 1)):
        observer = aside(observing({"CACHE-DELIVERY-COUNT": reading}))
        assert observer.saw(by(), one(delivery_count=3)).rules[0] == "DLQ-01"
        assert (most == 2) is bool(observer.saw(by(), one(delivery_count=2)).possible)


def test_a_deferred_message_may_be_given_up_for_its_deliveries_or_not() -> None:
    reason = "MaxDeliveryCountExceeded"
    observer = aside(observing(), max_delivery_count=1)
    observer.has(by(), one())
    observer.has(Abandon(queue="q", lock_token="n"))
    observer.has(by(), NOT_FOUND)
    letter = Received(message=view("m1", 1, dead_letter_reason=reason))
    observer.has(Receive(queue=DEAD), letter)
    assert not observer.saw(by(), one()).possible


def test_receive_of_no_numbers_gives_nothing(observer: Observer) -> None:
    aside(observer)
    nothing = ReceiveDeferred(queue="q", sequence_numbers=())
    observer.has(nothing, INVALID)
    observer.has(nothing, had())
    assert not observer.saw(nothing, one()).possible


STRICT = {"DEAD-LETTER-DELAY": "at-once", "CACHE-DELIVERY-COUNT": "stays"}


def test_no_reading_says_that_a_deferred_message_is_never_given_up() -> None:
    observer = aside(observing(STRICT), max_delivery_count=1)
    observer.has(by(), one())
    observer.has(Abandon(queue="q", lock_token="n"))
    observer.has(by(), NOT_FOUND)
    observer.has(Receive(queue=DEAD), Received(message=view("m1", 1)))


def test_deferred_message_is_offered_to_the_holder_of_its_session(observer: Observer) -> None:
    in_session(observer)
    observer.has(AcceptSession(queue="q", session_id="b"))
    state = observer.possible[0]
    assert step(state, by(session="a"))[0].outcome.messages[0].session_id == "a"
    assert isinstance(step(state, by(session="b"))[0].outcome, Refused)


def test_a_deferral_without_an_answer_may_have_ended_the_delivery_before_the_lock() -> None:
    """So that it need not have counted when the lock's time is over."""
    observer = observing()
    observer.queue()
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    observer.has(Defer(queue="q", lock_token="l"), LOST)
    observer.has(AdvanceClock(duration=2 * MINUTE))
    for count in (1, 2):
        before = observer.possible
        observer.has(by(number(1, 1)), had(view("m1", 1, lock_token="n", delivery_count=count)))
        observer.possible = before


def test_a_lost_receive_may_find_what_is_set_aside_after_it(observer: Observer) -> None:
    locked(observer)
    observer.has(by(number()), LOST)
    observer.has(DEFER)
    observer.has(by(number()), NOT_FOUND)
