"""Mutants of TOPIC: receives from subscriptions, and topics that are disabled or deleted."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.duplicates import Duplicates
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.state import BufferedSend, Entity, Transaction
from busproof.model.topics import Topics
from busproof.model.transactions import Transactions
from busproof.model.values import EntityKind, InTransit, Key, Refusal
from busproof.mutants import keys, messages
from busproof.mutants.entities import is_subscription, is_topic
from busproof.mutants.management.management import AT_ONCE, RememberDeleted
from busproof.mutants.mutant import memory, mutant, run
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
    TAKE_TWO,
    TAKEN,
    subscriptions_of,
    with_subscriptions,
)
from busproof.mutants.transactions import BEGIN, COMMIT, VisibleBeforeCommit
from busproof.mutants.wrappers import (
    afterwards,
    alters,
    beforehand,
    instead,
    only_where,
    tells,
    where,
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


@mutant("TOPIC-12", (*COPIES, COPY, TAKE_TWO, TAKE_TWO))
class TopicKeepsCopies(Duplicates):
    """A topic with duplicate detection drops no copies."""

    @alters
    def is_duplicate(self, usual: bool, entity: Entity) -> bool:
        return usual and not is_topic(entity)


@mutant("TOPIC-12", (*COPIES, *COMPLETED, COPY, TAKE), deep=True)
class CopiesBySubscription(Duplicates):
    """A topic drops a copy only while a subscription still has the first message."""

    @alters
    def is_duplicate(self, usual: bool, entity: Entity, message: v.Message) -> bool:
        known = [
            {queued.message.message_id for queued in subscription.messages.values()}
            for subscription in subscriptions_of(entity)
        ]
        return usual and all(message.message_id in message_ids for message_ids in known)


@mutant("TOPIC-13", (*IN_SESSION, TAKE_TWO))
class SessionsOfAllSubscriptions(Topics):
    """A subscription without sessions withholds session messages if another requires sessions."""

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        there = subscriptions_of(topic)
        of_session = message.session_id is not None
        requiring = [one for one in there if one.settings.requires_session and of_session]
        with with_subscriptions(self.rules.namespace, topic, requiring or there):
            super().distribute(topic, message, partition, transit)


@mutant("TOPIC-13")
@run(*IN_SESSION, HOLD, over("c2", READ))
class ForeignSessionOfSubscription(messages.SessionReadWithoutLock):
    """Any connection can receive from a session of a subscription."""

    of_receive = where(is_subscription)


GIVE_NEXT: Final = "messages.give_next"


@mutant("TOPIC-14", READ_FIRST)
class SubscriptionSessionReversed(keys.SessionOutOfOrder):
    """A session of a subscription gives its newest message first."""

    give_next = where(is_subscription)


@mutant("TOPIC-14", ABANDONED, also=(keys.RememberAbandoned,), deep=True)
class SubscriptionSessionReorderedByAbandon(keys.SessionOutOfOrderAfterAbandon):
    """An abandoned message of a subscription's session is given after all others."""

    give_next = where(is_subscription)


class _DeliverToQueues(Transactions):
    def deliver(self, buffered: BufferedSend) -> None:
        if not is_topic(buffered.entity):
            super().deliver(buffered)


@mutant("TOPIC-15", also=(_DeliverToQueues,))
@run(*WITH_ONE, *BUFFERED, TAKE)
class PublishedBeforeCommit(VisibleBeforeCommit):
    """A message sent to a topic in a transaction is copied at once."""

    send = where(is_topic)


@mutant("TOPIC-15", COMMITTED, deep=True)
class CommitReachesFirstSubscription(Transactions):
    """A commit copies its messages only to the first of several subscriptions."""

    def deliver(self, buffered: BufferedSend) -> None:
        if is_topic(buffered.entity):
            first = subscriptions_of(buffered.entity)[:1]
            with with_subscriptions(self.rules.namespace, buffered.entity, first):
                super().deliver(buffered)
        else:
            super().deliver(buffered)


@mutant("TOPIC-16", (*WITH_ONE, BEGIN, send("m1", within="t")))
class TopicTakesKeylessInTransaction(Transactions):
    """A topic accepts messages without a key, or with several keys, in a transaction."""

    def key_of(self, entity: Entity, transaction: Transaction, message: v.Message) -> Key | None:
        if not is_topic(entity):
            return super().key_of(entity, transaction, message)
        self.rules.limits.check_count(len(transaction.sends))
        return self.rules.keys.effective_key(entity, message)


@mutant("TOPIC-16", TWO_KEYS)
class TopicTakesSecondKey(Transactions):
    """A topic accepts messages with several keys in a transaction."""

    @only_where
    def check_other_sends(self, entity: Entity) -> bool:
        return not is_topic(entity)


@mutant("TOPIC-19", (SUBSCRIBE,))
class SubscribedToNothing(Topics):
    """A subscription of a missing topic can be created."""

    @beforehand
    def create_subscription(self, command: v.CreateSubscription, *rest: Any) -> None:
        if command.topic not in self.namespace.entities:
            topic = v.CreateTopic(topic=command.topic)
            self.create_topic(topic, *rest)


@mutant("TOPIC-20")
@run(*TAKEN, TAKE)
class SubscriptionIgnoresLocks(messages.LockedGivenAgain):
    """A subscription gives locked messages."""

    give_next = where(is_subscription)


@mutant("TOPIC-20", (*TAKEN, wait(61), complete(0, queue=ONE)), deep=True)
class SubscriptionSettlesAfterExpiry(messages.SettlesAfterExpiry):
    """A lock of a subscription that has just expired still settles its message."""

    def settle(self, command: v.Settlement, connection: str) -> Answer:
        if is_subscription(self.namespace.entities.get(command.queue)):
            answer: Answer = super().settle(command, connection)
            return answer
        return Locks.settle(self, command, connection)


SENT: Final = send("m1")
SHUT: Final = change(status=v.EntityStatus.SEND_DISABLED)
CLOSE_ONE: Final = v.UpdateQueue(queue=ONE, status=v.EntityStatus.RECEIVE_DISABLED)
OPEN_ONE: Final = v.UpdateQueue(queue=ONE, status=v.EntityStatus.ACTIVE)
FORWARD_ONE: Final = v.UpdateQueue(queue=ONE, forward_to="end")
REDIRECTED: Final[Run] = (create(queue="end"), *WITH_ONE, FORWARD_ONE, SENT, TAKE)
CREATED_AGAIN: Final[Run] = (*WITH_ONE, DELETE, CREATE, LIST)
COUNTED: Final[Run] = (*WITH_ONE, DELETE_ONE, GET)


@mutant("MGMT-26", (*WITH_ONE, SHUT, SENT))
class DisabledTopicTakes(Topics):
    """A topic that is disabled for sending accepts messages."""

    @instead
    def sendable(self, path: str) -> Entity | None:
        entity = self.addressed(path)
        return entity if is_topic(entity) else None

    def check_status_last(self, entity: Entity, answer: Answer) -> Answer:
        return answer if is_topic(entity) else super().check_status_last(entity, answer)


@mutant("MGMT-27", (*WITH_ONE, SENT, CLOSE_ONE, TAKE))
class DisabledSubscriptionGives(Topics):
    """A subscription that is disabled for receiving gives messages."""

    @instead
    def receivable(self, path: str) -> Entity | None:
        entity = self.readable(path)
        return entity if is_subscription(entity) else None


@mutant("FWD-05", REDIRECTED)
class SubscriptionNotRedirected(Management):
    """An update that makes a subscription forward is accepted and ignored."""

    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        before = entity.settings.forward_to
        super().apply_update(entity, command)
        if is_subscription(entity):
            entity.settings = attrs.evolve(entity.settings, forward_to=before)


@mutant("TOPIC-22", (*WITH_ONE, SENT, DELETE, TAKE))
class TopicLeavesItsSubscriptions(Management):
    """Deleting a topic leaves its subscriptions, with their messages."""

    def delete(self, entity: Entity) -> None:
        if not is_topic(entity):
            super().delete(entity)
            return
        with with_subscriptions(self.rules.namespace, entity, []):
            super().delete(entity)


@mutant("TOPIC-22", CREATED_AGAIN, also=(RememberDeleted,))
class TopicMadeAgainHasItsSubscriptions(Topics):
    """A topic that is created again has the subscriptions of the deleted one, without messages."""

    @afterwards
    def create_topic(self, command: v.CreateTopic, connection: str) -> None:
        before = memory(self.rules.namespace, dict[str, Entity]).get(command.topic)
        for subscription in (before.subscriptions or ()) if before is not None else ():
            name = subscription.path.removeprefix(v.subscription_path(command.topic, ""))
            again = v.CreateSubscription(topic=command.topic, subscription=name)
            self.create_subscription(again, connection)


@mutant("TOPIC-23", (*WITH_TWO, DELETE_ONE, SENT, TAKE_TWO))
class OthersAreParted(Management):
    """After a subscription was deleted, those created after it get no more copies."""

    def delete(self, entity: Entity) -> None:
        before = entity.base.subscriptions or ()
        super().delete(entity)
        if is_subscription(entity):
            entity.base.subscriptions = before[: before.index(entity)]


@mutant("TOPIC-23", (*WITH_TWO, SENT, DELETE_ONE, TAKE_TWO))
class CopiesGoTogether(Management):
    """Deleting a subscription removes its messages from the others as well."""

    @afterwards
    def delete(self, entity: Entity) -> None:
        gone = {id(queued.message) for queued in entity.messages.values()}
        others = (entity.base.subscriptions or ()) if is_subscription(entity) else ()
        for queued in [queued for other in others for queued in other.messages.values()]:
            if id(queued.message) in gone:
                self.rules.messages.remove(queued)


@mutant("TOPIC-23", (*WITH_ONE, DELETE_ONE, SENT))
class LastSubscriptionClosesTopic(Management):
    """A topic whose last subscription was deleted refuses messages."""

    @afterwards
    def delete(self, entity: Entity) -> None:
        if is_subscription(entity) and not entity.base.subscriptions:
            entity.base.down = frozenset(range(len(entity.partitions)))


@mutant("TOPIC-24", also=(RememberDeleted,), readings=AT_ONCE)
@run(*COUNTED)
class DeletedSubscriptionsCounted(Topics):
    """The subscription count of a topic includes deleted ones."""

    @tells("description")
    def get_topic(self, usual: v.TopicDescription, command: v.GetTopic) -> v.TopicDescription:
        ever = {**memory(self.rules.namespace, dict[str, Entity]), **self.namespace.entities}
        above = v.subscription_path(command.topic, "")
        kind = EntityKind.SUBSCRIPTION
        had = [
            path for path, entity in ever.items() if path.startswith(above) and entity.kind is kind
        ]
        return attrs.evolve(usual, subscription_count=len(had))


@mutant("TOPIC-25", (*WITH_ONE, CLOSE_ONE, SENT, OPEN_ONE, TAKE))
class ClosedSubscriptionMisses(Topics):
    """A subscription gets no copies while it is disabled for receiving."""

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        open_ones = [
            subscription for subscription in topic.subscriptions or () if subscription.status.gives
        ]
        with with_subscriptions(self.rules.namespace, topic, open_ones):
            super().distribute(topic, message, partition, transit)


@mutant("TOPIC-26", (*WITH_ONE, SENT, SHUT, TAKE))
class DisabledTopicClosesItsSubscriptions(Topics):
    """The subscriptions of a disabled topic give no messages."""

    @alters
    def receivable(self, usual: Entity) -> Entity:
        if is_subscription(usual) and not usual.base.status.takes:
            raise Refusal(v.Error.ENTITY_DISABLED, "TOPIC-26")
        return usual
