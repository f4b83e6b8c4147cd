"""Each request about messages crosses the wire to a real broker, and its answer comes back."""

import pytest
from answers import error_of, message_of, send

from busproof import vocabulary as v
from busproof.adapters.amqp.messages import decode, encode

from .conftest import Ask

pytestmark = pytest.mark.slow

DEAD = "q/$deadletterqueue"

FOR_GOOD = v.ReceiveMode.RECEIVE_AND_DELETE


@pytest.mark.parametrize(("counted", "most"), [(True, 200), (False, 101_000)])
def test_a_message_is_padded_to_its_size_unless_that_is_counted(counted: bool, most: int) -> None:
    raw = encode(v.Message(body="m1", size=100_000), counted=counted)
    view = decode(raw)
    assert (view.body, view.size) == ("m1", 100_000)
    assert most - 1_000 < len(raw) < most


@pytest.mark.parametrize("later", [False, True], ids=["sent", "scheduled"])
def test_our_own_broker_takes_a_size_at_its_word(ask: Ask, later: bool) -> None:
    """Ten messages that cross the wire in no time fill a GB, the eleventh does not fit."""
    ask(v.CreateQueue(queue="q", partitioned=False))
    answers = []
    for number in range(11):
        message = v.Message(body=f"m{number}", size=100_000_000, stands_in=True)
        answers.append(
            ask(v.Schedule(queue="q", message=message, delay=60 * v.MICROSECONDS))
            if later
            else ask(v.Send(queue="q", message=message))
        )
    assert not any(isinstance(each, v.Refused) for each in answers[:10])
    assert error_of(answers[10]) is v.Error.QUOTA_EXCEEDED
    too_large = v.Send(queue="q", message=v.Message(body="m", size=100_000_001))
    assert error_of(ask(too_large)) is v.Error.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("connection", ["c1", "c2"])
def test_a_locked_message_is_settled_once(ask: Ask, queue: str, connection: str) -> None:
    """On the link on which it came, or by request from another connection."""
    send(ask)
    token = message_of(ask(v.Receive(queue=queue))).lock_token or ""
    assert ask(v.Complete(queue=queue, lock_token=token), connection) == v.Done()
    assert error_of(ask(v.Complete(queue=queue, lock_token=token), connection)) is v.Error.LOCK_LOST
    assert ask(v.Receive(queue=queue)) == v.Empty()


def test_a_refused_settlement_keeps_no_receive_from_its_answer(ask: Ask, queue: str) -> None:
    """The broker once forgot to answer a drain while it still held the delivery."""
    send(ask)
    token = message_of(ask(v.Receive(queue=queue))).lock_token or ""
    ask(v.AdvanceClock(duration=61 * v.MICROSECONDS))
    assert error_of(ask(v.Complete(queue=queue, lock_token=token))) is v.Error.LOCK_LOST
    token = message_of(ask(v.Receive(queue=queue))).lock_token or ""
    assert ask(v.Complete(queue=queue, lock_token=token)) == v.Done()
    assert ask(v.Receive(queue=queue)) == v.Empty()


@pytest.mark.parametrize("connection", ["c1", "c2"])
def test_a_dead_letter_shows_why(ask: Ask, queue: str, connection: str) -> None:
    send(ask, properties={"a": 1})
    token = message_of(ask(v.Receive(queue=queue))).lock_token or ""
    ask(v.DeadLetter(queue=queue, lock_token=token, reason="no good"), connection)
    dead = message_of(ask(v.Receive(queue=DEAD)))
    assert (dead.dead_letter_reason, dict(dead.properties)) == ("no good", {"a": 1})
    assert (
        error_of(ask(v.Send(queue=DEAD, message=v.Message(body="m")))) is v.Error.INVALID_OPERATION
    )


@pytest.mark.parametrize("partitioned", [False, True])
def test_peek_that_continues_after_a_scheduled_message_misses_nothing(
    ask: Ask, partitioned: bool
) -> None:
    """What comes after it has a greater number, in the partition that they share."""
    ask(v.CreateQueue(queue="q", partitioned=partitioned))
    later = v.Message(body="later", partition_key="a")
    ask(v.Schedule(queue="q", message=later, delay=60 * v.MICROSECONDS))
    shown = ask(v.Peek(queue="q"))
    assert isinstance(shown, v.Peeked)
    (number,) = [each.sequence_number or 0 for each in shown.messages]
    ask(v.Send(queue="q", message=v.Message(body="after", partition_key="a")))
    shown = ask(v.Peek(queue="q", count=10, from_sequence_number=number + 1))
    assert isinstance(shown, v.Peeked)
    assert [each.body for each in shown.messages] == ["after"]
    assert (shown.messages[0].sequence_number or 0) >> 48 == number >> 48


def test_a_message_is_settled_after_its_entity_was_disabled_for_a_while(
    ask: Ask, queue: str
) -> None:
    """The broker ends the link; then a request settles, as the official clients do."""
    for settlement in (v.Complete, v.DeadLetter):
        send(ask)
        token = message_of(ask(v.Receive(queue=queue))).lock_token or ""
        for status in (v.EntityStatus.DISABLED, v.EntityStatus.ACTIVE):
            assert ask(v.UpdateQueue(queue=queue, status=status)) == v.Done()
        assert ask(settlement(queue=queue, lock_token=token)) == v.Done()
    assert ask(v.Receive(queue=queue)) == v.Empty()
    assert message_of(ask(v.Receive(queue=DEAD))).body == "m1"


def test_a_lock_that_ended_as_its_link_did_leaves_the_outcome_open(ask: Ask, queue: str) -> None:
    send(ask)
    token = message_of(ask(v.Receive(queue=queue))).lock_token or ""
    for status in (v.EntityStatus.DISABLED, v.EntityStatus.ACTIVE):
        ask(v.UpdateQueue(queue=queue, status=status))
    ask(v.AdvanceClock(duration=61_000_000))
    assert isinstance(ask(v.Complete(queue=queue, lock_token=token)), v.Indeterminate)


@pytest.mark.parametrize("connection", ["c1", "c2"])
def test_an_abandoned_message_comes_again(ask: Ask, queue: str, connection: str) -> None:
    """And the answer has its delivery count."""
    send(ask)
    first = message_of(ask(v.Receive(queue=queue)))
    assert ask(v.Receive(queue=queue)) == v.Empty()
    ask(v.Abandon(queue=queue, lock_token=first.lock_token or ""), connection)
    again = message_of(ask(v.Receive(queue=queue)))
    assert (first.delivery_count, again.delivery_count) == (1, 2)
    assert first.sequence_number == again.sequence_number


def test_a_scheduled_message_comes_when_it_is_due(ask: Ask, queue: str) -> None:
    """One that was taken back never does."""
    numbers = []
    for body in ("kept", "taken back"):
        message = v.Message(body=body, partition_key="k")
        outcome = ask(v.Schedule(queue=queue, message=message, delay=10 * v.MICROSECONDS))
        assert isinstance(outcome, v.Scheduled)
        numbers.append(outcome.sequence_number or 0)
    assert ask(v.CancelScheduled(queue=queue, sequence_number=numbers[1])) == v.Done()
    assert ask(v.Receive(queue=queue)) == v.Empty()
    ask(v.AdvanceClock(duration=11 * v.MICROSECONDS))
    assert message_of(ask(v.Receive(queue=queue))).body == "kept"
    assert ask(v.Receive(queue=queue)) == v.Empty()
