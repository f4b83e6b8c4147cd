"""Dead letters of the seeded bus: what makes a message one, and where it goes."""

from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import DeadLetter
from busproof.vocabulary.outcomes import Done, Outcome, Refused
from busproof.vocabulary.values import Error

__all__ = ["Dead"]


class Dead:
    """Moves messages to the dead-letter queue of theirs; every method is a hook."""

    now: int = 0

    def is_spent(self, queue: Queue, held: Held) -> bool:
        """Whether a message that comes back was delivered as often as it may be."""
        return held.deliveries >= queue.settings.max_delivery_count

    def reason_of_spent(self) -> str:
        """Why such a message is a dead letter."""
        return "MaxDeliveryCountExceeded"

    def dead_letter_on_request(self, queue: Queue, command: DeadLetter) -> Outcome:
        """Dead-letter the message that is locked under this token, but not from a grave."""
        if queue.dead is None:
            return self.dead_letter_again(queue, command)
        held = self.locked_for_burial(queue, command.lock_token)
        if held is None:
            return Refused(error=Error.LOCK_LOST)
        self.bury(queue, held, command.reason)
        return Done()

    def dead_letter_again(self, queue: Queue, command: DeadLetter) -> Outcome:  # noqa: ARG002
        """What a dead letter answers that is to be dead-lettered."""
        return Refused(error=Error.INVALID_OPERATION)

    def locked_for_burial(self, queue: Queue, token: str) -> Held | None:
        """The message that is locked under this token, while the lock lasts."""
        for held in queue.messages:
            if held.lock is not None and held.lock.token == token:
                return held
        return None

    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        """Move a message to the dead-letter queue, into the same partition."""
        queue.messages.remove(held)
        dead = queue.dead
        if dead is None:
            raise AssertionError("only what is in an entity is dead-lettered")
        dead.arrivals += 1
        letter = Held(number=dead.arrivals, partition=held.partition, message=held.message)
        letter.reason = reason
        dead.messages.append(letter)
