"""Mutants of MGMT, SIZE and PREM: requests that create, change or describe topics."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.state import Entity, QueuedMessage
from busproof.model.topics import Topics
from busproof.model.values import EntityKind, EntitySettings, InTransit
from busproof.mutants.entities import is_subscription, is_topic, siblings
from busproof.mutants.management.management import (
    AT_ONCE,
    LAST,
    ChangesFixed,
    RememberDeleted,
    empty,
    name_again,
)
from busproof.mutants.management.management_updates import (
    KeepSettings,
    LockAsBefore,
    MissLast,
    RefuseForGood,
    before_update,
    inherit_ids,
    inherit_messages,
)
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.runs import PARTITIONS, Run, create, down, receive, send, up, wait
from busproof.mutants.wrappers import afterwards, asks, instead, refuses, tells, where

TOPIC: Final = "q"
UPDATE: Final = "management.apply_update"
Names = tuple[str, ...]


def change(**changes: Any) -> v.UpdateTopic:
    """Return an update of the topic."""
    return v.UpdateTopic(topic=TOPIC, **changes)


ONE: Final = v.subscription_path(TOPIC, "one")
TWO: Final = v.subscription_path(TOPIC, "two")
CREATE: Final = v.CreateTopic(topic=TOPIC)
DETECTING: Final = v.CreateTopic(topic=TOPIC, duplicate_detection=True)
SUBSCRIBE: Final = v.CreateSubscription(topic=TOPIC, subscription="one")
SECOND: Final = v.CreateSubscription(topic=TOPIC, subscription="two")
WITH_ONE: Final[Run] = (CREATE, SUBSCRIBE)
WITH_TWO: Final[Run] = (*WITH_ONE, SECOND)
ONE_EACH: Final[Run] = (*WITH_ONE, *(send(f"m{number}") for number in range(PARTITIONS)))
GET: Final = v.GetTopic(topic=TOPIC)
GET_ONE: Final = v.GetQueue(queue=ONE)
GET_TWO: Final = v.GetQueue(queue=TWO)
DELETE: Final = v.DeleteTopic(topic=TOPIC)
DELETE_ONE: Final = v.DeleteQueue(queue=ONE)
LIST: Final = v.ListSubscriptions(topic=TOPIC)
TAKE: Final = receive(queue=ONE)
SOON: Final = 5 * v.MICROSECONDS
SHORTER: Final = v.UpdateQueue(queue=ONE, lock_duration=SOON)
SESSIONS: Final[Run] = (*WITH_ONE, v.UpdateQueue(queue=ONE, requires_session=True), GET_ONE)
REGULAR_AGAIN: Final[Run] = (CREATE, DELETE, v.CreateTopic(topic=TOPIC, partitioned=False), GET)
UNLIKE: Final[Run] = (*WITH_ONE, attrs.evolve(SECOND, lock_duration=SOON), GET_TWO)
SHORTENED: Final[Run] = (*WITH_ONE, send("m1"), SHORTER, TAKE)
DYING: Final[Run] = (*WITH_ONE, change(time_to_live=SOON), send("m1"), wait(6), TAKE)
COPY_AGAIN: Final[Run] = (
    *(DETECTING, send("m1", message_id="x"), DELETE, DETECTING),
    *(SUBSCRIBE, send("m2", message_id="x"), TAKE),
)
CREATED_AGAIN: Final[Run] = (*WITH_ONE, send("m1"), DELETE_ONE, SUBSCRIBE, TAKE)
UPDATED: Final[Run] = (*ONE_EACH, SHORTER, *(TAKE,) * PARTITIONS)
RECOVERED: Final[Run] = (CREATE, down(LAST), up(LAST), wait(1), GET)


@mutant("MGMT-04")
@run(CREATE, change(partitioned=False), GET)
class TopicUpdateChangesPartitioning(ChangesFixed):
    """An update changes whether a topic is partitioned."""

    fixed = "partitioned"
    apply_update = where(is_topic)


@mutant("MGMT-13", SESSIONS)
class SubscriptionUpdateChangesSessions(ChangesFixed):
    """An update changes whether a subscription requires sessions."""

    fixed = "requires_session"
    apply_update = where(is_subscription)


@mutant("MGMT-14")
@run(CREATE, change(duplicate_detection=True), GET)
class TopicUpdateChangesDetection(ChangesFixed):
    """An update changes whether a topic detects duplicates."""

    fixed = "duplicate_detection"
    apply_update = where(is_topic)


@mutant("MGMT-05", REGULAR_AGAIN, also=(RememberDeleted,))
class TopicMadeAgainAsBefore(Topics):
    """A topic that is created again is partitioned if the deleted topic of its name was."""

    @asks
    def create_topic(self, command: v.CreateTopic) -> v.CreateTopic:
        before = memory(self.rules.namespace, dict[str, Entity]).get(command.topic)
        if before is not None and is_topic(before):
            command = attrs.evolve(command, partitioned=before.settings.partitioned)
        return command


@mutant("MGMT-09", (CREATE, CREATE))
class SecondTopicReplaces(Management):
    """Creating an existing topic again succeeds, and leaves it empty."""

    def check_name(self, path: str) -> None:
        name_again(self.rules.namespace, path, EntityKind.TOPIC)


@mutant("MGMT-09", (*WITH_ONE, send("m1"), SUBSCRIBE, TAKE))
class SecondSubscriptionEmpties(Topics):
    """Creating an existing subscription again is refused, but removes its messages."""

    def create_subscription(self, command: v.CreateSubscription, connection: str) -> Answer:
        known = self.namespace.entities.get(
            v.subscription_path(command.topic, command.subscription)
        )
        if known is None:
            return super().create_subscription(command, connection)
        empty(self.rules.namespace, known)
        return Answer(v.Refused(error=v.Error.ALREADY_EXISTS), rules=("TOPIC-21",))


@mutant("MGMT-10", (DELETE,))
class NoTopicIsDeleted(Topics):
    """Deleting a topic that does not exist succeeds."""

    @instead
    def delete_topic(self, command: v.DeleteTopic) -> Answer | None:
        return Answer(DONE) if command.topic not in self.namespace.entities else None


@mutant("MGMT-10", (LIST,))
class NoSubscriptionsOfNoTopic(Topics):
    """Listing the subscriptions of a missing topic gives an empty list instead of a refusal."""

    @instead
    def list_subscriptions(self, command: v.ListSubscriptions) -> Answer | None:
        return Answer(v.Listed()) if command.topic not in self.namespace.entities else None


@mutant("MGMT-11")
@run(attrs.evolve(DETECTING, duplicate_window=6 * SOON), GET)
class TopicWindowNotTold(Topics):
    """A topic is described with the default duplicate window."""

    @tells("description")
    def get_topic(self, usual: v.TopicDescription) -> v.TopicDescription:
        return attrs.evolve(usual, duplicate_window=EntitySettings().duplicate_window)


@mutant("MGMT-11", UNLIKE)
class SubscriptionsToldAlike(Management):
    """A subscription is described with the settings of its topic's first subscription."""

    @tells("description")
    def get_queue(self, usual: v.QueueDescription, command: v.GetQueue) -> v.QueueDescription:
        entity = self.namespace.entities[command.queue]
        if not is_subscription(entity):
            return usual
        first = siblings(entity)[0].settings
        return attrs.evolve(
            usual, requires_session=first.requires_session, lock_duration=first.lock_duration
        )


@mutant("MGMT-12", SHORTENED, also=(KeepSettings,))
class SubscriptionUpdateIgnored(LockAsBefore):
    """An update of a subscription is reported, but not in force."""

    def lock(self, queued: QueuedMessage, action: Action) -> None:
        if is_subscription(queued.entity):
            super().lock(queued, action)
        else:
            Locks.lock(self, queued, action)


@mutant("MGMT-12", (*WITH_TWO, SHORTER, GET_TWO))
class SubscriptionUpdateIsOfAll(Management):
    """An update of one subscription also changes the others of its topic."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        for subscription in siblings(entity):
            super().apply_update(subscription, command)


@mutant("MGMT-12", DYING, also=(KeepSettings,))
class TopicLifeAsCreated(Topics):
    """An update of a topic's time to live is reported, but not in force."""

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        with before_update(self.rules.namespace, topic):
            super().distribute(topic, message, partition, transit)


@mutant("MGMT-15", COPY_AGAIN, also=(RememberDeleted,))
class TopicMadeAgainRemembers(Management):
    """A topic that is created again remembers MessageIds of the deleted one."""

    @afterwards
    def add(self, entity: Entity) -> None:
        if is_topic(entity):
            inherit_ids(self.rules.namespace, entity)


@mutant("MGMT-15", CREATED_AGAIN, also=(RememberDeleted,))
class SubscriptionMadeAgainIsFull(Management):
    """A subscription that is created again has the messages of the deleted one."""

    @afterwards
    def add(self, entity: Entity) -> None:
        if is_subscription(entity):
            inherit_messages(self.rules.namespace, entity)


@mutant("MGMT-16", (create(queue="other"), v.ListTopics()))
class TopicsListedWithQueues(Topics):
    """A list of topics includes the queues."""

    def list_topics(self, command: v.ListTopics, connection: str) -> Answer:
        kinds = (EntityKind.TOPIC, EntityKind.QUEUE)
        names = sorted(
            path for path, entity in self.namespace.entities.items() if entity.kind in kinds
        )
        return Answer(v.Listed(names=tuple(names)))


@mutant("MGMT-16", also=(RememberDeleted,))
@run(*WITH_ONE, DELETE_ONE, LIST)
class DeletedSubscriptionListed(Topics):
    """A list of subscriptions includes a deleted one."""

    @tells("names")
    def list_subscriptions(self, usual: Names, command: v.ListSubscriptions) -> Names:
        above = v.subscription_path(command.topic, "")
        deleted = memory(self.rules.namespace, dict[str, Entity])
        names = {path.removeprefix(above) for path in deleted if path.startswith(above)}
        return tuple(sorted({*names, *usual}))


@mutant("MGMT-17", UPDATED, also=(LockAsBefore,))
class SubscriptionUpdatedInOnePartition(MissLast):
    """An update of a subscription's lock duration misses the last partition."""

    apply_update = where(is_subscription)


@mutant("MGMT-19")
@run(CREATE, down(LAST), DELETE, up(LAST), DELETE)
class TopicIsNeverGone(RefuseForGood):
    """A topic whose deletion failed once in an outage can never be deleted."""

    delete = where(is_topic)


@mutant("MGMT-20", (*WITH_TWO, send("m1"), GET_ONE), readings=AT_ONCE)
class SubscriptionCountsAll(Management):
    """A subscription's message count includes all subscriptions of its topic."""

    def count(self, entity: Entity) -> int:
        return sum(Management.count(self, other) for other in siblings(entity))


@mutant("MGMT-21", readings=AT_ONCE)
@run(CREATE, down(LAST), wait(1), GET)
class TopicLimitedNotTold(Topics):
    """A topic is described as available in an outage."""

    @tells("description")
    def get_topic(self, usual: v.TopicDescription) -> v.TopicDescription:
        return attrs.evolve(usual, availability=v.Availability.AVAILABLE)


@mutant("MGMT-22", RECOVERED, readings=AT_ONCE)
class TopicLimitedForGood(Topics):
    """After an outage a topic's availability is reported as limited forever."""

    @tells("description")
    def get_topic(self, usual: v.TopicDescription, command: v.GetTopic) -> v.TopicDescription:
        limited = command.topic in self.namespace.down
        return attrs.evolve(usual, availability=v.Availability.LIMITED) if limited else usual


DEFAULT: Final = v.CreateTopic(topic=TOPIC)
LARGEST: Final = v.CreateTopic(topic=TOPIC, max_size=5)
OTHER: Final = v.CreateTopic(topic=TOPIC, max_size=6)
REGULAR: Final = v.CreateTopic(topic=TOPIC, partitioned=False, max_size=80)
UNSAID: Final = v.CreateTopic(topic=TOPIC, partitioned=None)
FIRST: Final = v.CreateTopic(topic=TOPIC, api_version="2013-10")
LATER: Final = v.CreateTopic(topic=TOPIC, api_version="2014-01")


@mutant("SIZE-01", (LARGEST, GET))
class SizeOfTopicIgnored(Topics):
    """Every topic has 1 GB, whatever size it was created with."""

    @asks
    def create_topic(self, command: v.CreateTopic) -> v.CreateTopic:
        return attrs.evolve(command, max_size=None)


@mutant("SIZE-02", (OTHER, GET))
class TopicOfAnySize(Topics):
    """A topic can have any size."""

    def create_topic(self, command: v.CreateTopic, connection: str) -> Answer:
        unsized = attrs.evolve(command, max_size=None)
        answer = super().create_topic(unsized, connection)
        topic = self.namespace.entities[command.topic]
        size = command.max_size or topic.settings.max_size
        topic.settings = attrs.evolve(topic.settings, max_size=size)
        return answer


@mutant("SIZE-03", (DEFAULT, GET))
class TopicIsLargeByDefault(Topics):
    """A topic that is created without a size has 5 GB."""

    @asks
    def create_topic(self, command: v.CreateTopic) -> v.CreateTopic:
        return attrs.evolve(command, max_size=command.max_size or 5)


@mutant("SIZE-04", (DEFAULT, GET))
class OnePartitionOfTopicTold(Topics):
    """A partitioned topic is described with the size of one partition."""

    @tells("description")
    def get_topic(self, usual: v.TopicDescription, command: v.GetTopic) -> v.TopicDescription:
        return attrs.evolve(
            usual, max_size=self.namespace.entities[command.topic].settings.max_size
        )


@mutant("PREM-07", (REGULAR,))
class TopicOfPremiumIsSmall(Topics):
    """In Premium a topic can only have the sizes of Standard."""

    @refuses("PREM-07")
    def create_topic(self, command: v.CreateTopic) -> bool:
        return (command.max_size or 1) > 5


@mutant("MGMT-03", (UNSAID, GET))
class TopicIsPartitionedUnasked(Topics):
    """A topic is partitioned if its creation leaves the option out."""

    @asks
    def create_topic(self, command: v.CreateTopic) -> v.CreateTopic:
        return attrs.evolve(command, partitioned=command.partitioned is not False)


@mutant("MGMT-06", (FIRST,))
class FirstVersionHasNoTopics(Topics):
    """A request with api-version 2013-10 cannot create a partitioned topic."""

    @refuses("MGMT-06")
    def create_topic(self, command: v.CreateTopic) -> bool:
        return bool(command.partitioned) and command.api_version == "2013-10"


@mutant("MGMT-07", (LATER,))
class LaterVersionHasNoTopics(Topics):
    """Only a request with api-version 2013-10 can create a partitioned topic."""

    @refuses("MGMT-07")
    def create_topic(self, command: v.CreateTopic) -> bool:
        return bool(command.partitioned) and command.api_version not in (None, "2013-10")
