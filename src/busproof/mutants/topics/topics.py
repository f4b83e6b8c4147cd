"""Mutants of TOPIC: the copies of a topic's messages, and receives from its subscriptions."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import ACTIVE, Action
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.subscription_rules import SubscriptionRules
from busproof.model.topics import Topics
from busproof.model.values import DIRECT, InTransit
from busproof.mutants import keys, keys_outages, messages
from busproof.mutants.entities import is_subscription, is_topic, siblings
from busproof.mutants.mutant import memory, mutant, run
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
    instead,
    only_where,
    refuses,
    where,
)

View = v.MessageView
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


@mutant("TOPIC-01", (*WITH_TWO, KEYED, TAKE_TWO))
class LastSubscriptionMissed(Topics):
    """The last of several subscriptions gets no copy."""

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        there = subscriptions_of(topic)
        with with_subscriptions(
            self.rules.namespace, topic, there[:-1] if len(there) > 1 else there
        ):
            super().distribute(topic, message, partition, transit)


@mutant("TOPIC-01", ALL_GIVEN, deep=True)
class FanOutEndsLate(LastSubscriptionMissed):
    """The last of several subscriptions gets no copy from the 50th message on."""

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        published = memory(self.rules.namespace, Counter[str])
        published[""] += 1
        if published[""] >= 50:
            super().distribute(topic, message, partition, transit)
        else:
            Topics.distribute(self, topic, message, partition, transit)


@mutant("TOPIC-01", (*WITH_TWO, KEYED, GONE_TWO, GONE_TWO))
class CopiedTwice(SubscriptionRules):
    """A topic with several subscriptions makes two copies for each of them."""

    @alters
    def copies(self, usual: tuple[v.Message, ...], subscription: Entity) -> tuple[v.Message, ...]:
        return usual * 2 if _others(subscription) else usual


@mutant("TOPIC-02", (*WITH_TWO, KEYED, *COMPLETED, TAKE_TWO))
class CopiesCompleteTogether(Locks):
    """Completing a message in one subscription removes it from the others."""

    @afterwards
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        for other in _others(queued.entity) if action is Action.COMPLETE else ():
            for copy in tuple(other.messages.values()):
                if copy.message is queued.message:
                    self.rules.messages.remove(copy)


@mutant("TOPIC-02", (*WITH_TWO, KEYED, TAKE, TAKE_TWO), deep=True)
class CopiesLockTogether(Messages):
    """While a message is locked in one subscription, the others do not give it."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        others = (queued for other in _others(entity) for queued in other.messages.values())
        locked = {id(queued.message) for queued in others if queued.token is not None}
        lines = (
            partition.line for partition in (entity.partitions if session is None else (session,))
        )
        offered = chain.from_iterable(line.available(entity.messages) for line in lines)
        up = [queued for queued in offered if queued.partition not in entity.base.down]
        free = [queued for queued in up if id(queued.message) not in locked]
        if len(free) == len(up):
            return super().give_next(entity, session, mode, connection)
        return self.give(free[0], mode) if free else None


@mutant("TOPIC-03", (*WITH_ONE, KEYED, SECOND, TAKE_TWO))
class SubscribedBackwards(Topics):
    """A new subscription begins with the messages that an earlier one still has."""

    @afterwards
    def create_subscription(self, command: v.CreateSubscription) -> None:
        new = self.namespace.entities[v.subscription_path(command.topic, command.subscription)]
        for queued in [queued for other in _others(new)[:1] for queued in other.messages.values()]:
            self.rules.messages.arrive(new, queued.message, queued.partition, DIRECT)


@mutant("TOPIC-04", (CREATE, KEYED))
class UnsubscribedRefused(Messages):
    """A topic without subscriptions refuses messages."""

    @refuses("TOPIC-04", v.Error.NOT_FOUND)
    def send(self, command: v.Send) -> bool:
        topic = self.namespace.entities.get(command.queue)
        return topic is not None and topic.subscriptions == () and command.transaction is None


class _KeepOne(Messages):
    @afterwards
    def arrive(self, entity: Entity, *what: Any) -> None:
        if is_topic(entity):
            self.enqueue(entity, *what)


@mutant("TOPIC-05", (CREATE, KEYED, receive()), also=(_KeepOne,))
class TopicGives(Topics):
    """A topic keeps a copy of each message, and gives it to receivers."""

    @instead
    def readable(self, path: str) -> Entity | None:
        entity = self.namespace.entities.get(path)
        return entity if is_topic(entity) else None


@mutant("TOPIC-06", (*WITH_ONE, send("m1", queue=ONE)))
class SubscriptionTakes(Topics):
    """A message can be sent to a subscription."""

    @instead
    def sendable(self, path: str) -> Entity | None:
        entity = self.namespace.entities.get(path)
        return entity if is_subscription(entity) else None


@mutant("TOPIC-07", (*WITH_ONE, *FIFTY[:5]))
class TopicKeyMoves(keys.KeyMoves):
    """A key of a topic selects another partition from its 5th message on."""

    home = where(is_topic)


@mutant("TOPIC-07", RECOVERED, also=(keys_outages.NoteOutage,), deep=True)
class TopicKeyMovesAfterOutage(keys_outages.KeyMovesAfterOutage):
    """After an outage of a topic's partition, keys of that partition select the next one."""

    home = where(is_topic)


@mutant("TOPIC-08")
@run(*WITH_ONE, KEYED, v.Peek(queue=ONE, count=2))
class CopyInTwoPartitions(keys.CopyInSecondPartition):
    """A subscription stores each message in two partitions."""

    arrive = where(is_subscription)


@mutant("TOPIC-08", (*TAKEN, abandon(0, queue=ONE), TAKE), deep=True)
class CopyMoves(Locks):
    """A message released in a subscription moves to the next partition."""

    @afterwards
    def release(self, queued: QueuedMessage) -> None:
        entity = queued.entity
        transit = DIRECT._replace(failed=queued.failed)
        if is_subscription(entity) and queued.state is ACTIVE and queued.is_there:
            where = (queued.partition + 1) % len(entity.partitions)
            self.rules.messages.enqueue(entity, queued.message, where, transit)
            self.rules.messages.remove(queued)


@mutant("TOPIC-09")
@run(*ONE_EACH, *(TAKE,) * PARTITIONS)
class SubscriptionMissesPartition(messages.LastPartitionNeverRead):
    """A receive from a subscription does not ask the last partition."""

    next_available = where(is_subscription)


@mutant("TOPIC-10", (*WITH_ONE, KEYED, down(HOME), NEXT))
class TopicTakesForDeadPartition(keys_outages.ReroutedWithKey):
    """A topic sends a message whose partition is down to another partition."""

    place = where(is_topic)


@mutant("TOPIC-10")
@run(*WITH_ONE, down(HOME), KEYED, up(HOME), TAKE)
class TopicRefusesYetCopies(keys_outages.DeadPartitionRefusesYetStores):
    """A topic refuses a message whose partition is down, but copies it anyway."""

    def send(self, command: v.Send, connection: str) -> Answer:
        if is_topic(self.namespace.entities.get(command.queue)):
            answer: Answer = super().send(command, connection)
            return answer
        return Messages.send(self, command, connection)


@mutant("TOPIC-11")
@run(*WITH_ONE, down(0), send("m1"))
class TopicDoesNotReroute(keys_outages.NoRerouting):
    """A topic refuses a message without a key if its turn is that of a partition that is down."""

    place_without_key = where(is_topic)


@mutant("TOPIC-11", ROUND, deep=True)
class ReroutedCopiesLost(Topics):
    """A message that avoided an outage of its topic is not copied to the subscriptions."""

    @only_where
    def distribute(self, topic: Entity, message: v.Message) -> bool:
        keyed = self.rules.keys.effective_key(topic, message) is not None
        return keyed or keys_outages.next_turn(self.rules.namespace, topic) not in topic.down
