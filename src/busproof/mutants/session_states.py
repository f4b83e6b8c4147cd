"""Mutants of SESS: the states of sessions, lists of sessions, and outages."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.partitions import Partitions
from busproof.model.rules import Namespace
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, Partition, QueuedMessage, Transaction
from busproof.model.transactions import Transactions
from busproof.mutants.entities import Switch, find_switched
from busproof.mutants.mutant import mutant
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


@mutant("SESS-16", (*EMPTY, GET))
class StateEmptyText(Sessions):
    """A session without state has an empty text as its state."""

    @tells("state")
    def get_state(self, usual: str | None) -> str:
        return usual or ""


@mutant("SESS-17", (*EMPTY, SET, ANOTHER, GET))
class StateOfFirst(Sessions):
    """A session state cannot be changed after it was set."""

    @asks
    def set_state(self, command: v.SetSessionState) -> v.SetSessionState:
        session = session_of(self.rules.namespace, command)
        if session is not None and None not in (session.state, command.state):
            command = attrs.evolve(command, state=session.state)
        return command


@mutant("SESS-18", (*EMPTY, SET, CLEAR, GET))
class StateNotCleared(Sessions):
    """Removing a session state has no effect."""

    @asks
    def set_state(self, command: v.SetSessionState) -> v.SetSessionState:
        session = session_of(self.rules.namespace, command)
        if session is not None and command.state is None:
            command = attrs.evolve(command, state=session.state)
        return command


@mutant("SESS-19", (*EMPTY, SET, CLOSE, ACCEPT, GET))
class StateDiesWithSession(Sessions):
    """Closing a session removes its state."""

    @beforehand
    def close(self, command: v.CloseSession, *rest: Any) -> None:
        clear = v.SetSessionState(queue=command.queue, session_id=command.session_id, state=None)
        self.set_state(clear, *rest)


@mutant("SESS-19", RECOVERED, deep=True)
class StateLostInOutage(Partitions):
    """Session states are lost in an outage."""

    @afterwards
    def switch(self, command: Switch) -> None:
        entities = find_switched(self.rules.namespace, command)
        for session in chain.from_iterable(tuple(entity.sessions.values()) for entity in entities):
            if session.partition == command.partition:
                self.namespace.journal.touch(session)
                session.state = None
                self.rules.sessions.let_go(session)


@mutant("SESS-20", (*EMPTY, OTHER, attrs.evolve(SET, session_id="t"), GET))
class StateShared(Sessions):
    """All sessions of a queue share one state."""

    def set_state(self, command: v.SetSessionState, connection: str) -> Answer:
        answer = super().set_state(command, connection)
        for session in self.namespace.entities[command.queue].sessions.values():
            if session.holder is not None:
                other = attrs.evolve(command, session_id=session.name)
                super().set_state(other, session.holder)
        return answer


def _holder_of(namespace: Namespace, command: OfSession, connection: str) -> str:
    """Return the holder of a session, as if it were the connection that sent the request."""
    session = session_of(namespace, command)
    return connection if session is None or session.holder is None else session.holder


class _SetByAnybody(Sessions):
    def set_state(self, command: v.SetSessionState, connection: str) -> Answer:
        holder = _holder_of(self.rules.namespace, command, connection)
        return super().set_state(command, holder)


@mutant("SESS-21", FOREIGN, also=(_SetByAnybody,))
class StateForEverybody(Sessions):
    """Any connection can get and set a session state."""

    def get_state(self, command: v.GetSessionState, connection: str) -> Answer:
        holder = _holder_of(self.rules.namespace, command, connection)
        return super().get_state(command, holder)


@mutant("SESS-22", (*EMPTY, SET, LIST))
class ListForgetsStates(Sessions):
    """The list of sessions leaves out those that have only a state."""

    @tells("session_ids")
    def list_sessions(self, command: v.ListSessions) -> tuple[str, ...]:
        there = self.namespace.entities[command.queue].sessions.values()
        return tuple(sorted(session.name for session in there if session.messages))


@mutant("SESS-22", (*EMPTY, LIST))
class ListRemembersAll(Sessions):
    """The list of sessions includes those that were ever held."""

    @tells("session_ids")
    def list_sessions(self, command: v.ListSessions) -> tuple[str, ...]:
        return tuple(sorted(self.namespace.entities[command.queue].sessions))


@mutant("SESS-23", PEEKED)
class PeekIgnoresSession(Partitions):
    """A peek in a session shows messages of all sessions."""

    def in_session(
        self, entity: Entity, up: Iterable[Partition], session_id: str, start: int
    ) -> Iterator[QueuedMessage]:
        return chain.from_iterable(
            partition.line.behind(entity.messages, start) for partition in up
        )


@mutant("SESS-24", OTHER_DOWN)
class OutageStopsSessions(Sessions):
    """While any partition is down, no session can be accepted."""

    @afterwards
    def accept(self, command: v.AcceptSession) -> None:
        if self.namespace.entities[command.queue].base.down:
            raise self.rules.partitions.outage("SESS-24")


@mutant("SESS-26", COMMITTED)
class OneSessionCommitted(Transactions):
    """A commit delivers only the messages of its first session."""

    @beforehand
    def apply(self, transaction: Transaction) -> None:
        sends = transaction.sends
        self.namespace.journal.touch(transaction)
        transaction.sends = tuple(
            buffered
            for buffered in sends
            if buffered.message.session_id == sends[0].message.session_id
        )
