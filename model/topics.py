"""TOPIC: topics, their subscriptions, and which requests an entity accepts.

A topic stores no messages: an accepted message is copied, within the partition that took it, into
each subscription with a matching rule. A subscription is read like a queue, and shares its topic's
partitions and outages. Senders address topics and queues. Receivers address queues, subscriptions
and dead-letter queues.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.filters.facts import Arrival
from busproof.filters.readings import OURS
from busproof.model.ambiguities import DisabledCopies, LikeCase
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family, handles
from busproof.model.state import Entity
from busproof.model.values import EntityKind, EntitySettings, InTransit, Refusal

__all__ = ["OF_TOPICS", "Topics"]

ACTIVE: Final = v.EntityStatus.ACTIVE
FOR_EVER_MS: Final = 922_337_203_685_477
"""Milliseconds of the longest time to live, which a message without one has."""
OF_TOPICS: Final[dict[v.RuleId, v.RuleId]] = {"KEY-11": "TOPIC-12", "KEY-15": "TOPIC-11"}
"""Rules of queues to those that say the same of topics."""
DEFAULT_RULE: Final = v.SubscriptionRule(name=v.DEFAULT_RULE, filter=v.TrueFilter())


class Topics(Family):
    """The rules of TOPIC."""

    def find_alike(self, path: str) -> Entity:
        """MGMT-10, TOPIC-21: return the subscription that a path names in another case, or refuse.

        When a subscription is created, the case of its name does not count (TOPIC-21). No document
        says whether it does in other requests.
        """
        owner = v.owner_of(path)
        topic = self.namespace.entities.get(path.partition(v.SUBSCRIPTIONS)[0])
        for subscription in () if topic is None else topic.subscriptions or ():
            if self.folded(subscription.path) == self.folded(owner):
                if self.namespace.prefers("TOPIC-21", "found", to="missing"):
                    return self.namespace.entities[subscription.path + path.removeprefix(owner)]
                break
        known = self.namespace.entities.get(owner)
        if known is not None and known.kind is EntityKind.TOPIC:
            raise Refusal(v.Error.INVALID_OPERATION, "TOPIC-05")
        raise Refusal(v.Error.NOT_FOUND, "MGMT-10")

    def addressed(self, path: str) -> Entity:
        """TOPIC-06, DLQ-11: return the queue or topic with this path; refuse other entities."""
        entity = self.namespace.entities.get(path) or self.find_alike(path)
        if entity.base is not entity:
            subscription = entity.kind is EntityKind.SUBSCRIPTION
            raise Refusal(v.Error.INVALID_OPERATION, "TOPIC-06" if subscription else "DLQ-11")
        return entity

    def sendable(self, path: str) -> Entity:
        """MGMT-26, MGMT-28: return the queue or topic with this path, if it may be sent to.

        Of several reasons for a refusal the documents do not say which one is named. So the status
        may also be checked last (`check_status_last`).
        """
        entity = self.addressed(path)
        if entity.status is not ACTIVE and not entity.status.takes:
            if self.namespace.prefers("MGMT-26", "checked-last", to="checked-first"):
                return entity
            raise Refusal(v.Error.ENTITY_DISABLED, "MGMT-26")
        return entity

    def check_status_last(self, entity: Entity, answer: Answer) -> Answer:
        """MGMT-26, MGMT-28: return the answer to a send, unless its entity's status refuses it."""
        if entity.status is ACTIVE or answer.refused is not None:
            return answer
        if not entity.status.takes:
            raise Refusal(v.Error.ENTITY_DISABLED, "MGMT-26")
        answer.rules = ("MGMT-28", *answer.rules)
        return answer

    def rules_of_send(
        self, topic: Entity, rules: tuple[v.RuleId, ...], *, is_new: bool
    ) -> tuple[v.RuleId, ...]:
        """TOPIC-01, TOPIC-04, TOPIC-11, TOPIC-12: return the rules of a send to a topic.

        Args:
            topic: the topic.
            rules: the rules of the same send to a queue; topics state some of them once more.
            is_new: whether the message is no copy.
        """
        again = tuple(OF_TOPICS[rule] for rule in rules if rule in OF_TOPICS)
        if not is_new:
            return rules + again
        return ("TOPIC-01" if topic.subscriptions else "TOPIC-04", *rules, *again)

    def readable(self, path: str) -> Entity:
        """TOPIC-05: return the entity with this path, but no topic, which has no messages."""
        entity = self.namespace.entities.get(path) or self.find_alike(path)
        if entity.kind is EntityKind.TOPIC:
            raise Refusal(v.Error.INVALID_OPERATION, "TOPIC-05")
        return entity

    def receivable(self, path: str) -> Entity:
        """MGMT-27, MGMT-28: return the entity with this path, unless receiving is disabled."""
        entity = self.readable(path)
        if entity.status is not ACTIVE and not entity.status.gives:
            raise Refusal(v.Error.ENTITY_DISABLED, "MGMT-27")
        if entity.owner is not entity:
            self.check_serves(entity, "served", "refused")
        return entity

    def usable(self, path: str) -> Entity:
        """MGMT-27: return the entity with this path, which usually has to give messages.

        It is for requests about sessions, deferred messages and deletions (see `check_serves`).
        """
        entity = self.readable(path)
        self.check_serves(entity, "refused", "served")
        return entity

    def check_serves(self, entity: Entity, *answers: str) -> None:
        """MGMT-27: refuse a request to an entity that is disabled for receiving, or let it pass.

        The documents say that such an entity gives no messages. They do not say whether its dead
        letters can be received, nor which other requests are refused.

        Args:
            entity: the entity, or a dead-letter queue, which has no status of its own.
            answers: `served` and `refused`; what a regular bus does comes first.
        """
        status = entity.owner.status
        if status is ACTIVE or status.gives:
            return
        if self.namespace.pick("MGMT-27", *answers) == "refused":
            raise Refusal(v.Error.ENTITY_DISABLED)

    def looks_empty(self, path: str) -> bool:
        """TOPIC-05, FWD-15, FWD-36: return whether a receiver finds nothing here, or refuse it.

        Nothing can be received from a topic, nor from an entity that forwards. The documents do not
        say whether that is an error, nor whether a topic has dead-letter queues.
        """
        entity = self.namespace.entities.get(path)
        owner = entity or self.namespace.entities.get(v.owner_of(path))
        if owner is not None and owner.kind is EntityKind.TOPIC and owner.status.gives:
            return self.namespace.prefers("TOPIC-05", "empty", to="refused")
        if entity is not None and entity.settings.forward_to is not None:
            answer = self.namespace.pick("FWD-15", "served", "empty", "refused")
            if answer == "refused":
                of_dead = entity.kind is EntityKind.DEAD_LETTERS
                raise Refusal(v.Error.INVALID_OPERATION, "FWD-36" if of_dead else "FWD-15")
            return answer == "empty"
        return False

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """TOPIC-01, TOPIC-04, TOPIC-08, TOPIC-25: copy a message to each matching subscription.

        DISABLED-COPIES decides whether a disabled subscription gets copies.
        """
        onward = transit._replace(lifetime=topic.settings.time_to_live)
        for subscription in topic.subscriptions or ():
            disabled = subscription.status is v.EntityStatus.DISABLED
            if disabled and self.namespace.reading(DisabledCopies) is DisabledCopies.MISSED:
                continue
            given = self._given(subscription, message, partition, onward)
            for copy in self.rules.subscription_rules.copies(subscription, message, given):
                place = self._place_of_copy(subscription, message, copy, partition)
                self.rules.messages.arrive(subscription, copy, place, onward)

    def _place_of_copy(
        self, subscription: Entity, message: v.Message, copy: v.Message, partition: int
    ) -> int:
        """TOPIC-07: return the partition of a copy, its message's unless an action changed its key.

        Where such a copy is, the documents leave open (ACTION-KEYS); this bus has each session in
        one partition.
        """
        same = copy.session_id == message.session_id and copy.partition_key == message.partition_key
        key = None if same else self.rules.keys.effective_key(subscription, copy)
        return partition if key is None else self.rules.keys.home(subscription, key)

    def _given(
        self, subscription: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> Arrival | None:
        """FILTER-11: return what SQL can read of a copy beside its sender's values.

        The sequence number is the one that the next copy gets. Rules without SQL read none of it.
        """
        conditions = [
            rule.filter.expression if isinstance(rule.filter, v.SqlFilter) else ""
            for rule in subscription.rules
            if rule.action is not None or isinstance(rule.filter, v.SqlFilter)
        ]
        if not conditions:
            return None
        readings = OURS
        # The reading is chosen when it first matters.
        if any("LIKE" in condition.upper() for condition in conditions):
            like_case = self.namespace.reading(LikeCase)
            readings = attrs.evolve(OURS, like_case=like_case.value)
        now, epoch = self.namespace.now, self.namespace.epoch
        expires_at = self.rules.expiry.expires_at(subscription, message, transit)
        counters = subscription.partitions[partition]
        return Arrival(
            entity=subscription.path,
            enqueued_at=(epoch + now) // 1_000,
            sequence_number=(counters.number << v.SEQUENCE_BITS) + counters.arrivals + 1,
            scheduled_for=None if transit.due is None else (epoch + transit.due) // 1_000,
            expires_at=FOR_EVER_MS if expires_at is None else (epoch + expires_at) // 1_000,
            time_to_live=FOR_EVER_MS if expires_at is None else (expires_at - now) // 1_000,
            size=len(message.body) if message.size is None else message.size,
            readings=readings,
        )

    @handles(v.CreateTopic)
    def create_topic(self, command: v.CreateTopic, connection: str) -> Answer:
        """MGMT-02, MGMT-03, MGMT-09, SIZE-01, QUOTA-03: create a topic."""
        self.rules.management.check_name(command.topic)
        self.rules.management.check_basic()
        partitioned = self.rules.premium.partitioned(command.partitioned, command.api_version)
        size = self.rules.sizes.granted_size(command.max_size)
        settings = EntitySettings.of(command, partitioned=partitioned, max_size=size)
        self.rules.management.create(command.topic, EntityKind.TOPIC, settings)
        return Answer(DONE, rules=self.rules.management.rules_of_creation(settings, "MGMT-02"))

    @handles(v.CreateSubscription)
    def create_subscription(self, command: v.CreateSubscription, connection: str) -> Answer:
        """MGMT-09, TOPIC-17 to TOPIC-19, TOPIC-21, FILTER-01: create a subscription of a topic."""
        topic = self.namespace.entities.get(command.topic) or self.find_alike(command.topic)
        if topic.subscriptions is None:
            raise Refusal(v.Error.NOT_FOUND, "TOPIC-19")
        self.rules.limits.check_short_name(command.subscription, "TOPIC-18")
        path = v.subscription_path(command.topic, command.subscription)
        if v.is_dead_letter_queue(path):
            raise Refusal(v.Error.INVALID_OPERATION, "DLQ-08")
        known = {self.folded(other.path) for other in topic.subscriptions}
        if self.folded(path) in known:
            same = path in self.namespace.entities
            raise Refusal(v.Error.ALREADY_EXISTS, "MGMT-09" if same else "TOPIC-21")
        own = topic.settings
        settings = EntitySettings.of(command, partitioned=own.partitioned, max_size=own.max_size)
        kind = EntityKind.SUBSCRIPTION
        subscription = self.rules.management.create(path, kind, settings, topic)
        subscription.rules = (DEFAULT_RULE,)
        self.namespace.journal.touch(topic)
        topic.subscriptions += (subscription,)
        return Answer(DONE, rules=("TOPIC-03",))

    def folded(self, name: str) -> str:
        """TOPIC-21: return the name of a subscription in the form in which names are compared."""
        return name.lower()

    def topic_of(self, path: str) -> Entity:
        """MGMT-10, MGMT-24: return the topic with this path."""
        self.rules.management.check_basic()
        topic = self.namespace.entities.get(path) or self.find_alike(path)
        if topic.kind is not EntityKind.TOPIC:
            raise Refusal(v.Error.INVALID_OPERATION)
        return topic

    @handles(v.GetTopic)
    def get_topic(self, command: v.GetTopic, connection: str) -> Answer:
        """MGMT-11, MGMT-21, SIZE-04, TOPIC-24: describe a topic."""
        topic = self.topic_of(command.topic)
        self.rules.management.count(topic)
        settings = topic.settings
        description = v.TopicDescription(
            topic=topic.path,
            partitioned=settings.partitioned,
            duplicate_detection=settings.duplicate_detection,
            duplicate_window=settings.duplicate_window,
            time_to_live=settings.time_to_live,
            max_size=self.rules.sizes.greatest_size(topic),
            subscription_count=len(topic.subscriptions or ()),
            availability=self.rules.management.availability(topic),
        )
        changing = self.rules.management.rules_of_description(topic)
        rules = ("MGMT-11", "TOPIC-24", *changing, *self.rules.sizes.rules_of_size(topic))
        return Answer(v.TopicDescribed(description=description), rules=rules)

    @handles(v.UpdateTopic)
    def update_topic(self, command: v.UpdateTopic, connection: str) -> Answer:
        """MGMT-04, MGMT-12, MGMT-14: change the settings of a topic."""
        topic = self.topic_of(command.topic)
        if command.status is v.EntityStatus.RECEIVE_DISABLED:
            raise Refusal(v.Error.INVALID_OPERATION)
        settings = attrs.asdict(command)
        update = v.UpdateQueue(queue=settings.pop("topic"), **settings)
        self.rules.management.apply_update(topic, update)
        return Answer(DONE, rules=("MGMT-12",))

    @handles(v.DeleteTopic)
    def delete_topic(self, command: v.DeleteTopic, connection: str) -> Answer:
        """MGMT-15, TOPIC-22: delete a topic with its subscriptions."""
        topic = self.topic_of(command.topic)
        self.rules.management.delete(topic)
        return Answer(DONE, rules=("TOPIC-22",))

    @handles(v.ListTopics)
    def list_topics(self, command: v.ListTopics, connection: str) -> Answer:
        """MGMT-16, MGMT-24: return the name of each topic once."""
        self.rules.management.check_basic()
        names = (
            path
            for path, topic in self.namespace.entities.items()
            if topic.kind is EntityKind.TOPIC
        )
        return Answer(v.Listed(names=tuple(sorted(names))), rules=("MGMT-16",))

    @handles(v.ListSubscriptions)
    def list_subscriptions(self, command: v.ListSubscriptions, connection: str) -> Answer:
        """MGMT-16: return the name of each subscription of a topic, spelt as at its creation."""
        topic = self.topic_of(command.topic)
        before = len(v.subscription_path(topic.path, ""))
        names = sorted(subscription.path[before:] for subscription in topic.subscriptions or ())
        return Answer(v.Listed(names=tuple(names)), rules=("MGMT-16",))
