"""Mutants of TOPIC: receives from subscriptions, and topics that are disabled or deleted."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, Transaction
from busproof.model.values import EntityKind, Key, Refusal
from busproof.mutants import keys, messages
from busproof.mutants.entities import is_subscription, is_topic
from busproof.mutants.management.management import AT_ONCE, remember_deleted
from busproof.mutants.mutant import memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import Run, abandon, complete, create, over, receive, send, wait
from busproof.mutants.topics.topic_management import (
    CREATE,
    DELETE,
    DELETE_ONE,
    DETECTING,
    GET,
    LIST,
    ONE,
    SECOND,
    SUBSCRIBE,
    TAKE,
    WITH_ONE,
    WITH_TWO,
    change,
)
from busproof.mutants.topics.topics import (
    COMPLETED,
    DISTRIBUTE,
    TAKE_TWO,
    TAKEN,
    subscriptions_of,
    with_subscriptions,
)
from busproof.mutants.transactions import BEGIN, COMMIT, visible_before_commit
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    does,
    instead,
    only_where,
    tells,
)

BUFFERED: Final[Run] = (BEGIN, send("m1", within="t", partition_key="a"))
COMMITTED: Final[Run] = (*WITH_TWO, *BUFFERED, COMMIT, TAKE_TWO)
COPIES: Final[Run] = (DETECTING, SUBSCRIBE, SECOND, send("m1", message_id="x"))
COPY: Final = send("m2", message_id="x")
SESSIONS: Final[Run] = (CREATE, attrs.evolve(SUBSCRIBE, requires_session=True), SECOND)
IN_SESSION: Final[Run] = (*SESSIONS, send("m1", session_id="s"))
HOLD: Final = v.AcceptSession(queue=ONE, session_id="s")
READ: Final = receive("s", queue=ONE)
READ_FIRST: Final[Run] = (*IN_SESSION, send("m2", session_id="s"), HOLD, READ)
ABANDONED: Final[Run] = (*READ_FIRST, abandon(0, queue=ONE), READ)
TWO_KEYS: Final[Run] = (*WITH_ONE, *BUFFERED, send("m2", within="t", partition_key="b"))


@mutant("TOPIC-12", "duplicates.is_duplicate", (*COPIES, COPY, TAKE_TWO, TAKE_TWO), alters)
def topic_keeps_copies(usual: bool, entity: Entity) -> bool:
    """A topic with duplicate detection drops no copies."""
    return usual and not is_topic(entity)


@mutant("TOPIC-12", "duplicates.is_duplicate", (*COPIES, *COMPLETED, COPY, TAKE), alters, deep=True)
def copies_by_subscription(usual: bool, entity: Entity, message: v.Message) -> bool:
    """A topic drops a copy only while a subscription still has the first message."""
    known = [
        {queued.message.message_id for queued in subscription.messages.values()}
        for subscription in subscriptions_of(entity)
    ]
    return usual and all(message.message_id in message_ids for message_ids in known)


@mutant("TOPIC-13", "topics.distribute", (*IN_SESSION, TAKE_TWO))
def sessions_of_all_subscriptions(
    namespace: Namespace, topic: Entity, message: v.Message, *what: Any
) -> None:
    """A subscription without sessions withholds session messages if another requires sessions."""
    there, of_session = subscriptions_of(topic), message.session_id is not None
    requiring = [one for one in there if one.settings.requires_session and of_session]
    with with_subscriptions(namespace, topic, requiring or there):
        DISTRIBUTE(namespace, topic, message, *what)


@mutant(
    "TOPIC-13", "sessions.of_receive", how=does(messages.session_read_without_lock, is_subscription)
)
@run(*IN_SESSION, HOLD, over("c2", READ))
def foreign_session_of_subscription() -> None:
    """Any connection can receive from a session of a subscription."""


GIVE_NEXT: Final = "messages.give_next"
REORDERED: Final = does(keys.session_out_of_order_after_abandon, is_subscription)


REVERSED: Final = does(keys.session_out_of_order, is_subscription)


@mutant("TOPIC-14", "messages.give_next", READ_FIRST, REVERSED)
def subscription_session_reversed() -> None:
    """A session of a subscription gives its newest message first."""


@mutant("TOPIC-14", GIVE_NEXT, ABANDONED, REORDERED, also=keys.remember_abandoned, deep=True)
def subscription_session_reordered_by_abandon() -> None:
    """An abandoned message of a subscription's session is given after all others."""


def _deliver_to_queues(namespace: Namespace, buffered: BufferedSend) -> None:
    if not is_topic(buffered.entity):
        RULES.transactions.deliver(namespace, buffered)


@mutant(
    "TOPIC-15",
    "transactions.send",
    how=does(visible_before_commit, is_topic),
    also={"transactions.deliver": _deliver_to_queues},
)
@run(*WITH_ONE, *BUFFERED, TAKE)
def published_before_commit() -> None:
    """A message sent to a topic in a transaction is copied at once."""


@mutant("TOPIC-15", "transactions.deliver", COMMITTED, deep=True)
def commit_reaches_first_subscription(namespace: Namespace, buffered: BufferedSend) -> None:
    """A commit copies its messages only to the first of several subscriptions."""
    if is_topic(buffered.entity):
        first = subscriptions_of(buffered.entity)[:1]
        with with_subscriptions(namespace, buffered.entity, first):
            RULES.transactions.deliver(namespace, buffered)
    else:
        RULES.transactions.deliver(namespace, buffered)


@mutant("TOPIC-16", "transactions.key_of", (*WITH_ONE, BEGIN, send("m1", within="t")))
def topic_takes_keyless_in_transaction(
    namespace: Namespace, entity: Entity, transaction: Transaction, message: v.Message
) -> Key | None:
    """A topic accepts messages without a key, or with several keys, in a transaction."""
    if not is_topic(entity):
        return RULES.transactions.key_of(namespace, entity, transaction, message)
    namespace.rules.limits.check_count(len(transaction.sends))
    return RULES.keys.effective_key(namespace, entity, message)


@mutant("TOPIC-16", "transactions.check_other_sends", TWO_KEYS, only_where)
def topic_takes_second_key(entity: Entity) -> bool:
    """A topic accepts messages with several keys in a transaction."""
    return not is_topic(entity)


@mutant("TOPIC-19", "topics.create_subscription", (SUBSCRIBE,), beforehand)
def subscribed_to_nothing(namespace: Namespace, command: v.CreateSubscription, *rest: Any) -> None:
    """A subscription of a missing topic can be created."""
    if command.topic not in namespace.entities:
        topic = v.CreateTopic(topic=command.topic)
        namespace.rules.topics.create_topic(topic, *rest)


@mutant("TOPIC-20", "messages.give_next", how=does(messages.locked_given_again, is_subscription))
@run(*TAKEN, TAKE)
def subscription_ignores_locks() -> None:
    """A subscription gives locked messages."""


@mutant("TOPIC-20", "locks.settle", (*TAKEN, wait(61), complete(0, queue=ONE)), deep=True)
def subscription_settles_after_expiry(
    namespace: Namespace, command: v.Settlement, connection: str
) -> Answer:
    """A lock of a subscription that has just expired still settles its message."""
    late = is_subscription(namespace.entities.get(command.queue))
    settle = messages.settles_after_expiry if late else RULES.locks.settle
    return settle(namespace, command, connection)


SENT: Final = send("m1")
SHUT: Final = change(status=v.EntityStatus.SEND_DISABLED)
CLOSE_ONE: Final = v.UpdateQueue(queue=ONE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN_ONE: Final = v.UpdateQueue(queue=ONE, status=v.EntityStatus.ACTIVE)
FORWARD_ONE: Final = v.UpdateQueue(queue=ONE, forward_to="end")
REDIRECTED: Final[Run] = (create(queue="end"), *WITH_ONE, FORWARD_ONE, SENT, TAKE)
CREATED_AGAIN: Final[Run] = (*WITH_ONE, DELETE, CREATE, LIST)
COUNTED: Final[Run] = (*WITH_ONE, DELETE_ONE, GET)


@mutant("MGMT-26", "topics.sendable", (*WITH_ONE, SHUT, SENT), instead)
def disabled_topic_takes(namespace: Namespace, path: str) -> Entity | None:
    """A topic that is disabled for sending accepts messages."""
    entity = namespace.rules.topics.addressed(path)
    return entity if is_topic(entity) else None


@mutant("MGMT-27", "topics.receivable", (*WITH_ONE, SENT, CLOSE_ONE, TAKE), instead)
def disabled_subscription_gives(namespace: Namespace, path: str) -> Entity | None:
    """A subscription that is disabled for receiving gives messages."""
    entity = namespace.rules.topics.readable(path)
    return entity if is_subscription(entity) else None


@mutant("FWD-05", "management.apply_update", REDIRECTED)
def subscription_not_redirected(namespace: Namespace, entity: Entity, *rest: Any) -> None:
    """An update that makes a subscription forward is accepted and ignored."""
    before = entity.settings.forward_to
    RULES.management.apply_update(namespace, entity, *rest)
    if is_subscription(entity):
        entity.settings = attrs.evolve(entity.settings, forward_to=before)


@mutant("TOPIC-22", "management.delete", (*WITH_ONE, SENT, DELETE, TAKE))
def topic_leaves_its_subscriptions(namespace: Namespace, entity: Entity) -> None:
    """Deleting a topic leaves its subscriptions, with their messages."""
    if not is_topic(entity):
        RULES.management.delete(namespace, entity)
        return
    with with_subscriptions(namespace, entity, []):
        RULES.management.delete(namespace, entity)


@mutant("TOPIC-22", "topics.create_topic", CREATED_AGAIN, afterwards, also=remember_deleted)
def topic_made_again_has_its_subscriptions(
    namespace: Namespace, command: v.CreateTopic, connection: str
) -> None:
    """A topic that is created again has the subscriptions of the deleted one, without messages."""
    before = memory(namespace, dict[str, Entity]).get(command.topic)
    for subscription in (before.subscriptions or ()) if before is not None else ():
        name = subscription.path.removeprefix(v.subscription_path(command.topic, ""))
        again = v.CreateSubscription(topic=command.topic, subscription=name)
        namespace.rules.topics.create_subscription(again, connection)


@mutant("TOPIC-23", "management.delete", (*WITH_TWO, DELETE_ONE, SENT, TAKE_TWO))
def others_are_parted(namespace: Namespace, entity: Entity) -> None:
    """After a subscription was deleted, those created after it get no more copies."""
    before = entity.base.subscriptions or ()
    RULES.management.delete(namespace, entity)
    if is_subscription(entity):
        entity.base.subscriptions = before[: before.index(entity)]


@mutant("TOPIC-23", "management.delete", (*WITH_TWO, SENT, DELETE_ONE, TAKE_TWO), afterwards)
def copies_go_together(namespace: Namespace, entity: Entity) -> None:
    """Deleting a subscription removes its messages from the others as well."""
    gone = {id(queued.message) for queued in entity.messages.values()}
    others = (entity.base.subscriptions or ()) if is_subscription(entity) else ()
    for queued in [queued for other in others for queued in other.messages.values()]:
        if id(queued.message) in gone:
            namespace.rules.messages.remove(queued)


@mutant("TOPIC-23", "management.delete", (*WITH_ONE, DELETE_ONE, SENT), afterwards)
def last_subscription_closes_topic(entity: Entity) -> None:
    """A topic whose last subscription was deleted refuses messages."""
    if is_subscription(entity) and not entity.base.subscriptions:
        entity.base.down = frozenset(range(len(entity.partitions)))


@mutant(
    "TOPIC-24",
    "topics.get_topic",
    how=tells("description"),
    also=remember_deleted,
    readings=AT_ONCE,
)
@run(*COUNTED)
def deleted_subscriptions_counted(
    usual: v.TopicDescription, namespace: Namespace, command: v.GetTopic
) -> v.TopicDescription:
    """The subscription count of a topic includes deleted ones."""
    ever = {**memory(namespace, dict[str, Entity]), **namespace.entities}
    above, kind = v.subscription_path(command.topic, ""), EntityKind.SUBSCRIPTION
    had = [path for path, entity in ever.items() if path.startswith(above) and entity.kind is kind]
    return attrs.evolve(usual, subscription_count=len(had))


@mutant("TOPIC-25", "topics.distribute", (*WITH_ONE, CLOSE_ONE, SENT, OPEN_ONE, TAKE))
def closed_subscription_misses(namespace: Namespace, topic: Entity, *rest: Any) -> None:
    """A subscription gets no copies while it is disabled for receiving."""
    open_ones = [
        subscription for subscription in topic.subscriptions or () if subscription.status.gives
    ]
    with with_subscriptions(namespace, topic, open_ones):
        RULES.topics.distribute(namespace, topic, *rest)


@mutant("TOPIC-26", "topics.receivable", (*WITH_ONE, SENT, SHUT, TAKE), alters)
def disabled_topic_closes_its_subscriptions(usual: Entity) -> Entity:
    """The subscriptions of a disabled topic give no messages."""
    if is_subscription(usual) and not usual.base.status.takes:
        raise Refusal(v.Error.ENTITY_DISABLED, "TOPIC-26")
    return usual
