"""Steps for sessions: locks, state and listing."""

import pytest
from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import OTHER, name_in


@when(
    parsers.re(
        r'session "(?P<session_id>[^"]*)" is (?P<used>accepted|requested|closed|received'
        r'|received at once|renewed|asked for its state|given (?:no state|the state "[^"]*"'
        r"|a state of \d+ characters))(?P<elsewhere> over another connection)?"
    ),
    target_fixture="outcome",
)
def uses_session(
    bus: BusUnderTest, queue: str, session_id: str, used: str, elsewhere: str | None
) -> v.Outcome:
    """Try a command on a session; on the first connection it is accepted and closed for sure."""
    outcome = bus.do(_use(bus, queue, session_id, used), OTHER if elsewhere else "c1")
    if used in ("accepted", "closed", "given no state") and not elsewhere:
        bus.expect(outcome, v.Done)
    return outcome


@when(
    parsers.re(
        r"the next session is accepted(?: (?P<number>\d+) times)?"
        r"(?P<emptied>, and what it holds is completed)?"
    ),
    target_fixture="accepted_sessions",
)
def accepts_next(
    bus: BusUnderTest,
    queue: str,
    views: list[v.MessageView],
    number: str | None,
    emptied: str | None,
) -> list[str]:
    """Accept this number of sessions, one after another; perhaps complete the messages of each."""
    sessions = []
    for _ in range(int(number or 1)):
        sessions.append(_next(bus, queue))
        if emptied:
            views.extend(bus.received(queue, session_id=sessions[-1]))
    return sessions


def _next(bus: BusUnderTest, queue: str) -> str:
    outcome = bus.do(v.AcceptNextSession(queue=queue))
    bus.expect(outcome, v.SessionAccepted)
    assert isinstance(outcome, v.SessionAccepted)
    return outcome.session_id


@when("the next session is requested over another connection", target_fixture="outcome")
def next_asked_for(bus: BusUnderTest, queue: str) -> v.Outcome:
    """Try to accept the next session over a second connection."""
    return bus.do(v.AcceptNextSession(queue=queue), OTHER)


@then("there is none")
def none_is_next(outcome: v.Outcome) -> None:
    """Check that no session was accepted: the answer is empty or a refusal."""
    assert isinstance(outcome, v.Empty | v.Refused), outcome


@then(
    parsers.re(
        r'the sessions? (?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*) (?:was|were) accepted'
        "(?:, each once)?"
    )
)
def these_accepted(accepted_sessions: list[str], names: str) -> None:
    """Check that exactly these sessions were accepted."""
    assert sorted(accepted_sessions) == _named(names), accepted_sessions


def _named(names: str) -> list[str]:
    return sorted(name.strip('"') for name in names.replace(" and ", ", ").split(", "))


def _use(bus: BusUnderTest, queue: str, session_id: str, used: str) -> v.Command:
    commands: dict[str, v.Command] = {
        "accepted": v.AcceptSession(queue=queue, session_id=session_id),
        "requested": v.AcceptSession(queue=queue, session_id=session_id),
        "closed": v.CloseSession(queue=queue, session_id=session_id),
        "received": v.Receive(queue=queue, mode=bus.mode, session_id=session_id),
        "received at once": v.ReceiveBatch(
            queue=queue, count=2, mode=bus.mode, session_id=session_id
        ),
        "renewed": v.RenewSessionLock(queue=queue, session_id=session_id),
        "asked for its state": v.GetSessionState(queue=queue, session_id=session_id),
        "given no state": v.SetSessionState(queue=queue, session_id=session_id),
    }
    if used in commands:
        return commands[used]
    return v.SetSessionState(queue=queue, session_id=session_id, state=name_in(used))


@then(parsers.re("its delivery count is (?P<how>as before|greater by one)"))
def counts_again(kept: v.MessageView, again: v.MessageView, how: str) -> None:
    """Check how the delivery count of the second delivery compares with that of the first."""
    assert kept.body == again.body
    assert kept.delivery_count is not None, "a locked message comes with its delivery count"
    more = 1 if how == "greater by one" else 0
    assert again.delivery_count == kept.delivery_count + more


@then(parsers.re('the answer (?:is the state "(?P<state>[^"]*)"|has no state)'))
def answers_state(outcome: v.Outcome, state: str | None) -> None:
    """Check the state with which a request was answered."""
    assert outcome == v.SessionState(state=state), outcome


@then(
    parsers.re(
        r'the state of session "(?P<session_id>[^"]*)" (?:is none|is (?P<empty>an empty text)'
        r'|is "(?P<state>[^"]*)"|has (?P<number>\d+) characters)'
        r'(?:, or "(?P<old>[^"]*)" if it was refused)?'
    )
)
def has_state(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    session_id: str,
    empty: str | None,
    state: str | None,
    number: str | None,
    old: str | None,
) -> None:
    """Check the session state or its length; it may be the old one if a request was refused."""
    queue = str(request.getfixturevalue("queue"))
    outcome = bus.do(v.GetSessionState(queue=queue, session_id=session_id))
    assert isinstance(outcome, v.SessionState), outcome
    if number is not None:
        assert len(outcome.state or "") == int(number)
        return
    wanted = "" if empty else state
    if old is not None and isinstance(request.getfixturevalue("outcome"), v.Refused):
        wanted = old
    assert outcome.state == wanted, outcome


@then(parsers.re(r'the sessions listed are (?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*)'))
def these_listed(bus: BusUnderTest, queue: str, names: str) -> None:
    """Check that the list contains exactly these sessions."""
    outcome = bus.do(v.ListSessions(queue=queue))
    assert isinstance(outcome, v.SessionsListed), outcome
    assert sorted(outcome.session_ids) == _named(names), outcome


@then(parsers.parse('only messages of session "{session_id}" are shown'))
def shows_session(peeked: tuple[v.MessageView, ...], session_id: str) -> None:
    """Check that messages are shown, all from this session."""
    assert {view.session_id for view in peeked} == {session_id}
