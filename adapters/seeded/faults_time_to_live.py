"""Faults of the time to live: the TTL rules."""

from collections.abc import Callable
from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Planned, Queue
from busproof.vocabulary.commands import DeadLetter
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("expired-given", "TTL-01", "A message is received although its time to live is over.")
class _ExpiredGiven(SeededBus):
    def is_dead(self, queue: Queue, held: Held) -> bool:  # noqa: ARG002
        return False


@faulty(
    "expired-given-in-session",
    "TTL-01",
    "The holder of a session is given a message whose time to live is over.",
    deep=True,
)
class _ExpiredGivenInSession(SeededBus):
    def is_dead(self, queue: Queue, held: Held) -> bool:
        return not queue.settings.requires_session and super().is_dead(queue, held)


@faulty("dies-early", "TTL-02", "A message is dropped when half its time to live is over.")
class _DiesEarly(SeededBus):
    def dies_at(self, queue: Queue, message: Message) -> int | None:
        life = self.lifetime(queue, message)
        return None if life is None else self.now + life // 2


@faulty(
    "dies-with-its-lock",
    "TTL-02",
    "A message that has a time to live is dropped when its lock ends.",
    deep=True,
)
class _DiesWithItsLock(SeededBus):
    def give_back(self, queue: Queue, held: Held) -> None:
        super().give_back(queue, held)
        if held.dies is not None:
            held.dies = self.now


@faulty(
    "dead-lettered-early",
    "TTL-02",
    "A message is dead-lettered for its age when half its time to live is over.",
)
class _DeadLetteredEarly(SeededBus):
    def dies_at(self, queue: Queue, message: Message) -> int | None:
        life = self.lifetime(queue, message)
        if life is None:
            return None
        return self.now + (life // 2 if self.buries_dead(queue) else life)


@faulty(
    "entity-lifetime-ignored",
    "TTL-03",
    "A message without a time to live lives for ever, whatever its entity says.",
)
class _EntityLifetimeIgnored(SeededBus):
    def lifetime(self, queue: Queue, message: Message) -> int | None:
        return None if message.time_to_live is None else super().lifetime(queue, message)


@faulty(
    "subscription-lifetime-ignored",
    "TTL-03",
    "A copy without a time to live lives for ever, whatever its subscription says.",
    deep=True,
)
class _SubscriptionLifetimeIgnored(SeededBus):
    def lifetime(self, queue: Queue, message: Message) -> int | None:
        return message.time_to_live if queue.topic is not None else super().lifetime(queue, message)


@faulty(
    "longer-lifetime-wins",
    "TTL-04",
    "A message lives for longer than its entity says if it asks for that.",
)
class _LongerLifetimeWins(SeededBus):
    def lifetime(self, queue: Queue, message: Message) -> int | None:
        return message.time_to_live or super().lifetime(queue, message)


@faulty(
    "shorter-lifetime-ignored",
    "TTL-04",
    "A message lives as long as its entity says although it asks for less.",
)
class _ShorterLifetimeIgnored(SeededBus):
    def lifetime(self, queue: Queue, message: Message) -> int | None:
        return queue.settings.time_to_live or super().lifetime(queue, message)


@faulty(
    "expired-not-settled",
    "TTL-05",
    "A message that expires while it is locked cannot be completed any more.",
)
class _ExpiredNotSettled(SeededBus):
    def settle(self, queue: Queue, token: str, action: Callable[[Queue, Held], None]) -> Outcome:
        held = self.locked(queue, token)
        if held is not None and self.is_dead(queue, held) and action == self.complete:
            return Refused(error=Error.LOCK_LOST)
        return super().settle(queue, token, action)


@faulty(
    "expired-not-dead-lettered-by-hand",
    "TTL-05",
    "A message that expires while it is locked cannot be dead-lettered any more.",
    deep=True,
)
class _ExpiredNotDeadLettered(SeededBus):
    def dead_letter_on_request(self, queue: Queue, command: DeadLetter) -> Outcome:
        held = self.locked_for_burial(queue, command.lock_token)
        if held is not None and self.is_dead(queue, held):
            return Refused(error=Error.LOCK_LOST)
        return super().dead_letter_on_request(queue, command)


@faulty(
    "expired-comes-back",
    "TTL-06",
    "A message that expires while it is locked is given again once it is abandoned.",
)
class _ExpiredComesBack(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        super().abandon(queue, held)
        held.dies = None


@faulty(
    "expired-comes-back-by-itself",
    "TTL-06",
    "A message that expires while it is locked is given again once its lock has expired.",
    deep=True,
)
class _ExpiredComesBackByItself(SeededBus):
    def expire(self, queue: Queue, held: Held) -> None:
        super().expire(queue, held)
        held.dies = None


@faulty(
    "expired-is-dropped",
    "TTL-07",
    "An expired message is dropped although its entity dead-letters such messages.",
    literal=True,
)
class _ExpiredIsDropped(SeededBus):
    def buries_dead(self, queue: Queue) -> bool:  # noqa: ARG002
        return False


@faulty(
    "expired-for-another-reason",
    "TTL-07",
    "An expired message is a dead letter for the reason of those delivered too often.",
)
class _ExpiredForAnotherReason(SeededBus):
    def reason_of_dead(self) -> str:
        return self.reason_of_spent()


@faulty(
    "expired-is-dead-lettered",
    "TTL-08",
    "An expired message becomes a dead letter although its entity does not ask for that.",
)
class _ExpiredIsDeadLettered(SeededBus):
    def buries_dead(self, queue: Queue) -> bool:  # noqa: ARG002
        return True


@faulty(
    "deferred-expires",
    "TTL-10",
    "A deferred message is dead-lettered when its time to live is over.",
)
class _DeferredExpires(SeededBus):
    def may_leave(self, held: Held) -> bool:
        return held.lock is None


@faulty(
    "scheduled-ages",
    "TTL-12",
    "The time to live of a scheduled message runs from when it was scheduled.",
    literal=True,
)
class _ScheduledAges(SeededBus):
    def enter(self, queue: Queue, planned: Planned) -> None:
        life = self.lifetime(queue, planned.message)
        if life is None or self.now + life > planned.due:
            super().enter(queue, planned)


@faulty(
    "outage-stops-the-clock",
    "TTL-13",
    "A message does not grow older while its partition is down.",
    deep=True,
)
class _OutageStopsTheClock(SeededBus):
    def end_what_has_died(self, queue: Queue) -> None:
        for held in queue.messages:
            if held.partition in queue.down and self.is_dead(queue, held):
                held.dies = None
        super().end_what_has_died(queue)


FAULTS: Final = faulty.all()
