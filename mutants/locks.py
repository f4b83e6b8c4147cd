"""Mutants of LOCK: how long a lock lasts, what its token can do, and settling in transactions."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import RULES
from busproof.model.state import EnlistedSettlement, Entity, Namespace, QueuedMessage, Transaction
from busproof.model.transactions import running
from busproof.model.values import EntityKind, EntitySettings, Refusal
from busproof.mutants.mutant import Family, memory
from busproof.mutants.runs import (
    Run,
    abandon,
    complete,
    create,
    home,
    over,
    receive,
    renew,
    renew_together,
    send,
    together,
    wait,
)

__all__ = ["MUTANTS", "has_run_out", "lock_again", "once_locked"]

mutant = Family(__name__)

MINUTE: Final = 60 * v.MICROSECONDS
BEGIN: Final = v.BeginTransaction(transaction="t")
COMMIT: Final = v.CommitTransaction(transaction="t")
ROLL_BACK: Final = v.RollBackTransaction(transaction="t")
LOCKED: Final[Run] = (create(), send("m1", partition_key="a"), receive())
AGAIN: Final[Run] = (*LOCKED, abandon(0), receive())
TWO: Final[Run] = (
    create(),
    send("m1", partition_key="a"),
    send("m2", partition_key="a"),
    receive(),
    receive(),
)
SETTLED: Final[Run] = (*LOCKED, BEGIN, complete(0, within="t"))
TAKEN_BY_ANOTHER: Final[Run] = (wait(61), over("c2", receive()))
LONG_LOCK: Final[Run] = (create(lock_duration=10 * MINUTE), send("m1"), receive())
RENEWED_TWICE: Final[Run] = (*LOCKED, wait(40), renew(0), wait(40), renew(0), wait(40), complete(0))
ABANDONED_WITHIN: Final[Run] = (*LOCKED, BEGIN, abandon(0, within="t"), receive())
BOTH_SETTLED: Final[Run] = (
    *(*TWO, BEGIN, complete(0, within="t"), complete(1, within="t"), COMMIT, wait(61), receive()),
)
GIVEN_BACK: Final[Run] = (*SETTLED, ROLL_BACK, abandon(0), receive())
RENEWED_TOGETHER: Final[Run] = (*TWO, wait(40), renew_together(0, 1), wait(40), complete(1))
ELSEWHERE: Final = next(each for each in "bcdef" if home(each) != home("a"))
ACROSS: Final[Run] = (
    *(create(), send("m1", partition_key="a"), send("m2", partition_key=ELSEWHERE)),
    *(receive(), receive()),
)
LOST: Final[Run] = (*LOCKED, wait(61), BEGIN, complete(0, within="t"), COMMIT)
SENT_AND_LOST: Final[Run] = (
    *(*SETTLED, send("m2", within="t", partition_key="a"), *TAKEN_BY_ANOTHER, COMMIT, receive()),
)


def once_locked(namespace: Namespace, command: v.Settlement | v.RenewLock) -> QueuedMessage | None:
    """Return the message that was once locked under the token of a command, if it exists."""
    entity = namespace.entities.get(command.queue)
    number = command.lock_token.partition("/")[0]
    return entity.messages.get(int(number)) if entity and number.isdecimal() else None


def lock_again(namespace: Namespace, queued: QueuedMessage, token: str) -> None:
    """Lock a message that nobody holds under an earlier token."""
    namespace.journal.touch(queued)
    deferred = queued.state is State.DEFERRED
    queued.state, queued.token = State.DEFERRED_LOCKED if deferred else State.LOCKED, token
    if queued.session is not None:
        queued.session.locked[queued.number] = queued


def has_run_out(namespace: Namespace, queued: QueuedMessage) -> bool:
    """Return whether the time of a message's lock is over, or that of its session's."""
    until = queued.locked_until if queued.session is None else queued.session.locked_until
    return until <= namespace.now


@mutant("LOCK-01", "locks.lock", LOCKED)
def lock_ends_early(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A lock lasts half as long as its queue says."""
    RULES.locks.lock(namespace, queued, action)
    if queued.session is None:
        queued.locked_until -= queued.entity.settings.lock_duration // 2
        queued.entity.look_at("locks.end", queued.locked_until, queued, queued.number)


@mutant("LOCK-01", "messages.give", LOCKED)
def lock_told_too_long(namespace: Namespace, queued: QueuedMessage, *rest: Any) -> v.MessageView:
    """A lock is reported to last twice as long as it does."""
    view = RULES.messages.give(namespace, queued, *rest)
    if view.locked_until is None or queued.session is not None:
        return view
    return attrs.evolve(view, locked_until=2 * view.locked_until - namespace.now)


@mutant("LOCK-02", "management.create", LOCKED)
def default_lock_shorter(
    namespace: Namespace,
    path: str,
    kind: EntityKind,
    settings: EntitySettings,
    topic: Entity | None = None,
) -> Entity:
    """The default lock duration is 30 seconds."""
    if settings.lock_duration == MINUTE:
        settings = attrs.evolve(settings, lock_duration=MINUTE // 2)
    return RULES.management.create(namespace, path, kind, settings, topic)


@mutant("LOCK-03", "locks.check_duration", LONG_LOCK)
def locks_without_end(namespace: Namespace, duration: int | None) -> None:
    """A lock duration has no limit."""


@mutant("LOCK-04", "locks.renew", (*LOCKED, wait(40), renew(0), wait(40), complete(0)))
def renewal_forgotten(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """A renewed lock ends when it would have ended."""
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


@mutant("LOCK-05", "locks.renew", (*LOCKED, wait(61), renew(0)))
def lost_lock_renewed(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """A lock that has expired is renewed, to no effect."""
    try:
        return RULES.locks.renew(namespace, command, connection)
    except Refusal as refusal:
        if refusal.error is not v.Error.LOCK_LOST:
            raise
        duration = namespace.entities[command.queue].settings.lock_duration
        return Answer(v.Renewed(locked_until=namespace.now + duration))


@mutant("LOCK-05", "locks.renew", (*LOCKED, abandon(0), renew(0)), deep=True)
def settled_lock_renewed(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """The lock of a message that was abandoned can be renewed, and locks it again."""
    queued = once_locked(namespace, command)
    if queued is not None and queued.token is None:
        lock_again(namespace, queued, command.lock_token)
    return RULES.locks.renew(namespace, command, connection)


def _current(namespace: Namespace, command: v.Settlement | v.RenewLock) -> str:
    """Return the token of a message's current lock, otherwise that of the command."""
    queued = once_locked(namespace, command)
    return command.lock_token if queued is None or queued.token is None else queued.token


@mutant("LOCK-07", "locks.settle", (*AGAIN, complete(0)), deep=True)
def older_lock_settles(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """The token of an earlier delivery settles a message that another receiver has locked."""
    command = attrs.evolve(command, lock_token=_current(namespace, command))
    return RULES.locks.settle(namespace, command, connection)


@mutant("LOCK-07", "locks.renew", (*AGAIN, renew(0)), deep=True)
def older_lock_renews(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """The token of an earlier delivery renews another receiver's lock."""
    command = attrs.evolve(command, lock_token=_current(namespace, command))
    return RULES.locks.renew(namespace, command, connection)


@mutant("LOCK-08", "locks.apply", (*LOCKED, wait(55), complete(0), wait(10), receive()), deep=True)
def completed_late_comes_back(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """A message that is completed in the last fifth of its lock is redelivered anyway."""
    until = queued.locked_until if queued.session is None else queued.session.locked_until
    late = until - namespace.now <= queued.entity.settings.lock_duration // 5
    if action is not Action.COMPLETE or not late:
        RULES.locks.apply(namespace, queued, action, reason)


@mutant("LOCK-08", "locks.settle", (*LOCKED, wait(61), complete(0), receive()), deep=True)
def refused_is_lost(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """A settlement that comes too late is refused, and the message is lost."""
    try:
        return RULES.locks.settle(namespace, command, connection)
    except Refusal as refusal:
        queued = once_locked(namespace, command)
        if queued is not None and queued.token is None:
            namespace.rules.messages.remove(namespace, queued)
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("LOCK-10", "locks.apply", (*TWO, complete(0), complete(1)))
def settling_frees_others(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """Completing a message ends the locks of all others."""
    RULES.locks.apply(namespace, queued, action, reason)
    for other in tuple(queued.entity.messages.values()) if action is Action.COMPLETE else ():
        if other.token is not None:
            namespace.rules.locks.release(namespace, other, Action.LOCK_ENDS)


@mutant("LOCK-10", "locks.renew", (*TWO, renew(0), complete(1)), deep=True)
def renewing_ends_others(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """Renewing a lock ends those of the other messages with its key."""
    answer = RULES.locks.renew(namespace, command, connection)
    queued = once_locked(namespace, command)
    key = None if queued is None else queued.message.partition_key
    for other in tuple(namespace.entities[command.queue].messages.values()):
        alike = key is not None and other is not queued and other.message.partition_key == key
        if alike and other.token is not None:
            namespace.rules.locks.release(namespace, other, Action.LOCK_ENDS)
    return answer


@mutant("LOCK-11", "transactions.settle", (*SETTLED, ROLL_BACK, complete(0)))
def settled_before_the_commit(
    namespace: Namespace, entity: Entity, command: v.Settlement, name: str
) -> Answer:
    """A settlement in a transaction takes effect at once, whatever its end."""
    running(namespace, name)
    return RULES.locks.settle(namespace, attrs.evolve(command, transaction=None), "")


@mutant("LOCK-11", "transactions.settle", ABANDONED_WITHIN, deep=True)
def abandoned_before_the_commit(
    namespace: Namespace, entity: Entity, command: v.Settlement, name: str
) -> Answer:
    """A message abandoned in a transaction can be received before the commit."""
    if isinstance(command, v.Abandon):
        return settled_before_the_commit(namespace, entity, command, name)
    return RULES.transactions.settle(namespace, entity, command, name)


def _commit(
    namespace: Namespace, transaction: Transaction, settlements: tuple[EnlistedSettlement, ...]
) -> None:
    """Commit with these settlements in place of the requested ones."""
    namespace.journal.touch(transaction)
    transaction.settlements = settlements
    RULES.transactions.apply(namespace, transaction)


@mutant("LOCK-11", "transactions.apply", (*SETTLED, COMMIT, wait(61), receive()))
def commit_settles_nothing(namespace: Namespace, transaction: Transaction) -> None:
    """A commit applies the sends, and no settlements."""
    _commit(namespace, transaction, ())


@mutant("LOCK-11", "transactions.apply", BOTH_SETTLED, deep=True)
def commit_forgets_the_last_settlement(namespace: Namespace, transaction: Transaction) -> None:
    """The last of several settlements in a transaction is lost."""
    settlements = transaction.settlements
    _commit(namespace, transaction, settlements[: max(1, len(settlements) - 1)])


def _message_of(enlisted: EnlistedSettlement) -> QueuedMessage | None:
    """Return the message of a settlement, whatever its current lock."""
    number = enlisted.token.partition("/")[0]
    return enlisted.entity.messages.get(int(number)) if number.isdecimal() else None


def _still_locked(transaction: Transaction) -> list[tuple[EnlistedSettlement, QueuedMessage]]:
    """Return the settlements of a transaction whose locks are valid."""
    messages = [(each, _message_of(each)) for each in transaction.settlements]
    return [(each, held) for each, held in messages if held and held.token == each.token]


@mutant("LOCK-12", "transactions.roll_back", (*SETTLED, ROLL_BACK, complete(0)))
def rollback_settles(namespace: Namespace, command: v.RollBackTransaction, *rest: Any) -> Answer:
    """A rollback applies the settlements of its transaction."""
    for each, queued in _still_locked(running(namespace, command.transaction)):
        namespace.rules.locks.apply(namespace, queued, each.action, each.reason)
    return RULES.transactions.roll_back(namespace, command, *rest)


@mutant("LOCK-12", "transactions.roll_back", (*SETTLED, ROLL_BACK, receive()))
def rollback_unlocks(namespace: Namespace, command: v.RollBackTransaction, *rest: Any) -> Answer:
    """A rollback ends the locks of the messages settled in its transaction."""
    for _, queued in _still_locked(running(namespace, command.transaction)):
        namespace.rules.locks.release(namespace, queued, Action.LOCK_ENDS)
    return RULES.transactions.roll_back(namespace, command, *rest)


@mutant("LOCK-12", "transactions.roll_back", GIVEN_BACK, deep=True)
def rollback_counts_a_delivery(
    namespace: Namespace, command: v.RollBackTransaction, connection: str
) -> Answer:
    """A rollback counts a delivery of the messages settled in its transaction."""
    for _, queued in _still_locked(running(namespace, command.transaction)):
        namespace.journal.touch(queued)
        queued.failed += 1
    return RULES.transactions.roll_back(namespace, command, connection)


def _commit_what_is_locked(namespace: Namespace, transaction: Transaction) -> None:
    settlements = tuple(each for each, _ in _still_locked(transaction))
    _commit(namespace, transaction, settlements)


@mutant("LOCK-13", "transactions.settle", LOST, also={"transactions.apply": _commit_what_is_locked})
def lost_lock_enlisted(namespace: Namespace, entity: Entity, *rest: Any) -> Answer:
    """A settlement with a lost lock, and its commit, are accepted without effect."""
    answer = RULES.transactions.settle(namespace, entity, *rest)
    lost = answer.outcome == v.Refused(error=v.Error.LOCK_LOST)
    return Answer(DONE) if lost else answer


@mutant("LOCK-13", "transactions.apply", (*SETTLED, *TAKEN_BY_ANOTHER, COMMIT), deep=True)
def commit_settles_what_another_holds(namespace: Namespace, transaction: Transaction) -> None:
    """A commit completes its messages even if another receiver has locked them."""
    messages = [(each, _message_of(each)) for each in transaction.settlements]
    current = (
        attrs.evolve(each, token=queued.token) if queued and queued.token else each
        for each, queued in messages
    )
    _commit(namespace, transaction, tuple(current))


@mutant("LOCK-13", "transactions.commit", SENT_AND_LOST, deep=True)
def refused_commit_sends(namespace: Namespace, command: v.CommitTransaction, *rest: Any) -> Answer:
    """A commit that is refused for a lost lock still delivers its sends."""
    answer = RULES.transactions.commit(namespace, command, *rest)
    lost = answer.outcome == v.Refused(error=v.Error.LOCK_LOST)
    for buffered in namespace.transactions[command.transaction].sends if lost else ():
        if buffered.scheduled is None:
            RULES.transactions.deliver(namespace, buffered)
        else:
            namespace.rules.scheduling.plan(namespace, buffered.scheduled)
    return answer


@mutant("LOCK-14", "locks.settle_batch", (*TWO, together(0, 1), complete(1)))
def first_settled_alone(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """A request to settle several messages settles the first one and succeeds."""
    first = attrs.evolve(command, lock_tokens=command.lock_tokens[:1])
    return RULES.locks.settle_batch(namespace, first, connection)


@mutant("LOCK-14", "locks.settle_batch", (*TWO, together(0, 1)))
def several_always_refused(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """A request to settle several messages is refused whatever their partitions."""
    if len(command.lock_tokens) > 1:
        raise Refusal(v.Error.INVALID_OPERATION, "LOCK-15")
    return RULES.locks.settle_batch(namespace, command, connection)


def _of_first_partition(namespace: Namespace, command: v.SettleBatch) -> v.SettleBatch:
    """Return the request for only those messages that are in the partition of the first one."""
    entity = namespace.entities[command.queue]
    numbers = [token.partition("/")[0] for token in command.lock_tokens]
    found = [entity.messages.get(int(each)) if each.isdecimal() else None for each in numbers]
    first = next((each.partition for each in found if each is not None), None)
    kept = zip(command.lock_tokens, found, strict=True)
    tokens = tuple(token for token, each in kept if each is not None and each.partition == first)
    return attrs.evolve(command, lock_tokens=tokens)


def _is_for_partitions(refusal: Refusal) -> bool:
    return "LOCK-15" in refusal.rules


@mutant("LOCK-16", "locks.settle_batch", (*ACROSS, together(0, 1), complete(0)))
def refused_yet_settled(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """A request for several partitions is refused, and settles the messages of one of them."""
    try:
        return RULES.locks.settle_batch(namespace, command, connection)
    except Refusal as refusal:
        if not _is_for_partitions(refusal):
            raise
        RULES.locks.settle_batch(namespace, _of_first_partition(namespace, command), connection)
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("LOCK-16", "locks.settle_batch", (*ACROSS, together(0, 1), complete(1)), deep=True)
def accepted_for_one_partition(
    namespace: Namespace, command: v.SettleBatch, connection: str
) -> Answer:
    """A request for several partitions succeeds, and settles the messages of one of them."""
    try:
        return RULES.locks.settle_batch(namespace, command, connection)
    except Refusal as refusal:
        if not _is_for_partitions(refusal):
            raise
        one = _of_first_partition(namespace, command)
        return RULES.locks.settle_batch(namespace, one, connection)


@mutant("LOCK-17", "locks.settle_batch", (*TWO, complete(0), together(0, 1)))
def lost_lock_passed_over(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """A request with a lost lock succeeds, and settles the other messages."""
    answer = RULES.locks.settle_batch(namespace, _without_lost(namespace, command), connection)
    return Answer(DONE, rules=answer.rules)


def _without_lost(namespace: Namespace, command: v.SettleBatch) -> v.SettleBatch:
    entity = namespace.entities.get(command.queue)
    messages = entity.messages.values() if entity else ()
    current = {each.token for each in messages}
    tokens = tuple(each for each in command.lock_tokens if each in current)
    return attrs.evolve(command, lock_tokens=tokens)


@mutant("LOCK-18", "locks.renew_several", (*TWO, renew_together(0, 1)))
def renewals_always_refused(namespace: Namespace, command: v.RenewLocks, connection: str) -> Answer:
    """A request to renew several locks is refused whatever their partitions."""
    if len(command.lock_tokens) > 1:
        raise Refusal(v.Error.INVALID_OPERATION, "LOCK-15")
    return RULES.locks.renew_several(namespace, command, connection)


@mutant("LOCK-18", "locks.renew_several", RENEWED_TOGETHER, deep=True)
def first_renewed_alone(namespace: Namespace, command: v.RenewLocks, connection: str) -> Answer:
    """A request to renew several locks renews the first one, and reports its end for all."""
    first = attrs.evolve(command, lock_tokens=command.lock_tokens[:1])
    answer = RULES.locks.renew_several(namespace, first, connection)
    ends = getattr(answer.outcome, "locked_until", ()) * len(command.lock_tokens)
    return Answer(v.RenewedSeveral(locked_until=ends), rules=answer.rules)


@mutant("LOCK-17", "locks.renew_several", (*TWO, complete(0), renew_together(0, 1)))
def lost_lock_renewed_among_several(
    namespace: Namespace, command: v.RenewLocks, connection: str
) -> Answer:
    """A request to renew several locks succeeds with a lost one among them."""
    try:
        return RULES.locks.renew_several(namespace, command, connection)
    except Refusal as refusal:
        if refusal.error is not v.Error.LOCK_LOST:
            raise
        return Answer(v.RenewedSeveral())


MUTANTS: Final = mutant.all()
