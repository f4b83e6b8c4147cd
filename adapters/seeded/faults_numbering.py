"""Seeded faults of sequence numbers."""

from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import BringPartitionUp, TakePartitionDown
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import Outcome
from busproof.vocabulary.profile import Profile

__all__ = ["FAULTS"]

faulty = Faults()

_MANY: Final = 1 << 40
"""More than any queue of a test gives out."""


class _Numbering(SeededBus):
    """Tells the messages of its entities other numbers; what they do is overridden."""

    def view(self, queue: Queue, held: Held) -> MessageView:
        number = (held.partition << SEQUENCE_BITS) + self.told(queue, held)
        return attrs.evolve(super().view(queue, held), sequence_number=number)

    def told(self, queue: Queue, held: Held) -> int:  # noqa: ARG002 - for faults
        """What stands below the partition."""
        return held.number


@faulty("numbers-fall", "SEQ-01", "Each number that a partition gives out is below the one before.")
class _NumbersFall(_Numbering):
    def told(self, queue: Queue, held: Held) -> int:
        return _MANY - held.number if queue.settings.partitioned else held.number


@faulty(
    "numbers-begin-anew-after-outage",
    "SEQ-01",
    "A partition that was down goes on with lower numbers than it had given out.",
    deep=True,
)
class _NumbersBeginAnewAfterOutage(_Numbering):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.before: dict[tuple[str, int], int] = {}

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, BringPartitionUp):
            self.before.setdefault((queue.name, command.partition), queue.arrivals)
        return super().switch(queue, command)

    def told(self, queue: Queue, held: Held) -> int:
        known = self.before.get((queue.name, held.partition))
        return held.number if known is not None and held.number > known else _MANY + held.number


@faulty("regular-numbers-fall", "SEQ-05", "An entity that is not partitioned counts backwards.")
class _RegularNumbersFall(_Numbering):
    def told(self, queue: Queue, held: Held) -> int:
        return held.number if queue.settings.partitioned else _MANY - held.number


@faulty("number-given-again", "SEQ-03", "After 40 messages the numbers begin again.", deep=True)
class _NumberGivenAgain(_Numbering):
    def told(self, queue: Queue, held: Held) -> int:  # noqa: ARG002
        return (held.number - 1) % 40 + 1


@faulty("two-with-one-number", "SEQ-03", "Every other message has the number of the one before.")
class _TwoWithOneNumber(SeededBus):
    def view(self, queue: Queue, held: Held) -> MessageView:
        number = held.sequence_number - (held.number + 1) % 2
        return attrs.evolve(super().view(queue, held), sequence_number=number)


@faulty("peek-tells-another-number", "SEQ-04", "A message that nobody received has another number.")
class _PeekTellsAnotherNumber(_Numbering):
    def told(self, queue: Queue, held: Held) -> int:  # noqa: ARG002
        return held.number if held.deliveries else _MANY + held.number


@faulty("abandoned-is-numbered-anew", "SEQ-04", "A message that was given back has a new number.")
class _AbandonedIsNumberedAnew(_Numbering):
    def told(self, queue: Queue, held: Held) -> int:  # noqa: ARG002
        return held.number + _MANY * max(held.deliveries - 1, 0)


class _NumberingCommits(_Numbering):
    """Knows which messages of a queue came with one commit."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.groups: list[tuple[str, int, int]] = []

    def commit(self, name: str) -> Outcome:
        before = {queue.name: queue.arrivals for queue in self.queues.values()}
        outcome = super().commit(name)
        for queue in self.queues.values():
            if before[queue.name] < queue.arrivals:
                self.groups.append((queue.name, before[queue.name], queue.arrivals))
        return outcome

    def told(self, queue: Queue, held: Held) -> int:
        for name, first, last in self.groups:
            if name == queue.name and first < held.number <= last:
                return self.within(held.number, first, last)
        return held.number

    def within(self, number: int, first: int, last: int) -> int:  # noqa: ARG002 - for faults
        """What a message is told to have of the numbers behind `first`, up to `last`: its own."""
        return number


@faulty("commit-numbers-backwards", "SEQ-07", "A commit numbers its messages from the last on.")
class _CommitNumbersBackwards(_NumberingCommits):
    def within(self, number: int, first: int, last: int) -> int:
        return first + 1 + last - number


@faulty(
    "commit-numbers-its-first-last",
    "SEQ-07",
    "After a transaction was rolled back, the first message of a later one is numbered last.",
    deep=True,
)
class _CommitNumbersItsFirstLast(_NumberingCommits):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.rolled_back = False

    def roll_back(self, name: str) -> Outcome:
        self.rolled_back = True
        return super().roll_back(name)

    def within(self, number: int, first: int, last: int) -> int:
        if not self.rolled_back:
            return number
        return last if number == first + 1 else number - 1


FAULTS: Final = faulty.all()
