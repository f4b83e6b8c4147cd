"""Faults of duplicate detection: DUP-01 to DUP-11."""

from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Key, Queue
from busproof.vocabulary.commands import BringPartitionUp, TakePartitionDown
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome
from busproof.vocabulary.values import MICROSECONDS, Error

__all__ = ["FAULTS"]

faulty = Faults()


def _remember(bus: SeededBus, queue: Queue, message: Message) -> None:
    if queue.settings.duplicate_detection and message.message_id is not None:
        queue.accepted[bus.key_of(queue, message), message.message_id] = bus.now


@faulty("copies-never-forgotten", "DUP-01", "A MessageId is remembered for good.")
class _NeverForgotten(SeededBus):
    def duplicate_window(self, queue: Queue) -> int:
        return super().duplicate_window(queue) * 1_000_000


@faulty(
    "window-prolonged-by-each-message",
    "DUP-01",
    "Each message that is sent with any MessageId prolongs the window of all others.",
    deep=True,
)
class _ProlongedByEach(SeededBus):
    def store(self, queue: Queue, message: Message, key: Key | None, partition: int) -> None:
        super().store(queue, message, key, partition)
        queue.accepted = dict.fromkeys(queue.accepted, self.now)


@faulty("default-window-of-minutes", "DUP-02", "The window is 5 minutes by default.")
class _DefaultOfMinutes(SeededBus):
    def duplicate_window(self, queue: Queue) -> int:
        return min(super().duplicate_window(queue), 300 * MICROSECONDS)


@faulty("short-windows", "DUP-03", "A duplicate window can be shorter than 20 seconds.")
class _ShortWindows(SeededBus):
    def has_window(self, window: int) -> bool:
        return super().has_window(max(window, 20 * MICROSECONDS))


@faulty("long-windows", "DUP-03", "A duplicate window can be longer than 7 days.")
class _LongWindows(SeededBus):
    def has_window(self, window: int) -> bool:
        return super().has_window(min(window, 20 * MICROSECONDS))


@faulty(
    "alike-messages-dropped",
    "DUP-04",
    "A message with another MessageId is dropped if its PartitionKey is that of the latest one.",
)
class _AlikeDropped(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        latest = queue.messages[-1].message.partition_key if queue.messages else None
        alike = queue.settings.duplicate_detection and message.partition_key == latest is not None
        return alike or super().is_copy(queue, message, key)


@faulty(
    "keys-told-apart-on-regular",
    "DUP-05",
    "On a regular queue, a message with another PartitionKey is no copy.",
)
class _KeysToldApart(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        others = (held.message for held in queue.messages)
        same = any(each.partition_key == message.partition_key for each in others)
        return super().is_copy(queue, message, key) and (queue.settings.partitioned or same)


@faulty("forgotten-when-completed", "DUP-07", "A message that was completed is not remembered.")
class _ForgottenWhenCompleted(SeededBus):
    def complete(self, queue: Queue, held: Held) -> None:
        super().complete(queue, held)
        gone = held.message.message_id
        queue.accepted = {at: sent for at, sent in queue.accepted.items() if at[1] != gone}


@faulty("refused-remembered", "DUP-08", "A message that was refused in an outage is remembered.")
class _RefusedRemembered(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        placed = super().place(queue, message, timeout)
        if isinstance(placed, Error):
            _remember(self, queue, message)
        return placed


@faulty("outage-forgets", "DUP-09", "An outage makes the bus forget all MessageIds.", deep=True)
class _OutageForgets(SeededBus):
    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, BringPartitionUp):
            queue.accepted = {}
        return super().switch(queue, command)


@faulty("rolled-back-remembered", "DUP-10", "What was rolled back is remembered.", deep=True)
class _RolledBackRemembered(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        transaction = self.transactions.get(name)
        for staged in () if transaction is None else transaction.staged:
            _remember(self, staged.queue, staged.message)
        return super().roll_back(name)


@faulty("copies-kept-in-transactions", "DUP-11", "In a transaction no message is a copy.")
class _KeptInTransactions(SeededBus):
    committing = False

    def commit(self, name: str) -> Outcome:
        self.committing = True
        outcome = super().commit(name)
        self.committing = False
        return outcome

    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        return not self.committing and super().is_copy(queue, message, key)


@faulty("copies-detected-anywhere", "DUP-13", "A MessageId is remembered for all queues together.")
class _CopiesDetectedAnywhere(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        unique = [each for each in self.queues.values() if each.settings.duplicate_detection]
        known = any(SeededBus.is_copy(self, each, message, key) for each in unique)
        return queue.settings.duplicate_detection and known


@faulty(
    "copies-detected-in-the-first-queue",
    "DUP-13",
    "What a namespace's first queue has taken and given is a copy in every other one.",
    deep=True,
)
class _CopiesDetectedInTheFirstQueue(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        first = next(iter(self.queues.values()))
        taken = first is not queue and not first.messages and super().is_copy(first, message, key)
        return (queue.settings.duplicate_detection and taken) or super().is_copy(
            queue, message, key
        )


FAULTS: Final = faulty.all()
