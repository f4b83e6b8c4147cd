"""Faults in how topics and subscriptions are created, changed, told, listed and deleted."""

from typing import Any, Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Lock, Queue
from busproof.vocabulary import commands as c
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Listed, Outcome, QueueDescription, TopicDescription
from busproof.vocabulary.profile import Profile

__all__ = ["FAULTS"]

faulty = Faults()


@faulty(
    "topic-update-changes-partitioning",
    "MGMT-04",
    "An update changes whether a topic is partitioned.",
)
class _TopicUpdateChangesPartitioning(SeededBus):
    def update_topic(self, topic: Queue, asked: c.UpdateTopic) -> Outcome:
        if asked.partitioned is not None:
            topic.settings = attrs.evolve(topic.settings, partitioned=asked.partitioned)
        return super().update_topic(topic, asked)


@faulty(
    "topic-made-again-as-before",
    "MGMT-05",
    "A topic that is created again has the partitioning option of its deleted namesake.",
)
class _TopicMadeAgainAsBefore(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.before: dict[str, bool] = {}

    def take_away(self, queue: Queue) -> None:
        if queue.subscriptions is not None:
            self.before[queue.name] = bool(queue.settings.partitioned)
        super().take_away(queue)

    def create_topic(self, command: c.CreateTopic) -> Outcome:
        partitioned = self.before.get(command.topic, command.partitioned)
        return super().create_topic(attrs.evolve(command, partitioned=partitioned))


@faulty("second-topic-replaces", "MGMT-09", "A topic that is created once more begins anew.")
class _SecondTopicReplaces(SeededBus):
    def create_topic(self, command: c.CreateTopic) -> Outcome:
        known = self.queues.get(command.topic)
        if known is not None and known.subscriptions is not None:
            self.take_away(known)
        return super().create_topic(command)


@faulty(
    "second-subscription-empties",
    "MGMT-09",
    "Creating a subscription once more is refused, yet empties it.",
)
class _SecondSubscriptionEmpties(SeededBus):
    def create_subscription(self, command: c.CreateSubscription) -> Outcome:
        known = self.queues.get(f"{command.topic}/subscriptions/{command.subscription}")
        if known is not None:
            known.messages.clear()
        return super().create_subscription(command)


@faulty("no-topic-is-deleted", "MGMT-10", "Deleting a topic that does not exist succeeds.")
class _NoTopicIsDeleted(SeededBus):
    def ask_of_topic(self, command: c.TopicManagement) -> Outcome:
        if isinstance(command, c.DeleteTopic) and command.topic not in self.queues:
            return Done()
        return super().ask_of_topic(command)


@faulty(
    "no-subscriptions-of-no-topic",
    "MGMT-10",
    "The subscriptions of a topic that does not exist are listed, as none.",
)
class _NoSubscriptionsOfNoTopic(SeededBus):
    def ask_of_topic(self, command: c.TopicManagement) -> Outcome:
        if isinstance(command, c.ListSubscriptions) and command.topic not in self.queues:
            return Listed()
        return super().ask_of_topic(command)


@faulty("topic-window-not-told", "MGMT-11", "A topic is told to have the default window.")
class _TopicWindowNotTold(SeededBus):
    def described_topic(self, topic: Queue) -> TopicDescription:
        default: Any = attrs.fields(c.CreateTopic).duplicate_window.default
        return attrs.evolve(super().described_topic(topic), duplicate_window=default)


@faulty(
    "subscriptions-told-alike",
    "MGMT-11",
    "What is told of a subscription are the settings of its topic's first one.",
)
class _SubscriptionsToldAlike(SeededBus):
    def described(self, queue: Queue) -> QueueDescription:
        told = super().described(queue)
        if queue.topic is None or not queue.topic.subscriptions:
            return told
        first = queue.topic.subscriptions[0].settings
        return attrs.evolve(
            told, requires_session=first.requires_session, lock_duration=first.lock_duration
        )


@faulty(
    "subscription-update-ignored",
    "MGMT-12",
    "An update of a subscription is told afterwards, and never in force.",
)
class _SubscriptionUpdateIgnored(SeededBus):
    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        if queue.topic is None:
            return super().lock(queue, held, session_id)
        default: Any = attrs.fields(c.CreateSubscription).lock_duration.default
        told = queue.settings
        queue.settings = attrs.evolve(told, lock_duration=default)
        lock = super().lock(queue, held, session_id)
        queue.settings = told
        return lock


@faulty(
    "subscription-update-is-of-all",
    "MGMT-12",
    "An update of one subscription changes the others of its topic as well.",
)
class _SubscriptionUpdateIsOfAll(SeededBus):
    def put_into_force(self, queue: Queue, asked: c.UpdateQueue) -> None:
        siblings = [] if queue.topic is None else queue.topic.subscriptions or []
        for each in siblings or [queue]:
            super().put_into_force(each, asked)


@faulty(
    "topic-life-as-created",
    "MGMT-12",
    "An update of a topic's time to live is told afterwards, and never in force.",
)
class _TopicLifeAsCreated(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.created: dict[str, int | None] = {}

    def update_topic(self, topic: Queue, asked: c.UpdateTopic) -> Outcome:
        self.created.setdefault(topic.name, topic.settings.time_to_live)
        return super().update_topic(topic, asked)

    def lifetime(self, queue: Queue, message: Message) -> int | None:
        if queue.name not in self.created:
            return super().lifetime(queue, message)
        lives = (self.created[queue.name], message.time_to_live)
        return min((life for life in lives if life is not None), default=None)


@faulty(
    "subscription-update-changes-sessions",
    "MGMT-13",
    "An update changes whether a subscription requires sessions.",
)
class _SubscriptionUpdateChangesSessions(SeededBus):
    def update(self, queue: Queue, asked: c.UpdateQueue) -> Outcome:
        if queue.topic is not None and asked.requires_session is not None:
            queue.settings = attrs.evolve(queue.settings, requires_session=asked.requires_session)
        return super().update(queue, asked)


@faulty(
    "topic-update-changes-detection",
    "MGMT-14",
    "An update changes whether a topic detects duplicates.",
)
class _TopicUpdateChangesDetection(SeededBus):
    def update_topic(self, topic: Queue, asked: c.UpdateTopic) -> Outcome:
        if asked.duplicate_detection is not None:
            detecting = asked.duplicate_detection
            topic.settings = attrs.evolve(topic.settings, duplicate_detection=detecting)
        return super().update_topic(topic, asked)


class _Remembering(SeededBus):
    """A bus that keeps what it has taken away."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.gone: dict[str, Queue] = {}

    def take_away(self, queue: Queue) -> None:
        self.gone[queue.name] = queue
        super().take_away(queue)


@faulty(
    "topic-made-again-remembers",
    "MGMT-15",
    "A topic that is created again remembers the MessageIds of its deleted namesake.",
)
class _TopicMadeAgainRemembers(_Remembering):
    def create_topic(self, command: c.CreateTopic) -> Outcome:
        created = super().create_topic(command)
        if isinstance(created, Done) and command.topic in self.gone:
            self.queues[command.topic].accepted = self.gone[command.topic].accepted
        return created


@faulty(
    "subscription-made-again-is-full",
    "MGMT-15",
    "A subscription that is created again has the messages of its deleted namesake.",
)
class _SubscriptionMadeAgainIsFull(_Remembering):
    def subscribe(self, topic: Queue, subscription: Queue) -> None:
        super().subscribe(topic, subscription)
        before = self.gone.get(subscription.name)
        if before is not None:
            subscription.messages = before.messages
            subscription.arrivals = before.arrivals


@faulty("topics-listed-with-queues", "MGMT-16", "A list of topics names the queues as well.")
class _TopicsListedWithQueues(SeededBus):
    def topic_names(self) -> list[str]:
        return [*super().topic_names(), *super().names()]


@faulty(
    "deleted-subscription-listed",
    "MGMT-16",
    "A list of subscriptions names one that was deleted.",
)
class _DeletedSubscriptionListed(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.ever: list[str] = []

    def subscribe(self, topic: Queue, subscription: Queue) -> None:
        super().subscribe(topic, subscription)
        self.ever.append(subscription.name)

    def subscription_names(self, topic: Queue) -> list[str]:
        above = f"{topic.name}/subscriptions/"
        return sorted({each.removeprefix(above) for each in self.ever if each.startswith(above)})


@faulty(
    "subscription-updated-in-one-partition",
    "MGMT-17",
    "An update of a subscription's locks misses the last partition.",
)
class _SubscriptionUpdatedInPart(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.former: dict[str, int] = {}

    def put_into_force(self, queue: Queue, asked: c.UpdateQueue) -> None:
        if queue.topic is not None:
            self.former.setdefault(queue.name, queue.settings.lock_duration)
        super().put_into_force(queue, asked)

    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        missed = queue.name in self.former and held.partition == queue.partitions - 1
        if not missed:
            return super().lock(queue, held, session_id)
        updated = queue.settings
        queue.settings = attrs.evolve(updated, lock_duration=self.former[queue.name])
        lock = super().lock(queue, held, session_id)
        queue.settings = updated
        return lock


@faulty(
    "topic-is-never-gone",
    "MGMT-19",
    "A topic whose deletion failed once in an outage can be deleted no more.",
)
class _TopicIsNeverGone(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.kept: set[str] = set()

    def refuse_deletion(self, queue: Queue) -> Outcome:
        if queue.subscriptions is not None:
            self.kept.add(queue.name)
        return super().refuse_deletion(queue)

    def remove(self, queue: Queue) -> Outcome:
        return self.refuse_deletion(queue) if queue.name in self.kept else super().remove(queue)


@faulty(
    "subscription-counts-all",
    "MGMT-20",
    "What is counted of a subscription is what all subscriptions of its topic hold.",
)
class _SubscriptionCountsAll(SeededBus):
    def counted(self, queue: Queue) -> int:
        several = [queue] if queue.topic is None else queue.topic.subscriptions or []
        return sum(super(_SubscriptionCountsAll, self).counted(each) for each in several)


@faulty("topic-limited-not-told", "MGMT-21", "A topic is told to be available in an outage.")
class _TopicLimitedNotTold(SeededBus):
    def described_topic(self, topic: Queue) -> TopicDescription:
        told = super().described_topic(topic)
        return attrs.evolve(told, availability=Availability.AVAILABLE)


@faulty("topic-limited-for-good", "MGMT-22", "A topic is told to be limited once it had an outage.")
class _TopicLimitedForGood(SeededBus):
    def described_topic(self, topic: Queue) -> TopicDescription:
        told = super().described_topic(topic)
        if topic.name in self.dark:
            return attrs.evolve(told, availability=Availability.LIMITED)
        return told


FAULTS: Final = faulty.all()
