"""Steps for several messages in one request."""

from typing import Final

import attrs
import pytest
from pytest_bdd import parsers, step, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.sending import READ
from busproof.steps.definitions.setup import OTHER
from busproof.steps.sentences import Terms, sentence, transaction_of
from busproof.steps.wording import Properties

KB: Final = 1024
MB: Final = 1024 * KB


def _batch(
    bus: Bus, queue: str, messages: list[v.Message], transaction: str | None = None
) -> v.Outcome:
    return bus.send_batch(
        v.SendBatch(queue=queue, messages=tuple(messages), transaction=transaction)
    )


def _alike(bus: Bus, number: int, carried: Properties) -> list[v.Message]:
    return [carried.message(bus) for _ in range(number)]


@step(
    sentence(
        "{number:d} messages {carried} {must:Tense} sent at once{within:Within?}{terms:Terms?}"
    ),
    converters=READ,
    target_fixture="outcome",
)
def sends_at_once(
    request: pytest.FixtureRequest,
    bus: Bus,
    number: int,
    carried: Properties,
    must: bool,
    within: str | None,
    terms: Terms | None,
) -> v.Outcome:
    """Send a batch; a batch that was sent must have been accepted."""
    life = terms.life if terms else None
    messages = [
        attrs.evolve(message, time_to_live=life) for message in _alike(bus, number, carried)
    ]
    queue = str(request.getfixturevalue("queue"))
    outcome = _batch(bus, queue, messages, transaction_of(request, within))
    if must:
        bus.expect(outcome, v.Done)
    return outcome


@when(
    parsers.parse("a message {first} and one {second} are sent at once"),
    converters={"first": READ["carried"], "second": READ["carried"]},
    target_fixture="outcome",
)
def sends_two_at_once(bus: Bus, queue: str, first: Properties, second: Properties) -> v.Outcome:
    """Try to send a batch of two different messages."""
    return _batch(bus, queue, [first.message(bus), second.message(bus)])


@when(parsers.parse("up to {number:d} messages are requested at once"), target_fixture="outcome")
def requests_at_once(bus: Bus, queue: str, number: int) -> v.Outcome:
    """Try to receive a batch."""
    return bus.do(v.ReceiveBatch(queue=queue, count=number))


@when(
    parsers.parse("up to {number:d} messages are received at once and kept"),
    target_fixture="several",
)
def receives_at_once(bus: Bus, queue: str, number: int) -> tuple[v.MessageView, ...]:
    """Receive a batch; at least one message must arrive."""
    outcome = bus.do(v.ReceiveBatch(queue=queue, count=number))
    bus.expect(outcome, v.ReceivedSeveral)
    assert isinstance(outcome, v.ReceivedSeveral)
    return outcome.messages


@when(
    parsers.parse('up to {number:d} messages of session "{session_id}" are received at once'),
    target_fixture="several",
)
def receives_session_at_once(
    bus: Bus, queue: str, number: int, session_id: str
) -> tuple[v.MessageView, ...]:
    """Receive a batch from a session; at least one message must arrive."""
    outcome = bus.do(v.ReceiveBatch(queue=queue, count=number, session_id=session_id))
    bus.expect(outcome, v.ReceivedSeveral)
    assert isinstance(outcome, v.ReceivedSeveral)
    return outcome.messages


@when(parsers.parse("up to {number:d} messages are received at once and completed, to the end"))
def receives_all_at_once(bus: Bus, queue: str, number: int, views: list[v.MessageView]) -> None:
    """Receive batches until one is empty, and complete each message."""
    for _ in range(len(bus.sent) + 1):
        outcome = bus.do(v.ReceiveBatch(queue=queue, count=number))
        if not isinstance(outcome, v.ReceivedSeveral):
            return
        views.extend(outcome.messages)
        for view in outcome.messages:
            bus.complete(queue, view)


@when(
    parsers.re(
        r'up to (?P<number>\d+) messages(?: of session "(?P<session_id>[^"]*)")? '
        r"are received at once and deleted, to the end"
    ),
    converters={"number": int},
)
def deletes_all_at_once(
    bus: Bus, queue: str, number: int, session_id: str | None, views: list[v.MessageView]
) -> None:
    """Receive batches in the mode receive-and-delete until one is empty."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    command = v.ReceiveBatch(queue=queue, count=number, mode=mode, session_id=session_id)
    for _ in range(len(bus.sent) + 1):
        outcome = bus.do(command)
        if not isinstance(outcome, v.ReceivedSeveral):
            return
        views.extend(outcome.messages)


@when("the first of them is completed")
def completes_the_first(bus: Bus, queue: str, several: tuple[v.MessageView, ...]) -> None:
    """Complete the first message; this must succeed."""
    bus.complete(queue, several[0])


def _delete(bus: Bus, queue: str, number: int, age: int | None = None) -> v.Outcome:
    return bus.do(v.DeleteBatch(queue=queue, count=number, age=age))


def _number_deleted(bus: Bus, outcome: v.Outcome) -> int:
    bus.expect(outcome, v.Deleted)
    assert isinstance(outcome, v.Deleted)
    return outcome.count


@when(parsers.parse("up to {number:d} messages are deleted at once"), target_fixture="deleted")
def deletes_at_once(bus: Bus, queue: str, number: int) -> int:
    """Delete messages; return how many were deleted."""
    return _number_deleted(bus, _delete(bus, queue, number))


@when(
    parsers.parse("up to {number:d} messages of before the last {seconds:d} seconds are deleted"),
    target_fixture="deleted",
)
def deletes_old_at_once(bus: Bus, queue: str, number: int, seconds: int) -> int:
    """Delete messages of some age; return how many were deleted."""
    return _number_deleted(bus, _delete(bus, queue, number, seconds * v.MICROSECONDS))


@when(
    parsers.parse("one tries to delete up to {number:d} messages at once"),
    target_fixture="deleted",
)
def tries_to_delete_at_once(bus: Bus, queue: str, number: int) -> int:
    """Try to delete messages; return how many were deleted, 0 if the request was refused."""
    outcome = _delete(bus, queue, number)
    return 0 if isinstance(outcome, v.Refused) else _number_deleted(bus, outcome)


@then(parsers.parse("at most {number:d} were deleted, and all others were received"))
def others_received(bus: Bus, deleted: int, views: list[v.MessageView], number: int) -> None:
    """Check the number of deleted messages, and that the others arrived."""
    assert deleted <= number, deleted
    assert len(views) == len(bus.sent) - deleted, views


@then(parsers.parse("at most {number:d} message was deleted"))
def few_deleted(deleted: int, number: int) -> None:
    """Check that no more was deleted than there was."""
    assert deleted <= number, deleted


@then("none of them was deleted")
def none_deleted(deleted: int) -> None:
    """Check that nothing was deleted."""
    assert deleted == 0, deleted


@then(parsers.parse("at least 1 and at most {number:d} of them came"))
def so_many_came(several: tuple[v.MessageView, ...], number: int) -> None:
    """Check that at least one message arrived, not more than requested, and none twice."""
    assert 1 <= len(several) <= number, several
    assert len({view.body for view in several}) == len(several), several


@then("they stand in the order in which they were sent")
def stand_in_order(bus: Bus, several: tuple[v.MessageView, ...]) -> None:
    """Check that the messages are the first ones sent, in order and without a gap."""
    sent = [message.body for message in bus.sent]
    assert [view.body for view in several] == sent[: len(several)], several


@then("each of them can be completed")
def each_can_be_completed(bus: Bus, queue: str, several: tuple[v.MessageView, ...]) -> None:
    """Check that each message has a separate lock, by completing all of them."""
    for view in several:
        outcome = bus.do(v.Complete(queue=queue, lock_token=view.lock_token or ""))
        assert isinstance(outcome, v.Done), outcome


@then("a receive of several over another connection gives none of them")
def gives_none_of_them(bus: Bus, queue: str, several: tuple[v.MessageView, ...]) -> None:
    """Check that a second receiver gets no locked message."""
    outcome = bus.do(v.ReceiveBatch(queue=queue, count=5), OTHER)
    assert isinstance(outcome, v.Empty | v.ReceivedSeveral), outcome
    given_views = outcome.messages if isinstance(outcome, v.ReceivedSeveral) else ()
    assert not {view.body for view in given_views} & {view.body for view in several}, outcome


@then(parsers.parse("either all {number:d} or none of them can be received"))
def all_or_none(bus: Bus, queue: str, number: int, outcome: v.Outcome) -> None:
    """Check that all messages of an accepted batch, or none of a refused one, are received."""
    expected = 0 if isinstance(outcome, v.Refused) else number
    assert len(bus.received(queue)) == expected, outcome
