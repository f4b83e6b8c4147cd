"""Mutants of LOCK: how long a lock lasts, what its token can do, several locks in one request."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.state import QueuedMessage
from busproof.model.values import EntitySettings
from busproof.mutants.entities import find_once_locked, message_of
from busproof.mutants.mutant import memory, mutant, run
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
    queued.state = State.DEFERRED_LOCKED if deferred else State.LOCKED
    queued.token = token
    if queued.session is not None:
        queued.session.locked[queued.number] = queued


def has_run_out(namespace: Namespace, queued: QueuedMessage) -> bool:
    """Return whether the time of a message's lock, or of its session's, is over."""
    until = queued.locked_until if queued.session is None else queued.session.locked_until
    return until <= namespace.now


@mutant("LOCK-01", LOCKED)
class LockEndsEarly(Locks):
    """A lock lasts half as long as its queue's lock duration."""

    @afterwards
    def lock(self, queued: QueuedMessage) -> None:
        if queued.session is None:
            queued.locked_until -= queued.entity.settings.lock_duration // 2
            queued.entity.look_at("locks.end", queued.locked_until, queued, queued.number)


@mutant("LOCK-01", LOCKED)
class LockToldTooLong(Messages):
    """A lock is reported to last twice as long as it does."""

    @alters
    def give(self, usual: v.MessageView, queued: QueuedMessage) -> v.MessageView:
        if usual.locked_until is None or queued.session is not None:
            return usual
        return attrs.evolve(usual, locked_until=2 * usual.locked_until - self.namespace.now)


@mutant("LOCK-02", LOCKED)
class DefaultLockShorter(Management):
    """The default lock duration is 30 seconds."""

    @with_other("settings")
    def create(self, settings: EntitySettings) -> EntitySettings:
        by_default = settings.lock_duration == MINUTE
        return attrs.evolve(settings, lock_duration=MINUTE // 2) if by_default else settings


@mutant("LOCK-03", LONG_LOCK)
class LocksWithoutEnd(Locks):
    """A lock duration can be of any length."""

    def check_duration(self, duration: int | None) -> None:
        pass


@mutant("LOCK-04", (*LOCKED, wait(40), renew(0), wait(40), complete(0)))
class RenewalForgotten(Locks):
    """A renewed lock ends as if it had not been renewed."""

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        queued = find_once_locked(self.rules.namespace, command)
        until = 0 if queued is None else queued.locked_until
        answer = super().renew(command, connection)
        if queued is not None:
            queued.locked_until = until
        return answer


@mutant("LOCK-04", RENEWED_TWICE, deep=True)
class RenewedOnceOnly(RenewalForgotten):
    """The second renewal of a lock has no effect, but is acknowledged."""

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        renewed = memory(self.rules.namespace, set[tuple[str, str]])
        name = command.queue, command.lock_token
        if name in renewed:
            return super().renew(command, connection)
        renewed.add(name)
        return Locks.renew(self, command, connection)


@mutant("LOCK-05", (*LOCKED, wait(61), renew(0)))
class LostLockRenewed(Locks):
    """The renewal of an expired lock succeeds without effect."""

    @instead_of(v.Error.LOCK_LOST)
    def renew(self, command: v.RenewLock) -> Answer:
        duration = self.namespace.entities[command.queue].settings.lock_duration
        return Answer(v.Renewed(locked_until=self.namespace.now + duration))


@mutant("LOCK-05", (*LOCKED, abandon(0), renew(0)), deep=True)
class SettledLockRenewed(Locks):
    """The lock of a message that was abandoned can be renewed, and locks it again."""

    @beforehand
    def renew(self, command: v.RenewLock) -> None:
        queued = find_once_locked(self.rules.namespace, command)
        if queued is not None and queued.token is None:
            lock_again(self.rules.namespace, queued, command.lock_token)


def _current(namespace: Namespace, command: v.Settlement | v.RenewLock) -> str:
    """Return the token of a message's current lock; if it has none, the token in the command."""
    queued = find_once_locked(namespace, command)
    return command.lock_token if queued is None or queued.token is None else queued.token


@mutant("LOCK-07", (*AGAIN, complete(0)), deep=True)
class OlderLockSettles(Locks):
    """The token of an earlier delivery settles a message that another receiver has locked."""

    @asks
    def settle(self, command: v.Settlement) -> v.Settlement:
        return attrs.evolve(command, lock_token=_current(self.rules.namespace, command))


@mutant("LOCK-07", (*AGAIN, renew(0)), deep=True)
class OlderLockRenews(Locks):
    """The token of an earlier delivery renews another receiver's lock."""

    @asks
    def renew(self, command: v.RenewLock) -> v.RenewLock:
        return attrs.evolve(command, lock_token=_current(self.rules.namespace, command))


@mutant("LOCK-08", deep=True)
@run(*LOCKED, wait(55), complete(0), wait(10), receive())
class CompletedLateComesBack(Locks):
    """A message completed in the last fifth of its lock's time is delivered again."""

    @only_where
    def apply(self, queued: QueuedMessage, action: Action) -> bool:
        until = queued.locked_until if queued.session is None else queued.session.locked_until
        late = until - self.namespace.now <= queued.entity.settings.lock_duration // 5
        return action is not Action.COMPLETE or not late


@mutant("LOCK-08", deep=True)
@run(*LOCKED, wait(61), complete(0), receive())
class RefusedIsLost(Locks):
    """A settlement that comes too late is refused, and the message is lost."""

    @refuses_yet()
    def settle(self, command: v.Settlement) -> None:
        queued = find_once_locked(self.rules.namespace, command)
        if queued is not None and queued.token is None:
            self.rules.messages.remove(queued)


@mutant("LOCK-10", (*TWO, complete(0), complete(1)))
class SettlingFreesOthers(Locks):
    """Completing a message ends the locks of all other messages."""

    @afterwards
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        for other in tuple(queued.entity.messages.values()) if action is Action.COMPLETE else ():
            if other.token is not None:
                self.release(other, Action.LOCK_ENDS)


@mutant("LOCK-10", (*TWO, renew(0), complete(1)), deep=True)
class RenewingEndsOthers(Locks):
    """Renewing a lock ends the locks of other messages with the same key."""

    @afterwards
    def renew(self, command: v.RenewLock) -> None:
        queued = find_once_locked(self.rules.namespace, command)
        key = None if queued is None else queued.message.partition_key
        for other in tuple(self.namespace.entities[command.queue].messages.values()):
            alike = key is not None and other is not queued and other.message.partition_key == key
            if alike and other.token is not None:
                self.release(other, Action.LOCK_ENDS)


RENEWED_TOGETHER: Final[Run] = (*TWO, wait(40), renew_together(0, 1), wait(40), complete(1))
ELSEWHERE: Final = next(key for key in "bcdef" if home(key) != home("a"))
ACROSS: Final[Run] = (
    *(create(), send("m1", partition_key="a"), send("m2", partition_key=ELSEWHERE)),
    *(receive(), receive()),
)


@mutant("LOCK-14", (*TWO, together(0, 1), complete(1)))
class FirstSettledAlone(Locks):
    """A request to settle several messages settles only the first one, and succeeds."""

    @asks
    def settle_batch(self, command: v.SettleBatch) -> v.SettleBatch:
        return attrs.evolve(command, lock_tokens=command.lock_tokens[:1])


@mutant("LOCK-14", (*TWO, together(0, 1)))
class SeveralAlwaysRefused(Locks):
    """A request to settle several messages is refused whatever their partitions."""

    @refuses("LOCK-15")
    def settle_batch(self, command: v.SettleBatch) -> bool:
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


@mutant("LOCK-16")
@run(*ACROSS, together(0, 1), complete(0))
class RefusedYetSettled(Locks):
    """A request for several partitions is refused, and settles the messages of one of them."""

    @refuses_yet("LOCK-15")
    def settle_batch(self, command: v.SettleBatch, connection: str) -> None:
        super().settle_batch(_of_first_partition(self.rules.namespace, command), connection)


@mutant("LOCK-16", deep=True)
@run(*ACROSS, together(0, 1), complete(1))
class AcceptedForOnePartition(Locks):
    """A request for several partitions succeeds, and settles the messages of one of them."""

    @instead_of("LOCK-15")
    def settle_batch(self, command: v.SettleBatch, *rest: Any) -> Answer:
        return super().settle_batch(_of_first_partition(self.rules.namespace, command), *rest)


@mutant("LOCK-17", (*TWO, complete(0), together(0, 1)))
class LostLockPassedOver(Locks):
    """A request with a lost lock succeeds, and settles the other messages."""

    def settle_batch(self, command: v.SettleBatch, connection: str) -> Answer:
        entity = self.namespace.entities.get(command.queue)
        current = {queued.token for queued in entity.messages.values()} if entity else set()
        tokens = tuple(token for token in command.lock_tokens if token in current)
        others = attrs.evolve(command, lock_tokens=tokens)
        answer = super().settle_batch(others, connection)
        return Answer(DONE, rules=answer.rules)


@mutant("LOCK-18", (*TWO, renew_together(0, 1)))
class RenewalsAlwaysRefused(Locks):
    """A request to renew several locks is refused whatever their partitions."""

    @refuses("LOCK-15")
    def renew_several(self, command: v.RenewLocks) -> bool:
        return len(command.lock_tokens) > 1


@mutant("LOCK-18", RENEWED_TOGETHER, deep=True)
class FirstRenewedAlone(Locks):
    """A request to renew several locks renews the first one, and reports its end for all."""

    def renew_several(self, command: v.RenewLocks, connection: str) -> Answer:
        first = attrs.evolve(command, lock_tokens=command.lock_tokens[:1])
        answer = super().renew_several(first, connection)
        ends = getattr(answer.outcome, "locked_until", ()) * len(command.lock_tokens)
        return Answer(v.RenewedSeveral(locked_until=ends), rules=answer.rules)


@mutant("LOCK-17")
@run(*TWO, complete(0), renew_together(0, 1))
class LostLockRenewedAmongSeveral(Locks):
    """A request to renew several locks succeeds with a lost one among them."""

    @instead_of(v.Error.LOCK_LOST)
    def renew_several(self) -> Answer:
        return Answer(v.RenewedSeveral())
