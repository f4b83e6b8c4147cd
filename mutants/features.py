"""Mutants of FEAT: later features that work only on regular queues or in the first partition."""

from collections.abc import Iterable, Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, Partition, QueuedMessage, Session
from busproof.model.values import Key, Refusal
from busproof.mutants.locks import once_locked
from busproof.mutants.mutant import mutant
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
from busproof.mutants.wrappers import alters, refuses

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
    """Return whether something is in another partition than the first."""
    return thing is not None and thing.partition > 0


@mutant("FEAT-05", "keys.place_without_key", (create(), send("m1")), refuses("FEAT-05"))
def keyless_refused_when_partitioned(entity: Entity) -> bool:
    """On partitioned queues a message needs a key."""
    return entity.settings.partitioned


@mutant("FEAT-08", "deferral.find", (*SENT, receive(), defer(0), by_number(0)))
def numbers_of_first_partition_known(
    namespace: Namespace, entity: Entity, number: int, session: Session | None
) -> QueuedMessage:
    """A deferred message is received by its number from the first partition only."""
    if number >> v.SEQUENCE_BITS:
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-03")
    return RULES.deferral.find(namespace, entity, number, session)


@mutant("FEAT-09", "partitions.peek", (*SENT, v.Peek(queue=QUEUE)), refuses("FEAT-09"))
def peek_refused_when_partitioned(namespace: Namespace, command: v.Peek) -> bool:
    """Partitioned queues cannot be peeked."""
    entity = namespace.rules.topics.readable(namespace, command.queue)
    return command.session_id is None and entity.settings.partitioned


@mutant(
    "FEAT-10", "locks.renew", (*SENT, receive(), renew(0)), refuses("LOCK-05", v.Error.LOCK_LOST)
)
def locks_of_first_partition_renewed(namespace: Namespace, command: v.RenewLock) -> bool:
    """Only locks of the first partition's messages are renewed."""
    return _is_elsewhere(once_locked(namespace, command))


@mutant("FEAT-11", "scheduling.place", (create(), LATER), refuses("FEAT-11"))
def keyed_not_scheduled_when_partitioned(key: Key | None) -> bool:
    """On partitioned queues a message with a key cannot be scheduled."""
    return key is not None


@mutant("FEAT-12", "scheduling.cancel", (create(), LATER, cancel(0)))
def scheduled_of_first_partition_cancelled(
    namespace: Namespace, command: v.CancelScheduled, connection: str
) -> Answer:
    """Only what was scheduled in the first partition is cancelled."""
    if command.sequence_number >> v.SEQUENCE_BITS:
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "SCHED-05")
    return RULES.scheduling.cancel(namespace, command, connection)


@mutant("FEAT-13", "sessions.renew", (*HELD, RENEW), SESSION_LOST)
def sessions_of_first_partition_renewed(namespace: Namespace, command: v.RenewSessionLock) -> bool:
    """Only sessions of the first partition are renewed."""
    return _is_elsewhere(session_of(namespace, command))


@mutant("FEAT-14", "sessions.set_state", (*HELD, SET), SESSION_LOST)
def states_of_first_partition_set(namespace: Namespace, command: v.SetSessionState) -> bool:
    """Only sessions of the first partition can be given a state."""
    return _is_elsewhere(session_of(namespace, command))


@mutant("FEAT-15", "sessions.get_state", (*HELD, SET, GET), alters)
def states_of_first_partition_told(
    usual: Answer, namespace: Namespace, command: v.GetSessionState
) -> Answer:
    """A session's state is returned only if the session is in the first partition."""
    if _is_elsewhere(session_of(namespace, command)):
        usual.outcome = v.SessionState(state=None)
    return usual


@mutant("FEAT-16", "sessions.list_sessions", (*HELD, v.ListSessions(queue=QUEUE)), alters)
def sessions_of_first_partition_listed(
    usual: Answer, namespace: Namespace, command: v.ListSessions
) -> Answer:
    """Only sessions of the first partition are listed."""
    there = namespace.entities[command.queue].sessions
    if isinstance(usual.outcome, v.SessionsListed):
        names = [name for name in usual.outcome.session_ids if not _is_elsewhere(there[name])]
        usual.outcome = v.SessionsListed(session_ids=tuple(names))
    return usual


@mutant("FEAT-17", "partitions.in_session", (*HELD, send("m2", session_id="other"), PEEK))
def sessions_not_peeked(
    namespace: Namespace, entity: Entity, up: Iterable[Partition], session_id: str, start: int
) -> Iterator[QueuedMessage]:
    """A peek in a session of a partitioned queue shows other sessions."""
    usual, partitioned = RULES.partitions.in_session, entity.settings.partitioned
    peek = peek_ignores_session if partitioned else usual
    return peek(namespace, entity, up, session_id, start)
