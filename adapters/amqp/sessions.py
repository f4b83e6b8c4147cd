"""Commands about sessions: locks, states and lists."""

from typing import Any, Final

from proton import int32, timestamp

from busproof.adapters.amqp import links as r
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.failing import Rejected
from busproof.adapters.amqp.links import several
from busproof.adapters.amqp.receiving import NO_CONTENT, make_renewal, not_held
from busproof.adapters.amqp.scenario import Scenario
from busproof.adapters.amqp.table import asks
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o

__all__ = [
    "accept",
    "accept_next",
    "close_session",
    "get_state",
    "list_sessions",
    "renew_session",
    "set_state",
]

PAGE: Final = 100
YEAR_10000: Final = 253_402_300_800_000
"""Time that selects all sessions with messages or a state, in milliseconds since 1970."""


@asks(c.AcceptSession)
def accept(scenario: Scenario, command: c.AcceptSession, client: AmqpClient) -> o.Outcome:
    """Accept a session."""
    path, session_id = scenario.path(command.queue), command.session_id
    client.prove(path)
    link = r.session_link(client, path, session_id, 0.0)
    _hold(client, path, session_id, link)
    return o.Done()


@asks(c.AcceptNextSession)
def accept_next(scenario: Scenario, command: c.AcceptNextSession, client: AmqpClient) -> o.Outcome:
    """Accept the next free session; return `Empty` if there is none."""
    path = scenario.path(command.queue)
    client.prove(path)
    try:
        link = r.session_link(client, path, None, scenario.setting.session_wait)
    except Rejected as rejected:
        if rejected.condition == "com.microsoft:timeout":
            return o.Empty()
        raise
    session_id = r.session_of(link)
    _hold(client, path, session_id, link)
    return o.SessionAccepted(session_id=session_id)


def _hold(client: AmqpClient, path: str, session_id: str, link: Any) -> None:
    before = client.drop(path, session_id)
    client.keep(path, session_id, link)
    if before is not None:
        client.connection.close_link(before)


@asks(c.CloseSession)
def close_session(scenario: Scenario, command: c.CloseSession, client: AmqpClient) -> o.Outcome:
    """Close a session."""
    path, session_id = scenario.path(command.queue), command.session_id
    link = r.find_session_link(client, path, session_id)
    if link is None:
        return not_held(client, path, session_id)
    client.drop(path, session_id)
    client.connection.close_link(link)
    return o.Done()


@asks(c.RenewSessionLock)
def renew_session(scenario: Scenario, command: c.RenewSessionLock, client: AmqpClient) -> o.Outcome:
    """Renew the lock of a session."""
    body = {"session-id": command.session_id}
    _, answer = client.request(scenario.path(command.queue), "renew-session-lock", body)
    until = answer.get("expiration")
    return make_renewal(scenario, [] if until is None else [until])


@asks(c.SetSessionState)
def set_state(scenario: Scenario, command: c.SetSessionState, client: AmqpClient) -> o.Outcome:
    """Set the state of a session."""
    state = None if command.state is None else command.state.encode()
    body = {"session-id": command.session_id, "session-state": state}
    client.request(scenario.path(command.queue), "set-session-state", body)
    return o.Done()


@asks(c.GetSessionState)
def get_state(scenario: Scenario, command: c.GetSessionState, client: AmqpClient) -> o.Outcome:
    """Return the state of a session."""
    body = {"session-id": command.session_id}
    _, answer = client.request(scenario.path(command.queue), "get-session-state", body)
    state = answer.get("session-state")
    return o.SessionState(state=None if state is None else bytes(state).decode())


@asks(c.ListSessions)
def list_sessions(scenario: Scenario, command: c.ListSessions, client: AmqpClient) -> o.Outcome:
    """List the sessions that have messages or a state, page by page."""
    session_ids: list[str] = []
    while True:
        body = {
            "last-updated-time": timestamp(YEAR_10000),
            "skip": int32(len(session_ids)),
            "top": int32(PAGE),
        }
        status, answer = client.request(scenario.path(command.queue), "get-message-sessions", body)
        page = [] if status == NO_CONTENT else several(answer.get("sessions-ids"))
        session_ids += [str(session_id) for session_id in page]
        if len(page) < PAGE:
            return o.SessionsListed(session_ids=tuple(session_ids))
