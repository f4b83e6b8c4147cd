"""Time to live in the seeded bus: when messages die, and what becomes of them."""

from busproof.adapters.seeded.dead import Dead
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.messages import Message

__all__ = ["Ageing"]


class Ageing(Dead):
    """Takes away what has outlived its time to live; every method is a hook."""

    def dies_at(self, queue: Queue, message: Message) -> int | None:
        """When a message dies that comes now; `None` if never."""
        life = self.lifetime(queue, message)
        return None if life is None else self.now + life

    def lifetime(self, queue: Queue, message: Message) -> int | None:
        """How long a message lives in this entity: the shorter of two times."""
        lives = [queue.settings.time_to_live, message.time_to_live]
        return min((life for life in lives if life is not None), default=None)

    def end_what_has_died(self, queue: Queue) -> None:
        """Take away what has died and is neither locked nor set aside."""
        for held in list(queue.messages):
            if self.is_dead(queue, held) and self.may_leave(held):
                self.end_dead(queue, held)

    def is_dead(self, queue: Queue, held: Held) -> bool:  # noqa: ARG002 - for faults
        """Whether the message's time to live is over."""
        return held.dies is not None and held.dies <= self.now

    def may_leave(self, held: Held) -> bool:
        """Whether a dead message is taken away: not while somebody has it, nor set aside."""
        return held.lock is None and not held.deferred

    def end_dead(self, queue: Queue, held: Held) -> None:
        """Drop a message that has died, or dead-letter it."""
        if queue.dead is not None and self.buries_dead(queue):
            self.bury(queue, held, self.reason_of_dead())
        else:
            queue.messages.remove(held)

    def buries_dead(self, queue: Queue) -> bool:
        """Whether messages of this entity that have died become dead letters."""
        return queue.settings.dead_letter_expired

    def reason_of_dead(self) -> str:
        """Why such a message is a dead letter."""
        return "TTLExpiredException"
