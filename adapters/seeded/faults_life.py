"""Faults in the life of a message: the LIFE rules."""

from collections.abc import Callable
from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Peeked
from busproof.vocabulary.profile import Profile

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("property-lost", "LIFE-01", "A message comes back without its PartitionKey.")
class _PropertyLost(SeededBus):
    def view(self, queue: Queue, held: Held) -> MessageView:
        return attrs.evolve(super().view(queue, held), partition_key=None)


@faulty(
    "property-lost-at-redelivery",
    "LIFE-01",
    "A message that was given back comes again without its MessageId.",
    deep=True,
)
class _PropertyLostAtRedelivery(SeededBus):
    def view(self, queue: Queue, held: Held) -> MessageView:
        view = super().view(queue, held)
        return view if held.deliveries < 2 else attrs.evolve(view, message_id=None)


@faulty("locked-given-again", "LIFE-02", "A locked message is given to the next receive.")
class _LockedGivenAgain(SeededBus):
    def is_free(self, held: Held) -> bool:  # noqa: ARG002 - whoever has locked it
        return True


@faulty("completed-comes-back", "LIFE-03", "A completed message can be received again.")
class _CompletedComesBack(SeededBus):
    def complete(self, queue: Queue, held: Held) -> None:
        self.give_back(queue, held)


@faulty(
    "deleted-comes-back",
    "LIFE-03",
    "A message received in receive-and-delete mode can be received once more.",
)
class _DeletedComesBack(SeededBus):
    def delete(self, queue: Queue, held: Held) -> None:
        if held.deliveries > 1:
            super().delete(queue, held)


@faulty("abandoned-is-lost", "LIFE-04", "An abandoned message is gone.")
class _AbandonedIsLost(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        self.complete(queue, held)


@faulty("expired-is-lost", "LIFE-05", "A message whose lock expires is gone.")
class _ExpiredIsLost(SeededBus):
    def expire(self, queue: Queue, held: Held) -> None:
        self.complete(queue, held)


def _by_token(queue: Queue, token: str) -> Held | None:
    """The message that was once locked under this token, if it is still there."""
    number = token.partition("/")[0]
    there = (held for held in queue.messages if str(held.sequence_number) == number)
    return next(there, None)


@faulty("settles-after-expiry", "LIFE-06", "A lock that has expired still settles its message.")
class _SettlesAfterExpiry(SeededBus):
    def locked(self, queue: Queue, token: str) -> Held | None:
        return super().locked(queue, token) or _by_token(queue, token)


@faulty(
    "settles-twice",
    "LIFE-06",
    "A lock that a settlement has used up settles once more, to no effect.",
)
class _SettlesTwice(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.used: set[tuple[str, str]] = set()

    def settle(self, queue: Queue, token: str, action: Callable[[Queue, Held], None]) -> Outcome:
        if (queue.name, token) in self.used:
            return Done()
        if self.locked(queue, token) is not None:
            self.used.add((queue.name, token))
        return super().settle(queue, token, action)


@faulty("peek-removes", "LIFE-07", "A message that was peeked is gone.")
class _PeekRemoves(SeededBus):
    def peek(self, queue: Queue, count: int) -> Peeked:
        shown = super().peek(queue, count)
        numbers = {view.sequence_number for view in shown.messages}
        queue.messages = [held for held in queue.messages if held.sequence_number not in numbers]
        return shown


@faulty("peek-locks", "LIFE-07", "A message that was peeked is locked.")
class _PeekLocks(SeededBus):
    def peek(self, queue: Queue, count: int) -> Peeked:
        shown = super().peek(queue, count)
        numbers = {view.sequence_number for view in shown.messages}
        for held in queue.messages:
            if held.lock is None and held.sequence_number in numbers:
                held.lock = self.lock(queue, held, None)
        return shown


@faulty("peek-out-of-order", "LIFE-07", "A peek shows the newest message first.")
class _PeekOutOfOrder(SeededBus):
    def peek(self, queue: Queue, count: int) -> Peeked:
        return Peeked(messages=super().peek(queue, count).messages[::-1])


@faulty(
    "cache-never-expires",
    "LIFE-08",
    "What one connection's receive has cached no other connection is ever given.",
)
class _CacheNeverExpires(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.cached: dict[tuple[str, int], str] = {}

    def is_reachable(self, queue: Queue, held: Held, connection: str) -> bool:
        if not super().is_reachable(queue, held, connection) or queue.settings.requires_session:
            return super().is_reachable(queue, held, connection)
        return self.cached.setdefault((queue.name, held.number), connection) == connection


@faulty("last-partition-never-read", "LIFE-09", "What the last partition holds is never given.")
class _LastPartitionNeverRead(SeededBus):
    def is_reachable(self, queue: Queue, held: Held, connection: str) -> bool:
        last = queue.partitions > 1 and held.partition == queue.partitions - 1
        return not last and super().is_reachable(queue, held, connection)


@faulty("session-given-twice", "LIFE-10", "A session that is locked can be locked by another.")
class _SessionGivenTwice(SeededBus):
    def is_session_free(self, queue: Queue, session_id: str, connection: str) -> bool:  # noqa: ARG002
        return True


@faulty(
    "session-read-without-lock",
    "LIFE-10",
    "While somebody holds a session, everybody is given its messages.",
)
class _SessionReadWithoutLock(SeededBus):
    def may_read_session(self, queue: Queue, session_id: str, connection: str) -> bool:  # noqa: ARG002
        return session_id in queue.sessions


@faulty(
    "sequence-number-changes",
    "LIFE-12",
    "A message that was given back comes again under a new sequence number.",
)
class _SequenceNumberChanges(SeededBus):
    def view(self, queue: Queue, held: Held) -> MessageView:
        shift = 1000 * max(held.deliveries - 1, 0)
        return attrs.evolve(super().view(queue, held), sequence_number=held.sequence_number + shift)


@faulty(
    "sequence-number-names-other-partition",
    "LIFE-12",
    "A sequence number names the partition after the one that took the message.",
)
class _SequenceNumberNamesOtherPartition(SeededBus):
    def view(self, queue: Queue, held: Held) -> MessageView:
        wrong = (held.partition + 1) % queue.partitions
        number = (wrong << SEQUENCE_BITS) + held.number
        return attrs.evolve(super().view(queue, held), sequence_number=number)


FAULTS: Final = faulty.all()
