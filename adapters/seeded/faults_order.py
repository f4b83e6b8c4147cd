"""Faults in the order of a session and of a key: KEY-06, KEY-17."""

from collections.abc import Sequence
from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import BringPartitionUp, TakePartitionDown
from busproof.vocabulary.outcomes import Outcome

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("session-out-of-order", "KEY-06", "The newest message of a session is given first.")
class _SessionOutOfOrder(SeededBus):
    def first(self, queue: Queue, offered: Sequence[Held]) -> Held:
        return offered[-1] if queue.settings.requires_session else super().first(queue, offered)


def _abandoned_goes_to_the_end(queue: Queue, held: Held) -> None:
    if held in queue.messages:
        queue.messages.remove(held)
        queue.messages.append(held)


@faulty(
    "session-out-of-order-after-abandon",
    "KEY-06",
    "An abandoned message of a session is given after all others.",
    deep=True,
)
class _SessionOutOfOrderAfterAbandon(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        super().abandon(queue, held)
        if queue.settings.requires_session:
            _abandoned_goes_to_the_end(queue, held)


@faulty("key-order-reversed", "KEY-17", "The newest message of a key is given first.")
class _KeyOrderReversed(SeededBus):
    def first(self, queue: Queue, offered: Sequence[Held]) -> Held:
        if queue.settings.requires_session:
            return super().first(queue, offered)
        key = self.key_of(queue, offered[0].message)
        alike = [held for held in offered if self.key_of(queue, held.message) == key]
        return offered[0] if key is None else alike[-1]


@faulty(
    "key-order-lost-after-abandon",
    "KEY-17",
    "An abandoned message is given after all others of its key.",
    deep=True,
    equivalent="KEY-17 leaves open what a receiver sees of a key's order that abandons a message.",
)
class _KeyOrderLostAfterAbandon(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        super().abandon(queue, held)
        if not queue.settings.requires_session:
            _abandoned_goes_to_the_end(queue, held)


@faulty(
    "key-order-lost-after-outage",
    "KEY-17",
    "What a partition held in an outage is given in reverse order afterwards.",
    deep=True,
)
class _KeyOrderLostAfterOutage(SeededBus):
    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, BringPartitionUp) and command.partition in queue.down:
            there = [held for held in queue.messages if held.partition == command.partition]
            others = [held for held in queue.messages if held.partition != command.partition]
            queue.messages = others + (there if queue.settings.requires_session else there[::-1])
        return super().switch(queue, command)


FAULTS: Final = faulty.all()
