"""Faults of forwarding: FWD-01 to FWD-36."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Key, Queue, Staged, Transaction
from busproof.vocabulary.commands import CreateQueue
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome

__all__ = ["FAULTS"]

faulty = Faults()


class _Dropping(SeededBus, ABC):
    """Loses some messages on their way."""

    @abstractmethod
    def drops(self, queue: Queue, destination: Queue, partition: int) -> bool:
        """Whether the message is lost here."""

    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        if not self.drops(queue, destination, partition):
            super().pass_on(queue, destination, message, partition)


class _Changing(SeededBus, ABC):
    """Changes the body of some messages on their way, so that they are not those that were sent."""

    @abstractmethod
    def changes(self, queue: Queue, destination: Queue) -> bool:
        """Whether the message is changed here."""

    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        if self.changes(queue, destination):
            message = attrs.evolve(message, body=f"{message.body}!")
        super().pass_on(queue, destination, message, partition)


def _kinds(queue: Queue, destination: Queue) -> tuple[bool, bool]:
    return bool(queue.settings.partitioned), bool(destination.settings.partitioned)


@faulty(
    "last-partition-not-forwarded",
    "FWD-01",
    "The last partition of a queue that forwards to a regular one keeps its messages.",
    literal=True,
)
class _LastPartitionNotForwarded(_Dropping):
    def drops(self, queue: Queue, destination: Queue, partition: int) -> bool:
        return _kinds(queue, destination) == (True, False) and partition == queue.partitions - 1


@faulty(
    "regular-not-forwarded-to-partitioned",
    "FWD-02",
    "A regular queue does not forward to a partitioned one.",
    literal=True,
)
class _RegularNotForwarded(_Dropping):
    def drops(self, queue: Queue, destination: Queue, partition: int) -> bool:  # noqa: ARG002
        return _kinds(queue, destination) == (False, True)


@faulty(
    "first-partition-not-forwarded",
    "FWD-03",
    "Between partitioned queues, the first partition's messages are lost.",
    literal=True,
)
class _FirstPartitionNotForwarded(_Dropping):
    def drops(self, queue: Queue, destination: Queue, partition: int) -> bool:
        return _kinds(queue, destination) == (True, True) and partition == 0


@faulty(
    "body-changed-between-partitioned",
    "FWD-03",
    "Between partitioned queues, a message arrives with another body.",
)
class _BodyChanged(_Changing):
    def changes(self, queue: Queue, destination: Queue) -> bool:
        return _kinds(queue, destination) == (True, True)


@faulty("subscription-does-not-forward", "FWD-04", "Subscriptions keep what they should forward.")
class _SubscriptionDoesNotForward(SeededBus):
    def destination_of(self, queue: Queue) -> Queue | None:
        return None if queue.topic is not None else super().destination_of(queue)


@faulty(
    "topic-takes-nothing-forwarded",
    "FWD-04",
    "What is forwarded to a topic reaches the first of its subscriptions only.",
    deep=True,
    literal=True,
)
class _TopicTakesNothingForwarded(SeededBus):
    def copy(self, subscription: Queue, message: Message, partition: int) -> None:
        topic = subscription.topic
        first = topic is not None and subscription in (topic.subscriptions or [])[:1]
        if first or not self.hops:
            super().copy(subscription, message, partition)


@faulty(
    "regular-does-not-forward",
    "FWD-06",
    "Regular queues do not forward to each other.",
    literal=True,
)
class _RegularDoesNotForward(_Dropping):
    def drops(self, queue: Queue, destination: Queue, partition: int) -> bool:  # noqa: ARG002
        return _kinds(queue, destination) == (False, False)


@faulty("partition-key-lost", "FWD-07", "A forwarded message loses its PartitionKey.")
class _PartitionKeyLost(SeededBus):
    def onward(self, queue: Queue, message: Message) -> Message:  # noqa: ARG002
        return attrs.evolve(message, partition_key=None)


@faulty(
    "session-id-lost-at-second-hop",
    "FWD-07",
    "At its second hop a message loses its SessionId.",
    deep=True,
)
class _SessionIdLost(SeededBus):
    def onward(self, queue: Queue, message: Message) -> Message:  # noqa: ARG002
        return attrs.evolve(message, session_id=None) if self.hops == 2 else message


@faulty(
    "key-ignored-at-destination",
    "FWD-08",
    "At its destination a forwarded message is placed as if it had no key.",
)
class _KeyIgnored(SeededBus):
    def key_onward(self, queue: Queue, destination: Queue, message: Message) -> Key | None:
        key = super().key_onward(queue, destination, message)
        return key if key is not None and key[0] == "MessageId" else None


@faulty(
    "key-ignored-at-third-hop",
    "FWD-08",
    "At its third hop a message is placed as if it had no key.",
    deep=True,
)
class _KeyIgnoredAtThirdHop(SeededBus):
    def key_onward(self, queue: Queue, destination: Queue, message: Message) -> Key | None:
        found = super().key_onward(queue, destination, message)
        return None if self.hops == 3 else found


@faulty(
    "message-id-no-key-when-forwarded",
    "FWD-11",
    "A destination with duplicate detection spreads what is forwarded to it.",
    literal=True,
)
class _MessageIdNoKey(SeededBus):
    def place_onward(self, destination: Queue, key: Key | None, partition: int) -> int:
        ignored = key is not None and key[0] == "MessageId"
        return super().place_onward(destination, None if ignored else key, partition)


@faulty(
    "forwarded-copies-kept",
    "FWD-13",
    "Duplicate detection does not look at forwarded messages.",
    literal=True,
)
class _ForwardedCopiesKept(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        return not self.hops and super().is_copy(queue, message, key)


@faulty("forwarded-twice", "FWD-14", "A message is forwarded twice.")
class _ForwardedTwice(SeededBus):
    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        super().pass_on(queue, destination, message, partition)
        super().pass_on(queue, destination, message, partition)


@faulty("copied-instead-of-moved", "FWD-14", "The source keeps and gives what it has forwarded.")
class _CopiedInsteadOfMoved(SeededBus):
    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        super().pass_on(queue, destination, message, partition)
        forward, hops = queue.settings, self.hops
        queue.settings = attrs.evolve(forward, forward_to=None)
        self.append(queue, message, partition)
        queue.settings, self.hops = forward, hops


@faulty("source-gives", "FWD-15", "A source gives its messages and forwards none.")
class _SourceGives(SeededBus):
    def destination_of(self, queue: Queue) -> Queue | None:  # noqa: ARG002
        return None


@faulty(
    "third-hop-lost", "FWD-16", "A message does not pass its third hop.", deep=True, literal=True
)
class _ThirdHopLost(SeededBus):
    most_hops = 2


@faulty("hops-without-end", "FWD-18", "A message is forwarded as often as it can be.", deep=True)
class _HopsWithoutEnd(SeededBus):
    most_hops = 100


@faulty(
    "forwarded-out-of-session",
    "FWD-26",
    "What is forwarded to a queue that requires sessions is lost.",
    literal=True,
)
class _ForwardedOutOfSession(_Dropping):
    def drops(self, queue: Queue, destination: Queue, partition: int) -> bool:  # noqa: ARG002
        return destination.settings.requires_session


@faulty("session-source-forwards", "FWD-25", "A source that requires sessions forwards.")
class _SessionSourceForwards(SeededBus):
    def may_forward(self, settings: CreateQueue) -> bool:
        return super().may_forward(attrs.evolve(settings, requires_session=False))


@faulty("source-of-nothing", "FWD-29", "A source of a queue that does not exist is created.")
class _SourceOfNothing(SeededBus):
    def may_forward(self, settings: CreateQueue) -> bool:
        return settings.forward_to not in self.queues or super().may_forward(settings)


@faulty(
    "session-made-up",
    "FWD-27",
    "A forwarded message gets a SessionId where its destination requires one.",
)
class _SessionMadeUp(SeededBus):
    def pass_on(self, queue: Queue, destination: Queue, message: Message, partition: int) -> None:
        if destination.settings.requires_session and message.session_id is None:
            message = attrs.evolve(message, session_id=message.partition_key)
        super().pass_on(queue, destination, message, partition)


@faulty(
    "only-first-subscription-forwards",
    "FWD-30",
    "Of the subscriptions of a topic that forward, only the first does.",
    literal=True,
)
class _OnlyFirstForwards(SeededBus):
    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        found = list(super().subscribers(topic, message))
        onward = [each for each in found if self.destination_of(each) is not None]
        return [each for each in found if each not in onward[1:]]


@faulty("forwarded-before-commit", "FWD-33", "A transaction's messages are forwarded at once.")
class _ForwardedBeforeCommit(SeededBus):
    def add(self, transaction: Transaction, staged: Staged) -> None:
        if self.destination_of(staged.queue) is None:
            super().add(transaction, staged)
        else:
            self.store(staged.queue, staged.message, staged.key, staged.partition)


@faulty(
    "forwarded-though-rolled-back",
    "FWD-33",
    "What was sent to a source in a transaction is forwarded although it is rolled back.",
    deep=True,
)
class _ForwardedThoughRolledBack(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        transaction = self.transactions.get(name)
        for staged in () if transaction is None else transaction.staged:
            if self.destination_of(staged.queue) is not None:
                self.store(staged.queue, staged.message, staged.key, staged.partition)
        return super().roll_back(name)


@faulty(
    "sessions-of-destination-required",
    "FWD-34",
    "A transaction's messages need the SessionId that the destination requires.",
)
class _SessionsOfDestination(SeededBus):
    def session_missing(self, queue: Queue, message: Message) -> bool:
        destination = self.destination_of(queue)
        onward = destination is not None and super().session_missing(destination, message)
        return onward or super().session_missing(queue, message)


@faulty(
    "forwarding-not-begun-by-update",
    "FWD-05",
    "A queue that is updated to forward says so and keeps its messages.",
)
class _NotBegunByUpdate(SeededBus):
    def redirect(self, queue: Queue, destination: str | None) -> None:
        if destination is None:
            super().redirect(queue, destination)


@faulty(
    "forwarding-not-ended-by-update",
    "FWD-05",
    "A source goes on forwarding after an update that ends it.",
)
class _NotEndedByUpdate(SeededBus):
    def redirect(self, queue: Queue, destination: str | None) -> None:
        if destination is not None:
            super().redirect(queue, destination)


@faulty(
    "key-does-not-wait-at-destination",
    "FWD-22",
    "A forwarded message whose partition is down goes to another one.",
    deep=True,
)
class _KeyDoesNotWait(SeededBus):
    def place_onward(self, destination: Queue, key: Key | None, partition: int) -> int:
        placed = super().place_onward(destination, key, partition)
        up = [each for each in range(destination.partitions) if each not in destination.down]
        return up[0] if placed in destination.down and up else placed


@faulty("dead-letters-not-forwarded", "FWD-35", "Dead letters go nowhere, whatever was asked for.")
class _DeadLettersNotForwarded(SeededBus):
    def destination_of_dead(self, owner: Queue) -> str | None:  # noqa: ARG002
        return None


@faulty(
    "reason-lost-with-dead-letters",
    "FWD-35",
    "A dead letter arrives at its destination with another reason.",
)
class _ReasonLost(SeededBus):
    def reason_onward(self, reason: str) -> str | None:
        return f"forwarded: {reason}"


@faulty(
    "dead-letters-copied",
    "FWD-36",
    "A dead letter is forwarded and stays in its dead-letter queue, which gives it.",
)
class _DeadLettersCopied(SeededBus):
    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        super().bury(queue, held, reason)
        dead = queue.dead
        if dead is not None and self.destination_of(dead) is not None:
            dead.arrivals += 1
            letter = Held(number=dead.arrivals, partition=held.partition, message=held.message)
            dead.messages.append(letter)


FAULTS: Final = faulty.all()
