"""Faults of what subscriptions and topics are left with: disabled, redirected, deleted."""

from collections.abc import Iterable
from typing import Final

import attrs

from busproof.adapters.seeded.bus import QueueCommand, SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary import commands as c
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Outcome, TopicDescription
from busproof.vocabulary.profile import Profile

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("disabled-topic-takes", "MGMT-26", "A topic that is disabled takes messages all the same.")
class _DisabledTopicTakes(SeededBus):
    def is_disabled_for(self, queue: Queue, command: QueueCommand | c.Send | c.SendBatch) -> bool:
        return queue.subscriptions is None and super().is_disabled_for(queue, command)


@faulty(
    "disabled-subscription-gives",
    "MGMT-27",
    "A subscription that is disabled gives messages all the same.",
)
class _DisabledSubscriptionGives(SeededBus):
    def is_disabled_for(self, queue: Queue, command: QueueCommand | c.Send | c.SendBatch) -> bool:
        return queue.topic is None and super().is_disabled_for(queue, command)


@faulty(
    "subscription-not-redirected",
    "FWD-05",
    "An update by which a subscription is to forward is accepted and ignored.",
)
class _SubscriptionNotRedirected(SeededBus):
    def redirect(self, queue: Queue, destination: str | None) -> None:
        if queue.topic is None:
            super().redirect(queue, destination)


@faulty(
    "topic-leaves-its-subscriptions",
    "TOPIC-22",
    "The subscriptions of a deleted topic stay, with what they hold.",
)
class _TopicLeavesItsSubscriptions(SeededBus):
    def take_along(self, subscription: Queue) -> None:
        subscription.topic = None


@faulty(
    "topic-made-again-has-its-subscriptions",
    "TOPIC-22",
    "A topic that is created again has the subscriptions of its deleted namesake, empty.",
)
class _TopicMadeAgainHasSubscriptions(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.along: list[str] = []

    def take_along(self, subscription: Queue) -> None:
        self.along.append(subscription.name)
        super().take_along(subscription)

    def create_topic(self, command: c.CreateTopic) -> Outcome:
        created = super().create_topic(command)
        above = f"{command.topic}/subscriptions/"
        for name in self.along if isinstance(created, Done) else ():
            topic, _, subscription = name.partition("/subscriptions/")
            if name.startswith(above):
                self.create_subscription(
                    c.CreateSubscription(topic=topic, subscription=subscription)
                )
        return created


@faulty(
    "others-are-parted",
    "TOPIC-23",
    "With a deleted subscription those that were created after it get no copies any more.",
)
class _OthersAreParted(SeededBus):
    def part(self, topic: Queue, subscription: Queue) -> None:
        if topic.subscriptions is not None:
            del topic.subscriptions[topic.subscriptions.index(subscription) :]


@faulty(
    "copies-go-together",
    "TOPIC-23",
    "What a deleted subscription held is gone from the others as well.",
)
class _CopiesGoTogether(SeededBus):
    def part(self, topic: Queue, subscription: Queue) -> None:
        super().part(topic, subscription)
        gone = {each.message.body for each in subscription.messages}
        for other in topic.subscriptions or ():
            other.messages = [each for each in other.messages if each.message.body not in gone]


@faulty(
    "last-subscription-closes-topic",
    "TOPIC-23",
    "A topic whose last subscription was deleted takes no messages any more.",
)
class _LastSubscriptionClosesTopic(SeededBus):
    def part(self, topic: Queue, subscription: Queue) -> None:
        super().part(topic, subscription)
        if not topic.subscriptions:
            topic.down.update(range(topic.partitions))


@faulty(
    "deleted-subscriptions-counted",
    "TOPIC-24",
    "A topic counts the subscriptions that it ever had.",
)
class _DeletedSubscriptionsCounted(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.ever: dict[str, int] = {}

    def subscribe(self, topic: Queue, subscription: Queue) -> None:
        super().subscribe(topic, subscription)
        self.ever[topic.name] = self.ever.get(topic.name, 0) + 1

    def described_topic(self, topic: Queue) -> TopicDescription:
        told = super().described_topic(topic)
        return attrs.evolve(told, subscription_count=self.ever.get(topic.name, 0))


@faulty(
    "closed-subscription-misses",
    "TOPIC-25",
    "A subscription that is disabled for who receives gets no copies meanwhile.",
)
class _ClosedSubscriptionMisses(SeededBus):
    def subscribers(self, topic: Queue, message: Message) -> Iterable[Queue]:
        return [each for each in super().subscribers(topic, message) if each.status.gives]


@faulty(
    "disabled-topic-closes-its-subscriptions",
    "TOPIC-26",
    "The subscriptions of a topic that is disabled give nothing.",
)
class _DisabledTopicCloses(SeededBus):
    def is_disabled_for(self, queue: Queue, command: QueueCommand | c.Send | c.SendBatch) -> bool:
        receives = isinstance(command, c.Receive | c.ReceiveBatch)
        if receives and queue.topic is not None and not queue.topic.status.takes:
            return True
        return super().is_disabled_for(queue, command)


FAULTS: Final = faulty.all()
