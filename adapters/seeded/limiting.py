"""What the seeded bus refuses because it is too long, too large or too much for one request."""

from typing import Final

from busproof.adapters.seeded.counting import Counting
from busproof.adapters.seeded.queues import Queue, Transaction
from busproof.vocabulary.commands import CreateQueue, Schedule, Send, SetSessionState
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.values import MICROSECONDS, Error, Tier

__all__ = ["KB", "Limiting"]

KB: Final = 1024
OF_A_TOPIC: Final = "/subscriptions/"


class Limiting(Counting):
    """Measures single requests and refuses what is beyond a limit; every method is a hook."""

    def beyond_limits(self, command: Send | Schedule) -> Error | None:
        """Why a message is too large or its keys too long, if it is or they are."""
        message = command.message
        if (message.size or 0) > self.largest(command) and not message.stands_in:
            return self.too_large()
        keys = {
            "message_id": message.message_id,
            "session_id": message.session_id,
            "partition_key": message.partition_key,
        }
        if any(len(text or "") > self.longest(name) for name, text in keys.items()):
            return Error.INVALID_OPERATION
        return Error.INVALID_OPERATION if self.carries_too_much(message) else None

    def largest(self, command: Send | Schedule) -> int:  # noqa: ARG002 - for faults
        """How many bytes the body of a message may have."""
        return (100 * KB if self.profile.tier is Tier.PREMIUM else 256) * KB

    def too_large(self) -> Error:
        """What is said of a message that is too large."""
        return Error.MESSAGE_TOO_LARGE

    def longest(self, name: str) -> int:  # noqa: ARG002 - for faults
        """How many characters a key may have."""
        return 128

    def carries_too_much(self, message: Message) -> bool:
        """Whether one of a message's properties is too large, or all of them together."""
        sizes = [
            len(name) + (len(value) if isinstance(value, str) else 8)
            for name, value in message.properties.items()
        ]
        return max(sizes, default=0) > self.largest_property() or sum(sizes) > self.all_properties()

    def largest_property(self) -> int:
        """How many bytes a property may have."""
        return 32 * KB

    def all_properties(self) -> int:
        """How many bytes all properties of a message may have."""
        return 64 * KB

    def objection(self, queue: Queue, message: Message, transaction: Transaction) -> Error | None:
        """Why this message must not be sent in this transaction, if it must not."""
        if len(transaction.staged) >= self.most_in_transaction():
            return Error.INVALID_OPERATION
        return super().objection(queue, message, transaction)

    def most_in_transaction(self) -> int:
        """How many messages a transaction takes."""
        return 100

    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        """Why no queue or topic is created like this, if none is."""
        if OF_A_TOPIC not in asked.queue and len(asked.queue) > self.longest_name():
            return Error.INVALID_OPERATION
        window = asked.duplicate_window
        if asked.duplicate_detection and not self.has_window(window):
            return Error.INVALID_OPERATION
        return super().objection_to_queue(asked)

    def has_window(self, window: int) -> bool:
        """Whether a duplicate window can be so long: from 20 seconds to 7 days."""
        return 20 * MICROSECONDS <= window <= 7 * 86_400 * MICROSECONDS

    def longest_name(self) -> int:
        """How many characters the name of a queue or topic may have."""
        return 260

    def set_state(self, queue: Queue, command: SetSessionState, connection: str) -> Outcome:
        """Store a text with a session, unless it is too large."""
        if len(command.state or "") > self.largest_state():
            return Refused(error=Error.MESSAGE_TOO_LARGE)
        return super().set_state(queue, command, connection)

    def largest_state(self) -> int:
        """How many bytes can be stored with a session."""
        return (1024 if self.profile.tier is Tier.PREMIUM else 256) * KB
