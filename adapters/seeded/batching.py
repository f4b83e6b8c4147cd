"""Several messages in one request, to and from the seeded bus."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from busproof.adapters.base import Observed
from busproof.adapters.seeded.limiting import KB, Limiting
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary.commands import Receive, ReceiveBatch, Schedule, Send, SendBatch
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Received, ReceivedSeveral, Refused, Witness
from busproof.vocabulary.values import Error, Tier

__all__ = ["Batching"]


class Batching(Limiting, ABC):
    """Takes batches whole or not at all, and gives several messages at once.

    Every method is a hook.
    """

    def take_batch(self, queue: Queue, command: SendBatch, connection: str) -> Observed:
        """Take all messages of a batch, or none; the witness is the partition of all."""
        error = self.objection_to_batch(queue, command)
        if error is not None:
            return Observed(Refused(error=error))
        before = self.remembered()
        taken: list[Observed] = []
        for one in self.one_by_one(command):
            taken.append(self.take_one(one, connection))
            if isinstance(taken[-1].outcome, Refused):
                self.undo(before)
                return Observed(taken[-1].outcome)
        partitions = {each.witness.partition for each in taken if each.witness is not None}
        witness = Witness(partition=partitions.pop()) if len(partitions) == 1 else None
        return Observed(Done(), witness)

    def objection_to_batch(self, queue: Queue, command: SendBatch) -> Error | None:
        """Why a batch is refused whole, whatever its messages are one by one."""
        if not command.messages:
            return Error.INVALID_OPERATION
        sizes = [each.size or 0 for each in command.messages if not each.stands_in]
        if sum(sizes) > self.largest_batch():
            return Error.MESSAGE_TOO_LARGE
        return self.objection_to_keys(queue, command)

    def largest_batch(self) -> int:
        """How many bytes the bodies of a batch may have together."""
        return (1024 if self.profile.tier is Tier.PREMIUM else 256) * KB

    def objection_to_keys(self, queue: Queue, command: SendBatch) -> Error | None:
        """Why messages cannot go together: in a partitioned queue all of a batch have one key."""
        keys = {self.key_of(queue, self.prepared(message)) for message in command.messages}
        return Error.INVALID_OPERATION if len(keys) > 1 else None

    def remembered(self) -> dict[str, Any]:
        """All that there is, to go back to."""
        return copy.deepcopy({name: each for name, each in vars(self).items() if name != "profile"})

    def undo(self, before: dict[str, Any]) -> None:
        """Let nothing of a batch have happened."""
        profile = self.profile
        vars(self).clear()
        vars(self).update(before)
        self.profile = profile

    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        """The messages of a batch, each as though it were sent alone."""
        return [
            Send(
                queue=command.queue,
                message=message,
                timeout=command.timeout,
                transaction=command.transaction,
            )
            for message in command.messages
        ]

    def take_one(self, command: Send, connection: str) -> Observed:
        """Take one message of a batch."""
        queue = self.found(command.queue)
        if queue is None:
            raise AssertionError("a batch is for a queue that there is")
        return self.take(queue, command, connection)

    @abstractmethod
    def take(self, queue: Queue, command: Send | Schedule, connection: str) -> Observed:
        """Take a message, now or for later."""

    @abstractmethod
    def found(self, name: str) -> Queue | None:
        """The queue of this path, once all is over that has ended."""

    @abstractmethod
    def prepared(self, message: Message) -> Message:
        """What the client library makes of a message."""

    def receive_batch(self, queue: Queue, command: ReceiveBatch, connection: str) -> Outcome:
        """Give as many messages as are asked for, or as there are."""
        one = Receive(queue=command.queue, mode=command.mode, session_id=command.session_id)
        given: list[MessageView] = []
        for _ in range(self.most_at_once(command)):
            outcome = self.receive(queue, one, connection)
            if not isinstance(outcome, Received):
                if not given:
                    return outcome
                break
            given.append(outcome.message)
        return ReceivedSeveral(messages=tuple(self.given_together(given)))

    def most_at_once(self, command: ReceiveBatch) -> int:
        """How many messages one request is given at most."""
        return command.count

    def given_together(self, given: list[MessageView]) -> list[MessageView]:
        """What a receiver gets of the messages that one request was given."""
        return given
