"""Faults of topics and subscriptions: TOPIC-01 to TOPIC-20."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Final

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import QueueCommand, SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Key, Queue, Staged, Transaction
from busproof.vocabulary import commands as c
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("last-subscription-missed", "TOPIC-01", "The last of several subscriptions gets no copy.")
class _LastSubscriptionMissed(SeededBus):
    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        found = list(super().subscribers(topic, message))
        return found[:-1] if len(found) > 1 else found


@faulty(
    "fan-out-ends-late",
    "TOPIC-01",
    "From the 50th message on the last of several subscriptions gets no copy.",
    deep=True,
)
class _FanOutEndsLate(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.published = 0

    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        self.published += 1
        found = list(super().subscribers(topic, message))
        return found[:-1] if self.published >= 50 and len(found) > 1 else found


@faulty("copied-twice", "TOPIC-01", "A subscription that is not the only one gets two copies.")
class _CopiedTwice(SeededBus):
    def copy(self, subscription: Queue, message: Message, partition: int) -> None:
        super().copy(subscription, message, partition)
        if subscription.topic is not None and len(subscription.topic.subscriptions or ()) > 1:
            super().copy(subscription, message, partition)


@faulty(
    "copies-complete-together",
    "TOPIC-02",
    "A message that is completed in one subscription is gone from the others.",
)
class _CopiesCompleteTogether(SeededBus):
    def complete(self, queue: Queue, held: Held) -> None:
        super().complete(queue, held)
        for other in _others(queue):
            there = [each for each in other.messages if each.message is held.message]
            for each in there:
                other.messages.remove(each)


def _others(queue: Queue) -> list[Queue]:
    topic = queue.topic
    return [each for each in (topic.subscriptions or ()) if each is not queue] if topic else []


@faulty(
    "copies-lock-together",
    "TOPIC-02",
    "A message that is locked in one subscription is not given by the others.",
    deep=True,
)
class _CopiesLockTogether(SeededBus):
    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        locked = {
            held.message.body
            for other in _others(queue)
            for held in other.messages
            if held.lock is not None
        }
        found = super().offered(queue, session_id, connection)
        return [held for held in found if held.message.body not in locked]


@faulty(
    "subscribed-backwards",
    "TOPIC-03",
    "A new subscription begins with what an earlier one still holds.",
)
class _SubscribedBackwards(SeededBus):
    def subscribe(self, topic: Queue, subscription: Queue) -> None:
        for earlier in (topic.subscriptions or ())[:1]:
            for held in earlier.messages:
                self.copy(subscription, held.message, held.partition)
        super().subscribe(topic, subscription)


class _RefusingSends(SeededBus, ABC):
    """Refuses some sends."""

    @abstractmethod
    def refuses(self, queue: Queue, command: c.Send) -> bool:
        """Whether this send is refused."""

    def send(self, queue: Queue, command: c.Send) -> Observed:
        if self.refuses(queue, command):
            return Observed(Refused(error=Error.NOT_FOUND))
        return super().send(queue, command)


@faulty(
    "unsubscribed-refused", "TOPIC-04", "A topic without subscriptions refuses what is sent to it."
)
class _UnsubscribedRefused(_RefusingSends):
    def refuses(self, queue: Queue, command: c.Send) -> bool:
        return queue.subscriptions == [] and command.transaction is None


class _Addressed(SeededBus):
    """Lets topics and subscriptions be asked anything."""

    def is_misaddressed(
        self,
        queue: Queue,  # noqa: ARG002 - anything may be asked
        command: QueueCommand | c.Send | c.SendBatch,  # noqa: ARG002
    ) -> bool:
        return False


@faulty("topic-gives", "TOPIC-05", "A topic keeps a copy for itself and gives it.")
class _TopicGives(_Addressed):
    def append(self, queue: Queue, message: Message, partition: int) -> None:
        super().append(queue, message, partition)
        if queue.subscriptions is not None:
            topic, queue.subscriptions = queue.subscriptions, None
            super().append(queue, message, partition)
            queue.subscriptions = topic


@faulty("subscription-takes", "TOPIC-06", "A message can be sent to a subscription.")
class _SubscriptionTakes(_Addressed):
    pass


@faulty("topic-key-moves", "TOPIC-07", "From its 5th message on a key selects another partition.")
class _TopicKeyMoves(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.keyed = 0

    def partition_of(self, queue: Queue, key: Key) -> int:
        self.keyed += queue.subscriptions is not None
        return (super().partition_of(queue, key) + (self.keyed >= 5)) % queue.partitions


@faulty(
    "topic-key-moves-after-outage",
    "TOPIC-07",
    "Once a partition of a topic has come up again, its keys select the next one.",
    deep=True,
)
class _TopicKeyMovesAfterOutage(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.came_up: set[int] = set()

    def switch(self, queue: Queue, command: c.TakePartitionDown | c.BringPartitionUp) -> Outcome:
        if isinstance(command, c.BringPartitionUp) and queue.subscriptions is not None:
            self.came_up.add(command.partition)
        return super().switch(queue, command)

    def partition_of(self, queue: Queue, key: Key) -> int:
        home = super().partition_of(queue, key)
        return (home + (home in self.came_up)) % queue.partitions


@faulty("copy-in-two-partitions", "TOPIC-08", "A subscription has each message in two partitions.")
class _CopyInTwoPartitions(SeededBus):
    def copy(self, subscription: Queue, message: Message, partition: int) -> None:
        super().copy(subscription, message, partition)
        if subscription.partitions > 1:
            super().copy(subscription, message, (partition + 1) % subscription.partitions)


@faulty(
    "copy-moves",
    "TOPIC-08",
    "A message that is given back to a subscription is in the next partition from then on.",
    deep=True,
)
class _CopyMoves(SeededBus):
    def give_back(self, queue: Queue, held: Held) -> None:
        super().give_back(queue, held)
        if queue.topic is not None:
            held.partition = (held.partition + 1) % queue.partitions


@faulty(
    "subscription-misses-partition",
    "TOPIC-09",
    "A receive from a subscription does not ask the last partition.",
)
class _SubscriptionMissesPartition(SeededBus):
    def is_reachable(self, queue: Queue, held: Held, connection: str) -> bool:
        last = queue.topic is not None and held.partition == queue.partitions - 1
        missed = last and queue.partitions > 1
        return not missed and super().is_reachable(queue, held, connection)


@faulty(
    "topic-takes-for-dead-partition",
    "TOPIC-10",
    "A topic puts a message whose partition is down into another one.",
)
class _TopicTakesForDeadPartition(SeededBus):
    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        placed = super().place_with_key(queue, key)
        other = self.next_partition_up(queue)
        if queue.subscriptions is None or isinstance(placed, int) or other is None:
            return placed
        return other


@faulty(
    "topic-refuses-yet-copies",
    "TOPIC-10",
    "A topic refuses a message whose partition is down, and copies it all the same.",
)
class _TopicRefusesYetCopies(SeededBus):
    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        placed = super().place_with_key(queue, key)
        self.home_of_refused = self.partition_of(queue, key) if isinstance(placed, Error) else 0
        return placed

    def send(self, queue: Queue, command: c.Send) -> Observed:
        observed = super().send(queue, command)
        if isinstance(observed.outcome, Refused) and queue.subscriptions is not None:
            self.append(queue, command.message, self.home_of_refused)
        return observed


@faulty(
    "topic-does-not-reroute",
    "TOPIC-11",
    "A topic refuses a message without key whose turn falls on a partition that is down.",
)
class _TopicDoesNotReroute(SeededBus):
    def next_partition_up(self, queue: Queue) -> int | None:
        return None if queue.subscriptions is not None else super().next_partition_up(queue)


@faulty(
    "rerouted-copies-lost",
    "TOPIC-11",
    "Of a message that went round an outage, the subscriptions get no copy.",
    deep=True,
)
class _ReroutedCopiesLost(SeededBus):
    def place_without_key(self, queue: Queue, timeout: int) -> int | Error:
        self.rerouted = self.next_partition(queue) in queue.down
        return super().place_without_key(queue, timeout)

    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        lost = message.partition_key is None and message.session_id is None and self.rerouted
        return () if lost else super().subscribers(topic, message)

    rerouted = False


@faulty("topic-keeps-copies", "TOPIC-12", "A topic takes no message for a copy.")
class _TopicKeepsCopies(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        return queue.subscriptions is None and super().is_copy(queue, message, key)


@faulty(
    "copies-by-subscription",
    "TOPIC-12",
    "A copy is dropped only while a subscription still holds the first one.",
    deep=True,
)
class _CopiesBySubscription(SeededBus):
    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        found = super().is_copy(queue, message, key)
        if queue.subscriptions is None:
            return found
        ids = [{held.message.message_id for held in each.messages} for each in queue.subscriptions]
        return found and all(message.message_id in each for each in ids)


@faulty(
    "sessions-of-all-subscriptions",
    "TOPIC-13",
    "Where one subscription requires sessions, the others give no message of a session.",
)
class _SessionsOfAllSubscriptions(SeededBus):
    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        found = list(super().subscribers(topic, message))
        requiring = [each for each in found if each.settings.requires_session]
        return requiring or found


@faulty(
    "foreign-session-of-subscription",
    "TOPIC-13",
    "A session of a subscription is given to whoever asks.",
)
class _ForeignSessionOfSubscription(SeededBus):
    def may_read_session(self, queue: Queue, session_id: str, connection: str) -> bool:
        foreign = queue.topic is not None and session_id in queue.sessions
        return foreign or super().may_read_session(queue, session_id, connection)


@faulty(
    "subscription-session-reversed",
    "TOPIC-14",
    "The newest message of a subscription's session is given first.",
)
class _SubscriptionSessionReversed(SeededBus):
    def first(self, queue: Queue, offered: Sequence[Held]) -> Held:
        newest = queue.topic is not None and queue.settings.requires_session
        return offered[-1] if newest else super().first(queue, offered)


@faulty(
    "subscription-session-reordered-by-abandon",
    "TOPIC-14",
    "An abandoned message of a subscription's session is given after all others.",
    deep=True,
)
class _SubscriptionSessionReordered(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        super().abandon(queue, held)
        if queue.topic is not None and held in queue.messages:
            queue.messages.remove(held)
            queue.messages.append(held)


@faulty(
    "published-before-commit",
    "TOPIC-15",
    "What is sent to a topic in a transaction is copied at once.",
)
class _PublishedBeforeCommit(SeededBus):
    def add(self, transaction: Transaction, staged: Staged) -> None:
        if staged.queue.subscriptions is None:
            super().add(transaction, staged)
        else:
            self.store(staged.queue, staged.message, staged.key, staged.partition)


@faulty(
    "commit-reaches-first-subscription",
    "TOPIC-15",
    "A transaction reaches the first of several subscriptions only.",
    deep=True,
)
class _CommitReachesFirst(SeededBus):
    committing = False

    def commit(self, name: str) -> Outcome:
        self.committing = True
        committed = super().commit(name)
        self.committing = False
        return committed

    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        found = list(super().subscribers(topic, message))
        return found[:1] if self.committing else found


@faulty(
    "topic-takes-keyless-in-transaction",
    "TOPIC-16",
    "A topic takes messages without key, or with several keys, in a transaction.",
)
class _TopicTakesKeyless(SeededBus):
    def objection(self, queue: Queue, message: Message, transaction: Transaction) -> Error | None:
        if queue.subscriptions is not None:
            return None
        return super().objection(queue, message, transaction)


@faulty(
    "topic-takes-second-key",
    "TOPIC-16",
    "A topic takes messages with several keys in a transaction.",
)
class _TopicTakesSecondKey(SeededBus):
    def other_key(self, queue: Queue, earlier: list[Key], key: Key) -> bool:
        return queue.subscriptions is None and super().other_key(queue, earlier, key)

    def other_session(self, queue: Queue, earlier: list[Key], key: Key) -> bool:
        return queue.subscriptions is None and super().other_session(queue, earlier, key)


@faulty("subscribed-to-nothing", "TOPIC-19", "A subscription of no topic is created all the same.")
class _SubscribedToNothing(SeededBus):
    def create_subscription(self, command: c.CreateSubscription) -> Outcome:
        created = super().create_subscription(command)
        if created == Refused(error=Error.NOT_FOUND):
            self.create_topic(c.CreateTopic(topic=command.topic))
            return super().create_subscription(command)
        return created


@faulty(
    "subscription-ignores-locks",
    "TOPIC-20",
    "A subscription gives a message that is locked.",
)
class _SubscriptionIgnoresLocks(SeededBus):
    def offered(self, queue: Queue, session_id: str | None, connection: str) -> Sequence[Held]:
        if queue.topic is None or session_id is not None:
            return super().offered(queue, session_id, connection)
        return [held for held in queue.messages if held.partition not in queue.down]


@faulty(
    "subscription-settles-after-expiry",
    "TOPIC-20",
    "A lock of a subscription that expires while its settlement is under way still settles.",
    deep=True,
)
class _SubscriptionSettlesAfterExpiry(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.expired: dict[str, Held] = {}

    def expire(self, queue: Queue, held: Held) -> None:
        if queue.topic is not None and held.lock is not None:
            self.expired[held.lock.token] = held
        super().expire(queue, held)

    def locked(self, queue: Queue, token: str) -> Held | None:
        found = super().locked(queue, token)
        late = self.expired.pop(token, None)
        return late if found is None and late in queue.messages else found


FAULTS: Final = faulty.all()
