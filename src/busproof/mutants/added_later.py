"""Mutants of FEAT: later features that only work on regular queues or in the first partition."""

from typing import Final

from busproof import vocabulary as v
from busproof.model.deferral import Deferral
from busproof.model.keys import Keys
from busproof.model.locks import Locks
from busproof.model.partitions import Partitions
from busproof.model.scheduling import Scheduling
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import Key
from busproof.mutants.entities import find_once_locked, is_partitioned
from busproof.mutants.mutant import AMQP, mutant, run
from busproof.mutants.runs import (
    QUEUE,
    Run,
    by_number,
    cancel,
    create,
    defer,
    home,
    receive,
    renew,
    schedule,
    send,
)
from busproof.mutants.session_states import PeekIgnoresSession
from busproof.mutants.sessions import session_of
from busproof.mutants.wrappers import refuses, tells, where

KEY: Final = next(key for key in "abcdef" if home(key))
"""A key of another partition than the first."""
SENT: Final[Run] = (create(), send("m1", partition_key=KEY))
HELD: Final[Run] = (
    create(requires_session=True),
    send("m1", session_id=KEY),
    v.AcceptSession(queue=QUEUE, session_id=KEY),
)
RENEW: Final = v.RenewSessionLock(queue=QUEUE, session_id=KEY)
SET: Final = v.SetSessionState(queue=QUEUE, session_id=KEY, state="one")
GET: Final = v.GetSessionState(queue=QUEUE, session_id=KEY)
PEEK: Final = v.Peek(queue=QUEUE, count=5, session_id=KEY)
SESSION_LOST: Final = refuses("SESS-12", v.Error.SESSION_LOCK_LOST)
LATER: Final = schedule("m1", 9, partition_key=KEY)


def _is_elsewhere(thing: QueuedMessage | Session | None) -> bool:
    """Return whether a message or session is in another partition than the first."""
    return thing is not None and thing.partition > 0


@mutant("FEAT-05", (create(), send("m1")), needs=AMQP)
class KeylessRefusedWhenPartitioned(Keys):
    """On partitioned queues a message needs a key."""

    @refuses("FEAT-05")
    def place_without_key(self, entity: Entity) -> bool:
        return entity.settings.partitioned


@mutant("FEAT-08", needs=AMQP)
@run(*SENT, receive(), defer(0), by_number(0))
class NumbersOfFirstPartitionKnown(Deferral):
    """Only deferred messages of the first partition can be received by their numbers."""

    @refuses("DEFER-03", v.Error.MESSAGE_NOT_FOUND)
    def find(self, number: int) -> bool:
        return number >> v.SEQUENCE_BITS > 0


@mutant("FEAT-09", (*SENT, v.Peek(queue=QUEUE)), needs=AMQP)
class PeekRefusedWhenPartitioned(Partitions):
    """Partitioned queues cannot be peeked."""

    @refuses("FEAT-09")
    def peek(self, command: v.Peek) -> bool:
        entity = self.rules.topics.readable(command.queue)
        return command.session_id is None and entity.settings.partitioned


@mutant("FEAT-10", needs=AMQP)
@run(*SENT, receive(), renew(0))
class LocksOfFirstPartitionRenewed(Locks):
    """Only locks of the first partition's messages are renewed."""

    @refuses("LOCK-05", v.Error.LOCK_LOST)
    def renew(self, command: v.RenewLock) -> bool:
        return _is_elsewhere(find_once_locked(self.rules.namespace, command))


@mutant("FEAT-11", (create(), LATER), needs=AMQP)
class KeyedNotScheduledWhenPartitioned(Scheduling):
    """On partitioned queues a message with a key cannot be scheduled."""

    @refuses("FEAT-11")
    def place(self, key: Key | None) -> bool:
        return key is not None


@mutant("FEAT-12", needs=AMQP)
@run(create(), LATER, cancel(0))
class ScheduledOfFirstPartitionCancelled(Scheduling):
    """Only messages that were scheduled in the first partition can be cancelled."""

    @refuses("SCHED-05", v.Error.MESSAGE_NOT_FOUND)
    def cancel(self, command: v.CancelScheduled) -> bool:
        return command.sequence_number >> v.SEQUENCE_BITS > 0


@mutant("FEAT-13", (*HELD, RENEW), needs=AMQP)
class SessionsOfFirstPartitionRenewed(Sessions):
    """Only sessions of the first partition are renewed."""

    @SESSION_LOST
    def renew(self, command: v.RenewSessionLock) -> bool:
        return _is_elsewhere(session_of(self.rules.namespace, command))


@mutant("FEAT-14", (*HELD, SET), needs=AMQP)
class StatesOfFirstPartitionSet(Sessions):
    """Only sessions of the first partition can be given a state."""

    @SESSION_LOST
    def set_state(self, command: v.SetSessionState) -> bool:
        return _is_elsewhere(session_of(self.rules.namespace, command))


@mutant("FEAT-15", (*HELD, SET, GET), needs=AMQP)
class StatesOfFirstPartitionTold(Sessions):
    """A session's state is returned only if the session is in the first partition."""

    @tells("state")
    def get_state(self, usual: str | None, command: v.GetSessionState) -> str | None:
        return None if _is_elsewhere(session_of(self.rules.namespace, command)) else usual


@mutant("FEAT-16", needs=AMQP)
@run(*HELD, v.ListSessions(queue=QUEUE))
class SessionsOfFirstPartitionListed(Sessions):
    """Only sessions of the first partition are listed."""

    @tells("session_ids")
    def list_sessions(self, usual: tuple[str, ...], command: v.ListSessions) -> tuple[str, ...]:
        there = self.namespace.entities[command.queue].sessions
        return tuple(name for name in usual if not _is_elsewhere(there[name]))


@mutant("FEAT-17", needs=AMQP)
@run(*HELD, send("m2", session_id="other"), PEEK)
class SessionsNotPeeked(PeekIgnoresSession):
    """A peek in a session of a partitioned queue shows messages of other sessions."""

    in_session = where(is_partitioned)
