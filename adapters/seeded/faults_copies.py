"""Faults of duplicates and of MessageIds: KEY-11 to KEY-13."""

from typing import Final

from busproof.adapters.seeded.bus import AssigningBus, SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Key, Queue
from busproof.vocabulary.messages import Message

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("duplicates-kept", "KEY-11", "No message is ever taken for a copy.")
class _DuplicatesKept(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:  # noqa: ARG002
        return False


@faulty(
    "duplicates-only-latest",
    "KEY-11",
    "Only the MessageId of the latest message is remembered.",
    deep=True,
)
class _DuplicatesOnlyLatest(SeededBus):
    def store(self, queue: Queue, message: Message, key: Key | None, partition: int) -> None:
        latest = list(queue.accepted)[-1:]
        queue.accepted = {each: queue.accepted[each] for each in latest}
        super().store(queue, message, key, partition)


@faulty(
    "duplicates-forgotten-early",
    "KEY-11",
    "A MessageId is forgotten after a quarter of the duplicate window.",
)
class _DuplicatesForgottenEarly(SeededBus):
    def duplicate_window(self, queue: Queue) -> int:
        return super().duplicate_window(queue) // 4


@faulty(
    "duplicates-dropped-without-detection",
    "KEY-12",
    "A message is eliminated if one with its MessageId is in the queue, detection or not.",
)
class _DuplicatesDroppedWithoutDetection(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        there = (held.message.message_id for held in queue.messages)
        known = message.message_id is not None and message.message_id in there
        return known or super().is_copy(queue, message, key)


@faulty(
    "id-not-assigned",
    "KEY-13",
    "The client library leaves a missing MessageId missing.",
    counterpart=AssigningBus,
)
class _IdNotAssigned(AssigningBus):
    def prepared(self, message: Message) -> Message:
        return message


FAULTS: Final = faulty.all()
