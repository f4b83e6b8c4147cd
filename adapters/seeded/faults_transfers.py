"""Faults of what cannot be forwarded, or not at once: FWD-19 to FWD-23, FWD-32."""

from abc import ABC
from typing import ClassVar, Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.messages import Message

__all__ = ["FAULTS"]

faulty = Faults()


@faulty(
    "disabled-destination-is-given-messages",
    "FWD-19",
    "What is forwarded goes to its destination although that is disabled.",
)
class _DisabledDestinationTakes(SeededBus):
    def kept_out(self, destination: Queue, message: Message, where: int) -> str | None:
        reason = super().kept_out(destination, message, where)
        return None if reason == "DestinationDisabled" else reason


class _Losing(SeededBus, ABC):
    """Loses what it cannot forward for one reason."""

    reason: ClassVar[str]

    def leave_behind(self, queue: Queue, message: Message, partition: int, reason: str) -> None:
        if reason != self.reason:
            super().leave_behind(queue, message, partition, reason)


@faulty(
    "lost-before-disabled-destination",
    "FWD-19",
    "What cannot be forwarded because the destination is disabled is nowhere.",
    literal=True,
)
class _LostBeforeDisabled(_Losing):
    reason = "DestinationDisabled"


@faulty(
    "lost-with-its-destination",
    "FWD-20",
    "What cannot be forwarded because the destination was deleted is nowhere.",
    literal=True,
)
class _LostWithDestination(_Losing):
    reason = "DestinationNotFound"


@faulty(
    "lost-before-full-destination",
    "FWD-21",
    "What cannot be forwarded because the destination is full is nowhere.",
    literal=True,
)
class _LostBeforeFull(_Losing):
    reason = "DestinationFull"


@faulty(
    "due-in-outage-not-forwarded",
    "FWD-23",
    "What becomes due at a source while its partition is down is never forwarded.",
    literal=True,
)
class _DueInOutageNotForwarded(SeededBus):
    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        if partition not in queue.down:
            super().pass_on(queue, destination, message, partition)


@faulty(
    "dead-letters-among-transfers",
    "FWD-32",
    "What is dead-lettered on request is among the dead letters of transfers as well.",
)
class _DeadLettersAmongTransfers(SeededBus):
    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        super().bury(queue, held, reason)
        if queue.transfers is not None:
            self.leave_behind(queue, held.message, held.partition, reason)


@faulty(
    "dead-letters-counted-as-transfers", "FWD-32", "Dead letters are told as those of transfers."
)
class _DeadLettersCounted(SeededBus):
    def counted_transfers(self, queue: Queue) -> int:
        dead = [] if queue.dead is None else queue.dead.messages
        return super().counted_transfers(queue) + len(dead)


FAULTS: Final = faulty.all()
