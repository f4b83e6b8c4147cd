"""Mutants of MGMT about topics and subscriptions: created, changed, described, listed, deleted."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.model.values import EntityKind, EntitySettings
from busproof.mutants.management.management import (
    REMEMBERING,
    change_fixed,
    described,
    empty,
    name_again,
)
from busproof.mutants.management.management_descriptions import AT_ONCE
from busproof.mutants.management.management_updates import (
    LAST,
    before_update,
    inherit_ids,
    inherit_messages,
    keep_settings,
    lock_as_before,
    miss_last,
    namesake,
    refuse_for_good,
)
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import PARTITIONS, Run, create, down, receive, send, up, wait
from busproof.mutants.wrappers import afterwards, asks, instead

TOPIC: Final = "q"


def change(**changes: Any) -> v.UpdateTopic:
    """An update of the topic."""
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


def topic_described(namespace: Namespace, command: v.GetTopic, **changes: Any) -> Answer:
    """Return the description of a topic with some values changed."""
    outcome = RULES.topics.get_topic(namespace, command, "").outcome
    if not isinstance(outcome, v.TopicDescribed):
        raise AssertionError("a description that is not refused is one")  # noqa: TRY004
    description = attrs.evolve(outcome.description, **changes)
    return Answer(v.TopicDescribed(description=description), rules=("MGMT-11",))


def changes_fixed(
    kind: EntityKind, namespace: Namespace, entity: Entity, command: v.UpdateQueue, name: str
) -> None:
    """Put an update into force, which may change something fixed of an entity of this kind."""
    if entity.kind is kind:
        change_fixed(namespace, entity, command, name)
    else:
        RULES.management.apply_update(namespace, entity, command)


@mutant("MGMT-04", "management.apply_update", (CREATE, change(partitioned=False), GET))
def topic_update_changes_partitioning(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update changes whether a topic is partitioned."""
    changes_fixed(EntityKind.TOPIC, namespace, entity, command, "partitioned")


@mutant("MGMT-13", "management.apply_update", SESSIONS)
def subscription_update_changes_sessions(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update changes whether a subscription requires sessions."""
    changes_fixed(EntityKind.SUBSCRIPTION, namespace, entity, command, "requires_session")


@mutant("MGMT-14", "management.apply_update", (CREATE, change(duplicate_detection=True), GET))
def topic_update_changes_detection(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    """An update changes whether a topic detects duplicates."""
    changes_fixed(EntityKind.TOPIC, namespace, entity, command, "duplicate_detection")


@mutant("MGMT-05", "topics.create_topic", REGULAR_AGAIN, asks, also=REMEMBERING)
def topic_made_again_as_before(namespace: Namespace, command: v.CreateTopic) -> v.CreateTopic:
    """A topic that is created again has the partitioning option of its deleted namesake."""
    before = memory(namespace, dict[str, Entity]).get(command.topic)
    if before is not None and before.kind is EntityKind.TOPIC:
        command = attrs.evolve(command, partitioned=before.settings.partitioned)
    return command


@mutant("MGMT-09", "management.check_name", (CREATE, CREATE))
def second_topic_replaces(namespace: Namespace, path: str) -> None:
    """A topic that is created once more starts empty."""
    name_again(namespace, path, EntityKind.TOPIC)


@mutant("MGMT-09", "topics.create_subscription", (*WITH_ONE, send("m1"), SUBSCRIBE, TAKE))
def second_subscription_empties(
    namespace: Namespace, command: v.CreateSubscription, connection: str
) -> Answer:
    """Creating a subscription once more is refused, but empties it."""
    known = namespace.entities.get(v.subscription_path(command.topic, command.subscription))
    if known is None:
        return RULES.topics.create_subscription(namespace, command, connection)
    empty(namespace, known)
    return Answer(v.Refused(error=v.Error.ALREADY_EXISTS), rules=("TOPIC-21",))


@mutant("MGMT-10", "topics.delete_topic", (DELETE,), instead)
def no_topic_is_deleted(namespace: Namespace, command: v.DeleteTopic) -> Answer | None:
    """Deleting a topic that does not exist succeeds."""
    return Answer(DONE) if command.topic not in namespace.entities else None


@mutant("MGMT-10", "topics.list_subscriptions", (LIST,), instead)
def no_subscriptions_of_no_topic(
    namespace: Namespace, command: v.ListSubscriptions
) -> Answer | None:
    """The list of subscriptions of a missing topic is empty instead of refused."""
    return Answer(v.Listed()) if command.topic not in namespace.entities else None


@mutant("MGMT-11", "topics.get_topic", (attrs.evolve(DETECTING, duplicate_window=6 * SOON), GET))
def topic_window_not_told(namespace: Namespace, command: v.GetTopic) -> Answer:
    """A topic is described with the default window."""
    window = EntitySettings().duplicate_window
    return topic_described(namespace, command, duplicate_window=window)


@mutant("MGMT-11", "management.get_queue", UNLIKE)
def subscriptions_told_alike(namespace: Namespace, command: v.GetQueue) -> Answer:
    """A subscription is described with the settings of its topic's first one."""

    def of_first(_: v.QueueDescription) -> dict[str, Any]:
        siblings = namespace.entities[command.queue].base.subscriptions
        settings = [subscription.settings for subscription in siblings or ()][:1]
        return {
            name: getattr(first, name)
            for first in settings
            for name in ("requires_session", "lock_duration")
        }

    return described(namespace, command, of_first)


@mutant("MGMT-12", "locks.lock", SHORTENED, also={"management.apply_update": keep_settings})
def subscription_update_ignored(namespace: Namespace, queued: QueuedMessage, *rest: Any) -> None:
    """An update of a subscription is reported, but never in force."""
    of_subscription = queued.entity.kind is EntityKind.SUBSCRIPTION
    (lock_as_before if of_subscription else RULES.locks.lock)(namespace, queued, *rest)


@mutant("MGMT-12", "management.apply_update", (*WITH_TWO, SHORTER, GET_TWO))
def subscription_update_is_of_all(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update of one subscription changes the others of its topic as well."""
    siblings = entity.base.subscriptions if entity.kind is EntityKind.SUBSCRIPTION else None
    for subscription in siblings or (entity,):
        RULES.management.apply_update(namespace, subscription, *rest)


@mutant("MGMT-12", "topics.distribute", DYING, also={"management.apply_update": keep_settings})
def topic_life_as_created(namespace: Namespace, topic: Entity, *rest: Any) -> None:
    """An update of a topic's time to live is reported, but never in force."""
    with before_update(namespace, topic):
        RULES.topics.distribute(namespace, topic, *rest)


@mutant("MGMT-15", "management.add", COPY_AGAIN, afterwards, also=REMEMBERING)
def topic_made_again_remembers(namespace: Namespace, entity: Entity) -> None:
    """A topic that is created again remembers the MessageIds of its deleted namesake."""
    before = namesake(namespace, entity)
    if before is not None and entity.kind is EntityKind.TOPIC:
        inherit_ids(namespace, entity, before)


@mutant("MGMT-15", "management.add", CREATED_AGAIN, afterwards, also=REMEMBERING)
def subscription_made_again_is_full(namespace: Namespace, entity: Entity) -> None:
    """A subscription that is created again has the messages of its deleted namesake."""
    before = namesake(namespace, entity)
    if before is not None and entity.kind is EntityKind.SUBSCRIPTION:
        inherit_messages(namespace, entity, before)


@mutant("MGMT-16", "topics.list_topics", (create(queue="other"), v.ListTopics()))
def topics_listed_with_queues(namespace: Namespace) -> Answer:
    """A list of topics names the queues as well."""
    kinds = (EntityKind.TOPIC, EntityKind.QUEUE)
    names = sorted(path for path, entity in namespace.entities.items() if entity.kind in kinds)
    return Answer(v.Listed(names=tuple(names)))


@mutant("MGMT-16", "topics.list_subscriptions", (*WITH_ONE, DELETE_ONE, LIST), also=REMEMBERING)
def deleted_subscription_listed(
    namespace: Namespace, command: v.ListSubscriptions, connection: str
) -> Answer:
    """A list of subscriptions names one that was deleted."""
    outcome = RULES.topics.list_subscriptions(namespace, command, connection).outcome
    above, deleted = v.subscription_path(command.topic, ""), memory(namespace, dict[str, Entity])
    names = {path.removeprefix(above) for path in deleted if path.startswith(above)}
    there = outcome.names if isinstance(outcome, v.Listed) else ()
    return Answer(v.Listed(names=tuple(sorted({*names, *there}))))


@mutant("MGMT-17", "management.apply_update", UPDATED, also={"locks.lock": lock_as_before})
def subscription_updated_in_one_partition(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update of a subscription's locks misses the last partition."""
    missed = entity.kind is EntityKind.SUBSCRIPTION
    (miss_last if missed else RULES.management.apply_update)(namespace, entity, *rest)


@mutant("MGMT-19", "management.delete", (CREATE, down(LAST), DELETE, up(LAST), DELETE))
def topic_is_never_gone(namespace: Namespace, entity: Entity) -> None:
    """A topic whose deletion failed once in an outage can never be deleted."""
    sticks = entity.kind is EntityKind.TOPIC
    (refuse_for_good if sticks else RULES.management.delete)(namespace, entity)


@mutant("MGMT-20", "management.count", (*WITH_TWO, send("m1"), GET_ONE), readings=AT_ONCE)
def subscription_counts_all(namespace: Namespace, entity: Entity) -> int:
    """A subscription's count includes all subscriptions of its topic."""
    siblings = entity.base.subscriptions if entity.kind is EntityKind.SUBSCRIPTION else None
    return sum(
        RULES.management.count(namespace, subscription) for subscription in siblings or (entity,)
    )


@mutant("MGMT-21", "topics.get_topic", (CREATE, down(LAST), wait(1), GET), readings=AT_ONCE)
def topic_limited_not_told(namespace: Namespace, command: v.GetTopic) -> Answer:
    """A topic is described as available in an outage."""
    return topic_described(namespace, command, availability=v.Availability.AVAILABLE)


@mutant("MGMT-22", "topics.get_topic", RECOVERED, readings=AT_ONCE)
def topic_limited_for_good(namespace: Namespace, command: v.GetTopic, connection: str) -> Answer:
    """A topic is described as limited forever after an outage."""
    if command.topic not in namespace.down:
        return RULES.topics.get_topic(namespace, command, connection)
    return topic_described(namespace, command, availability=v.Availability.LIMITED)
