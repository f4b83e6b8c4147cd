"""Mutants of QUOTA: how many entities a namespace takes."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.quotas import A_UNIT, MOST_ENTITIES, MOST_PARTITIONED
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import EntityKind, EntitySettings, Refusal
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import Run, create, send
from busproof.mutants.wrappers import afterwards, alters, beforehand, only_where, refuses_as


def queues(count: int, *, partitioned: bool = True) -> Iterator[v.CreateQueue]:
    """Return a run that creates this many queues."""
    kind = "p" if partitioned else "r"
    return (create(queue=f"{kind}{number}", partitioned=partitioned) for number in range(count))


def topics(count: int) -> Run:
    """Return a run that creates this many partitioned topics."""
    return tuple(v.CreateTopic(topic=f"t{number}") for number in range(count))


COUNTING: Final = {"QUOTA-PREMIUM": "counting"}
REGULAR: Final = create(partitioned=False)
HUNDRED: Final[Run] = tuple(queues(100))
ONE_MORE: Final[Run] = (*HUNDRED, create())
DELETED: Final = v.DeleteQueue(queue="p0")
MANY: Final[Run] = tuple(queues(9_999, partitioned=False))
CROWDED: Final[Run] = (*MANY, create(queue="last", partitioned=False), REGULAR)
UNIT: Final[Run] = tuple(queues(1_000, partitioned=False))


def _check_with(namespace: Namespace, kind: EntityKind, more: int) -> None:
    """Check the quota as if there were so many more partitioned entities of this kind."""
    counts = namespace.counts
    name = "partitioned_queues" if kind is EntityKind.QUEUE else "partitioned_topics"
    there = getattr(counts, name)
    setattr(counts, name, there + more)
    try:
        RULES.quotas.check_partitioned(namespace, kind)
    finally:
        setattr(counts, name, there)


@mutant("QUOTA-01", "quotas.check_partitioned", HUNDRED)
def one_partitioned_too_few(namespace: Namespace, kind: EntityKind) -> None:
    """A namespace may have only 99 partitioned queues."""
    _check_with(namespace, kind, 1)


@mutant("QUOTA-02", "quotas.check_partitioned", ONE_MORE)
def partitioned_without_end() -> None:
    """A namespace may have any number of partitioned entities."""


@mutant("QUOTA-02", "quotas.check_partitioned", ONE_MORE, refuses_as(v.Error.INVALID_OPERATION))
def too_many_called_invalid() -> None:
    """A queue beyond the quota is refused as an invalid operation."""


@beside("quotas.check_partitioned", only_where)
def _check_unless_with_sessions(namespace: Namespace) -> bool:
    return not memory(namespace, list[EntitySettings])[0].requires_session


@mutant(
    "QUOTA-02", "management.create", how=beforehand, also=_check_unless_with_sessions, deep=True
)
@run(*HUNDRED, create(requires_session=True))
def one_too_many_with_sessions(namespace: Namespace, settings: EntitySettings) -> None:
    """A partitioned queue beyond the quota is created if it requires sessions."""
    memory(namespace, list[EntitySettings])[:] = [settings]


@beside("quotas.check_partitioned")
def _note_refusal(namespace: Namespace, kind: EntityKind) -> None:
    """Create an entity beyond the quota, and remember to refuse it."""
    try:
        RULES.quotas.check_partitioned(namespace, kind)
    except Refusal as refusal:
        memory(namespace, list[Refusal]).append(refusal)


@mutant("MGMT-10", "management.create_queue", how=alters, also=_note_refusal, deep=True)
@run(*ONE_MORE, send("m1"))
def refused_and_created(usual: Answer, namespace: Namespace) -> Answer:
    """A partitioned queue beyond the quota is refused, but created."""
    refusals = memory(namespace, list[Refusal])
    if not refusals:
        return usual
    refusal = refusals.pop()
    return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("QUOTA-03", "quotas.check_partitioned", topics(101), only_where)
def topics_without_end(kind: EntityKind) -> bool:
    """A namespace may have any number of partitioned topics."""
    return kind is not EntityKind.TOPIC


@mutant("QUOTA-03", "quotas.check_partitioned", topics(51))
def half_as_many_topics(namespace: Namespace, kind: EntityKind) -> None:
    """A namespace may have only 50 partitioned topics."""
    _check_with(namespace, kind, MOST_PARTITIONED // 2 if kind is EntityKind.TOPIC else 0)


@beside("quotas.count", afterwards)
def _count_up(namespace: Namespace, entity: Entity, one: int) -> None:
    """Count the partitioned entities that are deleted, for the mutant below."""
    gone = one < 0 and entity.settings.partitioned
    memory(namespace, Counter[EntityKind])[entity.kind] += gone


@mutant("QUOTA-05", "quotas.check_partitioned", also=_count_up, deep=True)
@run(*HUNDRED, DELETED, create())
def deleted_still_counts(namespace: Namespace, kind: EntityKind) -> None:
    """A partitioned queue counts towards the quota of 100 after its deletion."""
    _check_with(namespace, kind, memory(namespace, Counter[EntityKind])[kind])


@mutant("QUOTA-05", "quotas.check_partitioned", (*ONE_MORE, DELETED, create()), deep=True)
def refused_counts(namespace: Namespace, kind: EntityKind) -> None:
    """A partitioned queue counts towards the quota of 100 even if its creation was refused."""
    refused = memory(namespace, Counter[EntityKind])
    try:
        _check_with(namespace, kind, refused[kind])
    except Refusal:
        refused[kind] += 1
        raise


@mutant("QUOTA-06", "quotas.check_partitioned", (*queues(101, partitioned=False), create()))
def regular_counts(namespace: Namespace, kind: EntityKind) -> None:
    """Regular queues and topics count towards the quota of 100."""
    _check_with(namespace, kind, namespace.counts.regular)


@mutant("QUOTA-06", "quotas.check_entities", (*HUNDRED, REGULAR), beforehand)
def hundred_of_any_kind(namespace: Namespace, kind: EntityKind) -> None:
    """A namespace with 100 partitioned entities creates no further entity of any kind."""
    counts = namespace.counts
    there = counts.partitioned_queues + counts.partitioned_topics
    if kind is not EntityKind.SUBSCRIPTION and there >= MOST_PARTITIONED:
        raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-06")


def _limit(namespace: Namespace, kind: EntityKind, weight: int, rule: v.RuleId) -> None:
    """Allow 10,000 queues and topics; the new one counts as `weight` entities."""
    counts = namespace.counts
    there = counts.partitioned_queues + counts.partitioned_topics + counts.regular
    if kind is not EntityKind.SUBSCRIPTION and there + weight > MOST_ENTITIES:
        raise Refusal(v.Error.QUOTA_EXCEEDED, rule)


@mutant("QUOTA-07", "quotas.check_entities", (*MANY, REGULAR), deep=True)
def one_entity_too_few(namespace: Namespace, kind: EntityKind) -> None:
    """A namespace may have only 9,999 queues and topics."""
    _limit(namespace, kind, 2, "QUOTA-07")


@mutant("QUOTA-08", "quotas.check_entities", (*MANY, *queues(1), REGULAR), deep=True)
def entities_without_end() -> None:
    """A namespace may have any number of queues."""


@mutant("QUOTA-09", "quotas.check_entities", (*MANY, create()), deep=True)
def each_partition_counts(namespace: Namespace, kind: EntityKind, partitions: int) -> None:
    """Each partition of a queue counts towards the 10,000 entities."""
    _limit(namespace, kind, partitions, "QUOTA-09")


@mutant("QUOTA-12", "quotas.check", CROWDED, only_where, readings=COUNTING, deep=True)
def premium_without_end(namespace: Namespace) -> bool:
    """In Premium a namespace may have any number of queues, against the reading of 10,000."""
    return namespace.profile.tier is not v.Tier.PREMIUM


@mutant("QUOTA-13", "quotas.check", how=beforehand, readings={"QUOTA-PREMIUM": "quota"}, deep=True)
@run(*CROWDED)
def quota_in_premium(namespace: Namespace, kind: EntityKind) -> None:
    """In Premium the 10,001st queue is refused, against the reading without a limit."""
    if namespace.profile.tier is v.Tier.PREMIUM:
        _limit(namespace, kind, 1, "QUOTA-13")


@mutant("QUOTA-14", "quotas.check_premium", UNIT, deep=True)
def a_unit_too_small(namespace: Namespace) -> None:
    """In Premium a namespace may have only 999 queues and topics per messaging unit."""
    counts = namespace.counts
    there = counts.partitioned_queues + counts.partitioned_topics + counts.regular
    if there >= (A_UNIT - 1) * namespace.profile.messaging_units:
        raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-14")


@mutant("QUOTA-15", "quotas.check_premium", readings={"QUOTA-PREMIUM": "per-unit"}, deep=True)
@run(*UNIT, create(queue="more", partitioned=False))
def units_without_end() -> None:
    """In Premium a namespace may have any number of queues, against the reading per unit."""
