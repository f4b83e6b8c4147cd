"""Faults of locks: the LOCK rules."""

from collections.abc import Callable
from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Lock, Queue
from busproof.vocabulary.commands import CreateQueue, UpdateQueue
from busproof.vocabulary.outcomes import Outcome, Refused, Renewed
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import MICROSECONDS, Error

__all__ = ["FAULTS"]

faulty = Faults()
SECOND: Final = MICROSECONDS


@faulty("lock-ends-early", "LOCK-01", "A lock lasts half as long as its queue says.")
class _LockEndsEarly(SeededBus):
    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        lock = super().lock(queue, held, session_id)
        half = self.now + queue.settings.lock_duration // 2
        return lock if session_id is not None else attrs.evolve(lock, until=half)


@faulty("lock-told-too-long", "LOCK-01", "A lock is told to last twice as long as it does.")
class _LockToldTooLong(SeededBus):
    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        lock = super().lock(queue, held, session_id)
        longer = self.now + 2 * queue.settings.lock_duration
        return lock if session_id is not None else attrs.evolve(lock, until=longer)


@faulty("default-lock-shorter", "LOCK-02", "Where a queue does not say, a lock lasts 30 seconds.")
class _DefaultLockShorter(SeededBus):
    def create(self, asked: CreateQueue) -> Outcome:
        default = asked.lock_duration == 60 * SECOND
        return super().create(attrs.evolve(asked, lock_duration=30 * SECOND) if default else asked)


@faulty("locks-without-end", "LOCK-03", "Locks of any length can be had.")
class _LocksWithoutEnd(SeededBus):
    def locks_too_long(self, asked: CreateQueue | UpdateQueue) -> bool:  # noqa: ARG002
        return False


@faulty("renewal-forgotten", "LOCK-04", "A renewed lock ends when it would have ended.")
class _RenewalForgotten(SeededBus):
    def renew(self, queue: Queue, token: str) -> Outcome:
        held = self.renewable(queue, token)
        before = None if held is None else held.lock
        outcome = super().renew(queue, token)
        if held is not None:
            held.lock = before
        return outcome


@faulty(
    "renewed-once-only",
    "LOCK-04",
    "The second renewal of a lock does nothing, and says that it did.",
    deep=True,
)
class _RenewedOnceOnly(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.renewed: set[str] = set()

    def renew(self, queue: Queue, token: str) -> Outcome:
        held = self.renewable(queue, token)
        before = None if held is None else held.lock
        outcome = super().renew(queue, token)
        if held is not None and token in self.renewed:
            held.lock = before
        self.renewed.add(token)
        return outcome


def _once_locked(queue: Queue, token: str) -> Held | None:
    """The message that was once locked under this token, if it is still there."""
    number = token.partition("/")[0]
    return next((held for held in queue.messages if str(held.sequence_number) == number), None)


@faulty("lost-lock-renewed", "LOCK-05", "A lock that has expired is renewed, to no effect.")
class _LostLockRenewed(SeededBus):
    def renew(self, queue: Queue, token: str) -> Outcome:
        outcome = super().renew(queue, token)
        lost = outcome == Refused(error=Error.LOCK_LOST)
        return Renewed(locked_until=self.renewed_until(queue)) if lost else outcome


@faulty(
    "settled-lock-renewed",
    "LOCK-05",
    "The lock of a message that was abandoned can be renewed, and locks it again.",
    deep=True,
)
class _SettledLockRenewed(SeededBus):
    def renewable(self, queue: Queue, token: str) -> Held | None:
        held = _once_locked(queue, token)
        if held is not None and held.lock is None:
            held.lock = Lock(token=token, until=self.now)
        return super().renewable(queue, token)


@faulty(
    "older-lock-settles",
    "LOCK-07",
    "The token of an earlier delivery settles a message that somebody else has locked.",
    deep=True,
)
class _OlderLockSettles(SeededBus):
    def locked(self, queue: Queue, token: str) -> Held | None:
        held = super().locked(queue, token) or _once_locked(queue, token)
        return held if held is not None and held.lock is not None else None


@faulty(
    "older-lock-renews",
    "LOCK-07",
    "The token of an earlier delivery renews a lock that somebody else holds.",
    deep=True,
)
class _OlderLockRenews(SeededBus):
    def renewable(self, queue: Queue, token: str) -> Held | None:
        held = super().renewable(queue, token) or _once_locked(queue, token)
        return held if held is not None and held.lock is not None else None


@faulty(
    "completed-late-comes-back",
    "LOCK-08",
    "A message that is completed in the last fifth of its lock comes back all the same.",
    deep=True,
)
class _CompletedLateComesBack(SeededBus):
    def complete(self, queue: Queue, held: Held) -> None:
        until = 0 if held.lock is None else held.lock.until
        if until - self.now > queue.settings.lock_duration // 5:
            super().complete(queue, held)


@faulty(
    "refused-is-lost",
    "LOCK-08",
    "A settlement that comes too late is refused, and the message is gone.",
    deep=True,
)
class _RefusedIsLost(SeededBus):
    def settle(self, queue: Queue, token: str, action: Callable[[Queue, Held], None]) -> Outcome:
        outcome = super().settle(queue, token, action)
        held = _once_locked(queue, token)
        if isinstance(outcome, Refused) and held is not None and held.lock is None:
            queue.messages.remove(held)
        return outcome


@faulty("settling-frees-others", "LOCK-10", "Completing a message ends the locks of all others.")
class _SettlingFreesOthers(SeededBus):
    def complete(self, queue: Queue, held: Held) -> None:
        super().complete(queue, held)
        for other in [each for each in queue.messages if each.lock is not None]:
            self.give_back(queue, other)


@faulty(
    "renewing-ends-others",
    "LOCK-10",
    "Renewing a lock ends those of the other messages with its key.",
    deep=True,
)
class _RenewingEndsOthers(SeededBus):
    def renew(self, queue: Queue, token: str) -> Outcome:
        held = self.renewable(queue, token)
        key = None if held is None else held.message.partition_key
        for other in list(queue.messages):
            mine = other is held or other.message.partition_key != key or key is None
            if other.lock is not None and not mine:
                self.give_back(queue, other)
        return super().renew(queue, token)


FAULTS: Final = faulty.all()
