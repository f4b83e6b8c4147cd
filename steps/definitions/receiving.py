"""Steps that receive, settle and peek."""

from pytest_bdd import given, parsers, when

from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER
from busproof.vocabulary.commands import Abandon, Complete, Peek, Receive
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Outcome, Received
from busproof.vocabulary.values import ReceiveMode

PEEKED_AT_ONCE = 64


@given("everything was received and completed")
@when("everything is received and completed")
def receives_everything(bus: Bus, queue: str, views: list[MessageView]) -> None:
    """Receive and complete until the queue is empty."""
    views.extend(bus.received(queue))


@when("everything is received over another connection and completed")
def receives_everything_elsewhere(bus: Bus, queue: str, views: list[MessageView]) -> None:
    """Receive and complete over a second connection until the queue is empty."""
    views.extend(bus.received(queue, OTHER))


@when(parsers.parse('everything of session "{session_id}" is received and completed'))
def receives_session(bus: Bus, queue: str, session_id: str, views: list[MessageView]) -> None:
    """Receive and complete a session's messages until none is left."""
    views.extend(bus.received(queue, session_id=session_id))


@when("one message is received and abandoned")
def abandons(bus: Bus, queue: str) -> None:
    """Receive a message and abandon it."""
    outcome = bus.receive(queue)
    bus.expect(outcome, Received)
    if isinstance(outcome, Received):
        bus.abandon(queue, outcome.message)


@when(parsers.parse('one message of session "{session_id}" is received and abandoned'))
def abandons_in_session(bus: Bus, queue: str, session_id: str) -> None:
    """Receive a message of a session and abandon it."""
    outcome = bus.receive(queue, session_id=session_id)
    bus.expect(outcome, Received)
    if isinstance(outcome, Received):
        bus.abandon(queue, outcome.message)


@when("a message is received and kept", target_fixture="kept")
def keeps(bus: Bus, queue: str) -> MessageView:
    """Receive a message and leave it locked."""
    outcome = bus.do(Receive(queue=queue))
    bus.expect(outcome, Received)
    assert isinstance(outcome, Received)
    return outcome.message


@when("a message is received and deleted")
def deletes(bus: Bus, queue: str) -> None:
    """Receive a message in the mode receive-and-delete."""
    mode = ReceiveMode.RECEIVE_AND_DELETE
    bus.expect(bus.do(Receive(queue=queue, mode=mode)), Received)


@when("the message kept is completed", target_fixture="outcome")
def completes_kept(bus: Bus, queue: str, kept: MessageView) -> Outcome:
    """Try to complete the locked message."""
    return bus.do(Complete(queue=queue, lock_token=kept.lock_token or ""))


@when("the message kept is abandoned", target_fixture="outcome")
def abandons_kept(bus: Bus, queue: str, kept: MessageView) -> Outcome:
    """Try to abandon the locked message."""
    return bus.do(Abandon(queue=queue, lock_token=kept.lock_token or ""))


@when("a receive is tried")
def tries(bus: Bus, queue: str, views: list[MessageView]) -> None:
    """Try to receive, and remember a message that arrives."""
    _counted(bus.do(Receive(queue=queue, mode=ReceiveMode.RECEIVE_AND_DELETE)), views)


@when(parsers.parse("receives are tried until a message comes, or {number:d} have brought none"))
def tries_until(bus: Bus, queue: str, views: list[MessageView], number: int) -> None:
    """Receive until a message arrives, up to this number of attempts; none needs to arrive."""
    before = len(views)
    for _ in range(number):
        if len(views) == before:
            tries(bus, queue, views)


@when("a receive is tried over another connection")
def tries_elsewhere(bus: Bus, queue: str, views: list[MessageView]) -> None:
    """Try to receive over a second connection, and remember a message that arrives."""
    mode = ReceiveMode.RECEIVE_AND_DELETE
    _counted(bus.do(Receive(queue=queue, mode=mode), OTHER), views)


def _counted(outcome: Outcome, views: list[MessageView]) -> None:
    if isinstance(outcome, Received):
        views.append(outcome.message)


@when(
    parsers.parse('session "{session_id}" is received over another connection'),
    target_fixture="outcome",
)
def receives_foreign_session(bus: Bus, queue: str, session_id: str) -> Outcome:
    """Try to receive a session's message over a connection that does not hold the session."""
    return bus.receive(queue, OTHER, session_id)


@when("messages are peeked", target_fixture="peeked")
def peeks(bus: Bus, queue: str) -> tuple[MessageView, ...]:
    """Peek at the messages."""
    return bus.peeked(Peek(queue=queue, count=PEEKED_AT_ONCE))
