"""Steps that defer messages and receive them by sequence number."""

import pytest
from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.receiving import kept_message, settling
from busproof.steps.sentences import OTHER, Fate, sentence


def _number(view: v.MessageView) -> int:
    """Return the sequence number of a message, which is needed to receive it again."""
    if view.sequence_number is None:
        raise NotApplicable("sequence numbers: the adapter tells none")
    return view.sequence_number


def _ask(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    connection: str = "c1",
    session_id: str | None = None,
) -> v.Outcome:
    """Try to receive deferred messages by their sequence numbers."""
    numbers = tuple(_number(view) for view in views)
    command = v.ReceiveDeferred(queue=queue, sequence_numbers=numbers, session_id=session_id)
    return bus.do(command, connection)


def _had(bus: BusUnderTest, outcome: v.Outcome) -> list[v.MessageView]:
    bus.expect(outcome, v.ReceivedSeveral)
    assert isinstance(outcome, v.ReceivedSeveral)
    return list(outcome.messages)


@when(
    sentence("{number:HowMany} message{session_id:Session?} is received and deferred"),
    target_fixture="aside",
)
def defers(
    bus: BusUnderTest, queue: str, number: int, session_id: str | None
) -> list[v.MessageView]:
    """Receive messages and defer them; this must succeed."""
    views = []
    for _ in range(number or len(bus.sent)):
        views.append(kept_message(bus, queue, session_id))
        bus.expect(bus.do(settling(queue, views[-1], Fate.of("deferred"))), v.Done)
    return views


@when(
    parsers.re(
        "(?:it|each of them) is received by its number(?P<elsewhere> over another connection)? and "
        "(?P<how>completed|abandoned|dead-lettered|deleted|kept)"
    ),
    target_fixture="kept",
)
def settles_by_number(
    bus: BusUnderTest,
    queue: str,
    aside: list[v.MessageView],
    views: list[v.MessageView],
    elsewhere: str | None,
    how: str,
) -> v.MessageView:
    """Receive each deferred message by its number and settle, delete or keep it; return the last.

    A message that is deleted has to have its body.
    """
    connection = OTHER if elsewhere else "c1"
    deletes = how == "deleted"
    mode = v.ReceiveMode.RECEIVE_AND_DELETE if deletes else v.ReceiveMode.PEEK_LOCK
    for view in aside:
        command = v.ReceiveDeferred(queue=queue, sequence_numbers=(_number(view),), mode=mode)
        received = _had(bus, bus.do(command, connection))[0]
        if how == "completed":
            views.append(received)
        if deletes:
            assert received.body == view.body, received
        elif how != "kept":
            bus.expect(bus.do(settling(queue, received, Fate.of(how)), connection), v.Done)
    return received


@when(
    sentence("{which:Deferred} is tried by its number{session_id:Session?}{connection:Elsewhere?}"),
    target_fixture="outcome",
)
def tries_by_number(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    which: str,
    session_id: str | None,
    connection: str | None,
) -> v.Outcome:
    """Try to receive by its number the deferred message, or one that was never deferred."""
    queue = str(request.getfixturevalue("queue"))
    wanted = request.getfixturevalue("aside" if which == "it" else "kept")
    numbered = wanted if which == "it" else [wanted]
    return _ask(bus, queue, numbered, connection or "c1", session_id)


@when(sentence("all of them are received by their numbers at once{singly:OneByOne?}"))
def receives_all(
    bus: BusUnderTest,
    queue: str,
    aside: list[v.MessageView],
    views: list[v.MessageView],
    singly: str | None,
) -> None:
    """Receive all deferred messages with one request or, if that may be refused, one by one."""
    outcome = _ask(bus, queue, aside)
    if singly and isinstance(outcome, v.Refused):
        for view in aside:
            views.extend(_had(bus, _ask(bus, queue, [view])))
    else:
        views.extend(_had(bus, outcome))


@then(parsers.re("it is shown as (?P<state>deferred|scheduled)(?:, if it is shown)?"))
def shown_as(peeked: tuple[v.MessageView, ...], state: str) -> None:
    """Check that the peek shows the messages in this state, if it reports states."""
    assert all(view.state in (None, v.MessageState(state)) for view in peeked), peeked
