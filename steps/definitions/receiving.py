"""Steps that receive and settle."""

import pytest
from pytest_bdd import parsers, step, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import Fate, sentence, transaction_of


@step(
    sentence(
        "everything{session_id:Session?}{below:DeadLetters?} {is:Tense} received"
        "{connection:Elsewhere?} and completed"
    )
)
def receives_everything(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    session_id: str | None,
    below: str | None,
    connection: str | None,
) -> None:
    """Receive and complete until nothing is left, of a session or among the dead letters."""
    views.extend(bus.received(queue + (below or ""), connection or "c1", session_id))


@step(
    sentence(
        "{number:HowMany} {messages:Messages}{session_id:Session?}{below:DeadLetters?} {is:Tense} "
        "received and {fate:Fate}"
    )
)
def receives_some(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    number: int,
    session_id: str | None,
    below: str | None,
    fate: Fate,
) -> None:
    """Receive messages one by one and settle each, or delete it on receipt; all must succeed."""
    path = str(request.getfixturevalue("queue")) + (below or "")
    transaction = transaction_of(request, fate.within)
    mode = v.ReceiveMode.RECEIVE_AND_DELETE if fate.how == "deleted" else v.ReceiveMode.PEEK_LOCK
    for _ in range(number or len(bus.sent)):
        outcome = bus.do(v.Receive(queue=path, mode=mode, session_id=session_id))
        bus.expect(outcome, v.Received)
        if fate.how != "deleted" and isinstance(outcome, v.Received):
            bus.expect(bus.do(settling(path, outcome.message, fate, transaction)), v.Done)


def settling(
    path: str, view: v.MessageView, fate: Fate, transaction: str | None = None
) -> v.Command:
    """Return the command that settles a locked message."""
    token = view.lock_token or ""
    match fate.how:
        case "completed":
            return v.Complete(queue=path, lock_token=token, transaction=transaction)
        case "abandoned":
            return v.Abandon(queue=path, lock_token=token, transaction=transaction)
        case "deferred":
            return v.Defer(queue=path, lock_token=token, transaction=transaction)
    return v.DeadLetter(queue=path, lock_token=token, reason=fate.reason, transaction=transaction)


@when(sentence("the message kept{below:DeadLetters?} is {fate:Settled}"), target_fixture="outcome")
def settles_kept(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    queue: str,
    kept: v.MessageView,
    below: str | None,
    fate: Fate,
) -> v.Outcome:
    """Try to settle the locked message."""
    transaction = transaction_of(request, fate.within)
    return bus.do(settling(queue + (below or ""), kept, fate, transaction))


@when(
    sentence(
        "a message{session_id:Session?}{below:DeadLetters?} is received and kept{maybe:IfItComes?}"
    ),
    target_fixture="kept",
)
def keeps(
    bus: BusUnderTest,
    queue: str,
    session_id: str | None,
    below: str | None,
    maybe: str | None,
) -> v.MessageView | None:
    """Receive a message and leave it locked; it may not come."""
    path = queue + (below or "")
    if maybe is None:
        return kept_message(bus, path, session_id)
    outcome = bus.do(v.Receive(queue=path, session_id=session_id))
    return outcome.message if isinstance(outcome, v.Received) else None


def kept_message(bus: BusUnderTest, path: str, session_id: str | None = None) -> v.MessageView:
    """Receive a message, which must arrive, and leave it locked."""
    outcome = bus.do(v.Receive(queue=path, session_id=session_id))
    bus.expect(outcome, v.Received)
    assert isinstance(outcome, v.Received)
    return outcome.message


@when(
    parsers.re(
        r'(?P<which>all messages|each of them|\d+ messages)(?: in session "(?P<session_id>[^"]*)")?'
        " (?:is|are) received and kept"
    ),
    target_fixture="several",
)
def keeps_several(
    bus: BusUnderTest, queue: str, which: str, session_id: str | None
) -> list[v.MessageView]:
    """Lock this number of messages, as many as were sent, or until none is left."""
    if which == "all messages":
        return bus.all_kept(queue)
    number = len(bus.sent) if which == "each of them" else int(which.removesuffix(" messages"))
    return [kept_message(bus, queue, session_id) for _ in range(number)]


@when(
    sentence(
        "{number:Number} {receives:Receives}{below:DeadLetters?} {is:Tense} tried"
        "{connection:Elsewhere?}"
    )
)
def tries(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    views: list[v.MessageView],
    number: int,
    below: str | None,
    connection: str | None,
) -> None:
    """Try to receive, and remember the messages that arrive."""
    path = str(request.getfixturevalue("queue")) + (below or "")
    command = v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    for _ in range(number):
        outcome = bus.do(command, connection or "c1")
        if isinstance(outcome, v.Received):
            views.append(outcome.message)
