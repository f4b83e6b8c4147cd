"""Conforming buses that are late with what they do by themselves: no document says by when."""

from collections.abc import Callable
from functools import partial

import attrs

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.queues import Held, Planned, Queue
from busproof.vocabulary.commands import Command
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import QueueDescription
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import MICROSECONDS

__all__ = [
    "LateCounts",
    "LateDeadLetters",
    "LateForwarding",
    "LateSchedules",
    "NeverForwards",
    "NeverSchedules",
]

LATE = 60 * MICROSECONDS


class LateBus(SeededBus):
    """Does some of its work a minute later."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.pending: list[tuple[int, Callable[[], None]]] = []

    def do(self, command: Command, connection: str) -> Observed:
        observed = super().do(command, connection)
        due = [work for when, work in self.pending if when <= self.now]
        self.pending = [each for each in self.pending if each[0] > self.now]
        for work in due:
            work()
        return observed

    def later(self, work: Callable[[], None], delay: int = LATE) -> None:
        self.pending.append((self.now + delay, work))


class LateSchedules(LateBus):
    """Scheduled messages become active a minute after they are due."""

    def is_due(self, queue: Queue, planned: Planned) -> bool:  # noqa: ARG002
        return planned.due + LATE <= self.now


class LateForwarding(LateBus):
    """Messages are forwarded half a minute after they came; three hops take less than two."""

    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        work = partial(self.go, self.hops, queue, destination, message, partition)
        self.later(work, LATE // 2)

    def go(
        self, hops: int, queue: Queue, destination: Queue, message: Message, partition: int
    ) -> None:
        before, self.hops = self.hops, hops
        if self.queues.get(destination.name) is destination:
            super().pass_on(queue, destination, message, partition)
        else:
            self.leave_behind(queue, message, partition, "DestinationNotFound")
        self.hops = before


class LateDeadLetters(LateBus):
    """Messages become dead letters a minute after their last delivery, or after they died."""

    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        if reason not in (self.reason_of_spent(), self.reason_of_dead()):
            super().bury(queue, held, reason)
            return
        queue.messages.remove(held)
        self.later(partial(self.bury_now, queue, held, reason))

    def bury_now(self, queue: Queue, held: Held, reason: str) -> None:
        if self.queues.get(queue.name) is queue:
            queue.messages.append(held)
            super().bury(queue, held, reason)


class LateCounts(LateBus):
    """Counts that are got of a queue are those of up to a minute ago."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.earlier: dict[Queue, tuple[int, QueueDescription]] = {}

    def described(self, queue: Queue) -> QueueDescription:
        told = super().described(queue)
        when, old = self.earlier.get(queue, (self.now - LATE, told))
        if when + LATE <= self.now:
            self.earlier[queue] = (self.now, told)
            return told
        return attrs.evolve(
            told, message_count=old.message_count, transfer_dead_letters=old.transfer_dead_letters
        )


class NeverSchedules(SeededBus):
    """Nothing that is scheduled becomes active."""

    def is_due(self, queue: Queue, planned: Planned) -> bool:  # noqa: ARG002
        return False


class NeverForwards(SeededBus):
    """Nothing that is forwarded arrives."""

    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        pass
