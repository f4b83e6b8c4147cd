"""LOCK: a receiver holds a message for a while, and settles it by its lock token.

Each delivery has its own lock token. A lock lasts for the lock duration that the entity has when
the lock begins, and as long again from each renewal; in a session it lasts as long as the session's
lock. A request with an earlier token of a message is refused, because that lock is lost. When a
lock ends without a settlement, the message is released, or dead-lettered if it failed too often.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import CHANGES, LIFE_CYCLE, LOCKED_STATES, Action, State
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.model.values import Refusal

__all__ = ["Locks"]

LONGEST_LOCK: Final = 300 * v.MICROSECONDS
ACTIONS: Final = {
    v.Complete: Action.COMPLETE,
    v.Abandon: Action.ABANDON,
    v.DeadLetter: Action.DEAD_LETTER,
    v.Defer: Action.DEFER,
}
RULES_OF_SETTLEMENTS: Final[dict[Action, tuple[v.RuleId, ...]]] = {
    action: (rule,) for before, action, _, rule in CHANGES if before is State.LOCKED
}


def check_duration(namespace: Namespace, duration: int | None) -> None:
    """LOCK-03: check that a lock duration is at most 5 minutes."""
    if duration is not None and duration > LONGEST_LOCK:
        raise Refusal(v.Error.INVALID_OPERATION, "LOCK-03")


def lock(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """LOCK-01, LOCK-07: lock a message under a new token."""
    namespace.journal.touch(queued)
    queued.state = LIFE_CYCLE[queued.state, action]
    queued.deliveries += 1
    queued.failed += 1
    queued.token = f"{queued.number}/{queued.deliveries}"  # of this delivery alone
    session = queued.session
    if session is not None:
        session.locked[queued.number] = queued
        return
    entity = queued.entity
    queued.locked_until = namespace.now + entity.settings.lock_duration
    entity.look_at("locks.end", queued.locked_until, queued, queued.number)


def locked_under(namespace: Namespace, entity: Entity, token: str) -> QueuedMessage:
    """LIFE-06, LOCK-05, LOCK-06, SESS-12: return the message whose current lock has this token."""
    number = token.partition("/")[0]
    queued = entity.messages.get(int(number)) if number.isdecimal() else None
    if queued is None or queued.token != token or queued.cached_by is not None:
        raise Refusal(v.Error.LOCK_LOST, "LIFE-06")
    return queued


def settle(namespace: Namespace, command: v.Settlement, connection: str) -> Answer:
    """LIFE-03, LIFE-04, DLQ-05, DEFER-01: settle a message, now or with a commit (LOCK-11)."""
    rules = namespace.rules
    entity, action = rules.topics.readable(namespace, command.queue), ACTIONS[type(command)]
    if command.transaction is not None:
        return rules.transactions.settle(namespace, entity, command, command.transaction)
    queued = rules.locks.locked_under(namespace, entity, command.lock_token)
    rules.locks.apply(namespace, queued, action, getattr(command, "reason", ""))
    return Answer(DONE, rules=RULES_OF_SETTLEMENTS[action])


def settle_batch(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """LOCK-14, LOCK-16, LOCK-17: settle the messages under several locks."""
    rules, action = namespace.rules, Action[command.disposition.name]

    def settle_one(queued: QueuedMessage) -> None:
        rules.locks.apply(namespace, queued, action, command.reason)

    refused = rules.locks.for_each(namespace, command, settle_one)
    return refused or Answer(DONE, rules=("LOCK-14", *RULES_OF_SETTLEMENTS[action]))


def for_each(
    namespace: Namespace, command: v.SettleBatch | v.RenewLocks, do: Callable[[QueuedMessage], None]
) -> Answer | None:
    """LOCK-15 to LOCK-17: call `do` for each message under several locks; refuse if one is lost.

    The documents do not say whether locks in several partitions are refused (SETTLE-PARTITIONS),
    nor what a lost lock means for the other messages (SETTLE-LOST).
    """
    rules, locked = namespace.rules, []
    entity = rules.topics.readable(namespace, command.queue)
    tokens = dict.fromkeys(command.lock_tokens)
    for token in tokens:
        # A lost lock may concern the whole request, so it is refused after the others.
        with suppress(Refusal):
            locked.append(rules.locks.locked_under(namespace, entity, token))
    several = len({queued.partition for queued in locked}) > 1
    if several and namespace.reading("SETTLE-PARTITIONS", "refused", "accepted") == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "LOCK-15")
    lost = len(locked) < len(tokens)
    if lost and namespace.reading("SETTLE-LOST", "nothing", "others") == "nothing":
        raise Refusal(v.Error.LOCK_LOST, "LOCK-17")
    for queued in locked:
        do(queued)
    # The refusal is returned, because raising it would undo what was done for other locks.
    return Answer(v.Refused(error=v.Error.LOCK_LOST), rules=("LOCK-17",)) if lost else None


def apply(namespace: Namespace, queued: QueuedMessage, action: Action, reason: str) -> None:
    """LIFE-03, LIFE-04, DLQ-05, DEFER-01, LOCK-10: apply a settlement to a locked message."""
    rules = namespace.rules
    rules.partitions.check_up(namespace, queued.entity, queued.partition)
    if action is Action.COMPLETE:
        rules.locks.unlock(namespace, queued, action)
        rules.messages.remove(namespace, queued)
    elif action is Action.DEAD_LETTER:
        rules.dead_letters.check_source(namespace, queued.entity)
        rules.locks.unlock(namespace, queued, action)
        rules.dead_letters.dead_letter(namespace, queued, reason)
    elif action is Action.DEFER:
        rules.locks.unlock(namespace, queued, action)
        queued.failed -= 1  # such a delivery does not count as failed (DLQ-01)
    else:
        rules.locks.release(namespace, queued, action)


def unlock(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """LOCK-10: end the lock of this message, and of no other."""
    namespace.journal.touch(queued)
    queued.state = LIFE_CYCLE[queued.state, action]
    queued.token = queued.cached_by = queued.enlisted = None
    namespace.timers.stale += 1
    if queued.session is not None:
        queued.session.locked.pop(queued.number, None)


def release(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """LIFE-04, LIFE-05, DLQ-02, TTL-06, LOCK-09: release a message, or dead-letter it.

    A deferred message is deferred as before, whatever its delivery count and age.
    """
    rules = namespace.rules
    if queued.cached_by is not None:
        namespace.journal.touch(queued)
        queued.failed += namespace.reading("CACHE-DELIVERY-COUNT", "stays", "counts") == "counts"
    rules.locks.unlock(namespace, queued, action)
    if queued.state is State.DEFERRED:
        return
    if rules.dead_letters.has_failed_too_often(namespace, queued):
        rules.dead_letters.dead_letter(namespace, queued, "MaxDeliveryCountExceeded")
    elif queued.expires_at is not None and queued.expires_at <= namespace.now:
        rules.expiry.expire(namespace, queued)
    else:
        queued.line.give_back(queued)
        if queued.session is not None:
            queued.entity.free_sessions[queued.session] = None


def end(namespace: Namespace, queued: QueuedMessage) -> None:
    """LIFE-05: release a message whose lock has expired."""
    expired = queued.state in LOCKED_STATES and queued.locked_until <= namespace.now
    is_kept = queued.session is not None or namespace.rules.transactions.holds(namespace, queued)
    if expired and not is_kept and queued.is_there:
        namespace.rules.locks.release(namespace, queued, Action.LOCK_ENDS)


def prolong(namespace: Namespace, queued: QueuedMessage) -> None:
    """LOCK-04: extend a lock to a full lock duration from now."""
    namespace.journal.touch(queued)
    queued.state = LIFE_CYCLE[queued.state, Action.RENEW]
    queued.locked_until = namespace.now + queued.entity.settings.lock_duration
    queued.entity.look_at("locks.end", queued.locked_until, queued, queued.number)
    namespace.timers.stale += 1


def renew(namespace: Namespace, command: v.RenewLock, connection: str) -> Answer:
    """LOCK-04, LOCK-05: renew the lock of a message, unless it is lost."""
    rules = namespace.rules
    entity = rules.topics.readable(namespace, command.queue)
    queued = rules.locks.locked_under(namespace, entity, command.lock_token)
    rules.locks.check_renewal(namespace, queued)
    rules.locks.prolong(namespace, queued)
    return Answer(v.Renewed(locked_until=queued.locked_until), rules=("LOCK-04",))


def check_renewal(namespace: Namespace, queued: QueuedMessage) -> None:
    """LOCK-05, SESS-14: check that a message's lock may be renewed; in a session it may not.

    The documents do not say whether the lock of an expired message can be renewed (RENEW-EXPIRED).
    """
    if queued.session is not None:
        raise Refusal(v.Error.INVALID_OPERATION, "SESS-14")
    namespace.rules.partitions.check_up(namespace, queued.entity, queued.partition)
    expired = queued.expires_at is not None and queued.expires_at <= namespace.now
    if expired and namespace.reading("RENEW-EXPIRED", "accepted", "refused") == "refused":
        raise Refusal(v.Error.LOCK_LOST, "LOCK-05")


def renew_several(namespace: Namespace, command: v.RenewLocks, connection: str) -> Answer:
    """LOCK-16 to LOCK-18: renew several locks in one request."""
    rules, ends = namespace.rules, {}

    def renew_one(queued: QueuedMessage) -> None:
        rules.locks.check_renewal(namespace, queued)
        rules.locks.prolong(namespace, queued)
        ends[queued.token] = queued.locked_until

    refused = rules.locks.for_each(namespace, command, renew_one)
    if refused is not None:
        return refused
    until = tuple(ends[token] for token in command.lock_tokens)
    return Answer(v.RenewedSeveral(locked_until=until), rules=("LOCK-18", "LOCK-04"))


@attrs.frozen
class Locks:
    """Functions that decide the LOCK rules; a mutant replaces one of them."""

    check_duration: Callable[[Namespace, int | None], None] = check_duration
    lock: Callable[[Namespace, QueuedMessage, Action], None] = lock
    locked_under: Callable[[Namespace, Entity, str], QueuedMessage] = locked_under
    settle: Callable[[Namespace, v.Settlement, str], Answer] = settle
    settle_batch: Callable[[Namespace, v.SettleBatch, str], Answer] = settle_batch
    for_each: Callable[..., Answer | None] = for_each
    apply: Callable[[Namespace, QueuedMessage, Action, str], None] = apply
    unlock: Callable[[Namespace, QueuedMessage, Action], None] = unlock
    release: Callable[[Namespace, QueuedMessage, Action], None] = release
    end: Callable[[Namespace, QueuedMessage], None] = end
    prolong: Callable[[Namespace, QueuedMessage], None] = prolong
    renew: Callable[[Namespace, v.RenewLock, str], Answer] = renew
    renew_several: Callable[[Namespace, v.RenewLocks, str], Answer] = renew_several
    check_renewal: Callable[[Namespace, QueuedMessage], None] = check_renewal
