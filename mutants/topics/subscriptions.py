"""Mutants of disabled, redirected and deleted topics and subscriptions."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace
from busproof.model.values import EntityKind, Refusal
from busproof.mutants.management.management import REMEMBERING
from busproof.mutants.management.management_descriptions import AT_ONCE
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import Run, create, receive, send
from busproof.mutants.topics import topic_management as t
from busproof.mutants.topics.topics import is_subscription, is_topic, with_subscriptions
from busproof.mutants.wrappers import afterwards, alters

SENT: Final = send("m1")
TAKE_TWO: Final = receive(queue=t.TWO)
SHUT: Final = t.change(status=v.EntityStatus.SEND_DISABLED)
CLOSE_ONE: Final = v.UpdateQueue(queue=t.ONE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN_ONE: Final = v.UpdateQueue(queue=t.ONE, status=v.EntityStatus.ACTIVE)
FORWARD_ONE: Final = v.UpdateQueue(queue=t.ONE, forward_to="end")
REDIRECTED: Final[Run] = (create(queue="end"), *t.WITH_ONE, FORWARD_ONE, SENT, t.TAKE)
CREATED_AGAIN: Final[Run] = (*t.WITH_ONE, t.DELETE, t.CREATE, t.LIST)
COUNTED: Final[Run] = (*t.WITH_ONE, t.DELETE_ONE, t.GET)


@mutant("MGMT-26", "topics.sendable", (*t.WITH_ONE, SHUT, SENT))
def disabled_topic_takes(namespace: Namespace, path: str) -> Entity:
    """A topic that is disabled accepts messages."""
    entity = namespace.rules.topics.addressed(namespace, path)
    return entity if is_topic(entity) else RULES.topics.sendable(namespace, path)


@mutant("MGMT-27", "topics.receivable", (*t.WITH_ONE, SENT, CLOSE_ONE, t.TAKE))
def disabled_subscription_gives(namespace: Namespace, path: str) -> Entity:
    """A subscription that is disabled gives messages."""
    entity = namespace.rules.topics.readable(namespace, path)
    return entity if is_subscription(entity) else RULES.topics.receivable(namespace, path)


@mutant("FWD-05", "management.apply_update", REDIRECTED)
def subscription_not_redirected(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """A subscription's update to forward is accepted and ignored."""
    before = entity.settings.forward_to
    RULES.management.apply_update(namespace, entity, *rest)
    if is_subscription(entity):
        entity.settings = attrs.evolve(entity.settings, forward_to=before)


@mutant("TOPIC-22", "management.delete", (*t.WITH_ONE, SENT, t.DELETE, t.TAKE))
def topic_leaves_its_subscriptions(namespace: Namespace, entity: Entity) -> None:
    """The subscriptions of a deleted topic stay, with their messages."""
    if not is_topic(entity):
        RULES.management.delete(namespace, entity)
        return
    with with_subscriptions(namespace, entity, []):
        RULES.management.delete(namespace, entity)


@mutant("TOPIC-22", "topics.create_topic", CREATED_AGAIN, afterwards, also=REMEMBERING)
def topic_made_again_has_its_subscriptions(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> None:
    """A topic that is created again has the subscriptions of its deleted namesake, empty."""
    before = memory(namespace, dict[str, Entity]).get(command.topic)
    for subscription in (before.subscriptions or ()) if before is not None else ():
        name = subscription.path.removeprefix(v.subscription_path(command.topic, ""))
        again = v.CreateSubscription(topic=command.topic, subscription=name)
        namespace.rules.topics.create_subscription(namespace, again, connection)


@mutant("TOPIC-23", "management.delete", (*t.WITH_TWO, t.DELETE_ONE, SENT, TAKE_TWO))
def others_are_parted(namespace: Namespace, entity: Entity) -> None:
    """After a subscription's deletion, later-created ones get no more copies."""
    before = entity.base.subscriptions or ()
    RULES.management.delete(namespace, entity)
    if is_subscription(entity):
        entity.base.subscriptions = before[: before.index(entity)]


@mutant("TOPIC-23", "management.delete", (*t.WITH_TWO, SENT, t.DELETE_ONE, TAKE_TWO), afterwards)
def copies_go_together(namespace: Namespace, entity: Entity) -> None:
    """A deleted subscription's messages disappear from the others as well."""
    gone = {id(queued.message) for queued in entity.messages.values()}
    others = (entity.base.subscriptions or ()) if is_subscription(entity) else ()
    for queued in [queued for other in others for queued in other.messages.values()]:
        if id(queued.message) in gone:
            namespace.rules.messages.remove(namespace, queued)


@mutant("TOPIC-23", "management.delete", (*t.WITH_ONE, t.DELETE_ONE, SENT), afterwards)
def last_subscription_closes_topic(entity: Entity) -> None:
    """A topic whose last subscription was deleted takes no messages any more."""
    if is_subscription(entity) and not entity.base.subscriptions:
        entity.base.down = frozenset(range(len(entity.partitions)))


@mutant("TOPIC-24", "topics.get_topic", COUNTED, also=REMEMBERING, readings=AT_ONCE)
def deleted_subscriptions_counted(namespace: Namespace, command: v.GetTopic) -> Answer:
    """A topic counts its deleted subscriptions too."""
    ever = {**memory(namespace, dict[str, Entity]), **namespace.entities}
    above, kind = v.subscription_path(command.topic, ""), EntityKind.SUBSCRIPTION
    had = [path for path, entity in ever.items() if path.startswith(above) and entity.kind is kind]
    return t.topic_described(namespace, command, subscription_count=len(had))


@mutant("TOPIC-25", "topics.distribute", (*t.WITH_ONE, CLOSE_ONE, SENT, OPEN_ONE, t.TAKE))
def closed_subscription_misses(namespace: Namespace, topic: Entity, *rest: Any) -> None:
    """A subscription that is disabled for receiving gets no copies meanwhile."""
    open_ones = [
        subscription for subscription in topic.subscriptions or () if subscription.status.gives
    ]
    with with_subscriptions(namespace, topic, open_ones):
        RULES.topics.distribute(namespace, topic, *rest)


@mutant("TOPIC-26", "topics.receivable", (*t.WITH_ONE, SENT, SHUT, t.TAKE), alters)
def disabled_topic_closes_its_subscriptions(usual: Entity) -> Entity:
    """The subscriptions of a topic that is disabled give nothing."""
    if is_subscription(usual) and not usual.base.status.takes:
        raise Refusal(v.Error.ENTITY_DISABLED, "TOPIC-26")
    return usual
