"""Seeded faults of sequence numbers."""

from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue, Staged, Transaction
from busproof.model.commands import BringPartitionUp, TakePartitionDown
from busproof.model.outcomes import Outcome
from busproof.model.values import SEQUENCE_BITS, MessageView, Profile

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


@faulty("commit-numbers-backwards", "SEQ-07", "A commit numbers its messages from the last on.")
class _CommitNumbersBackwards(SeededBus):
    def committed(self, transaction: Transaction) -> list[Staged]:
        return super().committed(transaction)[::-1]


@faulty(
    "numbered-when-rolled-back-before",
    "SEQ-07",
    "After a transaction was rolled back, a later one's first message is numbered last.",
    deep=True,
)
class _NumberedWhenRolledBackBefore(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.rolled_back = False

    def roll_back(self, name: str) -> Outcome:
        self.rolled_back = True
        return super().roll_back(name)

    def committed(self, transaction: Transaction) -> list[Staged]:
        staged = super().committed(transaction)
        return [*staged[1:], *staged[:1]] if self.rolled_back else staged


FAULTS: Final = faulty.all()
