"""Mutants of FEAT: later features that only work on regular queues or in the first partition."""

from typing import Final

from busproof import vocabulary as v
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import Key
from busproof.mutants.entities import is_partitioned, once_locked
from busproof.mutants.mutant import mutant, run
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
from busproof.mutants.session_states import peek_ignores_session
from busproof.mutants.sessions import session_of
from busproof.mutants.wrappers import does, refuses, tells

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


@mutant("FEAT-05", "keys.place_without_key", (create(), send("m1")), refuses("FEAT-05"))
def keyless_refused_when_partitioned(entity: Entity) -> bool:
    """On partitioned queues a message needs a key."""
    return entity.settings.partitioned


@mutant("FEAT-08", "deferral.find", how=refuses("DEFER-03", v.Error.MESSAGE_NOT_FOUND))
@run(*SENT, receive(), defer(0), by_number(0))
def numbers_of_first_partition_known(number: int) -> bool:
    """Only deferred messages of the first partition can be received by their numbers."""
    return number >> v.SEQUENCE_BITS > 0


@mutant("FEAT-09", "partitions.peek", (*SENT, v.Peek(queue=QUEUE)), refuses("FEAT-09"))
def peek_refused_when_partitioned(namespace: Namespace, command: v.Peek) -> bool:
    """Partitioned queues cannot be peeked."""
    entity = namespace.rules.topics.readable(command.queue)
    return command.session_id is None and entity.settings.partitioned


@mutant("FEAT-10", "locks.renew", how=refuses("LOCK-05", v.Error.LOCK_LOST))
@run(*SENT, receive(), renew(0))
def locks_of_first_partition_renewed(namespace: Namespace, command: v.RenewLock) -> bool:
    """Only locks of the first partition's messages are renewed."""
    return _is_elsewhere(once_locked(namespace, command))


@mutant("FEAT-11", "scheduling.place", (create(), LATER), refuses("FEAT-11"))
def keyed_not_scheduled_when_partitioned(key: Key | None) -> bool:
    """On partitioned queues a message with a key cannot be scheduled."""
    return key is not None


@mutant("FEAT-12", "scheduling.cancel", how=refuses("SCHED-05", v.Error.MESSAGE_NOT_FOUND))
@run(create(), LATER, cancel(0))
def scheduled_of_first_partition_cancelled(command: v.CancelScheduled) -> bool:
    """Only messages that were scheduled in the first partition can be cancelled."""
    return command.sequence_number >> v.SEQUENCE_BITS > 0


@mutant("FEAT-13", "sessions.renew", (*HELD, RENEW), SESSION_LOST)
def sessions_of_first_partition_renewed(namespace: Namespace, command: v.RenewSessionLock) -> bool:
    """Only sessions of the first partition are renewed."""
    return _is_elsewhere(session_of(namespace, command))


@mutant("FEAT-14", "sessions.set_state", (*HELD, SET), SESSION_LOST)
def states_of_first_partition_set(namespace: Namespace, command: v.SetSessionState) -> bool:
    """Only sessions of the first partition can be given a state."""
    return _is_elsewhere(session_of(namespace, command))


@mutant("FEAT-15", "sessions.get_state", (*HELD, SET, GET), tells("state"))
def states_of_first_partition_told(
    usual: str | None, namespace: Namespace, command: v.GetSessionState
) -> str | None:
    """A session's state is returned only if the session is in the first partition."""
    return None if _is_elsewhere(session_of(namespace, command)) else usual


@mutant("FEAT-16", "sessions.list_sessions", how=tells("session_ids"))
@run(*HELD, v.ListSessions(queue=QUEUE))
def sessions_of_first_partition_listed(
    usual: tuple[str, ...], namespace: Namespace, command: v.ListSessions
) -> tuple[str, ...]:
    """Only sessions of the first partition are listed."""
    there = namespace.entities[command.queue].sessions
    return tuple(name for name in usual if not _is_elsewhere(there[name]))


@mutant("FEAT-17", "partitions.in_session", how=does(peek_ignores_session, is_partitioned))
@run(*HELD, send("m2", session_id="other"), PEEK)
def sessions_not_peeked() -> None:
    """A peek in a session of a partitioned queue shows messages of other sessions."""
