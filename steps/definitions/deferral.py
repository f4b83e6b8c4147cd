"""Steps that defer messages and receive them by sequence number."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.dead_letters import dead_letter_it
from busproof.steps.definitions.setup import OTHER


def _number(view: v.MessageView) -> int:
    """Return the sequence number of a message, which is needed to receive it again."""
    if view.sequence_number is None:
        raise NotApplicable("sequence numbers: the adapter tells none")
    return view.sequence_number


def _defer(bus: Bus, queue: str, session_id: str | None = None) -> v.MessageView:
    """Receive a message and defer it; this must succeed."""
    outcome = bus.do(v.Receive(queue=queue, session_id=session_id))
    bus.expect(outcome, v.Received)
    assert isinstance(outcome, v.Received)
    view = outcome.message
    bus.expect(bus.do(v.Defer(queue=queue, lock_token=view.lock_token or "")), v.Done)
    return view


def _ask(
    bus: Bus,
    queue: str,
    views: list[v.MessageView],
    connection: str = "c1",
    session_id: str | None = None,
) -> v.Outcome:
    """Try to receive deferred messages by their sequence numbers."""
    numbers = tuple(_number(view) for view in views)
    command = v.ReceiveDeferred(queue=queue, sequence_numbers=numbers, session_id=session_id)
    return bus.do(command, connection)


def _had(bus: Bus, outcome: v.Outcome) -> list[v.MessageView]:
    bus.expect(outcome, v.ReceivedSeveral)
    assert isinstance(outcome, v.ReceivedSeveral)
    return list(outcome.messages)


@when("a message is received and deferred", target_fixture="aside")
def defers(bus: Bus, queue: str) -> v.MessageView:
    """Receive a message and defer it."""
    return _defer(bus, queue)


@when(
    parsers.parse('a message of session "{session_id}" is received and deferred'),
    target_fixture="aside",
)
def defers_in_session(bus: Bus, queue: str, session_id: str) -> v.MessageView:
    """Receive a message of a session and defer it."""
    return _defer(bus, queue, session_id)


@when("everything is received and deferred", target_fixture="all_aside")
def defers_everything(bus: Bus, queue: str) -> list[v.MessageView]:
    """Receive and defer as many messages as were sent."""
    return [_defer(bus, queue) for _ in range(len(bus.sent))]


@when("it is received by its number and kept", target_fixture="kept")
def keeps_by_number(bus: Bus, queue: str, aside: v.MessageView) -> v.MessageView:
    """Receive the deferred message by its number and leave it locked."""
    return _had(bus, _ask(bus, queue, [aside]))[0]


@when("it is received by its number and completed")
def completes_by_number(
    bus: Bus, queue: str, aside: v.MessageView, views: list[v.MessageView]
) -> None:
    """Receive the deferred message by its number and complete it."""
    views.append(keeps_by_number(bus, queue, aside))
    bus.complete(queue, views[-1])


@when("it is received by its number and deleted")
def deletes_by_number(bus: Bus, queue: str, aside: v.MessageView) -> None:
    """Receive the deferred message by its number without a lock, which deletes it."""
    mode, numbers = v.ReceiveMode.RECEIVE_AND_DELETE, (_number(aside),)
    command = v.ReceiveDeferred(queue=queue, sequence_numbers=numbers, mode=mode)
    assert [aside.body] == [view.body for view in _had(bus, bus.do(command))]


@when("it is received by its number and abandoned")
def abandons_by_number(bus: Bus, queue: str, aside: v.MessageView) -> None:
    """Receive the deferred message by its number and abandon it."""
    bus.expect(bus.abandon(queue, keeps_by_number(bus, queue, aside)), v.Done)


@when("it is received by its number and dead-lettered")
def dead_letters_by_number(bus: Bus, queue: str, aside: v.MessageView) -> None:
    """Receive the deferred message by its number and dead-letter it."""
    bus.expect(dead_letter_it(bus, queue, keeps_by_number(bus, queue, aside)), v.Done)


@when("it is received by its number over another connection")
def receives_elsewhere(
    bus: Bus, queue: str, aside: v.MessageView, views: list[v.MessageView]
) -> None:
    """Receive the deferred message by its number over a second connection."""
    views.extend(_had(bus, _ask(bus, queue, [aside], OTHER)))


@when("it is tried by its number", target_fixture="outcome")
def tries_by_number(bus: Bus, queue: str, aside: v.MessageView) -> v.Outcome:
    """Try to receive the deferred message by its number."""
    return _ask(bus, queue, [aside])


@when("it is tried by its number over another connection", target_fixture="outcome")
def tries_by_number_elsewhere(bus: Bus, queue: str, aside: v.MessageView) -> v.Outcome:
    """Try to receive the deferred message by its number over a second connection."""
    return _ask(bus, queue, [aside], OTHER)


@when("the message kept is tried by its number", target_fixture="outcome")
def tries_kept_by_number(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to receive by number a message that was never deferred."""
    return _ask(bus, queue, [kept])


@when("all of them are received by their numbers at once")
def receives_all(
    bus: Bus, queue: str, all_aside: list[v.MessageView], views: list[v.MessageView]
) -> None:
    """Receive all deferred messages with one request."""
    views.extend(_had(bus, _ask(bus, queue, all_aside)))


@when("each of them is received by its number and completed")
def completes_each_by_number(
    bus: Bus, queue: str, all_aside: list[v.MessageView], views: list[v.MessageView]
) -> None:
    """Receive the deferred messages one by one, and complete each."""
    for view in all_aside:
        completes_by_number(bus, queue, view, views)


@when("all of them are received by their numbers at once, or else one by one")
def receives_all_somehow(
    bus: Bus, queue: str, all_aside: list[v.MessageView], views: list[v.MessageView]
) -> None:
    """Receive all deferred messages with one request or, if it is refused, one by one."""
    outcome = _ask(bus, queue, all_aside)
    if isinstance(outcome, v.Refused):
        for view in all_aside:
            views.extend(_had(bus, _ask(bus, queue, [view])))
    else:
        views.extend(_had(bus, outcome))


@then("it can be received by its number")
def can_be_received(bus: Bus, queue: str, aside: v.MessageView) -> None:
    """Check that the message is still deferred, by receiving it."""
    assert isinstance(_ask(bus, queue, [aside]), v.ReceivedSeveral)


@then(parsers.parse('it can be received by its number in session "{session_id}"'))
def can_be_received_in_session(bus: Bus, queue: str, aside: v.MessageView, session_id: str) -> None:
    """Check that the holder of the session can receive the deferred message."""
    assert isinstance(_ask(bus, queue, [aside], session_id=session_id), v.ReceivedSeveral)


@then(parsers.parse('it is refused by its number outside of session "{session_id}"'))
def is_refused_outside(bus: Bus, queue: str, aside: v.MessageView, session_id: str) -> None:
    """Check that the deferred message is refused without the session, and to other connections."""
    assert isinstance(_ask(bus, queue, [aside]), v.Refused)
    assert isinstance(_ask(bus, queue, [aside], OTHER, session_id), v.Refused)


@then(parsers.parse('it is refused by its number in session "{session_id}"'))
def is_refused_in_session(bus: Bus, queue: str, aside: v.MessageView, session_id: str) -> None:
    """Check that the deferred message is refused to the holder of another session."""
    bus.expect(bus.do(v.AcceptSession(queue=queue, session_id=session_id)), v.Done)
    assert isinstance(_ask(bus, queue, [aside], session_id=session_id), v.Refused)


@then("its number is the same as before")
def keeps_number(aside: v.MessageView, views: list[v.MessageView]) -> None:
    """Check that the sequence number is unchanged, if the bus reports it."""
    assert views, "no message came"
    assert views[0].sequence_number in (None, aside.sequence_number), views[0]


@then("it is shown as deferred")
@then("it is shown as deferred, if it is shown")
def shown_as_deferred(peeked: tuple[v.MessageView, ...]) -> None:
    """Check that the peek shows the messages as deferred, if it reports states."""
    assert all(view.state in (None, v.MessageState.DEFERRED) for view in peeked), peeked
