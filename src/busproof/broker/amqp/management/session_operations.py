"""Management operations on sessions: renew a lock, get or set a state, list sessions."""

from collections.abc import Generator, Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Final

from proton import Data

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import binary
from busproof.broker.amqp.framing import array
from busproof.broker.amqp.management.message_operations import NO_CONTENT, end_of_lock
from busproof.broker.amqp.management.requests import Asking, Said
from busproof.broker.amqp.request_links import Reply
from busproof.broker.bounds import check_bound
from busproof.broker.direct_actions import PASSED_AT_ONCE, session_names
from busproof.broker.payloads import OF_STATE, Counted

__all__ = ["get_state", "list_sessions", "renew_session_lock", "set_state"]

# Latin-1 maps every byte to one character, so any state passes through the model unchanged.
TEXT: Final = "latin-1"
"""Encoding of a session state, which is bytes for clients and text in the model."""
MOST_LISTED: Final = 1_000
"""Maximum number of sessions in a reply, so that other clients do not wait for long."""
END_OF_TIME: Final = 253_402_300_799_000
"""A `last-updated-time` from here on requests the sessions that have messages."""


def renew_session_lock(asking: Asking, fields: Said) -> Reply:
    """Renew the lock of a session."""
    session_id = str(fields["session-id"])
    answer = asking.ask(v.RenewSessionLock(queue=asking.path, session_id=session_id), session_id)
    return Reply({"expiration": end_of_lock(asking, answer)})


def get_state(asking: Asking, fields: Said) -> Reply:
    """Return the state of a session."""
    session_id = str(fields["session-id"])
    outcome = asking.ask(
        v.GetSessionState(queue=asking.path, session_id=session_id), session_id
    ).outcome
    state = outcome.state if isinstance(outcome, v.SessionState) else None
    return Reply({"session-state": None if state is None else state.encode(TEXT)})


def set_state(asking: Asking, fields: Said) -> Reply:
    """Set or clear the state of a session."""
    session_id, state = str(fields["session-id"]), fields.get("session-state")
    text, hub = None, asking.connection.hub
    if state is not None:
        size = OF_STATE + len(content := binary(state))
        hub.check_added(size)
        text = Counted(content.decode(TEXT), hub.contents.ledger, size)
    asking.ask(v.SetSessionState(queue=asking.path, session_id=session_id, state=text), session_id)
    if text is None:
        # A cleared state is not remembered, because clients could name any number of sessions.
        hub.stated.pop((asking.path, session_id), None)
    else:
        hub.stated[asking.path, session_id] = hub.now_ms()
    return Reply({})


def list_sessions(asking: Asking, fields: Said) -> Generator[bool, None, Reply]:
    """List the sessions that have messages, or those whose state was set at or after a time."""
    skip = check_bound("skip", fields.get("skip") or 0)
    top = min(MOST_LISTED, check_bound("top", fields.get("top") or 100))
    since = fields.get("last-updated-time")
    moment = None if since is None else check_bound("last-updated-time", since)
    names = _list_sessions(asking)
    # Clients send .NET's `DateTime.MaxValue`, which rounds up to the year 10000.
    if moment is not None and moment < END_OF_TIME:
        names = _list_changed_states(asking, moment)
    page = yield from _page(names, skip, top)
    if not page:
        return Reply({}, NO_CONTENT, "No sessions")
    # The documents specify an array, where Proton would write a list.
    ids = array(Data.STRING, page)
    return Reply({"skip": skip + len(page), "sessions-ids": ids})


def _list_sessions(asking: Asking) -> Iterable[str | None]:
    """Return the ids of the sessions that have messages or a state.

    Raises:
        Refusal: the bus refuses.
    """
    bus = asking.connection.hub.bus
    entity, command = bus.entity(asking.path), v.ListSessions(queue=asking.path)
    # Listing millions of sessions in one step would block other clients, so the model decides only
    # requests that it refuses, which it does at once.
    if (
        bus.is_trusted
        and entity is not None
        and entity.settings.requires_session
        and entity.status.gives
    ):
        bus.traffic.count(command, v.SessionsListed(session_ids=()))
        return session_names(entity)
    outcome = asking.ask(command).outcome
    return outcome.session_ids if isinstance(outcome, v.SessionsListed) else ()


def _list_changed_states(asking: Asking, moment: int) -> Iterator[str | None]:
    """Yield the ids of the sessions whose state was set at a moment or later, in any order.

    As in `listed`, `None` is yielded now and then, so that other clients have turns.
    """
    # Copy the table, because it may change during the turns of other clients.
    stated = asking.connection.hub.stated
    for passed, place in enumerate(list(stated), 1):
        if place[0] == asking.path and stated.get(place, -1) >= moment:
            yield place[1]
        if passed % PASSED_AT_ONCE == 0:
            yield None


def _page(names: Iterable[str | None], skip: int, top: int) -> Generator[bool, None, list[str]]:
    """Return a page of the sorted session ids, step by step, because there may be many."""
    runs, run = list[list[str]](), list[str]()
    for name in names:
        if name is not None:
            run.append(name)
            continue
        run.sort()
        runs.append(run)
        run = []
        yield False
    runs.append(sorted(run))
    page: list[str] = []
    # Merging sorted runs yields the first names at a cost that does not grow with the later ones.
    for passed, name in enumerate(islice(merge(*runs), skip + top), 1):
        if passed > skip:
            page.append(name)
        if passed % PASSED_AT_ONCE == 0:
            yield False
    return page
