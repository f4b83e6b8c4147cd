"""TOPIC: rules that repeat for topics and subscriptions what holds of queues."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage, Delivery, Rules, coverage_of
from busproof.model.state import Entity
from busproof.model.topics import OF_TOPICS, Topics
from busproof.model.transactions import KEYS_OF_TOPICS
from busproof.model.values import EntityKind, InTransit

__all__ = ["SeenTopics", "of_delivery", "with_rules_of_topics"]

ALSO_OF_TOPICS: Final[dict[v.RuleId, v.RuleId]] = {
    "KEY-02": "TOPIC-07",
    "KEY-03": "TOPIC-10",
    **OF_TOPICS,
    **KEYS_OF_TOPICS,
    "TXN-12": "TOPIC-15",
    "TXN-13": "TOPIC-15",
}
ALSO_OF_SUBSCRIPTIONS: Final[dict[v.RuleId, v.RuleId]] = {
    **ALSO_OF_TOPICS,
    "KEY-06": "TOPIC-14",
    **dict.fromkeys(("LIFE-02", "LIFE-03", "LIFE-04", "LIFE-05", "LIFE-06"), "TOPIC-20"),
    "LIFE-10": "TOPIC-13",
    "LIFE-12": "TOPIC-08",
}


class SeenTopics(Topics):
    """Observer of messages that a topic accepts."""

    def distribute(
        self, topic: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """TOPIC-03: note that a topic accepted a message."""
        coverage = coverage_of(self)
        notes = coverage.at(topic)
        coverage.change(notes)
        notes.accepted += 1
        super().distribute(topic, message, partition, transit)


def with_rules_of_topics(entity: Entity, rules: Rules) -> Rules:
    """TOPIC-07 to TOPIC-16, TOPIC-20: add the rules that repeat the others for topics."""
    of_topic = entity.kind is EntityKind.TOPIC
    same = ALSO_OF_TOPICS if of_topic else ALSO_OF_SUBSCRIPTIONS
    partitioned = not of_topic and entity.settings.partitioned
    more = [same[rule] for rule in rules if rule in same]
    if entity.settings.requires_session and "LIFE-01" in rules:
        more.append("TOPIC-13")
    if partitioned and "LIFE-09" in rules:
        more.append("TOPIC-09")
    return tuple(dict.fromkeys((*rules, *more)))


def of_delivery(coverage: Coverage, one: Delivery) -> None:
    """TOPIC-02, TOPIC-23, TOPIC-26: show the rules on a copy that others do not affect."""
    entity = one.entity
    if entity.kind is not EntityKind.SUBSCRIPTION:
        return
    topic = entity.base
    body = one.queued.message.body
    others = (other for other in topic.subscriptions or () if other is not entity)
    coverage.show_if(
        (not topic.status.takes, "TOPIC-26"),
        (coverage.at(topic).parted, "TOPIC-23"),
        (any(coverage.is_gone(other, body) for other in others), "TOPIC-02"),
    )
