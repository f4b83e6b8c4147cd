"""Forwarding in the seeded bus: at once, as far as a message may go."""

from abc import ABC, abstractmethod
from typing import Final

from busproof.adapters.seeded.placing import Placing
from busproof.adapters.seeded.queues import Held, Key, Queue
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import MICROSECONDS

__all__ = ["Forwarding"]

MOST_BURIALS: Final = 4
_PATIENCE: Final = 60 * MICROSECONDS


class Forwarding(Placing, ABC):
    """Lets messages go on from where they arrive; every method is a hook.

    `hops` counts how often the message that is under way has been forwarded, and `burials` how
    often it has gone on as a dead letter, which in a circle would have no end.
    """

    hops = 0
    most_hops = 4
    burials = 0

    def append(self, queue: Queue, message: Message, partition: int) -> None:
        """Put a message at the end of a queue, or let it go on."""
        destination = self.destination_of(queue)
        if destination is None and self.is_for_nobody(queue, message):
            self.strand(queue, message, partition, "SessionIdMissing")
        elif destination is None and self.goes_nowhere(queue):
            self.leave_behind(queue, message, partition, "DestinationNotFound")
        elif destination is None:
            super().append(queue, message, partition)
        elif self.hops < self.most_hops:
            self.hops += 1
            self.pass_on(queue, destination, message, partition)
            self.hops -= 1
        else:
            self.strand(queue, message, partition, "MaxTransferHopCountExceeded")

    def is_for_nobody(self, queue: Queue, message: Message) -> bool:
        """Whether a message that was not sent to this entity itself lacks the session it needs."""
        indirect = self.hops > 0 or queue.topic is not None
        return indirect and queue.settings.requires_session and message.session_id is None

    @abstractmethod
    def goes_nowhere(self, queue: Queue) -> bool:
        """Whether the destination of a queue or subscription is gone."""

    def leave_behind(self, queue: Queue, message: Message, partition: int, reason: str) -> None:
        """Keep what could not be forwarded among the dead letters of transfers."""
        grave = queue if queue.transfers is None else queue.transfers
        grave.arrivals += 1
        held = Held(number=grave.arrivals, partition=partition, message=message)
        held.reason = reason
        grave.messages.append(held)

    def kept_out(self, destination: Queue, message: Message, where: int) -> str | None:  # noqa: ARG002
        """Why a message cannot go to this place of a destination, if it cannot."""
        return None if destination.status.takes else "DestinationDisabled"

    def strand(self, queue: Queue, message: Message, partition: int, reason: str) -> None:
        """Make a dead letter of a message that can go nowhere."""
        queue.arrivals += 1
        held = Held(number=queue.arrivals, partition=partition, message=message)
        queue.messages.append(held)
        self.bury(queue, held, reason)

    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        """Make a dead letter of a message, or let it go on to where the dead letters go."""
        destination = None if queue.dead is None else self.destination_of(queue.dead)
        if queue.dead is None or destination is None or self.burials == MOST_BURIALS:
            super().bury(queue, held, reason)
            return
        queue.messages.remove(held)
        hops, self.hops, self.buried_for = self.hops, 0, self.reason_onward(reason)
        self.burials += 1
        self.pass_on(queue.dead, destination, held.message, held.partition)
        self.burials -= 1
        self.hops, self.buried_for = hops, None

    def reason_onward(self, reason: str) -> str | None:
        """The reason that goes on with a dead letter."""
        return reason

    @abstractmethod
    def destination_of(self, queue: Queue) -> Queue | None:
        """Where the messages of a queue or subscription go on to, if it forwards."""

    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        """Forward a message; its key places it anew."""
        going = self.onward(queue, message)
        key = self.key_onward(queue, destination, going)
        where = self.place_onward(destination, key, partition)
        reason = self.kept_out(destination, going, where)
        if reason is None:
            self.store(destination, going, key, where)
        else:
            self.leave_behind(queue, message, partition, reason)

    def onward(self, queue: Queue, message: Message) -> Message:  # noqa: ARG002 - for faults
        """The message as it goes on: as it is."""
        return message

    def key_onward(
        self,
        queue: Queue,  # noqa: ARG002 - for faults
        destination: Queue,
        message: Message,
    ) -> Key | None:
        """The key of a forwarded message: the same as if it was sent to its destination."""
        return self.key_of(destination, message)

    def place_onward(
        self,
        destination: Queue,
        key: Key | None,
        partition: int,  # noqa: ARG002 - for faults
    ) -> int:
        """The partition of a forwarded message; one that is down has it once it is up again."""
        if key is not None:
            return self.partition_of(destination, key)
        placed = self.place_without_key(destination, _PATIENCE)
        return placed if isinstance(placed, int) else 0
