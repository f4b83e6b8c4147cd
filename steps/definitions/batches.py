"""Steps for several messages in one request."""

import attrs
import pytest
from pytest_bdd import parsers, step, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.sending import READ
from busproof.steps.sentences import Terms, sentence, transaction_of
from busproof.steps.wording import Properties, seconds


def _batch(
    bus: BusUnderTest, queue: str, messages: list[v.Message], transaction: str | None = None
) -> v.Outcome:
    return bus.send_batch(
        v.SendBatch(queue=queue, messages=tuple(messages), transaction=transaction)
    )


def _alike(bus: BusUnderTest, number: int, carried: Properties) -> list[v.Message]:
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
    bus: BusUnderTest,
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
def sends_two_at_once(
    bus: BusUnderTest, queue: str, first: Properties, second: Properties
) -> v.Outcome:
    """Try to send a batch of two different messages."""
    return _batch(bus, queue, [first.message(bus), second.message(bus)])


@when(
    sentence("up to {number:d} messages{session_id:Session?} are received at once and kept"),
    target_fixture="several",
)
def receives_at_once(
    bus: BusUnderTest, queue: str, number: int, session_id: str | None
) -> list[v.MessageView]:
    """Receive a batch; at least one message must arrive."""
    outcome = bus.do(v.ReceiveBatch(queue=queue, count=number, session_id=session_id))
    bus.expect(outcome, v.ReceivedSeveral)
    assert isinstance(outcome, v.ReceivedSeveral)
    return list(outcome.messages)


@when(
    parsers.re(
        r'up to (?P<number>\d+) messages(?: of session "(?P<session_id>[^"]*)")? '
        r"are received at once and (?P<how>completed|deleted), to the end"
    ),
    converters={"number": int},
)
def receives_all_at_once(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    number: int,
    session_id: str | None,
    how: str,
) -> None:
    """Receive batches until one is empty, and complete each message or delete it on receipt."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE if how == "deleted" else v.ReceiveMode.PEEK_LOCK
    command = v.ReceiveBatch(queue=queue, count=number, mode=mode, session_id=session_id)
    for _ in range(len(bus.sent) + 1):
        outcome = bus.do(command)
        if not isinstance(outcome, v.ReceivedSeveral):
            return
        views.extend(outcome.messages)
        for view in outcome.messages:
            bus.complete(queue, view)


@when(
    sentence("up to {number:d} messages{age:Age?} are deleted at once{maybe:IfPossible?}"),
    target_fixture="deleted",
)
def deletes_at_once(
    bus: BusUnderTest, queue: str, number: int, age: int | None, maybe: str | None
) -> int:
    """Delete messages, of some age; return how many were deleted, which may be refused."""
    before = None if age is None else seconds(age)
    outcome = bus.do(v.DeleteBatch(queue=queue, count=number, age=before))
    if maybe and isinstance(outcome, v.Refused):
        return 0
    bus.expect(outcome, v.Deleted)
    assert isinstance(outcome, v.Deleted)
    return outcome.count


@then(sentence("at most {number:d} {messages:Messages} {is:Tense} deleted{others:AndOthers?}"))
def few_deleted(
    bus: BusUnderTest, deleted: int, views: list[v.MessageView], number: int, others: str | None
) -> None:
    """Check that no more was deleted than requested, and perhaps that all else arrived."""
    assert deleted <= number, deleted
    if others:
        assert len(views) == len(bus.sent) - deleted, views
