"""Mutants of TOPIC: copies, sessions, transactions and locks of topics and their subscriptions."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import BufferedSend, Entity, Namespace, Session, Transaction
from busproof.model.values import Key
from busproof.mutants import keys_order, messages
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import Run, abandon, complete, over, receive, send, wait
from busproof.mutants.topics.topic_management import (
    CREATE,
    DETECTING,
    ONE,
    SECOND,
    SUBSCRIBE,
    TAKE,
    WITH_ONE,
    WITH_TWO,
)
from busproof.mutants.topics.topics import (
    COMPLETED,
    DISTRIBUTE,
    GIVE,
    TAKE_TWO,
    TAKEN,
    View,
    is_subscription,
    is_topic,
    subscriptions_of,
    with_subscriptions,
)
from busproof.mutants.transactions import BEGIN, COMMIT, visible_before_commit
from busproof.mutants.wrappers import beforehand, only_where

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


@mutant("TOPIC-12", "duplicates.is_duplicate", (*COPIES, COPY, TAKE_TWO, TAKE_TWO))
def topic_keeps_copies(namespace: Namespace, entity: Entity, *what: Any) -> bool:
    """A topic drops no message as a copy."""
    return RULES.duplicates.is_duplicate(namespace, entity, *what) and not is_topic(entity)


@mutant("TOPIC-12", "duplicates.is_duplicate", (*COPIES, *COMPLETED, COPY, TAKE), deep=True)
def copies_by_subscription(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """A copy is dropped only while a subscription still holds the first one."""
    known = [
        {queued.message.message_id for queued in subscription.messages.values()}
        for subscription in subscriptions_of(entity)
    ]
    is_copy = RULES.duplicates.is_duplicate(namespace, entity, message, key)
    return is_copy and all(message.message_id in message_ids for message_ids in known)


@mutant("TOPIC-13", "topics.distribute", (*IN_SESSION, TAKE_TWO))
def sessions_of_all_subscriptions(
    namespace: Namespace, topic: Entity, message: v.Message, *what: Any
) -> None:
    """A subscription without sessions withholds messages with one if another requires sessions."""
    there, of_session = subscriptions_of(topic), message.session_id is not None
    requiring = [one for one in there if one.settings.requires_session and of_session]
    with with_subscriptions(namespace, topic, requiring or there):
        DISTRIBUTE(namespace, topic, message, *what)


@mutant("TOPIC-13", "sessions.of_receive", (*IN_SESSION, HOLD, over("c2", READ)))
def foreign_session_of_subscription(
    namespace: Namespace, entity: Entity, *what: Any
) -> Session | None:
    """A session of a subscription is given to any connection."""
    usual, anybody = RULES.sessions.of_receive, messages.session_read_without_lock
    return (anybody if is_subscription(entity) else usual)(namespace, entity, *what)


@mutant("TOPIC-14", "messages.give_next", READ_FIRST)
def subscription_session_reversed(namespace: Namespace, entity: Entity, *how: Any) -> View | None:
    """The newest message of a subscription's session is given first."""
    give = keys_order.session_out_of_order if is_subscription(entity) else GIVE
    return give(namespace, entity, *how)


@mutant(
    "TOPIC-14", "messages.give_next", ABANDONED, also=keys_order.REMEMBERING_ABANDONED, deep=True
)
def subscription_session_reordered_by_abandon(
    namespace: Namespace, entity: Entity, *how: Any
) -> View | None:
    """An abandoned message of a subscription's session is given after all others."""
    give = keys_order.session_out_of_order_after_abandon if is_subscription(entity) else GIVE
    return give(namespace, entity, *how)


def _deliver_to_queues(namespace: Namespace, buffered: BufferedSend) -> None:
    if not is_topic(buffered.entity):
        RULES.transactions.deliver(namespace, buffered)


PUBLISHED: Final = {"transactions.deliver": _deliver_to_queues}


@mutant("TOPIC-15", "transactions.send", (*WITH_ONE, *BUFFERED, TAKE), also=PUBLISHED)
def published_before_commit(namespace: Namespace, entity: Entity, *what: Any) -> Answer:
    """A message sent to a topic in a transaction is copied at once."""
    send = visible_before_commit if is_topic(entity) else RULES.transactions.send
    return send(namespace, entity, *what)


@mutant("TOPIC-15", "transactions.deliver", COMMITTED, deep=True)
def commit_reaches_first_subscription(namespace: Namespace, buffered: BufferedSend) -> None:
    """A transaction reaches the first of several subscriptions only."""
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
    """A topic takes messages without key, or with several keys, in a transaction."""
    if not is_topic(entity):
        return RULES.transactions.key_of(namespace, entity, transaction, message)
    namespace.rules.limits.check_count(namespace, len(transaction.sends))
    return RULES.keys.effective_key(namespace, entity, message)


@mutant("TOPIC-16", "transactions.check_other_sends", TWO_KEYS, only_where)
def topic_takes_second_key(entity: Entity) -> bool:
    """A topic takes messages with several keys in a transaction."""
    return not is_topic(entity)


@mutant("TOPIC-19", "topics.create_subscription", (SUBSCRIBE,), beforehand)
def subscribed_to_nothing(namespace: Namespace, command: v.CreateSubscription, *rest: Any) -> None:
    """A subscription of a missing topic is created anyway."""
    if command.topic not in namespace.entities:
        topic = v.CreateTopic(topic=command.topic)
        namespace.rules.topics.create_topic(namespace, topic, *rest)


@mutant("TOPIC-20", "messages.give_next", (*TAKEN, TAKE))
def subscription_ignores_locks(namespace: Namespace, entity: Entity, *how: Any) -> View | None:
    """A subscription gives a message that is locked."""
    give = messages.locked_given_again if is_subscription(entity) else GIVE
    return give(namespace, entity, *how)


@mutant("TOPIC-20", "locks.settle", (*TAKEN, wait(61), complete(0, queue=ONE)), deep=True)
def subscription_settles_after_expiry(
    namespace: Namespace, command: v.Settlement, connection: str
) -> Answer:
    """A lock of a subscription that expires while its settlement is under way still settles."""
    late = is_subscription(namespace.entities.get(command.queue))
    settle = messages.settles_after_expiry if late else RULES.locks.settle
    return settle(namespace, command, connection)
