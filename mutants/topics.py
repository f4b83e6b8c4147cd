"""Mutants of TOPIC: the copies of a topic's messages, and receives from its subscriptions."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.rules import RULES
from busproof.model.state import (
    BufferedSend,
    Entity,
    Namespace,
    QueuedMessage,
    Session,
    Transaction,
)
from busproof.model.values import DIRECT, EntityKind, Key, Refusal
from busproof.mutants import keys, messages
from busproof.mutants.mutant import Family, memory
from busproof.mutants.runs import (
    PARTITIONS,
    Run,
    abandon,
    complete,
    down,
    home,
    over,
    receive,
    send,
    up,
    wait,
)
from busproof.mutants.topic_management import (
    CREATE,
    DETECTING,
    ONE,
    ONE_EACH,
    SECOND,
    SUBSCRIBE,
    TAKE,
    TWO,
    WITH_ONE,
    WITH_TWO,
)
from busproof.mutants.transactions import BEGIN, COMMIT, visible_before_commit

__all__ = ["MUTANTS", "with_subscriptions"]

mutant = Family(__name__)

View = v.MessageView
DISTRIBUTE: Final = RULES.topics.distribute
GIVE: Final = RULES.messages.give_next
HOME: Final = home("a")
KEYED: Final = send("m1", partition_key="a")
NEXT: Final = send("m2", partition_key="a")
FIFTY: Final[Run] = tuple(send(f"m{number}", partition_key="a") for number in range(50))
TAKE_TWO: Final = receive(queue=TWO)
GONE_TWO: Final = receive(queue=TWO, delete=True)
ALL_GIVEN: Final[Run] = (*WITH_TWO, *FIFTY, *(GONE_TWO,) * 50)
TAKEN: Final[Run] = (*WITH_ONE, KEYED, TAKE)
RECOVERED: Final[Run] = (*WITH_ONE, KEYED, down(HOME), up(HOME), NEXT)
ROUND: Final[Run] = (*WITH_ONE, down(0), send("m1"), up(0), TAKE)
COMPLETED: Final[Run] = (TAKE, complete(0, queue=ONE))
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


def is_topic(entity: Entity | None) -> bool:
    """Return whether an entity is a topic."""
    return entity is not None and entity.kind is EntityKind.TOPIC


def is_subscription(entity: Entity | None) -> bool:
    """Return whether an entity is a subscription."""
    return entity is not None and entity.kind is EntityKind.SUBSCRIPTION


@contextmanager
def with_subscriptions(namespace: Namespace, topic: Entity, some: list[Entity]) -> Iterator[None]:
    """Let a topic have other subscriptions for a while."""
    all_of_them = topic.subscriptions
    namespace.journal.touch(topic)
    topic.subscriptions = tuple(some)
    try:
        yield
    finally:
        topic.subscriptions = all_of_them


def _subscriptions(topic: Entity) -> list[Entity]:
    return list(topic.subscriptions or ())


def _siblings(entity: Entity) -> list[Entity]:
    """Return the other subscriptions of a subscription's topic."""
    there = _subscriptions(entity.base) if is_subscription(entity) else ()
    return [each for each in there if each is not entity]


@mutant("TOPIC-01", "topics.distribute", (*WITH_TWO, KEYED, TAKE_TWO))
def last_subscription_missed(namespace: Namespace, topic: Entity, *what: Any) -> None:
    """The last of several subscriptions gets no copy."""
    there = _subscriptions(topic)
    with with_subscriptions(namespace, topic, there[:-1] if len(there) > 1 else there):
        DISTRIBUTE(namespace, topic, *what)


@mutant("TOPIC-01", "topics.distribute", ALL_GIVEN, deep=True)
def fan_out_ends_late(namespace: Namespace, topic: Entity, *what: Any) -> None:
    """The last of several subscriptions gets no copy from the 50th message on."""
    published = memory(namespace, Counter[str])
    published[""] += 1
    late = published[""] >= 50
    (last_subscription_missed if late else DISTRIBUTE)(namespace, topic, *what)


@mutant("TOPIC-01", "subscription_rules.copies", (*WITH_TWO, KEYED, GONE_TWO, GONE_TWO))
def copied_twice(namespace: Namespace, subscription: Entity, *rest: Any) -> tuple[v.Message, ...]:
    """A subscription that is not the only one gets two copies."""
    copies = RULES.subscription_rules.copies(namespace, subscription, *rest)
    return copies * 2 if _siblings(subscription) else copies


@mutant("TOPIC-02", "locks.apply", (*WITH_TWO, KEYED, *COMPLETED, TAKE_TWO))
def copies_complete_together(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """Completing a message in one subscription removes it from the others."""
    RULES.locks.apply(namespace, queued, action, reason)
    for other in _siblings(queued.entity) if action is Action.COMPLETE else ():
        for each in tuple(other.messages.values()):
            if each.message is queued.message:
                namespace.rules.messages.remove(namespace, each)


@mutant("TOPIC-02", "messages.give_next", (*WITH_TWO, KEYED, TAKE, TAKE_TWO), deep=True)
def copies_lock_together(
    namespace: Namespace, entity: Entity, session: Session | None, *how: Any
) -> View | None:
    """A message that is locked in one subscription is withheld by the others."""
    others = (each for other in _siblings(entity) for each in other.messages.values())
    locked = {id(each.message) for each in others if each.token is not None}
    lines = (each.line for each in (entity.partitions if session is None else (session,)))
    offered = chain.from_iterable(each.available(entity.messages) for each in lines)
    up = [each for each in offered if each.partition not in entity.base.down]
    free = [each for each in up if id(each.message) not in locked]
    if len(free) == len(up):
        return GIVE(namespace, entity, session, *how)
    return namespace.rules.messages.give(namespace, free[0], how[0]) if free else None


@mutant("TOPIC-03", "topics.create_subscription", (*WITH_ONE, KEYED, SECOND, TAKE_TWO))
def subscribed_backwards(namespace: Namespace, command: v.CreateSubscription, *rest: Any) -> Answer:
    """A new subscription begins with what an earlier one still holds."""
    answer = RULES.topics.create_subscription(namespace, command, *rest)
    new = namespace.entities[v.subscription_path(command.topic, command.subscription)]
    for each in [each for other in _siblings(new)[:1] for each in other.messages.values()]:
        namespace.rules.messages.arrive(namespace, new, each.message, each.partition, DIRECT)
    return answer


@mutant("TOPIC-04", "messages.send", (CREATE, KEYED))
def unsubscribed_refused(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """A topic without subscriptions refuses what is sent to it."""
    topic = namespace.entities.get(command.queue)
    if topic is not None and topic.subscriptions == () and command.transaction is None:
        raise Refusal(v.Error.NOT_FOUND, "TOPIC-04")
    return RULES.messages.send(namespace, command, connection)


def _keep_one(namespace: Namespace, entity: Entity, *what: Any) -> None:
    RULES.messages.arrive(namespace, entity, *what)
    if is_topic(entity):
        namespace.rules.messages.enqueue(namespace, entity, *what)


KEEPING: Final = {"messages.arrive": _keep_one}


@mutant("TOPIC-05", "topics.readable", (CREATE, KEYED, receive()), also=KEEPING)
def topic_gives(namespace: Namespace, path: str) -> Entity:
    """A topic keeps a copy for itself and gives it."""
    entity = namespace.entities.get(path)
    return entity if entity and is_topic(entity) else RULES.topics.readable(namespace, path)


@mutant("TOPIC-06", "topics.sendable", (*WITH_ONE, send("m1", queue=ONE)))
def subscription_takes(namespace: Namespace, path: str) -> Entity:
    """A message can be sent to a subscription."""
    entity = namespace.entities.get(path)
    return entity if entity and is_subscription(entity) else RULES.topics.sendable(namespace, path)


@mutant("TOPIC-07", "keys.home", (*WITH_ONE, *FIFTY[:5]))
def topic_key_moves(namespace: Namespace, entity: Entity, key: Key) -> int:
    """A topic's key selects another partition from its 5th message on."""
    return (keys.key_moves if is_topic(entity) else RULES.keys.home)(namespace, entity, key)


@mutant("TOPIC-07", "keys.home", RECOVERED, also=keys.RECORDING_OUTAGES, deep=True)
def topic_key_moves_after_outage(namespace: Namespace, entity: Entity, key: Key) -> int:
    """Once a partition of a topic has come up again, its keys select the next one."""
    home = keys.key_moves_after_outage if is_topic(entity) else RULES.keys.home
    return home(namespace, entity, key)


@mutant("TOPIC-08", "messages.arrive", (*WITH_ONE, KEYED, v.Peek(queue=ONE, count=2)))
def copy_in_two_partitions(namespace: Namespace, entity: Entity, *what: Any) -> None:
    """A subscription has each message in two partitions."""
    arrive = RULES.messages.arrive
    (keys.copy_in_second_partition if is_subscription(entity) else arrive)(namespace, entity, *what)


@mutant("TOPIC-08", "locks.release", (*TAKEN, abandon(0, queue=ONE), TAKE), deep=True)
def copy_moves(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """A message that is given back to a subscription is in the next partition from then on."""
    RULES.locks.release(namespace, queued, action)
    entity, transit = queued.entity, DIRECT._replace(failed=queued.failed)
    if is_subscription(entity) and queued.state is ACTIVE and queued.is_there:
        where = (queued.partition + 1) % len(entity.partitions)
        namespace.rules.messages.enqueue(namespace, entity, queued.message, where, transit)
        namespace.rules.messages.remove(namespace, queued)


@mutant("TOPIC-09", "messages.next_available", (*ONE_EACH, *(TAKE,) * PARTITIONS))
def subscription_misses_partition(namespace: Namespace, entity: Entity) -> QueuedMessage | None:
    """A receive from a subscription does not ask the last partition."""
    usual = RULES.messages.next_available
    return (messages.last_partition_never_read if is_subscription(entity) else usual)(
        namespace, entity
    )


@mutant("TOPIC-10", "keys.place", (*WITH_ONE, KEYED, down(HOME), NEXT))
def topic_takes_for_dead_partition(namespace: Namespace, entity: Entity, *what: Any) -> int:
    """A topic puts a message whose partition is down into another one."""
    place = keys.rerouted_with_key if is_topic(entity) else RULES.keys.place
    return place(namespace, entity, *what)


@mutant("TOPIC-10", "messages.send", (*WITH_ONE, down(HOME), KEYED, up(HOME), TAKE))
def topic_refuses_yet_copies(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """A topic refuses a message whose partition is down, but copies it anyway."""
    of_topic = is_topic(namespace.entities.get(command.queue))
    send = keys.dead_partition_refuses_yet_stores if of_topic else RULES.messages.send
    return send(namespace, command, connection)


@mutant("TOPIC-11", "keys.place_without_key", (*WITH_ONE, down(0), send("m1")))
def topic_does_not_reroute(namespace: Namespace, entity: Entity, *what: Any) -> int:
    """A topic refuses a message without key whose turn falls on a partition that is down."""
    place = keys.no_rerouting if is_topic(entity) else RULES.keys.place_without_key
    return place(namespace, entity, *what)


@mutant("TOPIC-11", "topics.distribute", ROUND, deep=True)
def rerouted_copies_lost(
    namespace: Namespace, topic: Entity, message: v.Message, *what: Any
) -> None:
    """A message that avoided an outage is not copied to the subscriptions."""
    keyed = RULES.keys.effective_key(namespace, topic, message) is not None
    if keyed or keys.next_turn(namespace, topic) not in topic.down:
        DISTRIBUTE(namespace, topic, message, *what)


@mutant("TOPIC-12", "duplicates.is_duplicate", (*COPIES, COPY, TAKE_TWO, TAKE_TWO))
def topic_keeps_copies(namespace: Namespace, entity: Entity, *what: Any) -> bool:
    """A topic drops no message as a copy."""
    return RULES.duplicates.is_duplicate(namespace, entity, *what) and not is_topic(entity)


@mutant("TOPIC-12", "duplicates.is_duplicate", (*COPIES, *COMPLETED, COPY, TAKE), deep=True)
def copies_by_subscription(
    namespace: Namespace, entity: Entity, message: v.Message, key: Key | None
) -> bool:
    """A copy is dropped only while a subscription still holds the first one."""
    held = [
        {queued.message.message_id for queued in each.messages.values()}
        for each in _subscriptions(entity)
    ]
    found = RULES.duplicates.is_duplicate(namespace, entity, message, key)
    return found and all(message.message_id in each for each in held)


@mutant("TOPIC-13", "topics.distribute", (*IN_SESSION, TAKE_TWO))
def sessions_of_all_subscriptions(
    namespace: Namespace, topic: Entity, message: v.Message, *what: Any
) -> None:
    """A subscription without sessions withholds messages with one if another requires sessions."""
    there, of_session = _subscriptions(topic), message.session_id is not None
    requiring = [each for each in there if each.settings.requires_session and of_session]
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
    give = keys.session_out_of_order if is_subscription(entity) else GIVE
    return give(namespace, entity, *how)


@mutant("TOPIC-14", "messages.give_next", ABANDONED, also=keys.REMEMBERING_ABANDONED, deep=True)
def subscription_session_reordered_by_abandon(
    namespace: Namespace, entity: Entity, *how: Any
) -> View | None:
    """An abandoned message of a subscription's session is given after all others."""
    give = keys.session_out_of_order_after_abandon if is_subscription(entity) else GIVE
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
        first = _subscriptions(buffered.entity)[:1]
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


@mutant("TOPIC-16", "transactions.check_other_sends", TWO_KEYS)
def topic_takes_second_key(namespace: Namespace, entity: Entity, *what: Any) -> None:
    """A topic takes messages with several keys in a transaction."""
    if not is_topic(entity):
        RULES.transactions.check_other_sends(namespace, entity, *what)


@mutant("TOPIC-19", "topics.create_subscription", (SUBSCRIBE,))
def subscribed_to_nothing(
    namespace: Namespace, command: v.CreateSubscription, connection: str
) -> Answer:
    """A subscription of a missing topic is created anyway."""
    if command.topic not in namespace.entities:
        topic = v.CreateTopic(topic=command.topic)
        namespace.rules.topics.create_topic(namespace, topic, connection)
    return RULES.topics.create_subscription(namespace, command, connection)


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


MUTANTS: Final = mutant.all()
