"""Steps for message locks."""

from collections.abc import Iterable
from typing import Final

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER, QUEUE, refuse_where_missing
from busproof.steps.wording import queue_settings

HOW: Final = r"(?P<how>completed|abandoned|dead-lettered|deferred)"
DISPOSITIONS: Final = {
    "completed": v.Disposition.COMPLETE,
    "abandoned": v.Disposition.ABANDON,
    "dead-lettered": v.Disposition.DEAD_LETTER,
    "deferred": v.Disposition.DEFER,
}


def _kept(bus: Bus, queue: str, connection: str = "c1") -> v.MessageView:
    outcome = bus.do(v.Receive(queue=queue), connection)
    bus.expect(outcome, v.Received)
    assert isinstance(outcome, v.Received)
    return outcome.message


def _renew(bus: Bus, queue: str, view: v.MessageView) -> v.Outcome:
    return bus.do(v.RenewLock(queue=queue, lock_token=view.lock_token or ""))


@when("the lock of the message kept is renewed, which succeeds")
def renews_kept(bus: Bus, queue: str, kept: v.MessageView) -> None:
    """Renew the lock; this must succeed."""
    bus.expect(_renew(bus, queue, kept), v.Renewed)


@when("the lock of the message kept is renewed", target_fixture="outcome")
def tries_to_renew_kept(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to renew the lock."""
    return _renew(bus, queue, kept)


@when("each of them is received and kept", target_fixture="several")
def keeps_each(bus: Bus, queue: str) -> tuple[v.MessageView, ...]:
    """Receive as many messages as were sent and leave them locked."""
    return tuple(_kept(bus, queue) for _ in bus.sent)


@when(
    parsers.parse('each of them is received in session "{session_id}" and kept'),
    target_fixture="several",
)
def keeps_each_of_session(bus: Bus, queue: str, session_id: str) -> tuple[v.MessageView, ...]:
    """Receive as many messages of the session as were sent and leave them locked."""
    outcomes = [bus.do(v.Receive(queue=queue, session_id=session_id)) for _ in bus.sent]
    return tuple(outcome.message for outcome in outcomes if isinstance(outcome, v.Received))


def _settle_together(
    bus: Bus,
    queue: str,
    views: Iterable[v.MessageView],
    disposition: v.Disposition,
    reason: str = "",
) -> v.Outcome:
    tokens = tuple(view.lock_token or "" for view in views)
    together = v.SettleBatch(
        queue=queue, lock_tokens=tokens, disposition=disposition, reason=reason
    )
    return bus.do(together)


@when(
    parsers.parse('all of them are dead-lettered in one request because of "{reason}"'),
    target_fixture="outcome",
)
def dead_letters_together(
    bus: Bus, queue: str, several: tuple[v.MessageView, ...], reason: str
) -> v.Outcome:
    """Try to dead-letter all of the locked messages at once, for this reason."""
    return _settle_together(bus, queue, several, v.Disposition.DEAD_LETTER, reason)


@when(parsers.re(rf"all of them are {HOW} in one request"), target_fixture="outcome")
def settles_together(
    bus: Bus, queue: str, several: tuple[v.MessageView, ...], how: str
) -> v.Outcome:
    """Try to settle all of the locked messages at once."""
    return _settle_together(bus, queue, several, DISPOSITIONS[how])


@when("each of them is completed twice in one request", target_fixture="outcome")
def names_locks_twice(bus: Bus, queue: str, several: tuple[v.MessageView, ...]) -> v.Outcome:
    """Try to complete all of the locked messages at once, with each lock named twice."""
    return _settle_together(bus, queue, [*several, *several], v.Disposition.COMPLETE)


@when(parsers.re(rf"all of them are {HOW} in one request, or else one by one"))
def settles_somehow(bus: Bus, queue: str, several: tuple[v.MessageView, ...], how: str) -> None:
    """Settle all of the locked messages at once or, if that is refused, one by one."""
    outcome = _settle_together(bus, queue, several, DISPOSITIONS[how])
    if isinstance(outcome, v.Refused):
        for view in several:
            bus.expect(_settle_together(bus, queue, [view], DISPOSITIONS[how]), v.Done)


def _renew_together(bus: Bus, queue: str, views: Iterable[v.MessageView]) -> v.Outcome:
    tokens = tuple(view.lock_token or "" for view in views)
    return bus.do(v.RenewLocks(queue=queue, lock_tokens=tokens))


@when("all of their locks are renewed in one request", target_fixture="outcome")
def renews_together(bus: Bus, queue: str, several: tuple[v.MessageView, ...]) -> v.Outcome:
    """Try to renew all of the locks at once."""
    return _renew_together(bus, queue, several)


@when("all of their locks are renewed in one request, or else one by one")
def renews_somehow(bus: Bus, queue: str, several: tuple[v.MessageView, ...]) -> None:
    """Renew all of the locks at once or, if that is refused, one by one."""
    outcome = _renew_together(bus, queue, several)
    if isinstance(outcome, v.Refused):
        for view in several:
            bus.expect(_renew_together(bus, queue, [view]), v.RenewedSeveral)


@when("it is received over another connection", target_fixture="kept_elsewhere")
def receive_elsewhere(bus: Bus, queue: str) -> v.MessageView:
    """Receive a message over a second connection and leave it locked."""
    return _kept(bus, queue, OTHER)


@when("another message is received, its lock renewed, and completed")
def renews_another(bus: Bus, queue: str) -> None:
    """Receive one more message, renew its lock and complete it."""
    _renewed_and_completed(bus, queue)


@when("each message is received, its lock renewed, and completed")
def renews_each(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Receive as many messages as were sent; renew the lock of each, and complete it."""
    views.extend(_renewed_and_completed(bus, queue) for _ in bus.sent)


def _renewed_and_completed(bus: Bus, queue: str) -> v.MessageView:
    view = _kept(bus, queue)
    bus.expect(_renew(bus, queue, view), v.Renewed)
    bus.complete(queue, view)
    return view


@then("the message kept can be completed")
def can_complete_kept(bus: Bus, queue: str, kept: v.MessageView) -> None:
    """Check that the lock is still valid."""
    outcome = bus.do(v.Complete(queue=queue, lock_token=kept.lock_token or ""))
    assert isinstance(outcome, v.Done), outcome


@then("the other receiver can complete it")
def can_complete_elsewhere(bus: Bus, queue: str, kept_elsewhere: v.MessageView) -> None:
    """Check that the lock of the other receiver, which is later, is still valid."""
    token = kept_elsewhere.lock_token or ""
    outcome = bus.do(v.Complete(queue=queue, lock_token=token), OTHER)
    assert isinstance(outcome, v.Done), outcome


@given(
    parsers.re(r"perhaps an? (?P<kind>partitioned|regular) queue (?P<traits>.+)"),
    target_fixture="maybe",
)
def create_queue_if_served(bus: Bus, kind: str, traits: str) -> str | None:
    """Try to create a queue; return its name, or `None` if it was refused."""
    settings = queue_settings(QUEUE, kind, traits)
    refuse_where_missing(bus, settings)
    outcome = bus.do(settings)
    assert isinstance(outcome, v.Done | v.Refused), outcome
    return QUEUE if isinstance(outcome, v.Done) else None


@given("a message without key was sent, if there is a queue")
def send_if_served(bus: Bus, maybe: str | None) -> None:
    """Send a message if there is a queue; it must be accepted."""
    if maybe is not None:
        bus.expect(bus.send(v.Send(queue=maybe, message=bus.message())), v.Done)


@when("a message is received and kept, if there is a queue")
def keep_if_served(bus: Bus, maybe: str | None) -> None:
    """Receive a message, if there is a queue, and leave it locked."""
    if maybe is not None:
        _kept(bus, maybe)


@then("a receive finds it, if there is a queue")
def finds_if_served(bus: Bus, maybe: str | None) -> None:
    """Check that the lock has ended, if the queue exists."""
    assert maybe is None or isinstance(bus.receive(maybe), v.Received)
