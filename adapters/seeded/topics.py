"""Topics and subscriptions of the seeded bus being got, listed, updated and deleted."""

from abc import ABC, abstractmethod
from typing import assert_never

import attrs

from busproof.adapters.seeded.managing import Managing
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary.commands import (
    DeleteTopic,
    GetTopic,
    ListSubscriptions,
    TopicManagement,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.outcomes import (
    Listed,
    Outcome,
    QueueDescription,
    Refused,
    TopicDescribed,
    TopicDescription,
)
from busproof.vocabulary.values import Error

__all__ = ["ManagingTopics"]


class ManagingTopics(Managing, ABC):
    """Manages topics as the queues that they are kept as; every method is a hook."""

    @abstractmethod
    def found(self, name: str) -> Queue | None:
        """The entity of this path, once all is over that has ended."""

    def ask_of_topic(self, command: TopicManagement) -> Outcome:
        """Do what concerns a topic as a whole."""
        topic = self.found(command.topic)
        if topic is None:
            return Refused(error=Error.NOT_FOUND)
        if topic.subscriptions is None:
            return Refused(error=Error.INVALID_OPERATION)
        match command:
            case GetTopic():
                return TopicDescribed(description=self.described_topic(topic))
            case UpdateTopic():
                return self.update_topic(topic, command)
            case DeleteTopic():
                return self.remove(topic)
            case ListSubscriptions():
                return Listed(names=tuple(self.subscription_names(topic)))
            case _:
                assert_never(command)

    def described_topic(self, topic: Queue) -> TopicDescription:
        """What is told of a topic."""
        settings = topic.settings
        return TopicDescription(
            topic=settings.queue,
            partitioned=settings.partitioned,
            duplicate_detection=settings.duplicate_detection,
            duplicate_window=settings.duplicate_window,
            time_to_live=settings.time_to_live,
            subscription_count=len(topic.subscriptions or ()),
            availability=self.availability(topic),
        )

    def described(self, queue: Queue) -> QueueDescription:
        """What is told of a queue, or of a subscription; of that not what is its topic's."""
        told = super().described(queue)
        if queue.topic is None:
            return told
        return attrs.evolve(told, partitioned=None, duplicate_detection=None, duplicate_window=None)

    def update(self, queue: Queue, asked: UpdateQueue) -> Outcome:
        """Change an entity, unless a topic is to be disabled for receivers, or the like."""
        of_senders = asked.status is EntityStatus.SEND_DISABLED
        of_receivers = asked.status is EntityStatus.RECEIVE_DISABLED
        if (queue.topic is not None and of_senders) or (
            queue.subscriptions is not None and of_receivers
        ):
            return Refused(error=Error.INVALID_OPERATION)
        return super().update(queue, asked)

    def update_topic(self, topic: Queue, asked: UpdateTopic) -> Outcome:
        """Change what can be changed of a topic."""
        return self.update(
            topic,
            UpdateQueue(
                queue=topic.name,
                partitioned=asked.partitioned,
                duplicate_detection=asked.duplicate_detection,
                time_to_live=asked.time_to_live,
                status=asked.status,
            ),
        )

    def take_away(self, queue: Queue) -> None:
        """Take a topic away with its subscriptions, or a subscription from its topic."""
        super().take_away(queue)
        if queue.topic is not None:
            self.part(queue.topic, queue)
        for subscription in queue.subscriptions or ():
            self.take_along(subscription)

    def part(self, topic: Queue, subscription: Queue) -> None:
        """Let a topic go on without a subscription that is gone."""
        if topic.subscriptions is not None:
            topic.subscriptions.remove(subscription)

    def take_along(self, subscription: Queue) -> None:
        """Take a subscription away whose topic is gone."""
        del self.queues[subscription.name]

    def topic_names(self) -> list[str]:
        """The name of every topic."""
        return sorted(name for name, each in self.queues.items() if each.subscriptions is not None)

    def subscription_names(self, topic: Queue) -> list[str]:
        """The name of every subscription of a topic."""
        above = f"{topic.name}/subscriptions/"
        return sorted(each.name.removeprefix(above) for each in topic.subscriptions or ())
