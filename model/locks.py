"""LOCK: a receiver holds a message for a while, and settles it by its lock token.

Each delivery has its own lock token. A lock lasts for the lock duration that the entity has when
the lock begins, and as long again from each renewal; in a session it lasts as long as the session's
lock. A request with an earlier token of a message is refused, because that lock is lost. When a
lock ends without a settlement, the message is released, or dead-lettered if it failed too often.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    CacheDeliveryCount,
    RenewExpired,
    SettleLost,
    SettlePartitions,
)
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family, handles
from busproof.model.life_cycle import CHANGES, LIFE_CYCLE, LOCKED_STATES, Action, State
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import Refusal

__all__ = ["LONGEST_LOCK", "Locks"]

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
RULE_OF_LOST_LOCK: Final[dict[Action, v.RuleId]] = {
    Action.DEFER: "LOCK-06",
    Action.DEAD_LETTER: "LOCK-06",
    Action.RENEW: "LOCK-05",
}
"""Request to the rule that refuses it with a lost lock; of the others LIFE-06 says so."""


class Locks(Family):
    """The rules of LOCK."""

    def check_duration(self, duration: int | None) -> None:
        """LOCK-03: check that a lock duration is at most 5 minutes."""
        if duration is not None and duration > LONGEST_LOCK:
            raise Refusal(v.Error.INVALID_OPERATION, "LOCK-03")

    def lock(self, queued: QueuedMessage, action: Action) -> None:
        """LOCK-01, LOCK-07: lock a message under a new token."""
        self.namespace.journal.touch(queued)
        queued.state = LIFE_CYCLE[queued.state, action]
        queued.deliveries += 1
        queued.failed += 1
        queued.token = f"{queued.number}/{queued.deliveries}"  # of this delivery alone
        session = queued.session
        if session is not None:
            session.locked[queued.number] = queued
            return
        entity = queued.entity
        queued.locked_until = self.namespace.now + entity.settings.lock_duration
        entity.look_at("locks.end", queued.locked_until, queued, queued.number)

    def locked_under(
        self, entity: Entity, token: str, action: Action = Action.COMPLETE
    ) -> QueuedMessage:
        """LIFE-06, LOCK-05, LOCK-06, SESS-12: return the message under this lock token."""
        number = token.partition("/")[0]
        queued = entity.messages.get(int(number)) if number.isdecimal() else None
        if queued is None or queued.token != token or queued.cached_by is not None:
            raise Refusal(v.Error.LOCK_LOST, RULE_OF_LOST_LOCK.get(action, "LIFE-06"))
        return queued

    @handles(v.Complete, v.Abandon, v.DeadLetter, v.Defer)
    def settle(self, command: v.Settlement, connection: str) -> Answer:
        """LIFE-03, LIFE-04, DLQ-05, DEFER-01: settle a message, now or with a commit (LOCK-11)."""
        entity, action = self.rules.topics.readable(command.queue), ACTIONS[type(command)]
        if command.transaction is not None:
            return self.rules.transactions.settle(entity, command, command.transaction)
        self.rules.topics.check_serves(entity, "served", "refused")
        queued = self.locked_under(entity, command.lock_token, action)
        self.apply(queued, action, getattr(command, "reason", ""))
        return Answer(DONE, rules=RULES_OF_SETTLEMENTS[action])

    @handles(v.SettleBatch)
    def settle_batch(self, command: v.SettleBatch, connection: str) -> Answer:
        """LOCK-14, LOCK-16, LOCK-17: settle the messages under several locks."""
        action = Action[command.disposition.name]

        def settle_one(queued: QueuedMessage) -> None:
            self.apply(queued, action, command.reason)

        refused = self.for_each(command, settle_one)
        return refused or Answer(DONE, rules=("LOCK-14", *RULES_OF_SETTLEMENTS[action]))

    def for_each(
        self, command: v.SettleBatch | v.RenewLocks, do: Callable[[QueuedMessage], None]
    ) -> Answer | None:
        """LOCK-15 to LOCK-17: call `do` for the message under each lock; refuse lost ones.

        The documents do not say whether locks in several partitions are refused
        (SETTLE-PARTITIONS), nor what a lost lock means for the other messages (SETTLE-LOST), nor
        what is answered to a request for no lock, or for one lock twice.
        """
        locked = []
        entity = self.rules.topics.readable(command.queue)
        self.rules.topics.check_serves(entity, "served", "refused")
        tokens = dict.fromkeys(command.lock_tokens)
        usual = bool(tokens) and len(tokens) == len(command.lock_tokens)
        if not usual and self.namespace.prefers("LOCK-16", "refused", to="done"):
            raise Refusal(v.Error.INVALID_OPERATION)
        for token in tokens:
            # A lost lock may concern the whole request, so it is refused after the others.
            with suppress(Refusal):
                locked.append(self.locked_under(entity, token))
        several = len({queued.partition for queued in locked}) > 1
        if several and self.namespace.reading(SettlePartitions) is SettlePartitions.REFUSED:
            raise Refusal(v.Error.INVALID_OPERATION, "LOCK-15")
        lost = len(locked) < len(tokens)
        if lost and self.namespace.reading(SettleLost) is SettleLost.NOTHING:
            raise Refusal(v.Error.LOCK_LOST, "LOCK-17")
        for queued in locked:
            do(queued)
        # Returned, not raised: what was done for the other locks stays.
        return Answer(v.Refused(error=v.Error.LOCK_LOST), rules=("LOCK-17",)) if lost else None

    def apply(self, queued: QueuedMessage, action: Action, reason: str) -> None:
        """LIFE-03, LIFE-04, DLQ-05, DEFER-01, LOCK-10: apply a settlement to a locked message."""
        self.rules.partitions.check_up(queued.entity, queued.partition)
        if action is Action.COMPLETE:
            self.unlock(queued, action)
            self.rules.messages.remove(queued)
        elif action is Action.DEAD_LETTER:
            self.rules.dead_letters.check_source(queued.entity)
            self.unlock(queued, action)
            if queued.entity.dead_letters is None:
                self.rules.messages.remove(queued)
            else:
                self.rules.dead_letters.dead_letter(queued, reason)
        elif action is Action.DEFER:
            self.unlock(queued, action)
            queued.failed -= 1  # such a delivery does not count as failed (DLQ-01)
        else:
            self.release(queued, action)

    def unlock(self, queued: QueuedMessage, action: Action) -> None:
        """LOCK-10: end the lock of this message, and of no other."""
        self.namespace.journal.touch(queued)
        queued.state = LIFE_CYCLE[queued.state, action]
        queued.token = queued.cached_by = queued.enlisted = None
        if queued.session is not None:
            queued.session.locked.pop(queued.number, None)

    def release(self, queued: QueuedMessage, action: Action) -> None:
        """LIFE-04, LIFE-05, DLQ-02, TTL-06, LOCK-09: release a message, or dead-letter it.

        A deferred message is deferred as before, whatever its delivery count and age.
        """
        if queued.cached_by is not None:
            self.namespace.journal.touch(queued)
            queued.failed += self.namespace.reading(CacheDeliveryCount) is CacheDeliveryCount.COUNTS
        self.unlock(queued, action)
        if queued.state is State.DEFERRED:
            return
        if self.rules.dead_letters.has_failed_too_often(queued):
            self.rules.dead_letters.dead_letter(queued, "MaxDeliveryCountExceeded")
        elif self.namespace.has_passed(queued.expires_at):
            self.rules.expiry.expire(queued)
        else:
            queued.line.give_back(queued)
            if queued.session is not None:
                queued.entity.free_sessions[queued.session] = None

    def end(self, queued: QueuedMessage) -> None:
        """LIFE-05: release a message whose lock has expired."""
        expired = queued.state in LOCKED_STATES and self.namespace.has_passed(queued.locked_until)
        is_kept = queued.session is not None or self.rules.transactions.holds(queued)
        if expired and not is_kept and queued.is_there:
            self.release(queued, Action.LOCK_ENDS)

    def prolong(self, queued: QueuedMessage) -> None:
        """LOCK-04: extend a lock to a full lock duration from now."""
        self.namespace.journal.touch(queued)
        queued.state = LIFE_CYCLE[queued.state, Action.RENEW]
        queued.locked_until = self.namespace.now + queued.entity.settings.lock_duration
        queued.entity.look_at("locks.end", queued.locked_until, queued, queued.number)

    @handles(v.RenewLock)
    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        """LOCK-04, LOCK-05: renew the lock of a message, unless it is lost."""
        entity = self.rules.topics.readable(command.queue)
        self.rules.topics.check_serves(entity, "served", "refused")
        queued = self.locked_under(entity, command.lock_token, Action.RENEW)
        self.check_renewal(queued)
        self.prolong(queued)
        return Answer(v.Renewed(locked_until=queued.locked_until), rules=("LOCK-04",))

    def check_renewal(self, queued: QueuedMessage) -> None:
        """LOCK-05, SESS-14: check that a message's lock may be renewed; in a session it may not.

        The documents do not say whether the lock of an expired message can be renewed
        (RENEW-EXPIRED).
        """
        if queued.session is not None:
            raise Refusal(v.Error.INVALID_OPERATION, "SESS-14")
        self.rules.partitions.check_up(queued.entity, queued.partition)
        expired = self.namespace.has_passed(queued.expires_at)
        if expired and self.namespace.reading(RenewExpired) is RenewExpired.REFUSED:
            raise Refusal(v.Error.LOCK_LOST, "LOCK-05")

    @handles(v.RenewLocks)
    def renew_several(self, command: v.RenewLocks, connection: str) -> Answer:
        """LOCK-16 to LOCK-18: renew several locks in one request."""
        ends = {}

        def renew_one(queued: QueuedMessage) -> None:
            self.check_renewal(queued)
            self.prolong(queued)
            ends[queued.token] = queued.locked_until

        refused = self.for_each(command, renew_one)
        if refused is not None:
            return refused
        until = tuple(ends[token] for token in command.lock_tokens)
        return Answer(v.RenewedSeveral(locked_until=until), rules=("LOCK-18", "LOCK-04"))
