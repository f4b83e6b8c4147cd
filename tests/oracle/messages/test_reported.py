"""What users of the real service reported, in public: the judge neither accuses nor misses it."""

import attrs
import pytest
from observing import LOST, SECOND, Observer, observing, passes, received, update, view

from busproof import vocabulary as v
from busproof.spec import load

REFUSED = v.Refused(error=v.Error.OTHER)
NOT_FOUND = v.Refused(error=v.Error.MESSAGE_NOT_FOUND)
DEAD = f"q{v.DEAD_LETTERS}"
HOUR = 3_600 * SECOND


def premium() -> Observer:
    return Observer(v.profile_for(load(), tier="premium"), observing().possible[0].observability)


def batch(count: int) -> v.SendBatch:
    messages = tuple(v.Message(body=str(number)) for number in range(count))
    return v.SendBatch(queue="q", messages=messages)


@pytest.mark.parametrize(
    ("make", "most"), [(observing, 4_500), (premium, 15_900)], ids=["standard", "premium"]
)
def test_batch_of_too_many_messages_may_be_refused(make: type[Observer], most: int) -> None:
    """LIMIT-23: the service refuses it, whatever its size; a smaller one it takes."""
    observer = make()
    observer.queue(partitioned=False)
    observer.has(batch(most + 1), REFUSED)
    assert not observer.saw(batch(most), REFUSED).possible


def deferred(*, dead_letter_expired: bool = True) -> Observer:
    """A queue in which a message was deferred that has expired by now."""
    observer = observing()
    observer.queue(dead_letter_expired=dead_letter_expired)
    message = v.Message(body="m", time_to_live=10 * SECOND)
    observer.has(v.Send(queue="q", message=message), partition=0)
    observer.has(v.Receive(queue="q"), received("m", lock_token="l", time_to_live=10 * SECOND))
    observer.has(v.Defer(queue="q", lock_token="l"))
    passes(observer, 60)
    return observer


ASK = v.ReceiveDeferred(queue="q", sequence_numbers=(1,))
LETTER = received("m", time_to_live=10 * SECOND, dead_letter_reason="TTLExpiredException")
READ = v.Receive(queue=DEAD, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def test_expired_deferred_message_may_be_dead_lettered_when_it_is_asked_for() -> None:
    """TTL-10: not before; and it is gone then, once."""
    observer = deferred()
    assert "TTL-10" in observer.saw(READ, LETTER).rules
    observer.has(ASK, NOT_FOUND)
    observer.has(ASK, NOT_FOUND)
    assert "TTL-07" in observer.saw(READ, LETTER).rules
    assert not observer.saw(READ, LETTER).possible


def test_request_without_an_answer_may_have_asked_for_it() -> None:
    """At any later time, too."""
    observer = deferred()
    observer.has(ASK, LOST)
    observer.has(READ, LETTER)


def test_entity_that_drops_what_expires_dead_letters_nothing_for_being_asked() -> None:
    """TTL-08: whoever asks for it; a request without an answer does not either."""
    for outcome in (NOT_FOUND, LOST):
        observer = deferred(dead_letter_expired=False)
        observer.has(ASK, outcome)
        assert not observer.saw(READ, LETTER).possible


def test_deferred_message_that_lives_is_not_dead_lettered_for_being_asked_for() -> None:
    """TTL-02: only one that has expired is."""
    observer = observing()
    observer.queue(dead_letter_expired=True)
    observer.has(v.Send(queue="q", message=v.Message(body="m")), partition=0)
    observer.has(v.Receive(queue="q"), received("m", lock_token="l"))
    observer.has(v.Defer(queue="q", lock_token="l"))
    assert not observer.saw(ASK, NOT_FOUND).possible
    observer.has(ASK, LOST)
    assert not observer.saw(READ, LETTER).possible


def chain() -> Observer:
    """Five queues that forward, to a sixth, with a message that was forwarded too often."""
    observer = observing()
    observer.has(v.CreateQueue(queue="all-dead", partitioned=False))
    for number in range(5, -1, -1):
        onward = f"q{number + 1}" if number < 5 else None
        command = v.CreateQueue(
            queue=f"q{number}", forward_to=onward, forward_dead_letters_to="all-dead"
        )
        observer.has(command)
    observer.has(v.Send(queue="q0", message=v.Message(body="m")), partition=0)
    passes(observer, 300)
    return observer


def test_message_of_too_many_hops_may_stay_in_a_dead_letter_queue_that_forwards() -> None:
    """FORWARD-FAILED: it was seen there, and neither forwarded nor among the transfers."""
    observer = chain()
    seen = received("m", dead_letter_reason="MaxTransferHopCountExceeded")
    observer.has(v.Receive(queue=f"q4{v.DEAD_LETTERS}"), seen)


def test_dead_letter_queue_that_forwards_gives_nothing_else() -> None:
    """FWD-36: what could be forwarded is not there, nor anything if no message failed."""
    observer = chain()
    assert not observer.saw(v.Receive(queue=f"q1{v.DEAD_LETTERS}"), received("m")).possible
    transfers = attrs.evolve(
        observing().possible[0].profile, readings={"FORWARD-FAILED": "transfer"}
    )
    other = Observer(transfers, observing().possible[0].observability)
    other.has(v.CreateQueue(queue="all-dead"))
    other.has(v.CreateQueue(queue="q", forward_dead_letters_to="all-dead"))
    assert not other.saw(v.Receive(queue=DEAD), received("m")).possible


def shown(*bodies: str, state: v.MessageState | None = v.MessageState.SCHEDULED) -> v.Peeked:
    return v.Peeked(messages=tuple(view(body, state=state) for body in bodies))


def test_peek_of_a_topic_may_show_what_is_scheduled_there() -> None:
    """TOPIC-05: each message once, and nothing else."""
    observer = observing()
    observer.has(v.CreateTopic(topic="t"))
    observer.has(v.CreateSubscription(topic="t", subscription="s"))
    message = v.Message(body="later")
    observer.has(v.Schedule(queue="t", message=message, delay=HOUR), v.Scheduled(sequence_number=1))
    peek = v.Peek(queue="t", count=5)
    for allowed in (shown("later"), shown("later", state=None), shown()):
        observer.has(peek, allowed)
    for wrong in (
        shown("later", "later"),
        shown("other"),
        shown("later", state=v.MessageState.ACTIVE),
    ):
        assert "TOPIC-05" in observer.saw(peek, wrong).rules
        assert not observer.saw(peek, wrong).possible


def test_sequence_number_of_0_is_a_number() -> None:
    """SEQ-03: two messages cannot have it."""
    observer = observing()
    observer.queue(partitioned=False)
    for body in ("a", "b"):
        observer.has(v.Send(queue="q", message=v.Message(body=body)))
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    first = v.Received(message=v.MessageView(body="a", sequence_number=0))
    observer.has(take, first)
    second = v.Received(message=v.MessageView(body="b", sequence_number=0))
    assert "SEQ-03" in observer.saw(take, second).rules
    assert not observer.saw(take, second).possible


def closed_to_senders() -> Observer:
    """A queue with a scheduled message that was disabled for senders since."""
    observer = observing()
    observer.queue()
    message = v.Message(body="m")
    observer.has(v.Schedule(queue="q", message=message, delay=HOUR), v.Scheduled(sequence_number=1))
    observer.has(update(status=v.EntityStatus.SEND_DISABLED))
    return observer


def test_queue_disabled_for_senders_lets_others_peek() -> None:
    """MGMT-28: with a scheduled message, too, of which the peek may show something or nothing."""
    observer = closed_to_senders()
    peek = v.Peek(queue="q", count=5)
    assert "MGMT-28" in observer.saw(peek, v.Refused(error=v.Error.ENTITY_DISABLED)).rules
    assert not observer.saw(peek, v.Refused(error=v.Error.ENTITY_DISABLED)).possible
    observer.has(peek, v.Peeked())
    observer.has(peek, shown("m"))


@pytest.mark.parametrize("outcome", [v.Empty(), received("m", number=2)], ids=["never", "then"])
def test_what_becomes_of_messages_scheduled_for_a_queue_disabled_for_senders_is_open(
    outcome: v.Outcome,
) -> None:
    """Enabled again or not, it may come or not; no document says."""
    for again in (False, True):
        observer = closed_to_senders()
        if again:
            observer.has(update(status=v.EntityStatus.ACTIVE))
        passes(observer, 4_000)
        observer.has(v.Receive(queue="q"), outcome)
