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


@then(
    parsers.re(
        r'the state of session "(?P<session_id>[^"]*)"(?P<elsewhere> over another connection)? '
        r'(?:is|has) (?P<what>none|an empty text|"[^"]*"|\d+ characters)'
        r'(?:, or "(?P<old>[^"]*)" if it was refused)?'
    )
)
def has_state(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    session_id: str,
    elsewhere: str | None,
    what: str,
    old: str | None,
) -> None:
    """Check the session state or its length; it may be the old one if a request was refused."""
    queue = str(request.getfixturevalue("queue"))
    command = v.GetSessionState(queue=queue, session_id=session_id)
    outcome = bus.do(command, OTHER if elsewhere else "c1")
    assert isinstance(outcome, v.SessionState), outcome
    if what.endswith("characters"):
        assert len(outcome.state or "") == int(what.split(maxsplit=1)[0])
        return
    wanted = {"none": None, "an empty text": ""}.get(what, what.strip('"'))
    if old is not None and isinstance(request.getfixturevalue("outcome"), v.Refused):
        wanted = old
    assert outcome.state == wanted, outcome


@then(
    parsers.re(
        r"the sessions? (?P<which>accepted|listed) (?:is|are) "
        r'(?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*)'
    )
)
def names_sessions(
    request: pytest.FixtureRequest, bus: BusUnderTest, queue: str, which: str, names: str
) -> None:
    """Check that exactly these sessions were accepted, or are in the list, each once."""
    if which == "accepted":
        found = list(request.getfixturevalue("accepted_sessions"))
    else:
        outcome = bus.do(v.ListSessions(queue=queue))
        assert isinstance(outcome, v.SessionsListed), outcome
        found = list(outcome.session_ids)
    assert sorted(found) == _named(names), found
