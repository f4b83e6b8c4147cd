"""Checks for adapters that declare sessions."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.talk import Talk, check

__all__ = ["SESSIONS"]


@check(
    v.Capability.SESSIONS,
    title="accepts, receives from and closes a session",
    protocol="AcceptSession locks a session for its connection until CloseSession; Receive names "
    "the session.",
    advice="Keep the session's receiver with its connection, and answer session-cannot-be-locked "
    "to another one.",
)
def _holds_sessions(talk: Talk) -> None:
    sent = _accept(talk)
    take = v.Receive(queue="q", mode=talk.take().mode, session_id="s")
    talk.insist_same(sent, talk.expect(v.Received, take).message)
    talk.expect(v.Empty, take)
    talk.expect(v.Done, v.CloseSession(queue="q", session_id="s"))
    talk.expect(v.Done, v.AcceptSession(queue="q", session_id="s"), "c2")
    talk.expect(v.Refused, v.AcceptSession(queue="q", session_id="s"), "c3")


@check(
    v.Capability.NEXT_SESSION,
    v.Capability.SESSIONS,
    title="accepts the next free session",
    protocol="AcceptNextSession succeeds with SessionAccepted and the id of the session, or with "
    "Empty.",
    advice="Turn your client's time-out into Empty.",
)
def _accepts_next(talk: Talk) -> None:
    talk.begin(requires_session=True)
    talk.send(session_id="s")
    accepted = talk.expect(v.SessionAccepted, v.AcceptNextSession(queue="q")).session_id
    talk.insist(accepted == "s", f"the next session is {accepted!r}, and only 's' has messages")
    talk.expect(v.Refused, v.AcceptSession(queue="q", session_id="s"), "c2")


@check(
    v.Capability.SESSION_STATE,
    v.Capability.SESSIONS,
    title="keeps the state of a session",
    protocol="GetSessionState returns what SetSessionState has set, and null where nothing is set.",
    advice="Read and write text; an empty state is not null.",
)
def _keeps_state(talk: Talk) -> None:
    _accept(talk)
    for state in ("first é", "second", None):
        talk.expect(v.Done, v.SetSessionState(queue="q", session_id="s", state=state))
        ask = v.GetSessionState(queue="q", session_id="s")
        kept = talk.expect(v.SessionState, ask).state
        talk.insist(kept == state, f"state came back as {kept!r}, and was set to {state!r}")


@check(
    v.Capability.LOCK_RENEWAL,
    v.Capability.SESSIONS,
    id="session-lock",
    title="renews the lock of a session",
    protocol="RenewSessionLock of a session that the connection holds succeeds with Renewed.",
    advice="Keep the session's receiver with its connection.",
)
def _renews_sessions(talk: Talk) -> None:
    _accept(talk)
    talk.expect(v.Renewed, v.RenewSessionLock(queue="q", session_id="s"))


@check(
    v.Capability.SESSION_LISTING,
    v.Capability.SESSIONS,
    title="lists the sessions of a queue",
    protocol="ListSessions succeeds with SessionsListed: the sessions that have messages or a "
    "state.",
    advice="Fetch all pages of the list.",
)
def _lists_sessions(talk: Talk) -> None:
    talk.begin(requires_session=True)
    talk.send(session_id="s")
    listed = talk.expect(v.SessionsListed, v.ListSessions(queue="q")).session_ids
    talk.insist(
        "s" in listed, f"the list has the sessions {listed}, and not 's', which has a message"
    )


def _accept(talk: Talk) -> v.Message:
    """Start again with an accepted session, and return its message."""
    talk.begin(requires_session=True)
    sent = talk.send(session_id="s")
    talk.expect(v.Done, v.AcceptSession(queue="q", session_id="s"))
    return sent


SESSIONS: Final = (_holds_sessions, _accepts_next, _keeps_state, _renews_sessions, _lists_sessions)
"""Checks of sessions."""
