"""Mutants of LOCK: how long a lock lasts, what its token can do, several locks in one request."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import QueuedMessage
from busproof.model.values import EntitySettings
from busproof.mutants.entities import message_of, once_locked
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import (
    Run,
    abandon,
    complete,
    create,
    home,
    receive,
    renew,
    renew_together,
    send,
    together,
    wait,
)
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    asks,
    beforehand,
    instead_of,
    only_where,
    refuses,
    refuses_yet,
    with_other,
)

MINUTE: Final = 60 * v.MICROSECONDS
LOCKED: Final[Run] = (create(), send("m1", partition_key="a"), receive())
AGAIN: Final[Run] = (*LOCKED, abandon(0), receive())
TWO: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    send("m2", partition_key="a"),
    receive(),
    receive(),
)
LONG_LOCK: Final[Run] = (create(lock_duration=10 * MINUTE), send("m1"), receive())
RENEWED_TWICE: Final[Run] = (*LOCKED, wait(40), renew(0), wait(40), renew(0), wait(40), complete(0))


def lock_again(namespace: Namespace, queued: QueuedMessage, token: str) -> None:
    """Lock a message that no receiver has locked, with an earlier token."""
    namespace.journal.touch(queued)
    deferred = queued.state is State.DEFERRED
    queued.state, queued.token = State.DEFERRED_LOCKED if deferred else State.LOCKED, token
    if queued.session is not None:
        queued.session.locked[queued.number] = queued


def has_run_out(namespace: Namespace, queued: QueuedMessage) -> bool:
    """Return whether the time of a message's lock, or of its session's, is over."""
    until = queued.locked_until if queued.session is None else queued.session.locked_until
    return until <= namespace.now


@mutant("LOCK-01", "locks.lock", LOCKED, afterwards)
def lock_ends_early(queued: QueuedMessage) -> None:
    """A lock lasts half as long as its queue's lock duration."""
    if queued.session is None:
        queued.locked_until -= queued.entity.settings.lock_duration // 2
        queued.entity.look_at("locks.end", queued.locked_until, queued, queued.number)


@mutant("LOCK-01", "messages.give", LOCKED, alters)
def lock_told_too_long(
    usual: v.MessageView, namespace: Namespace, queued: QueuedMessage
) -> v.MessageView:
    """A lock is reported to last twice as long as it does."""
    if usual.locked_until is None or queued.session is not None:
        return usual
    return attrs.evolve(usual, locked_until=2 * usual.locked_until - namespace.now)


@mutant("LOCK-02", "management.create", LOCKED, with_other("settings"))
def default_lock_shorter(settings: EntitySettings) -> EntitySettings:
    """The default lock duration is 30 seconds."""
    by_default = settings.lock_duration == MINUTE
    return attrs.evolve(settings, lock_duration=MINUTE // 2) if by_default else settings


@mutant("LOCK-03", "locks.check_duration", LONG_LOCK)
def locks_without_end() -> None:
    """A lock duration can be of any length."""


@mutant("LOCK-04", "locks.renew", (*LOCKED, wait(40), renew(0), wait(40), complete(0)))
def renewal_forgotten(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """A renewed lock ends as if it had not been renewed."""
    queued = once_locked(namespace, command)
    until = 0 if queued is None else queued.locked_until
    answer = RULES.locks.renew(namespace, command, connection)
    if queued is not None:
        queued.locked_until = until
    return answer


@mutant("LOCK-04", "locks.renew", RENEWED_TWICE, deep=True)
def renewed_once_only(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """The second renewal of a lock has no effect, but is acknowledged."""
    renewed = memory(namespace, set[tuple[str, str]])
    name = command.queue, command.lock_token
    if name in renewed:
        return renewal_forgotten(namespace, command, connection)
    renewed.add(name)
    return RULES.locks.renew(namespace, command, connection)


@mutant("LOCK-05", "locks.renew", (*LOCKED, wait(61), renew(0)), instead_of(v.Error.LOCK_LOST))
def lost_lock_renewed(namespace: Namespace, command: v.RenewLock) -> Answer:
    """The renewal of an expired lock succeeds without effect."""
    duration = namespace.entities[command.queue].settings.lock_duration
    return Answer(v.Renewed(locked_until=namespace.now + duration))


@mutant("LOCK-05", "locks.renew", (*LOCKED, abandon(0), renew(0)), beforehand, deep=True)
def settled_lock_renewed(namespace: Namespace, command: v.RenewLock) -> None:
    """The lock of a message that was abandoned can be renewed, and locks it again."""
    queued = once_locked(namespace, command)
    if queued is not None and queued.token is None:
        lock_again(namespace, queued, command.lock_token)


def _current(namespace: Namespace, command: v.Settlement | v.RenewLock) -> str:
    """Return the token of a message's current lock; if it has none, the token in the command."""
    queued = once_locked(namespace, command)
    return command.lock_token if queued is None or queued.token is None else queued.token


@mutant("LOCK-07", "locks.settle", (*AGAIN, complete(0)), asks, deep=True)
def older_lock_settles(namespace: Namespace, command: v.Settlement) -> v.Settlement:
    """The token of an earlier delivery settles a message that another receiver has locked."""
    return attrs.evolve(command, lock_token=_current(namespace, command))


@mutant("LOCK-07", "locks.renew", (*AGAIN, renew(0)), asks, deep=True)
def older_lock_renews(namespace: Namespace, command: v.RenewLock) -> v.RenewLock:
    """The token of an earlier delivery renews another receiver's lock."""
    return attrs.evolve(command, lock_token=_current(namespace, command))


@mutant("LOCK-08", "locks.apply", how=only_where, deep=True)
@run(*LOCKED, wait(55), complete(0), wait(10), receive())
def completed_late_comes_back(namespace: Namespace, queued: QueuedMessage, action: Action) -> bool:
    """A message completed in the last fifth of its lock's time is delivered again."""
    until = queued.locked_until if queued.session is None else queued.session.locked_until
    late = until - namespace.now <= queued.entity.settings.lock_duration // 5
    return action is not Action.COMPLETE or not late


@mutant("LOCK-08", "locks.settle", how=refuses_yet(), deep=True)
@run(*LOCKED, wait(61), complete(0), receive())
def refused_is_lost(namespace: Namespace, command: v.Settlement) -> None:
    """A settlement that comes too late is refused, and the message is lost."""
    queued = once_locked(namespace, command)
    if queued is not None and queued.token is None:
        namespace.rules.messages.remove(queued)


@mutant("LOCK-10", "locks.apply", (*TWO, complete(0), complete(1)), afterwards)
def settling_frees_others(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """Completing a message ends the locks of all other messages."""
    for other in tuple(queued.entity.messages.values()) if action is Action.COMPLETE else ():
        if other.token is not None:
            namespace.rules.locks.release(other, Action.LOCK_ENDS)


@mutant("LOCK-10", "locks.renew", (*TWO, renew(0), complete(1)), afterwards, deep=True)
def renewing_ends_others(namespace: Namespace, command: v.RenewLock) -> None:
    """Renewing a lock ends the locks of other messages with the same key."""
    queued = once_locked(namespace, command)
    key = None if queued is None else queued.message.partition_key
    for other in tuple(namespace.entities[command.queue].messages.values()):
        alike = key is not None and other is not queued and other.message.partition_key == key
        if alike and other.token is not None:
            namespace.rules.locks.release(other, Action.LOCK_ENDS)


RENEWED_TOGETHER: Final[Run] = (*TWO, wait(40), renew_together(0, 1), wait(40), complete(1))
ELSEWHERE: Final = next(key for key in "bcdef" if home(key) != home("a"))
ACROSS: Final[Run] = (
    *(create(), send("m1", partition_key="a"), send("m2", partition_key=ELSEWHERE)),
    *(receive(), receive()),
)


@mutant("LOCK-14", "locks.settle_batch", (*TWO, together(0, 1), complete(1)), asks)
def first_settled_alone(command: v.SettleBatch) -> v.SettleBatch:
    """A request to settle several messages settles only the first one, and succeeds."""
    return attrs.evolve(command, lock_tokens=command.lock_tokens[:1])


@mutant("LOCK-14", "locks.settle_batch", (*TWO, together(0, 1)), refuses("LOCK-15"))
def several_always_refused(command: v.SettleBatch) -> bool:
    """A request to settle several messages is refused whatever their partitions."""
    return len(command.lock_tokens) > 1


def _of_first_partition(namespace: Namespace, command: v.SettleBatch) -> v.SettleBatch:
    """Return the request without messages that are in another partition than the first one."""
    entity = namespace.entities[command.queue]
    where = {
        token: queued.partition
        for token in command.lock_tokens
        if (queued := message_of(entity, token)) is not None
    }
    first = next(iter(where.values()), None)
    tokens = (token for token in command.lock_tokens if where.get(token, -1) == first)
    return attrs.evolve(command, lock_tokens=tuple(tokens))


@mutant("LOCK-16", "locks.settle_batch", how=refuses_yet("LOCK-15"))
@run(*ACROSS, together(0, 1), complete(0))
def refused_yet_settled(namespace: Namespace, command: v.SettleBatch, connection: str) -> None:
    """A request for several partitions is refused, and settles the messages of one of them."""
    RULES.locks.settle_batch(namespace, _of_first_partition(namespace, command), connection)


@mutant("LOCK-16", "locks.settle_batch", how=instead_of("LOCK-15"), deep=True)
@run(*ACROSS, together(0, 1), complete(1))
def accepted_for_one_partition(namespace: Namespace, command: v.SettleBatch, *rest: Any) -> Answer:
    """A request for several partitions succeeds, and settles the messages of one of them."""
    return RULES.locks.settle_batch(namespace, _of_first_partition(namespace, command), *rest)


@mutant("LOCK-17", "locks.settle_batch", (*TWO, complete(0), together(0, 1)))
def lost_lock_passed_over(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """A request with a lost lock succeeds, and settles the other messages."""
    entity = namespace.entities.get(command.queue)
    current = {queued.token for queued in entity.messages.values()} if entity else set()
    tokens = tuple(token for token in command.lock_tokens if token in current)
    others = attrs.evolve(command, lock_tokens=tokens)
    answer = RULES.locks.settle_batch(namespace, others, connection)
    return Answer(DONE, rules=answer.rules)


@mutant("LOCK-18", "locks.renew_several", (*TWO, renew_together(0, 1)), refuses("LOCK-15"))
def renewals_always_refused(command: v.RenewLocks) -> bool:
    """A request to renew several locks is refused whatever their partitions."""
    return len(command.lock_tokens) > 1


@mutant("LOCK-18", "locks.renew_several", RENEWED_TOGETHER, deep=True)
def first_renewed_alone(namespace: Namespace, command: v.RenewLocks, connection: str) -> Answer:
    """A request to renew several locks renews the first one, and reports its end for all."""
    first = attrs.evolve(command, lock_tokens=command.lock_tokens[:1])
    answer = RULES.locks.renew_several(namespace, first, connection)
    ends = getattr(answer.outcome, "locked_until", ()) * len(command.lock_tokens)
    return Answer(v.RenewedSeveral(locked_until=ends), rules=answer.rules)


@mutant("LOCK-17", "locks.renew_several", how=instead_of(v.Error.LOCK_LOST))
@run(*TWO, complete(0), renew_together(0, 1))
def lost_lock_renewed_among_several() -> Answer:
    """A request to renew several locks succeeds with a lost one among them."""
    return Answer(v.RenewedSeveral())
