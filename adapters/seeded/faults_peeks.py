"""Faults of peeks into partitioned and regular entities: PART-14, PART-15, PART-19, PART-20."""

from collections.abc import Sequence
from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.outcomes import Peeked

__all__ = ["FAULTS"]

faulty = Faults()


class _Hiding(SeededBus):
    """Does not show every message to a peek; what it hides is overridden."""

    def visible(self, queue: Queue) -> Sequence[Held]:
        there = super().visible(queue)
        return [held for held in there if not self.is_hidden(queue, held, there)]

    def is_hidden(self, queue: Queue, held: Held, there: Sequence[Held]) -> bool:  # noqa: ARG002 - for faults
        """Whether a message is left out: none, without a fault."""
        return False


@faulty(
    "regular-peek-misses-the-oldest",
    "PART-14",
    "A peek into a queue that is not partitioned begins with its second message.",
)
class _RegularPeekMissesTheOldest(_Hiding):
    def is_hidden(self, queue: Queue, held: Held, there: Sequence[Held]) -> bool:
        oldest = min(each.number for each in there)
        return not queue.settings.partitioned and len(there) > 1 and held.number == oldest


@faulty(
    "regular-peek-misses-what-is-locked",
    "PART-14",
    "A peek into a queue that is not partitioned leaves out what is locked.",
    deep=True,
)
class _RegularPeekMissesWhatIsLocked(_Hiding):
    def is_hidden(self, queue: Queue, held: Held, there: Sequence[Held]) -> bool:  # noqa: ARG002
        return not queue.settings.partitioned and held.lock is not None


@faulty("regular-peek-shows-nothing", "PART-14", "A peek into a queue without partitions is empty.")
class _RegularPeekShowsNothing(_Hiding):
    def is_hidden(self, queue: Queue, held: Held, there: Sequence[Held]) -> bool:  # noqa: ARG002
        return not queue.settings.partitioned


@faulty(
    "peek-begins-with-a-partitions-second",
    "PART-15",
    "A peek leaves out the oldest message of each partition that has several.",
)
class _PeekBeginsWithAPartitionsSecond(_Hiding):
    def is_hidden(self, queue: Queue, held: Held, there: Sequence[Held]) -> bool:
        of_one = [each.number for each in there if each.partition == held.partition]
        return queue.partitions > 1 and len(of_one) > 1 and held.number == min(of_one)


@faulty(
    "peek-forgets-the-oldest-of-many",
    "PART-15",
    "A partition that has taken more than six messages shows its latest six only.",
    deep=True,
)
class _PeekForgetsTheOldestOfMany(_Hiding):
    def is_hidden(self, queue: Queue, held: Held, there: Sequence[Held]) -> bool:
        of_one = sorted(each.number for each in there if each.partition == held.partition)
        return queue.partitions > 1 and held.number in of_one[:-6]


@faulty("peek-shows-one-more", "PART-19", "A peek shows one message more than it was asked for.")
class _PeekShowsOneMore(SeededBus):
    def peek(self, queue: Queue, count: int) -> Peeked:
        return super().peek(queue, count + 1)


@faulty(
    "peek-shows-one-twice",
    "PART-19",
    "A peek of four or more ends with the message before the last once more.",
    deep=True,
)
class _PeekShowsOneTwice(SeededBus):
    def peek(self, queue: Queue, count: int) -> Peeked:
        views = super().peek(queue, count).messages
        return Peeked(messages=(*views[:-1], views[-2]) if len(views) >= 4 else views)


@faulty("peek-begins-anew", "PART-20", "A peek that is to go on from a number begins anew.")
class _PeekBeginsAnew(SeededBus):
    def peek_on(self, queue: Queue, count: int, start: int) -> Peeked:  # noqa: ARG002
        return self.peek(queue, count)


@faulty(
    "peek-on-ends-with-its-partition",
    "PART-20",
    "A peek that goes on from a number ends with the partition that the number is of.",
    deep=True,
    literal=True,
)
class _PeekOnEndsWithItsPartition(SeededBus):
    def peek_on(self, queue: Queue, count: int, start: int) -> Peeked:
        shown = super().peek_on(queue, count, start).messages
        of_one = [each for each in shown if (each.sequence_number or 0) >> 48 == start >> 48]
        return Peeked(messages=tuple(of_one))


FAULTS: Final = faulty.all()
