"""Steps that receive, settle and peek."""

import pytest
from pytest_bdd import parsers, step, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import TOPIC, Fate, name_in, sentence, transaction_of

PEEKED_AT_ONCE = 64


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


@when(
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
    sentence("a message{session_id:Session?}{below:DeadLetters?} is received and kept"),
    target_fixture="kept",
)
@when(sentence("a message{session_id:Session} is received again"), target_fixture="again")
def keeps(
    bus: BusUnderTest, queue: str, session_id: str | None, below: str | None = None
) -> v.MessageView:
    """Receive a message and leave it locked."""
    return kept_message(bus, queue + (below or ""), session_id)


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


@when(sentence("a receive{below:DeadLetters?} is tried{connection:Elsewhere?}"))
def tries(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    below: str | None,
    connection: str | None,
) -> None:
    """Try to receive, and remember a message that arrives."""
    _try(bus, queue + (below or ""), views, connection or "c1")


def _try(bus: BusUnderTest, path: str, views: list[v.MessageView], connection: str = "c1") -> None:
    command = v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    outcome = bus.do(command, connection)
    if isinstance(outcome, v.Received):
        views.append(outcome.message)


@when(parsers.parse("receives are tried until a message comes, or {number:d} have brought none"))
def tries_until(bus: BusUnderTest, queue: str, views: list[v.MessageView], number: int) -> None:
    """Receive up to this many times until a message arrives; none has to."""
    before = len(views)
    for _ in range(number):
        if len(views) == before:
            _try(bus, queue, views)


@when(
    sentence("messages{session_id:Session?}{below:DeadLetters?} are peeked"),
    target_fixture="peeked",
)
def peeks(
    bus: BusUnderTest, queue: str, session_id: str | None, below: str | None
) -> tuple[v.MessageView, ...]:
    """Peek at the messages, of a session or among the dead letters."""
    path = queue + (below or "")
    return bus.peeked(v.Peek(queue=path, count=PEEKED_AT_ONCE, session_id=session_id))


@when(sentence("a message is requested{place:From?}"), target_fixture="outcome")
def requests(request: pytest.FixtureRequest, bus: BusUnderTest, place: str | None) -> v.Outcome:
    """Try to receive a message in the mode receive-and-delete."""
    path = str(request.getfixturevalue("queue")) if place is None else _subscription(place)
    return bus.do(v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE))


def _subscription(text: str) -> str:
    return v.subscription_path(TOPIC, name_in(text))
