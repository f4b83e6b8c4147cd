"""Mutants of TOPIC: the copies of a topic's messages, and receives from its subscriptions."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import DIRECT, Key
from busproof.mutants import keys, keys_outages, messages
from busproof.mutants.entities import is_subscription, is_topic, siblings
from busproof.mutants.keys_outages import note_outage
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import PARTITIONS, Run, abandon, complete, down, home, receive, send, up
from busproof.mutants.topics.topic_management import (
    CREATE,
    ONE,
    ONE_EACH,
    SECOND,
    TAKE,
    TWO,
    WITH_ONE,
    WITH_TWO,
)
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    does,
    instead,
    only_where,
    refuses,
    refuses_yet,
)

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


@contextmanager
def with_subscriptions(namespace: Namespace, topic: Entity, some: list[Entity]) -> Iterator[None]:
    """Give a topic other subscriptions inside the block."""
    all_of_them = topic.subscriptions
    namespace.journal.touch(topic)
    topic.subscriptions = tuple(some)
    try:
        yield
    finally:
        topic.subscriptions = all_of_them


def subscriptions_of(topic: Entity) -> list[Entity]:
    """Return the subscriptions of a topic; an empty tuple for other entities."""
    return list(topic.subscriptions or ())


def _others(entity: Entity) -> list[Entity]:
    """Return the other subscriptions of a subscription's topic."""
    return [subscription for subscription in siblings(entity) if subscription is not entity]


@mutant("TOPIC-01", "topics.distribute", (*WITH_TWO, KEYED, TAKE_TWO))
def last_subscription_missed(namespace: Namespace, topic: Entity, *what: Any) -> None:
    """The last of several subscriptions gets no copy."""
    there = subscriptions_of(topic)
    with with_subscriptions(namespace, topic, there[:-1] if len(there) > 1 else there):
        DISTRIBUTE(namespace, topic, *what)


@mutant("TOPIC-01", "topics.distribute", ALL_GIVEN, deep=True)
def fan_out_ends_late(namespace: Namespace, topic: Entity, *what: Any) -> None:
    """The last of several subscriptions gets no copy from the 50th message on."""
    published = memory(namespace, Counter[str])
    published[""] += 1
    late = published[""] >= 50
    (last_subscription_missed if late else DISTRIBUTE)(namespace, topic, *what)


@mutant("TOPIC-01", "subscription_rules.copies", (*WITH_TWO, KEYED, GONE_TWO, GONE_TWO), alters)
def copied_twice(usual: tuple[v.Message, ...], subscription: Entity) -> tuple[v.Message, ...]:
    """A topic with several subscriptions makes two copies for each of them."""
    return usual * 2 if _others(subscription) else usual


@mutant("TOPIC-02", "locks.apply", (*WITH_TWO, KEYED, *COMPLETED, TAKE_TWO), afterwards)
def copies_complete_together(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """Completing a message in one subscription removes it from the others."""
    for other in _others(queued.entity) if action is Action.COMPLETE else ():
        for copy in tuple(other.messages.values()):
            if copy.message is queued.message:
                namespace.rules.messages.remove(copy)


@mutant("TOPIC-02", "messages.give_next", (*WITH_TWO, KEYED, TAKE, TAKE_TWO), deep=True)
def copies_lock_together(
    namespace: Namespace, entity: Entity, session: Session | None, *how: Any
) -> View | None:
    """While a message is locked in one subscription, the others do not give it."""
    others = (queued for other in _others(entity) for queued in other.messages.values())
    locked = {id(queued.message) for queued in others if queued.token is not None}
    lines = (partition.line for partition in (entity.partitions if session is None else (session,)))
    offered = chain.from_iterable(line.available(entity.messages) for line in lines)
    up = [queued for queued in offered if queued.partition not in entity.base.down]
    free = [queued for queued in up if id(queued.message) not in locked]
    if len(free) == len(up):
        return GIVE(namespace, entity, session, *how)
    return namespace.rules.messages.give(free[0], how[0]) if free else None


@mutant("TOPIC-03", "topics.create_subscription", (*WITH_ONE, KEYED, SECOND, TAKE_TWO), afterwards)
def subscribed_backwards(namespace: Namespace, command: v.CreateSubscription) -> None:
    """A new subscription begins with the messages that an earlier one still has."""
    new = namespace.entities[v.subscription_path(command.topic, command.subscription)]
    for queued in [queued for other in _others(new)[:1] for queued in other.messages.values()]:
        namespace.rules.messages.arrive(new, queued.message, queued.partition, DIRECT)


@mutant("TOPIC-04", "messages.send", (CREATE, KEYED), refuses("TOPIC-04", v.Error.NOT_FOUND))
def unsubscribed_refused(namespace: Namespace, command: v.Send) -> bool:
    """A topic without subscriptions refuses messages."""
    topic = namespace.entities.get(command.queue)
    return topic is not None and topic.subscriptions == () and command.transaction is None


@beside("messages.arrive", afterwards)
def _keep_one(namespace: Namespace, entity: Entity, *what: Any) -> None:
    if is_topic(entity):
        namespace.rules.messages.enqueue(entity, *what)


@mutant("TOPIC-05", "topics.readable", (CREATE, KEYED, receive()), instead, also=_keep_one)
def topic_gives(namespace: Namespace, path: str) -> Entity | None:
    """A topic keeps a copy of each message, and gives it to receivers."""
    entity = namespace.entities.get(path)
    return entity if is_topic(entity) else None


@mutant("TOPIC-06", "topics.sendable", (*WITH_ONE, send("m1", queue=ONE)), instead)
def subscription_takes(namespace: Namespace, path: str) -> Entity | None:
    """A message can be sent to a subscription."""
    entity = namespace.entities.get(path)
    return entity if is_subscription(entity) else None


@mutant("TOPIC-07", "keys.home", (*WITH_ONE, *FIFTY[:5]), does(keys.key_moves, is_topic))
def topic_key_moves() -> None:
    """A key of a topic selects another partition from its 5th message on."""


KEY_MOVES: Final = does(keys_outages.key_moves_after_outage, is_topic)


@mutant("TOPIC-07", "keys.home", RECOVERED, KEY_MOVES, also=note_outage, deep=True)
def topic_key_moves_after_outage() -> None:
    """After an outage of a topic's partition, keys of that partition select the next one."""


@mutant("TOPIC-08", "messages.arrive", how=does(keys.copy_in_second_partition, is_subscription))
@run(*WITH_ONE, KEYED, v.Peek(queue=ONE, count=2))
def copy_in_two_partitions() -> None:
    """A subscription stores each message in two partitions."""


@mutant("TOPIC-08", "locks.release", (*TAKEN, abandon(0, queue=ONE), TAKE), afterwards, deep=True)
def copy_moves(namespace: Namespace, queued: QueuedMessage) -> None:
    """A message released in a subscription moves to the next partition."""
    entity, transit = queued.entity, DIRECT._replace(failed=queued.failed)
    if is_subscription(entity) and queued.state is ACTIVE and queued.is_there:
        where = (queued.partition + 1) % len(entity.partitions)
        namespace.rules.messages.enqueue(entity, queued.message, where, transit)
        namespace.rules.messages.remove(queued)


@mutant(
    "TOPIC-09",
    "messages.next_available",
    how=does(messages.last_partition_never_read, is_subscription),
)
@run(*ONE_EACH, *(TAKE,) * PARTITIONS)
def subscription_misses_partition() -> None:
    """A receive from a subscription does not ask the last partition."""


@mutant("TOPIC-10", "keys.place", (*WITH_ONE, KEYED, down(HOME), NEXT), instead)
def topic_takes_for_dead_partition(
    namespace: Namespace, entity: Entity, key: Key | None
) -> int | None:
    """A topic sends a message whose partition is down to another partition."""
    return keys_outages.rerouted_with_key(namespace, entity, key) if is_topic(entity) else None


@mutant("TOPIC-10", "messages.send", how=refuses_yet("KEY-03", in_transactions=False))
@run(*WITH_ONE, down(HOME), KEYED, up(HOME), TAKE)
def topic_refuses_yet_copies(namespace: Namespace, command: v.Send) -> None:
    """A topic refuses a message whose partition is down, but copies it anyway."""
    if is_topic(namespace.entities.get(command.queue)):
        keys_outages.dead_partition_refuses_yet_stores(namespace, command)


@mutant("TOPIC-11", "keys.place_without_key", how=refuses("KEY-15", v.Error.UNAVAILABLE))
@run(*WITH_ONE, down(0), send("m1"))
def topic_does_not_reroute(namespace: Namespace, entity: Entity) -> bool:
    """A topic refuses a message without a key if its turn is that of a partition that is down."""
    return is_topic(entity) and keys_outages.no_rerouting(namespace, entity)


@mutant("TOPIC-11", "topics.distribute", ROUND, only_where, deep=True)
def rerouted_copies_lost(namespace: Namespace, topic: Entity, message: v.Message) -> bool:
    """A message that avoided an outage of its topic is not copied to the subscriptions."""
    keyed = RULES.keys.effective_key(namespace, topic, message) is not None
    return keyed or keys_outages.next_turn(namespace, topic) not in topic.down
