"""Faults of messages without key and of outages: KEY-03, KEY-12, KEY-14, KEY-15, KEY-18, KEY-20."""

from typing import Final

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.placing import MESSAGE_ID, REROUTING_TIMEOUT
from busproof.adapters.seeded.queues import Key, Queue
from busproof.vocabulary.commands import BringPartitionUp, Send, TakePartitionDown
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty(
    "dead-partition-stores",
    "KEY-03",
    "A message whose partition is down is accepted and stored there.",
)
class _DeadPartitionStores(SeededBus):
    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        return self.partition_of(queue, key)


@faulty(
    "dead-partition-swallows",
    "KEY-03",
    "A message whose partition is down is accepted and lost.",
)
class _DeadPartitionSwallows(_DeadPartitionStores):
    def append(self, queue: Queue, message: Message, partition: int) -> None:
        if partition not in queue.down:
            super().append(queue, message, partition)


@faulty(
    "dead-partition-refuses-yet-stores",
    "KEY-03",
    "A message whose partition is down is refused, and appears after the outage.",
)
class _DeadPartitionRefusesYetStores(SeededBus):
    def send(self, queue: Queue, command: Send) -> Observed:
        key = self.key_of(queue, command.message)
        home = None if key is None else self.partition_of(queue, key)
        if home in queue.down and command.transaction is None and key is not None:
            self.store(queue, command.message, key, self.partition_of(queue, key))
        return super().send(queue, command)


@faulty(
    "message-id-pins",
    "KEY-12",
    "Without duplicate detection the MessageId is the key where no other property is.",
)
class _MessageIdPins(SeededBus):
    def key_of(self, queue: Queue, message: Message) -> Key | None:
        key = super().key_of(queue, message)
        if key is not None or message.message_id is None or not queue.settings.partitioned:
            return key
        return (MESSAGE_ID, message.message_id)


@faulty("last-partition-unused", "KEY-14", "The last partition gets no message without key.")
class _LastPartitionUnused(SeededBus):
    def next_partition(self, queue: Queue) -> int:
        turn = super().next_partition(queue)
        return turn if turn < queue.partitions - 1 else 0


@faulty("all-in-one-partition", "KEY-14", "All messages without key go to one partition.")
class _AllInOnePartition(SeededBus):
    def next_partition(self, queue: Queue) -> int:  # noqa: ARG002 - whatever the queue
        return 0


@faulty(
    "no-rerouting",
    "KEY-15",
    "A message without key whose turn falls on a partition that is down is refused.",
)
class _NoRerouting(SeededBus):
    def next_partition_up(self, queue: Queue) -> int | None:  # noqa: ARG002 - none is looked for
        return None


@faulty(
    "no-rerouting-with-many-down",
    "KEY-15",
    "A message without key is refused where two partitions that follow each other are down.",
    deep=True,
)
class _NoReroutingWithManyDown(SeededBus):
    def next_partition_up(self, queue: Queue) -> int | None:
        return None if queue.turn in queue.down else queue.turn


@faulty(
    "short-timeout-fails",
    "KEY-18",
    "With a timeout of 15 s or less a message without key is refused, even with all up.",
)
class _ShortTimeoutFails(SeededBus):
    def place_without_key(self, queue: Queue, timeout: int) -> int | Error:
        if timeout <= REROUTING_TIMEOUT:
            return Error.UNAVAILABLE
        return super().place_without_key(queue, timeout)


@faulty(
    "rerouted-with-key",
    "KEY-20",
    "A message whose partition is down goes to another one, in spite of its key.",
)
class _ReroutedWithKey(SeededBus):
    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        home = self.partition_of(queue, key)
        others = [each for each in range(queue.partitions) if each not in queue.down]
        return others[-1] if home in queue.down and others else super().place_with_key(queue, key)


@faulty(
    "key-moves-after-outage",
    "KEY-20",
    "After an outage of its partition a key selects another one.",
    deep=True,
)
class _KeyMovesAfterOutage(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.were_down: set[tuple[str, int]] = set()

    def switch(self, queue: Queue, command: TakePartitionDown | BringPartitionUp) -> Outcome:
        if isinstance(command, TakePartitionDown):
            self.were_down.add((queue.name, command.partition))
        return super().switch(queue, command)

    def partition_of(self, queue: Queue, key: Key) -> int:
        home = super().partition_of(queue, key)
        moved = home not in queue.down and (queue.name, home) in self.were_down
        return (home + moved) % queue.partitions


FAULTS: Final = faulty.all()
