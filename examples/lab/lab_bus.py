"""A bus with partitioned queues in eighty lines, and with three bugs. README.md has the rules."""

from collections import deque
from zlib import crc32

import attrs

from busproof.adapters.base import Declaration, Implementation, Observed
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    AdvanceClock,
    BringPartitionUp,
    CreateQueue,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Done, Empty, Received, Refused, Unsupported, Witness
from busproof.vocabulary.values import Error

PARTITIONS = 16


class LabBus:
    """The adapter and the bus in one: a queue is a list of partitions, each a `deque`."""

    declaration = Declaration(
        implementation=Implementation(name="lab bus", version="1.0", language="Python"),
        capabilities=frozenset({Capability.WITNESS, Capability.OUTAGES}),
        several=True,
    )

    def start(self, profile):
        self.queues = {}
        self.down = {}
        self.turn = 0

    def stop(self):
        self.queues = {}

    def do(self, command, connection):
        match command:
            case CreateQueue(queue=name):
                self.queues[name] = [deque() for _ in range(PARTITIONS)]
            case TakePartitionDown(queue=name, partition=partition):
                self.down.setdefault(name, set()).add(partition)
            case BringPartitionUp(queue=name, partition=partition):
                self.down.get(name, set()).discard(partition)
                if name in self.queues:
                    self.queues[name][partition] = deque()
            case Send(queue=name) | Receive(queue=name) if name not in self.queues:
                return Observed(Refused(error=Error.NOT_FOUND))
            case Send(queue=name, message=message):
                return self.send(name, message)
            case Receive(queue=name):
                return Observed(self.receive(name))
            case AdvanceClock():
                pass
            case _:
                return Observed(Unsupported())
        return Observed(Done())

    def send(self, name, message):
        if message.session_id and message.partition_key not in (None, message.session_id):
            return Observed(Refused(error=Error.INVALID_OPERATION))
        key = message.session_id or message.partition_key or message.message_id
        partition = self.turn if key is None else crc32(key.encode()) % PARTITIONS
        for _ in range(PARTITIONS):
            if partition not in self.down.get(name, ()):
                break
            partition = (partition + 1) % PARTITIONS
        else:
            return Observed(Refused(error=Error.UNAVAILABLE))
        self.turn = (partition + 1) % PARTITIONS if key is None else self.turn
        self.queues[name][partition].append(message)
        return Observed(Done(), Witness(partition=partition))

    def receive(self, name):
        for number, partition in enumerate(self.queues[name]):
            if partition and number not in self.down.get(name, ()):
                return Received(message=MessageView(**attrs.asdict(partition.popleft())))
        return Empty()


def make():
    return LabBus()
