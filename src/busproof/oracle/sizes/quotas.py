"""Quotas of entities: whether one more entity may, or must, be refused.

`Namespace.entity_counts` has the numbers of entities. If an entity may or may not exist, one more
may be refused, and need not be.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.entity_counts import MOST_PARTITIONED, Kind
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, Topic
from busproof.oracle.transition import Transition, refusal

MOST_ENTITIES: Final = 10_000
"""QUOTA-07: maximum number of queues and topics in a Basic or Standard namespace."""
A_UNIT: Final = 1_000
"""QUOTA-11, QUOTA-14: number of queues and topics that Premium allows per messaging unit."""
LEAST_DISPUTED: Final = 1_000
"""QUOTA-ENTITIES: the lower number that the page on quotas gives beside 10,000."""
MOST_SUBSCRIPTIONS: Final = 2_000
"""Maximum number of subscriptions of a topic, which no edition states."""
GREATEST_SIZE: Final = 80
"""Greatest size of an entity in GB; it may multiply the partitions (GB-PARTITIONS)."""

_APART: Final = ("separate", "one", "not-counted")
_TOGETHER: Final = ("shared", "per-partition", "counted")
"""Readings that do not count other entities, or partitions, and readings that do."""


@attrs.frozen
class Wanted:
    """An entity to be created: its kind, and how many partitions it would have."""

    kind: Kind
    partitions: int = 1


@attrs.frozen
class Quota:
    """The state of a quota for one more entity.

    Attributes:
        must: whether it has to be refused.
        may: whether it may be refused.
        rules: the rules that require the refusal.
    """

    must: bool
    may: bool
    rules: tuple[v.RuleId, ...] = ()


def within_quota(namespace: Namespace, wanted: Wanted) -> bool:
    """Return whether one more entity of this kind may be created."""
    # An entity that must be refused by any quota cannot be created.
    return not any(quota.must for _, quota in _quotas(namespace, wanted))


def over_quota(
    namespace: Namespace, options: Iterable[Wanted], topic: Queue | None = None
) -> Iterator[Transition]:
    """QUOTA-02 to QUOTA-04, QUOTA-08, QUOTA-10 to QUOTA-12: yield the refusals of one more entity.

    Args:
        namespace: the state before the creation.
        options: the kinds that the entity may have.
        topic: the topic of a new subscription.
    """
    by_error: dict[v.Error | None, tuple[v.RuleId, ...]] = {}
    for wanted in options:
        for error, quota in _quotas(namespace, wanted):
            if quota.may:
                # Several quotas may lead to the same error, and then all their rules explain it.
                by_error[error] = tuple(dict.fromkeys((*quota.rules, *by_error.get(error, ()))))
    there = topic.role.subscriptions if topic and isinstance(topic.role, Topic) else ()
    if len(there) >= MOST_SUBSCRIPTIONS:
        by_error.setdefault(None, ())
    for error, rules in by_error.items():
        any_error = error is None
        yield refusal(namespace, error or v.Error.QUOTA_EXCEEDED, *rules, any_error=any_error)


def _quotas(namespace: Namespace, wanted: Wanted) -> Iterator[tuple[v.Error | None, Quota]]:
    """Yield each quota for such an entity, with the error of its refusal if it is documented."""
    if wanted.kind in (Kind.QUEUE, Kind.TOPIC):
        yield v.Error.QUOTA_EXCEEDED, _of_partitioned(namespace, wanted.kind)
    yield None, _of_entities(namespace, wanted)


def _others_count(namespace: Namespace, ambiguity: str) -> tuple[bool, bool]:
    """Return whether the reading surely counts other entities too, and whether it may."""
    reading = namespace.reading(ambiguity, "either")
    return reading in _TOGETHER, reading not in _APART


def _of_partitioned(namespace: Namespace, kind: Kind) -> Quota:
    """QUOTA-01 to QUOTA-06: apply the limit of 100 to partitioned queues, topics, or both."""
    entity_counts = namespace.entity_counts
    own = entity_counts.queues if kind is Kind.QUEUE else entity_counts.topics
    surely, perhaps = _others_count(namespace, "QUOTA-SHARED")
    least = entity_counts.partitioned.earliest if surely else own.earliest
    most = (entity_counts.partitioned if perhaps else own).latest + entity_counts.unknown
    if namespace.profile.tier is v.Tier.PREMIUM:
        # The older documents give this number for all tiers, the newest for Basic and Standard
        # only.
        may = most >= MOST_PARTITIONED and not namespace.profile.is_partitioned
        return Quota(must=False, may=may)
    must = least >= MOST_PARTITIONED
    # The quota is exceeded only if queues and topics share it.
    others = own.earliest < MOST_PARTITIONED <= entity_counts.partitioned.earliest
    # If both kinds share the number, the rule of the kind in question still requires it.
    number = "QUOTA-02" if kind is Kind.QUEUE else "QUOTA-03"
    rules = rules_if((must, number), (others, "QUOTA-04"))
    return Quota(must=must, may=most >= MOST_PARTITIONED, rules=rules)


def _of_entities(namespace: Namespace, wanted: Wanted) -> Quota:
    """QUOTA-07 to QUOTA-11: apply the limit of 10,000 to queues and topics, perhaps to others."""
    if namespace.profile.tier is v.Tier.PREMIUM:
        return _of_premium(namespace, wanted)
    entity_counts = namespace.entity_counts
    subscriptions_count, may_count = _others_count(namespace, "QUOTA-SUBSCRIPTIONS")
    partitions_count, perhaps = weighing(namespace)
    least = (entity_counts.stores if partitions_count else entity_counts.entities).earliest
    most = (entity_counts.stores if perhaps else entity_counts.entities).latest
    least += entity_counts.subscriptions.earliest if subscriptions_count else 0
    most += entity_counts.subscriptions.latest if may_count else 0
    # An entity that is no longer judged may have as many partitions as any.
    widest = namespace.profile.partitions * GREATEST_SIZE if perhaps else 1
    most += entity_counts.unknown * widest
    # The page on quotas gives 1,000 beside 10,000, so a refusal from there on is possible. Those
    # cannot be partitions: 100 partitioned queues (QUOTA-01) have 1,600.
    each = entity_counts.entities.latest + entity_counts.unknown
    each += entity_counts.subscriptions.latest if may_count else 0
    disputed = namespace.reading("QUOTA-ENTITIES") == "either" and each >= LEAST_DISPUTED
    heaviest = wanted.partitions if perhaps else 1
    lightest = wanted.partitions if partitions_count else 1
    must = least + lightest > MOST_ENTITIES
    counted = entity_counts.entities.earliest + entity_counts.subscriptions.earliest
    quota = Quota(
        must=must,
        may=disputed or most + heaviest > MOST_ENTITIES,
        rules=rules_if(
            (must or entity_counts.entities.earliest >= MOST_ENTITIES, "QUOTA-08"),
            (entity_counts.entities.earliest < MOST_ENTITIES <= counted, "QUOTA-10"),
        ),
    )
    # A subscription is subject to this quota only under readings that count subscriptions.
    if wanted.kind is Kind.SUBSCRIPTION:
        return attrs.evolve(
            quota, must=quota.must and subscriptions_count, may=quota.may and may_count
        )
    return quota


def weighing(namespace: Namespace) -> tuple[bool, bool]:
    """QUOTA-09: return whether each partition surely counts as one, and whether it may."""
    # One reading needs no counting of partitions, and is the usual one.
    if namespace.reading("QUOTA-WEIGHT", "one") == "one":
        return False, False
    return _others_count(namespace, "QUOTA-WEIGHT")


def _of_premium(namespace: Namespace, wanted: Wanted) -> Quota:
    """QUOTA-11 to QUOTA-15: apply Premium's quota, which depends on the reading."""
    entity_counts, readings = namespace.entity_counts, namespace.profile.readings
    reading = readings.get("QUOTA-PREMIUM", "either")
    # Under this reading Premium has no such quota.
    if reading == "quota":
        return Quota(must=False, may=False)
    if reading == "counting":
        counts = wanted.kind is Kind.REGULAR
        must = counts and entity_counts.regular.earliest >= MOST_ENTITIES
        may = counts and entity_counts.regular.latest + entity_counts.unknown >= MOST_ENTITIES
        return Quota(must=must, may=may, rules=("QUOTA-12",) if must else ())
    there = entity_counts.entities.latest + entity_counts.unknown
    # Entities from before may not count.
    if readings.get("QUOTA-EXISTING", "either") == "not-counted":
        there -= entity_counts.restored.latest
    if _others_count(namespace, "QUOTA-SUBSCRIPTIONS")[1]:
        there += entity_counts.subscriptions.latest
    limit = A_UNIT * namespace.profile.messaging_units
    many = entity_counts.entities.earliest >= limit
    # A subscription is an entity only under the readings that count it.
    if reading == "per-unit":
        must = many and wanted.kind is not Kind.SUBSCRIPTION
        return Quota(must=must, may=there >= limit, rules=("QUOTA-15",) if must else ())
    return Quota(must=False, may=there >= limit, rules=("QUOTA-11",) if many else ())
