"""Messages that are set aside, and receiving them by their numbers."""

import pytest
from telling import INVALID, LOST, OTHER, Told, received, telling, view

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


def after(told: Told, duration: int) -> None:
    told.has(AdvanceClock(duration=duration))


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


def taken(told: Told, token: str = "l", body: str = "m1", within: int = 1, **seen: object) -> None:
    received = Received(message=view(body, 1, within, lock_token=token, **seen))
    told.has(RECEIVE, received)


def locked(told: Told, **settings: object) -> Told:
    told.queue(**settings)
    told.send(partition=1)
    taken(told)
    return told


def aside(told: Told, **settings: object) -> Told:
    """A queue with one message, which is deferred."""
    locked(told, **settings)
    told.has(DEFER)
    return told


def test_a_deferred_message_is_given_to_no_ordinary_receive(told: Told) -> None:
    aside(told)
    wrong = Received(message=view("m1", 1, lock_token="n"))
    assert told.saw(RECEIVE, wrong).rules[0] == "DEFER-01"
    assert "DEFER-01" in told.saw(RECEIVE, Empty()).rules
    after(told, 10 * MINUTE)
    assert not told.saw(RECEIVE, wrong).possible


def test_deferred_message_is_received_by_its_sequence_number_only(told: Told) -> None:
    aside(told)
    assert told.saw(by(), NOT_FOUND).rules[0] == "DEFER-02"
    assert told.saw(by(number(1, 7)), one()).rules[0] == "DEFER-08"
    assert not told.saw(by(number(1, 7)), had(MessageView(body="m1", lock_token="n"))).possible
    renumbered = had(view("m1", 1, 7, lock_token="n"))
    assert told.saw(by(number(1, 7)), renumbered).rules[0] == "DEFER-07"
    assert told.saw(by(), had()).possible == ()
    found = told.saw(by(), one())
    assert found.rules == ("DEFER-02", "DEFER-08", "FEAT-08")
    assert told.saw(by(), one("o")).rules[0] == "DEFER-05"
    assert told.saw(by(), NOT_FOUND).rules == ("DEFER-05",)


def test_a_message_that_was_not_set_aside_is_not_had_by_its_number(told: Told) -> None:
    locked(told)
    assert told.saw(by(), one()).rules[0] == "DEFER-04"
    told.has(Abandon(queue="q", lock_token="l"))
    assert told.saw(by(), one()).rules[0] == "DEFER-04"
    assert told.saw(by(), OTHER).rules == ("DEFER-04",)


def test_a_number_that_nothing_has_is_refused(told: Told) -> None:
    told.queue()
    assert told.saw(by(), NOT_FOUND).rules == ("DEFER-03",)
    assert told.saw(by(), one()).rules[:2] == ("DEFER-07", "DEFER-03")


@pytest.mark.parametrize("kind", [Complete, DeadLetter])
def test_settled_deferred_message_cannot_be_received_again(told: Told, kind: type) -> None:
    aside(told)
    told.has(by(), one())
    told.has(kind(queue="q", lock_token="n"))
    assert told.saw(by(), one()).rules[0] == "DEFER-07"
    assert told.saw(by(), NOT_FOUND).rules == ("DEFER-07", "DEFER-03")


def test_deleted_deferred_message_cannot_be_received_again(told: Told) -> None:
    aside(told)
    told.has(by(delete=True), had(view("m1", 1)))
    told.has(by(), NOT_FOUND)


def test_abandoned_deferred_message_stays_deferred(told: Told) -> None:
    aside(told)
    told.has(by(), one())
    told.has(Abandon(queue="q", lock_token="n"))
    told.has(RECEIVE, Empty())
    assert "DEFER-06" in told.saw(by(), NOT_FOUND).rules
    assert "DEFER-06" in told.saw(by(), one()).rules
    after(told, MINUTE + 1)
    wrong = Received(message=view("m1", 1, lock_token="o"))
    assert told.saw(RECEIVE, wrong).rules[:2] == ("DEFER-01", "DEFER-06")
    assert "DEFER-06" in told.saw(by(), one("o")).rules


def test_a_lock_that_may_have_ended_may_be_given_by_number_again() -> None:
    told = aside(telling(slack=1000))
    told.has(by(), one())
    after(told, MINUTE)
    told.has(by(), NOT_FOUND)
    assert "DEFER-06" in told.saw(by(), one("o")).rules


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_session_accepted_again_may_have_given_a_deferred_message_back(count: int) -> None:
    """Whether that delivery counts is not said."""
    told = telling()
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(AcceptSession(queue="q", session_id="a"))
    of_session = {"session_id": "a"}
    taken = Received(message=view("m1", 1, lock_token="l", delivery_count=1, **of_session))
    told.has(Receive(queue="q", **of_session), taken)
    told.has(DEFER)
    told.has(by(session="a"), one("o", delivery_count=1, **of_session))
    told.has(AcceptSession(queue="q", **of_session))
    told.has(by(session="a"), one("p", delivery_count=count, **of_session))


def test_a_lost_lock_defers_nothing(told: Told) -> None:
    locked(told)
    after(told, MINUTE + 1)
    assert told.saw(DEFER).rules[0] == "LOCK-06"
    assert told.saw(DEFER, LOCK_LOST).rules == ("LOCK-06",)


def test_a_dead_letter_may_be_deferred_or_not(told: Told) -> None:
    locked(told)
    told.has(DeadLetter(queue="q", lock_token="l"))
    told.has(Receive(queue=DEAD), Received(message=view("m1", 1, lock_token="d")))
    again = Defer(queue=DEAD, lock_token="d")
    assert told.saw(again, INVALID).possible
    told.has(again)


def test_a_deferral_that_was_never_answered_may_have_happened_or_not() -> None:
    wrong = Received(message=view("m1", 1, lock_token="o"))
    for by_number in (True, False):
        told = locked(telling())
        told.has(DEFER, LOST)
        told.has(Defer(queue="q", lock_token="none"), LOST)
        told.has(by(), NOT_FOUND)
        state = view("m1", 1, state=MessageState.ACTIVE)
        told.has(Peek(queue="q"), Peeked(messages=(state,)))
        after(told, MINUTE + 1)
        told.has(RECEIVE, Empty())
        if by_number:
            told.has(by(), one())
            assert not told.saw(RECEIVE, wrong).possible
        else:
            told.has(RECEIVE, wrong)
            told.has(by(), NOT_FOUND)
            assert not told.saw(by(), one()).possible


def test_a_lost_deferral_without_number_and_of_what_is_deferred(told: Told) -> None:
    told.queue()
    told.send()
    told.has(RECEIVE, Received(message=MessageView(body="m1", lock_token="l")))
    told.has(DEFER, LOST)
    told.has(by(), had(MessageView(body="m1", lock_token="n")))
    told.has(Defer(queue="q", lock_token="n"), LOST)
    after(told, MINUTE + 1)
    assert not told.saw(RECEIVE, Received(message=MessageView(body="m1"))).possible


def test_a_message_whose_number_nobody_was_told_can_be_set_aside(told: Told) -> None:
    told.queue()
    told.send()
    told.has(RECEIVE, Received(message=MessageView(body="m1", lock_token="l")))
    told.has(DEFER)
    told.has(RECEIVE, Empty())
    assert told.saw(by(), had(MessageView(body="m1", lock_token="n"))).rules[0] == "DEFER-02"


def test_a_receive_by_number_that_was_never_answered_may_have_taken_it() -> None:
    for there in (True, False):
        told = aside(telling())
        told.has(by(number(), number(1, 9)), LOST)
        told.has(by(), NOT_FOUND)
        if there:
            told.has(by(), one())
        else:
            told.has(Peek(queue="q"), Peeked())


def test_a_peek_tells_that_it_is_deferred(told: Told) -> None:
    aside(told)
    peek = Peek(queue="q")
    for state in (MessageState.ACTIVE, MessageState.SCHEDULED):
        wrong = Peeked(messages=(view("m1", 1, state=state),))
        assert told.saw(peek, wrong).rules[0] == "DEFER-09"
    for state in (None, MessageState.DEFERRED):
        right = Peeked(messages=(view("m1", 1, state=state),))
        assert "DEFER-09" in told.saw(peek, right).rules


def two(told: Told, partitions: tuple[int, int] = (1, 1), **settings: object) -> Told:
    """Two deferred messages, of these partitions."""
    told.queue(**settings)
    for body, partition, within in (("m1", partitions[0], 1), ("m2", partitions[1], 2)):
        told.send(partition=partition)
        seen = view(body, partition, within, lock_token=body)
        told.has(RECEIVE, Received(message=seen))
        told.has(Defer(queue="q", lock_token=body))
    return told


def test_messages_of_one_partition_are_given_together(told: Told) -> None:
    two(told)
    both = by(number(1, 1), number(1, 2))
    only = had(view("m1", 1, 1, lock_token="n"))
    assert told.saw(both, only).rules[0] == "DEFER-11"
    assert "DEFER-11" in told.saw(both, NOT_FOUND).rules
    all_of_them = had(view("m1", 1, 1, lock_token="n"), view("m2", 1, 2, lock_token="o"))
    assert told.saw(both, all_of_them).rules[0] == "DEFER-11"


def test_messages_of_several_partitions_may_be_refused(told: Told) -> None:
    two(told, (1, 2))
    both = by(number(1, 1), number(2, 2))
    assert told.saw(both, INVALID).rules == ("DEFER-10",)
    all_of_them = had(view("m1", 1, 1, lock_token="n"), view("m2", 2, 2, lock_token="o"))
    assert told.saw(both, all_of_them).rules[0] == "DEFER-10"


def test_observer_without_partitions_allows_a_refusal() -> None:
    told = two(telling(partitions=4, witness=False))
    assert told.saw(by(number(1, 1), number(1, 2)), INVALID).rules == ("DEFER-10",)
    regular = two(telling(witness=False), (0, 0), partitioned=False)
    assert not regular.saw(by(number(0, 1), number(0, 2)), INVALID).possible


def test_an_outage_hides_it_for_a_while(told: Told) -> None:
    aside(told)
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(by(), OTHER).rules == ("LIFE-11",)
    told.has(BringPartitionUp(queue="q", partition=1))
    assert "DEFER-13" in told.saw(by(), NOT_FOUND).rules
    assert "DEFER-13" in told.saw(by(), one()).rules


def in_session(told: Told) -> Told:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(AcceptSession(queue="q", session_id="a"))
    seen = view("m1", 1, lock_token="l", session_id="a")
    told.has(Receive(queue="q", session_id="a"), Received(message=seen))
    told.has(DEFER)
    return told


def test_a_deferred_message_of_a_session_is_its_holders(told: Told) -> None:
    in_session(told)
    seen = one(session_id="a")
    assert told.saw(by(), INVALID).rules == ("DEFER-12",)
    assert not told.saw(by(), seen).possible
    told.has(by(session="a"), Refused(error=Error.SESSION_LOCK_LOST), connection="c2")
    assert not told.saw(by(session="a"), seen, connection="c2").possible
    told.has(AcceptSession(queue="q", session_id="b"))
    assert not told.saw(by(session="b"), seen).possible
    told.has(by(session="b"), NOT_FOUND)
    assert "DEFER-12" in told.saw(by(session="a"), NOT_FOUND).rules
    assert "DEFER-12" in told.saw(by(session="a"), seen).rules


def test_a_session_that_may_have_ended_may_be_refused() -> None:
    told = in_session(telling(slack=1000))
    after(told, MINUTE)
    told.has(by(session="a"), Refused(error=Error.SESSION_LOCK_LOST))
    told.has(by(session="a"), one(session_id="a"))


def test_its_deliveries_are_counted_and_setting_aside_may_count() -> None:
    for reading, most in (("either", 2), ("stays", 1)):
        told = aside(telling({"CACHE-DELIVERY-COUNT": reading}))
        assert told.saw(by(), one(delivery_count=3)).rules[0] == "DLQ-01"
        assert (most == 2) is bool(told.saw(by(), one(delivery_count=2)).possible)


def test_a_deferred_message_may_be_given_up_for_its_deliveries_or_not() -> None:
    reason = "MaxDeliveryCountExceeded"
    told = aside(telling(), max_delivery_count=1)
    told.has(by(), one())
    told.has(Abandon(queue="q", lock_token="n"))
    told.has(by(), NOT_FOUND)
    letter = Received(message=view("m1", 1, dead_letter_reason=reason))
    told.has(Receive(queue=DEAD), letter)
    assert not told.saw(by(), one()).possible


def test_receive_of_no_numbers_gives_nothing(told: Told) -> None:
    aside(told)
    nothing = ReceiveDeferred(queue="q", sequence_numbers=())
    told.has(nothing, INVALID)
    told.has(nothing, had())
    assert not told.saw(nothing, one()).possible


STRICT = {"DEAD-LETTER-DELAY": "at-once", "CACHE-DELIVERY-COUNT": "stays"}


def test_no_reading_says_that_a_deferred_message_is_never_given_up() -> None:
    told = aside(telling(STRICT), max_delivery_count=1)
    told.has(by(), one())
    told.has(Abandon(queue="q", lock_token="n"))
    told.has(by(), NOT_FOUND)
    told.has(Receive(queue=DEAD), Received(message=view("m1", 1)))


def test_deferred_message_is_offered_to_the_holder_of_its_session(told: Told) -> None:
    in_session(told)
    told.has(AcceptSession(queue="q", session_id="b"))
    state = told.possible[0]
    assert step(state, by(session="a"))[0].outcome.messages[0].session_id == "a"
    assert isinstance(step(state, by(session="b"))[0].outcome, Refused)


def test_a_deferral_without_an_answer_may_have_ended_the_delivery_before_the_lock() -> None:
    """So that it need not have counted when the lock's time is over."""
    told = telling()
    told.queue()
    told.send(partition=1)
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    told.has(Defer(queue="q", lock_token="l"), LOST)
    told.has(AdvanceClock(duration=2 * MINUTE))
    for count in (1, 2):
        before = told.possible
        told.has(by(number(1, 1)), had(view("m1", 1, lock_token="n", delivery_count=count)))
        told.possible = before


def test_a_lost_receive_may_find_what_is_set_aside_after_it(told: Told) -> None:
    locked(told)
    told.has(by(number()), LOST)
    told.has(DEFER)
    told.has(by(number()), NOT_FOUND)
