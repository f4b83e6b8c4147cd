"""Mutants of MGMT, SIZE and PREM: requests that create, change or describe topics."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind, EntitySettings
from busproof.mutants.entities import is_subscription, is_topic, siblings
from busproof.mutants.management.management import (
    AT_ONCE,
    LAST,
    changes_fixed,
    empty,
    name_again,
    remember_deleted,
)
from busproof.mutants.management.management_updates import (
    before_update,
    inherit_ids,
    inherit_messages,
    keep_settings,
    lock_as_before,
    miss_last,
    refuse_for_good,
)
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import PARTITIONS, Run, create, down, receive, send, up, wait
from busproof.mutants.wrappers import afterwards, asks, does, instead, refuses, tells

TOPIC: Final = "q"
UPDATE: Final = "management.apply_update"
Names = tuple[str, ...]
MISSING_LAST: Final = does(miss_last, is_subscription)


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


@mutant("MGMT-04", UPDATE, how=does(changes_fixed("partitioned"), is_topic))
@run(CREATE, change(partitioned=False), GET)
def topic_update_changes_partitioning() -> None:
    """An update changes whether a topic is partitioned."""


@mutant("MGMT-13", UPDATE, SESSIONS, does(changes_fixed("requires_session"), is_subscription))
def subscription_update_changes_sessions() -> None:
    """An update changes whether a subscription requires sessions."""


@mutant("MGMT-14", UPDATE, how=does(changes_fixed("duplicate_detection"), is_topic))
@run(CREATE, change(duplicate_detection=True), GET)
def topic_update_changes_detection() -> None:
    """An update changes whether a topic detects duplicates."""


@mutant("MGMT-05", "topics.create_topic", REGULAR_AGAIN, asks, also=remember_deleted)
def topic_made_again_as_before(namespace: Namespace, command: v.CreateTopic) -> v.CreateTopic:
    """A topic that is created again is partitioned if the deleted topic of its name was."""
    before = memory(namespace, dict[str, Entity]).get(command.topic)
    if before is not None and is_topic(before):
        command = attrs.evolve(command, partitioned=before.settings.partitioned)
    return command


@mutant("MGMT-09", "management.check_name", (CREATE, CREATE))
def second_topic_replaces(namespace: Namespace, path: str) -> None:
    """Creating an existing topic again succeeds, and leaves it empty."""
    name_again(namespace, path, EntityKind.TOPIC)


@mutant("MGMT-09", "topics.create_subscription", (*WITH_ONE, send("m1"), SUBSCRIBE, TAKE))
def second_subscription_empties(
    namespace: Namespace, command: v.CreateSubscription, connection: str
) -> Answer:
    """Creating an existing subscription again is refused, but removes its messages."""
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
    """Listing the subscriptions of a missing topic gives an empty list instead of a refusal."""
    return Answer(v.Listed()) if command.topic not in namespace.entities else None


@mutant("MGMT-11", "topics.get_topic", how=tells("description"))
@run(attrs.evolve(DETECTING, duplicate_window=6 * SOON), GET)
def topic_window_not_told(usual: v.TopicDescription) -> v.TopicDescription:
    """A topic is described with the default duplicate window."""
    return attrs.evolve(usual, duplicate_window=EntitySettings().duplicate_window)


@mutant("MGMT-11", "management.get_queue", UNLIKE, tells("description"))
def subscriptions_told_alike(
    usual: v.QueueDescription, namespace: Namespace, command: v.GetQueue
) -> v.QueueDescription:
    """A subscription is described with the settings of its topic's first subscription."""
    entity = namespace.entities[command.queue]
    if not is_subscription(entity):
        return usual
    first = siblings(entity)[0].settings
    return attrs.evolve(
        usual, requires_session=first.requires_session, lock_duration=first.lock_duration
    )


@mutant("MGMT-12", "locks.lock", SHORTENED, also={UPDATE: keep_settings})
def subscription_update_ignored(namespace: Namespace, queued: QueuedMessage, *rest: Any) -> None:
    """An update of a subscription is reported, but not in force."""
    lock = lock_as_before if is_subscription(queued.entity) else RULES.locks.lock
    lock(namespace, queued, *rest)


@mutant("MGMT-12", UPDATE, (*WITH_TWO, SHORTER, GET_TWO))
def subscription_update_is_of_all(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update of one subscription also changes the others of its topic."""
    for subscription in siblings(entity):
        RULES.management.apply_update(namespace, subscription, *rest)


@mutant("MGMT-12", "topics.distribute", DYING, also={UPDATE: keep_settings})
def topic_life_as_created(namespace: Namespace, topic: Entity, *rest: Any) -> None:
    """An update of a topic's time to live is reported, but not in force."""
    with before_update(namespace, topic):
        RULES.topics.distribute(namespace, topic, *rest)


@mutant("MGMT-15", "management.add", COPY_AGAIN, afterwards, also=remember_deleted)
def topic_made_again_remembers(namespace: Namespace, entity: Entity) -> None:
    """A topic that is created again remembers MessageIds of the deleted one."""
    if is_topic(entity):
        inherit_ids(namespace, entity)


@mutant("MGMT-15", "management.add", CREATED_AGAIN, afterwards, also=remember_deleted)
def subscription_made_again_is_full(namespace: Namespace, entity: Entity) -> None:
    """A subscription that is created again has the messages of the deleted one."""
    if is_subscription(entity):
        inherit_messages(namespace, entity)


@mutant("MGMT-16", "topics.list_topics", (create(queue="other"), v.ListTopics()))
def topics_listed_with_queues(namespace: Namespace) -> Answer:
    """A list of topics includes the queues."""
    kinds = (EntityKind.TOPIC, EntityKind.QUEUE)
    names = sorted(path for path, entity in namespace.entities.items() if entity.kind in kinds)
    return Answer(v.Listed(names=tuple(names)))


@mutant("MGMT-16", "topics.list_subscriptions", how=tells("names"), also=remember_deleted)
@run(*WITH_ONE, DELETE_ONE, LIST)
def deleted_subscription_listed(
    usual: Names, namespace: Namespace, command: v.ListSubscriptions
) -> Names:
    """A list of subscriptions includes a deleted one."""
    above, deleted = v.subscription_path(command.topic, ""), memory(namespace, dict[str, Entity])
    names = {path.removeprefix(above) for path in deleted if path.startswith(above)}
    return tuple(sorted({*names, *usual}))


@mutant("MGMT-17", UPDATE, UPDATED, MISSING_LAST, also={"locks.lock": lock_as_before})
def subscription_updated_in_one_partition() -> None:
    """An update of a subscription's lock duration misses the last partition."""


@mutant("MGMT-19", "management.delete", how=does(refuse_for_good, is_topic))
@run(CREATE, down(LAST), DELETE, up(LAST), DELETE)
def topic_is_never_gone() -> None:
    """A topic whose deletion failed once in an outage can never be deleted."""


@mutant("MGMT-20", "management.count", (*WITH_TWO, send("m1"), GET_ONE), readings=AT_ONCE)
def subscription_counts_all(namespace: Namespace, entity: Entity) -> int:
    """A subscription's message count includes all subscriptions of its topic."""
    return sum(RULES.management.count(namespace, other) for other in siblings(entity))


@mutant("MGMT-21", "topics.get_topic", how=tells("description"), readings=AT_ONCE)
@run(CREATE, down(LAST), wait(1), GET)
def topic_limited_not_told(usual: v.TopicDescription) -> v.TopicDescription:
    """A topic is described as available in an outage."""
    return attrs.evolve(usual, availability=v.Availability.AVAILABLE)


@mutant("MGMT-22", "topics.get_topic", RECOVERED, tells("description"), readings=AT_ONCE)
def topic_limited_for_good(
    usual: v.TopicDescription, namespace: Namespace, command: v.GetTopic
) -> v.TopicDescription:
    """After an outage a topic's availability is reported as limited forever."""
    limited = command.topic in namespace.down
    return attrs.evolve(usual, availability=v.Availability.LIMITED) if limited else usual


DEFAULT: Final = v.CreateTopic(topic=TOPIC)
LARGEST: Final = v.CreateTopic(topic=TOPIC, max_size=5)
OTHER: Final = v.CreateTopic(topic=TOPIC, max_size=6)
REGULAR: Final = v.CreateTopic(topic=TOPIC, partitioned=False, max_size=80)
UNSAID: Final = v.CreateTopic(topic=TOPIC, partitioned=None)
FIRST: Final = v.CreateTopic(topic=TOPIC, api_version="2013-10")
LATER: Final = v.CreateTopic(topic=TOPIC, api_version="2014-01")


@mutant("SIZE-01", "topics.create_topic", (LARGEST, GET), asks)
def size_of_topic_ignored(command: v.CreateTopic) -> v.CreateTopic:
    """Every topic has 1 GB, whatever size it was created with."""
    return attrs.evolve(command, max_size=None)


@mutant("SIZE-02", "topics.create_topic", (OTHER, GET))
def topic_of_any_size(namespace: Namespace, command: v.CreateTopic, connection: str) -> Answer:
    """A topic can have any size."""
    unsized = attrs.evolve(command, max_size=None)
    answer = RULES.topics.create_topic(namespace, unsized, connection)
    topic = namespace.entities[command.topic]
    size = command.max_size or topic.settings.max_size
    topic.settings = attrs.evolve(topic.settings, max_size=size)
    return answer


@mutant("SIZE-03", "topics.create_topic", (DEFAULT, GET), asks)
def topic_is_large_by_default(command: v.CreateTopic) -> v.CreateTopic:
    """A topic that is created without a size has 5 GB."""
    return attrs.evolve(command, max_size=command.max_size or 5)


@mutant("SIZE-04", "topics.get_topic", (DEFAULT, GET), tells("description"))
def one_partition_of_topic_told(
    usual: v.TopicDescription, namespace: Namespace, command: v.GetTopic
) -> v.TopicDescription:
    """A partitioned topic is described with the size of one partition."""
    return attrs.evolve(usual, max_size=namespace.entities[command.topic].settings.max_size)


@mutant("PREM-07", "topics.create_topic", (REGULAR,), refuses("PREM-07"))
def topic_of_premium_is_small(command: v.CreateTopic) -> bool:
    """In Premium a topic can only have the sizes of Standard."""
    return (command.max_size or 1) > 5


@mutant("MGMT-03", "topics.create_topic", (UNSAID, GET), asks)
def topic_is_partitioned_unasked(command: v.CreateTopic) -> v.CreateTopic:
    """A topic is partitioned if its creation leaves the option out."""
    return attrs.evolve(command, partitioned=command.partitioned is not False)


@mutant("MGMT-06", "topics.create_topic", (FIRST,), refuses("MGMT-06"))
def first_version_has_no_topics(command: v.CreateTopic) -> bool:
    """A request with api-version 2013-10 cannot create a partitioned topic."""
    return bool(command.partitioned) and command.api_version == "2013-10"


@mutant("MGMT-07", "topics.create_topic", (LATER,), refuses("MGMT-07"))
def later_version_has_no_topics(command: v.CreateTopic) -> bool:
    """Only a request with api-version 2013-10 can create a partitioned topic."""
    return bool(command.partitioned) and command.api_version not in (None, "2013-10")
