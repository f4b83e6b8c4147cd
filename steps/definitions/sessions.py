"""Steps for sessions: locks, state and listing."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER

PEEKED_AT_ONCE = 64


@when(parsers.parse('session "{session_id}" is accepted'), target_fixture="outcome")
def accept_session(bus: Bus, queue: str, session_id: str) -> v.Outcome:
    """Accept a session; this must succeed."""
    outcome = bus.do(v.AcceptSession(queue=queue, session_id=session_id))
    bus.expect(outcome, v.Done)
    return outcome


@when(parsers.parse('session "{session_id}" is requested'), target_fixture="outcome")
def ask_for(bus: Bus, queue: str, session_id: str) -> v.Outcome:
    """Try to accept a session."""
    return bus.do(v.AcceptSession(queue=queue, session_id=session_id))


@when(
    parsers.parse('session "{session_id}" is accepted over another connection'),
    target_fixture="outcome",
)
def accept_elsewhere(bus: Bus, queue: str, session_id: str) -> v.Outcome:
    """Try to accept a session over a second connection."""
    return bus.do(v.AcceptSession(queue=queue, session_id=session_id), OTHER)


@when(
    parsers.parse(
        'session "{session_id}" is accepted and closed while each partition in turn is down'
    ),
    target_fixture="outcomes",
)
def accept_through_outages(bus: Bus, queue: str, session_id: str) -> list[v.Outcome]:
    """Accept and close a session once for each partition, while that partition is down.

    While the session's partition is down, closing may be refused; it is then repeated later.
    """
    left_open = False

    def use() -> v.Outcome:
        nonlocal left_open
        if left_open:
            close_session(bus, queue, session_id)
        outcome = bus.do(v.AcceptSession(queue=queue, session_id=session_id))
        left_open = isinstance(outcome, v.Done) and isinstance(
            bus.do(v.CloseSession(queue=queue, session_id=session_id)), v.Refused
        )
        return outcome

    return bus.with_each_partition_down(queue, use)


@when(parsers.parse('session "{session_id}" is closed'))
def close_session(bus: Bus, queue: str, session_id: str) -> None:
    """Close a session."""
    bus.expect(bus.do(v.CloseSession(queue=queue, session_id=session_id)), v.Done)


@when("the next session is accepted", target_fixture="accepted_sessions")
def next_accepted(bus: Bus, queue: str) -> list[str]:
    """Accept the next session; there must be one."""
    return [_next(bus, queue)]


@when(
    parsers.parse("the next session is accepted {number:d} times"),
    target_fixture="accepted_sessions",
)
def several_accepted(bus: Bus, queue: str, number: int) -> list[str]:
    """Accept this number of sessions, one after another."""
    return [_next(bus, queue) for _ in range(number)]


def _next(bus: Bus, queue: str) -> str:
    outcome = bus.do(v.AcceptNextSession(queue=queue))
    bus.expect(outcome, v.SessionAccepted)
    assert isinstance(outcome, v.SessionAccepted)
    return outcome.session_id


@when("the next session is requested over another connection", target_fixture="outcome")
def next_asked_for(bus: Bus, queue: str) -> v.Outcome:
    """Try to accept the next session over a second connection."""
    return bus.do(v.AcceptNextSession(queue=queue), OTHER)


@then("there is none")
def none_is_next(outcome: v.Outcome) -> None:
    """Check that no session was accepted: the answer is empty or a refusal."""
    assert isinstance(outcome, v.Empty | v.Refused), outcome


@then(
    parsers.re(r'the sessions (?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*) were accepted, each once')
)
@then(parsers.re(r'the session (?P<names>"[^"]*") was accepted'))
def these_accepted(accepted_sessions: list[str], names: str) -> None:
    """Check that exactly these sessions were accepted."""
    assert sorted(accepted_sessions) == _named(names), accepted_sessions


def _named(names: str) -> list[str]:
    return sorted(name.strip('"') for name in names.replace(" and ", ", ").split(", "))


@when("a message is received in no session", target_fixture="outcome")
def receive_in_no_session(bus: Bus, queue: str) -> v.Outcome:
    """Try to receive without a session."""
    return bus.do(v.Receive(queue=queue, mode=bus.mode))


@when(
    parsers.parse('a message of session "{session_id}" is received and kept'), target_fixture="kept"
)
@when(
    parsers.parse('a message of session "{session_id}" is received again'), target_fixture="again"
)
def keep_in_session(bus: Bus, queue: str, session_id: str) -> v.MessageView:
    """Receive a message of a session and leave it locked."""
    outcome = bus.do(v.Receive(queue=queue, session_id=session_id))
    bus.expect(outcome, v.Received)
    assert isinstance(outcome, v.Received)
    return outcome.message


@when(
    parsers.parse(
        'everything of session "{session_id}" is received over another connection and completed'
    )
)
def receives_session_elsewhere(
    bus: Bus, queue: str, session_id: str, views: list[v.MessageView]
) -> None:
    """Receive and complete a session's messages over a second connection until none is left."""
    views.extend(bus.received(queue, OTHER, session_id=session_id))


@then("its delivery count is as before")
def counts_as_before(kept: v.MessageView, again: v.MessageView) -> None:
    """Check that the second delivery has the same delivery count as the first."""
    _counted(kept, again, 0)


@then("its delivery count is greater by one")
def counts_once_more(kept: v.MessageView, again: v.MessageView) -> None:
    """Check that the second delivery has a delivery count one higher."""
    _counted(kept, again, 1)


def _counted(kept: v.MessageView, again: v.MessageView, more: int) -> None:
    assert kept.body == again.body
    assert kept.delivery_count is not None, "a locked message comes with its delivery count"
    assert again.delivery_count == kept.delivery_count + more


@when(
    parsers.re(r'session "(?P<session_id>[^"]*)" is (?P<used>received|renewed)'),
    target_fixture="outcome",
)
@when(
    parsers.re(
        r'session "(?P<session_id>[^"]*)" is (?P<used>given the state "[^"]*"|asked for its state)'
    ),
    target_fixture="outcome",
)
def use_session(bus: Bus, queue: str, session_id: str, used: str) -> v.Outcome:
    """Try a command on a session."""
    return bus.do(_use(bus, queue, session_id, used))


@when(
    parsers.re(
        r'session "(?P<session_id>[^"]*)" is (?P<used>given the state "[^"]*"|asked for its state'
        r"|received at once|renewed|closed) over another connection"
    ),
    target_fixture="outcome",
)
def use_elsewhere(bus: Bus, queue: str, session_id: str, used: str) -> v.Outcome:
    """Try a command on a session over a second connection."""
    return bus.do(_use(bus, queue, session_id, used), OTHER)


def _use(bus: Bus, queue: str, session_id: str, used: str) -> v.Command:
    match used.split('"', maxsplit=1)[0].strip():
        case "received":
            return v.Receive(queue=queue, mode=bus.mode, session_id=session_id)
        case "received at once":
            return v.ReceiveBatch(queue=queue, count=2, mode=bus.mode, session_id=session_id)
        case "closed":
            return v.CloseSession(queue=queue, session_id=session_id)
        case "renewed":
            return v.RenewSessionLock(queue=queue, session_id=session_id)
        case "asked for its state":
            return v.GetSessionState(queue=queue, session_id=session_id)
        case _:
            return v.SetSessionState(queue=queue, session_id=session_id, state=used.split('"')[1])


@then(parsers.parse('the answer is the state "{state}"'))
def is_state(outcome: v.Outcome, state: str) -> None:
    """Check the state with which a request was answered."""
    assert outcome == v.SessionState(state=state), outcome


@then("the answer has no state")
def answer_has_no_state(outcome: v.Outcome) -> None:
    """Check that a request was answered without a state."""
    assert outcome == v.SessionState(state=None), outcome


@when(parsers.parse('the state of session "{session_id}" is removed'))
def remove_state(bus: Bus, queue: str, session_id: str) -> None:
    """Remove the session state."""
    bus.expect(bus.do(v.SetSessionState(queue=queue, session_id=session_id)), v.Done)


@then(parsers.parse('the state of session "{session_id}" is none'))
def has_no_state(bus: Bus, queue: str, session_id: str) -> None:
    """Check that the session has no state."""
    _has_state(bus, queue, session_id, None)


@then(parsers.parse('the state of session "{session_id}" is an empty text'))
def has_empty_state(bus: Bus, queue: str, session_id: str) -> None:
    """Check that the session has a state of zero characters."""
    _has_state(bus, queue, session_id, "")


@then(parsers.parse('the state of session "{session_id}" is "{state}"'))
def has_state(bus: Bus, queue: str, session_id: str, state: str) -> None:
    """Check the session state."""
    _has_state(bus, queue, session_id, state)


def _has_state(bus: Bus, queue: str, session_id: str, state: str | None) -> None:
    outcome = bus.do(v.GetSessionState(queue=queue, session_id=session_id))
    assert outcome == v.SessionState(state=state), outcome


@then(parsers.re(r'the sessions listed are (?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*)'))
def these_listed(bus: Bus, queue: str, names: str) -> None:
    """Check that the list contains exactly these sessions."""
    outcome = bus.do(v.ListSessions(queue=queue))
    assert isinstance(outcome, v.SessionsListed), outcome
    assert sorted(outcome.session_ids) == _named(names), outcome


@when(parsers.parse('messages of session "{session_id}" are peeked'), target_fixture="peeked")
def peeks_in_session(bus: Bus, queue: str, session_id: str) -> tuple[v.MessageView, ...]:
    """Peek at a session's messages."""
    return bus.peeked(v.Peek(queue=queue, count=PEEKED_AT_ONCE, session_id=session_id))


@then(parsers.parse('only messages of session "{session_id}" are shown'))
def shows_session(peeked: tuple[v.MessageView, ...], session_id: str) -> None:
    """Check that messages are shown, all from this session."""
    assert {view.session_id for view in peeked} == {session_id}
