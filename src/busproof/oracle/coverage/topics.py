"""Rules that an answer of a topic or a subscription exercises."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.management.topics import topic_of
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, Subscription, Topic

_ALSO_OF_TOPICS: Final[dict[v.RuleId, v.RuleId]] = {
    "KEY-02": "TOPIC-07",
    "KEY-03": "TOPIC-10",
    "KEY-11": "TOPIC-12",
    "KEY-15": "TOPIC-11",
    "TXN-03": "TOPIC-16",
    "TXN-04": "TOPIC-16",
    "TXN-08": "TOPIC-16",
    "TXN-12": "TOPIC-15",
    "TXN-13": "TOPIC-15",
}
_ALSO_OF_SUBSCRIPTIONS: Final[dict[v.RuleId, v.RuleId]] = {
    **_ALSO_OF_TOPICS,
    "KEY-06": "TOPIC-14",
    **dict.fromkeys(("LIFE-02", "LIFE-03", "LIFE-04", "LIFE-05", "LIFE-06"), "TOPIC-20"),
    "LIFE-10": "TOPIC-13",
    "LIFE-12": "TOPIC-08",
}


def with_topic_rules(queue: Queue | None, rules: tuple[v.RuleId, ...]) -> tuple[v.RuleId, ...]:
    """Return the rules that an answer exercises, with the TOPIC rules that repeat them for topics.

    On a topic or a subscription, KEY-03 for example is also TOPIC-10. The documents on queues cover
    topics and subscriptions, too, so TOPIC-07 to TOPIC-16 and TOPIC-20 hold.
    """
    if queue is None or queue.role is None:
        return rules
    same = _ALSO_OF_TOPICS if isinstance(queue.role, Topic) else _ALSO_OF_SUBSCRIPTIONS
    partitioned = isinstance(queue.role, Subscription) and queue.settings.partitioned
    more = rules_if(
        (queue.settings.requires_session and "LIFE-01" in rules, "TOPIC-13"),
        (partitioned and "LIFE-09" in rules, "TOPIC-09"),
    )
    own = (same[rule] for rule in rules if rule in same)
    return tuple(dict.fromkeys((*rules, *more, *own)))


def shown_by_nothing(queue: Queue) -> tuple[v.RuleId, ...]:
    """TOPIC-03, FILTER-02: return the rules that an empty subscription exercises."""
    role = queue.role
    if not isinstance(role, Subscription):
        return ()
    # A subscription that is empty although the topic had messages before shows that it did not get
    # those.
    return ("TOPIC-03", *role.kept_by) if role.late and not queue.arrivals else role.kept_by


def shown_by_copy(namespace: Namespace, queue: Queue, body: str) -> tuple[v.RuleId, ...]:
    """TOPIC-02, TOPIC-23, TOPIC-26: return the rules shown by a copy that others do not affect."""
    if not isinstance(queue.role, Subscription):
        return ()
    topic, role = topic_of(namespace, queue.role)
    others = (namespace.queues[path] for path in role.subscriptions if path != queue.settings.queue)
    return rules_if(
        (not topic.managed.status.takes, "TOPIC-26"),
        (role.parted, "TOPIC-23"),
        (any(is_gone(other, body) for other in others), "TOPIC-02"),
    )


def is_gone(queue: Queue, body: str) -> bool:
    """Return whether messages with this body were stored here, but are all gone."""
    numbers = queue.bodies.get(body)
    return isinstance(numbers, tuple) and not any(number in queue.messages for number in numbers)


def why_absent(namespace: Namespace, queue: Queue, body: str) -> tuple[v.RuleId, ...]:
    """Return the rules that explain why the topic or subscription did not get this message."""
    if not isinstance(queue.role, Subscription):
        return ()
    known = namespace.queues[queue.role.topic].bodies.get(body)
    at_topic = (known,) if isinstance(known, str) else ()
    return (*at_topic, *queue.role.kept_out.get(body, ()))
