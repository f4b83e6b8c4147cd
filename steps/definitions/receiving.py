"""Steps that receive, settle and peek."""

import pytest
from pytest_bdd import given, parsers, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER
from busproof.steps.sentences import TOPIC, name_in, sentence

PEEKED_AT_ONCE = 64


@given("everything was received and completed")
@when("everything is received and completed")
def receives_everything(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Receive and complete until the queue is empty."""
    views.extend(bus.received(queue))


@when("everything is received over another connection and completed")
def receives_everything_elsewhere(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Receive and complete over a second connection until the queue is empty."""
    views.extend(bus.received(queue, OTHER))


@when(parsers.parse('everything of session "{session_id}" is received and completed'))
def receives_session(bus: Bus, queue: str, session_id: str, views: list[v.MessageView]) -> None:
    """Receive and complete a session's messages until none is left."""
    views.extend(bus.received(queue, session_id=session_id))


@when("one message is received and abandoned")
def abandons(bus: Bus, queue: str) -> None:
    """Receive a message and abandon it."""
    outcome = bus.receive(queue)
    bus.expect(outcome, v.Received)
    if isinstance(outcome, v.Received):
        bus.abandon(queue, outcome.message)


@when(parsers.parse('one message of session "{session_id}" is received and abandoned'))
def abandons_in_session(bus: Bus, queue: str, session_id: str) -> None:
    """Receive a message of a session and abandon it."""
    outcome = bus.receive(queue, session_id=session_id)
    bus.expect(outcome, v.Received)
    if isinstance(outcome, v.Received):
        bus.abandon(queue, outcome.message)


@when("a message is received and kept", target_fixture="kept")
def keeps(bus: Bus, queue: str) -> v.MessageView:
    """Receive a message and leave it locked."""
    outcome = bus.do(v.Receive(queue=queue))
    bus.expect(outcome, v.Received)
    assert isinstance(outcome, v.Received)
    return outcome.message


@when("all messages are received and kept", target_fixture="kept")
def keeps_all(bus: Bus, queue: str) -> list[v.MessageView]:
    """Lock messages one by one until none is left."""
    return bus.all_kept(queue)


@when("a message is received and deleted")
def deletes(bus: Bus, queue: str) -> None:
    """Receive a message in the mode receive-and-delete."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    bus.expect(bus.do(v.Receive(queue=queue, mode=mode)), v.Received)


@when(parsers.parse("{number:d} messages are received and deleted"))
def deletes_some(bus: Bus, queue: str, number: int) -> None:
    """Receive this number of messages in the mode receive-and-delete, one by one."""
    for _ in range(number):
        deletes(bus, queue)


@when("the message kept is completed", target_fixture="outcome")
def completes_kept(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to complete the locked message."""
    return bus.do(v.Complete(queue=queue, lock_token=kept.lock_token or ""))


@when("the message kept is abandoned", target_fixture="outcome")
def abandons_kept(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to abandon the locked message."""
    return bus.do(v.Abandon(queue=queue, lock_token=kept.lock_token or ""))


@when("a receive is tried")
def tries(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Try to receive, and remember a message that arrives."""
    _counted(bus.do(v.Receive(queue=queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)), views)


@when(parsers.parse("receives are tried until a message comes, or {number:d} have brought none"))
def tries_until(bus: Bus, queue: str, views: list[v.MessageView], number: int) -> None:
    """Receive up to this many times until a message arrives; none has to."""
    before = len(views)
    for _ in range(number):
        if len(views) == before:
            tries(bus, queue, views)


@when("a receive is tried over another connection")
def tries_elsewhere(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Try to receive over a second connection, and remember a message that arrives."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    _counted(bus.do(v.Receive(queue=queue, mode=mode), OTHER), views)


def _counted(outcome: v.Outcome, views: list[v.MessageView]) -> None:
    if isinstance(outcome, v.Received):
        views.append(outcome.message)


@when(
    parsers.parse('session "{session_id}" is received over another connection'),
    target_fixture="outcome",
)
def receives_foreign_session(bus: Bus, queue: str, session_id: str) -> v.Outcome:
    """Try to receive a session's message over a connection that does not hold the session."""
    return bus.receive(queue, OTHER, session_id)


@when("messages are peeked", target_fixture="peeked")
def peeks(bus: Bus, queue: str) -> tuple[v.MessageView, ...]:
    """Peek at the messages."""
    return bus.peeked(v.Peek(queue=queue, count=PEEKED_AT_ONCE))


@when(sentence("a message is requested{place:From?}"), target_fixture="outcome")
def requests(request: pytest.FixtureRequest, bus: Bus, place: str | None) -> v.Outcome:
    """Try to receive a message in the mode receive-and-delete."""
    path = str(request.getfixturevalue("queue")) if place is None else _subscription(place)
    return bus.do(v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE))


def _subscription(text: str) -> str:
    return v.subscription_path(TOPIC, name_in(text))
