"""Mutants of SESS: the states of sessions, lists of sessions, and outages."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import Namespace
from busproof.model.state import Entity, Partition, QueuedMessage, Transaction
from busproof.mutants.entities import Switch, switched
from busproof.mutants.mutant import mutant
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    create,
    down,
    home,
    over,
    receive,
    send,
    up,
)
from busproof.mutants.sessions import ACCEPT, CLOSE, CREATE, EMPTY, OTHER, OfSession, session_of
from busproof.mutants.wrappers import afterwards, asks, beforehand, tells

GET: Final = v.GetSessionState(queue=QUEUE, session_id="s")
LIST: Final = v.ListSessions(queue=QUEUE)
SET: Final = v.SetSessionState(queue=QUEUE, session_id="s", state="one")
ANOTHER: Final = attrs.evolve(SET, state="two")
CLEAR: Final = attrs.evolve(SET, state=None)
RECOVERED: Final[Run] = (*EMPTY, SET, down(home("s")), up(home("s")), GET)
FOREIGN: Final[Run] = (*EMPTY, SET, over("c2", GET))
PEEKED: Final[Run] = (CREATE, send("m1", session_id="t"), v.Peek(queue=QUEUE, session_id="s"))
OTHER_DOWN: Final = (CREATE, send("m1", session_id="s"), down((home("s") + 1) % PARTITIONS), ACCEPT)
COMMITTED: Final[Run] = (
    *(create(requires_session=True, partitioned=False), v.BeginTransaction(transaction="t")),
    *(send("m1", session_id="t", within="t"), send("m2", session_id="s", within="t")),
    *(v.CommitTransaction(transaction="t"), ACCEPT, receive("s")),
)


@mutant("SESS-16", "sessions.get_state", (*EMPTY, GET), tells("state"))
def state_empty_text(usual: str | None) -> str:
    """A session without state has an empty text as its state."""
    return usual or ""


@mutant("SESS-17", "sessions.set_state", (*EMPTY, SET, ANOTHER, GET), asks)
def state_of_first(namespace: Namespace, command: v.SetSessionState) -> v.SetSessionState:
    """A session state cannot be changed after it was set."""
    session = session_of(namespace, command)
    if session is not None and None not in (session.state, command.state):
        command = attrs.evolve(command, state=session.state)
    return command


@mutant("SESS-18", "sessions.set_state", (*EMPTY, SET, CLEAR, GET), asks)
def state_not_cleared(namespace: Namespace, command: v.SetSessionState) -> v.SetSessionState:
    """Removing a session state has no effect."""
    session = session_of(namespace, command)
    if session is not None and command.state is None:
        command = attrs.evolve(command, state=session.state)
    return command


@mutant("SESS-19", "sessions.close", (*EMPTY, SET, CLOSE, ACCEPT, GET), beforehand)
def state_dies_with_session(namespace: Namespace, command: v.CloseSession, *rest: Any) -> None:
    """Closing a session removes its state."""
    clear = v.SetSessionState(queue=command.queue, session_id=command.session_id, state=None)
    RULES.sessions.set_state(namespace, clear, *rest)


@mutant("SESS-19", "partitions.switch", RECOVERED, afterwards, deep=True)
def state_lost_in_outage(namespace: Namespace, command: Switch) -> None:
    """Session states are lost in an outage."""
    entities = switched(namespace, command)
    for session in chain.from_iterable(tuple(entity.sessions.values()) for entity in entities):
        if session.partition == command.partition:
            namespace.journal.touch(session)
            session.state = None
            RULES.sessions.let_go(namespace, session)


@mutant("SESS-20", "sessions.set_state", (*EMPTY, OTHER, attrs.evolve(SET, session_id="t"), GET))
def state_shared(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    """All sessions of a queue share one state."""
    answer = RULES.sessions.set_state(namespace, command, connection)
    for session in namespace.entities[command.queue].sessions.values():
        if session.holder is not None:
            other = attrs.evolve(command, session_id=session.name)
            RULES.sessions.set_state(namespace, other, session.holder)
    return answer


def _holder_of(namespace: Namespace, command: OfSession, connection: str) -> str:
    """Return the holder of a session, as if it were the connection that sent the request."""
    session = session_of(namespace, command)
    return connection if session is None or session.holder is None else session.holder


def _set_by_anybody(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    holder = _holder_of(namespace, command, connection)
    return RULES.sessions.set_state(namespace, command, holder)


@mutant("SESS-21", "sessions.get_state", FOREIGN, also={"sessions.set_state": _set_by_anybody})
def state_for_everybody(namespace: Namespace, command: v.GetSessionState, *rest: Any) -> Answer:
    """Any connection can get and set a session state."""
    holder = _holder_of(namespace, command, *rest)
    return RULES.sessions.get_state(namespace, command, holder)


@mutant("SESS-22", "sessions.list_sessions", (*EMPTY, SET, LIST), tells("session_ids"))
def list_forgets_states(namespace: Namespace, command: v.ListSessions) -> tuple[str, ...]:
    """The list of sessions leaves out those that have only a state."""
    there = namespace.entities[command.queue].sessions.values()
    return tuple(sorted(session.name for session in there if session.messages))


@mutant("SESS-22", "sessions.list_sessions", (*EMPTY, LIST), tells("session_ids"))
def list_remembers_all(namespace: Namespace, command: v.ListSessions) -> tuple[str, ...]:
    """The list of sessions includes those that were ever held."""
    return tuple(sorted(namespace.entities[command.queue].sessions))


@mutant("SESS-23", "partitions.in_session", PEEKED)
def peek_ignores_session(
    namespace: Namespace, entity: Entity, up: Iterable[Partition], session_id: str, start: int
) -> Iterator[QueuedMessage]:
    """A peek in a session shows messages of all sessions."""
    return chain.from_iterable(partition.line.behind(entity.messages, start) for partition in up)


@mutant("SESS-24", "sessions.accept", OTHER_DOWN, afterwards)
def outage_stops_sessions(namespace: Namespace, command: v.AcceptSession) -> None:
    """While any partition is down, no session can be accepted."""
    if namespace.entities[command.queue].base.down:
        raise namespace.rules.partitions.outage("SESS-24")


@mutant("SESS-26", "transactions.apply", COMMITTED, beforehand)
def one_session_committed(namespace: Namespace, transaction: Transaction) -> None:
    """A commit delivers only the messages of its first session."""
    sends = transaction.sends
    namespace.journal.touch(transaction)
    transaction.sends = tuple(
        buffered for buffered in sends if buffered.message.session_id == sends[0].message.session_id
    )
