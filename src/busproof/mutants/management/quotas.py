"""Mutants of QUOTA: how many entities a namespace takes."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.management import Management
from busproof.model.quotas import A_UNIT, MOST_ENTITIES, MOST_PARTITIONED, Quotas
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import EntityKind, EntitySettings, Refusal
from busproof.mutants.mutant import memory, mutant, run
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
        Quotas.check_partitioned(namespace.rules.quotas, kind)
    finally:
        setattr(counts, name, there)


@mutant("QUOTA-01", HUNDRED)
class OnePartitionedTooFew(Quotas):
    """A namespace may have only 99 partitioned queues."""

    def check_partitioned(self, kind: EntityKind) -> None:
        _check_with(self.rules.namespace, kind, 1)


@mutant("QUOTA-02", ONE_MORE)
class PartitionedWithoutEnd(Quotas):
    """A namespace may have any number of partitioned entities."""

    def check_partitioned(self, kind: EntityKind) -> None:
        pass


@mutant("QUOTA-02", ONE_MORE)
class TooManyCalledInvalid(Quotas):
    """A queue beyond the quota is refused as an invalid operation."""

    @refuses_as(v.Error.INVALID_OPERATION)
    def check_partitioned(self) -> None:
        pass


class _CheckUnlessWithSessions(Quotas):
    @only_where
    def check_partitioned(self) -> bool:
        return not memory(self.rules.namespace, list[EntitySettings])[0].requires_session


@mutant("QUOTA-02", also=(_CheckUnlessWithSessions,), deep=True)
@run(*HUNDRED, create(requires_session=True))
class OneTooManyWithSessions(Management):
    """A partitioned queue beyond the quota is created if it requires sessions."""

    @beforehand
    def create(self, settings: EntitySettings) -> None:
        memory(self.rules.namespace, list[EntitySettings])[:] = [settings]


class _NoteRefusal(Quotas):
    """Create an entity beyond the quota, and remember to refuse it."""

    def check_partitioned(self, kind: EntityKind) -> None:
        try:
            super().check_partitioned(kind)
        except Refusal as refusal:
            memory(self.rules.namespace, list[Refusal]).append(refusal)


@mutant("MGMT-10", also=(_NoteRefusal,), deep=True)
@run(*ONE_MORE, send("m1"))
class RefusedAndCreated(Management):
    """A partitioned queue beyond the quota is refused, but created."""

    @alters
    def create_queue(self, usual: Answer) -> Answer:
        refusals = memory(self.rules.namespace, list[Refusal])
        if not refusals:
            return usual
        refusal = refusals.pop()
        return Answer(v.Refused(error=refusal.error), rules=refusal.rules)


@mutant("QUOTA-03", topics(101))
class TopicsWithoutEnd(Quotas):
    """A namespace may have any number of partitioned topics."""

    @only_where
    def check_partitioned(self, kind: EntityKind) -> bool:
        return kind is not EntityKind.TOPIC


@mutant("QUOTA-03", topics(51))
class HalfAsManyTopics(Quotas):
    """A namespace may have only 50 partitioned topics."""

    def check_partitioned(self, kind: EntityKind) -> None:
        _check_with(
            self.rules.namespace, kind, MOST_PARTITIONED // 2 if kind is EntityKind.TOPIC else 0
        )


class _CountUp(Quotas):
    """Count the partitioned entities that are deleted, for the mutant below."""

    @afterwards
    def count(self, entity: Entity, one: int) -> None:
        gone = one < 0 and entity.settings.partitioned
        memory(self.rules.namespace, Counter[EntityKind])[entity.kind] += gone


@mutant("QUOTA-05", also=(_CountUp,), deep=True)
@run(*HUNDRED, DELETED, create())
class DeletedStillCounts(Quotas):
    """A partitioned queue counts towards the quota of 100 after its deletion."""

    def check_partitioned(self, kind: EntityKind) -> None:
        _check_with(
            self.rules.namespace, kind, memory(self.rules.namespace, Counter[EntityKind])[kind]
        )


@mutant("QUOTA-05", (*ONE_MORE, DELETED, create()), deep=True)
class RefusedCounts(Quotas):
    """A partitioned queue counts towards the quota of 100 even if its creation was refused."""

    def check_partitioned(self, kind: EntityKind) -> None:
        refused = memory(self.rules.namespace, Counter[EntityKind])
        try:
            _check_with(self.rules.namespace, kind, refused[kind])
        except Refusal:
            refused[kind] += 1
            raise


@mutant("QUOTA-06", (*queues(101, partitioned=False), create()))
class RegularCounts(Quotas):
    """Regular queues and topics count towards the quota of 100."""

    def check_partitioned(self, kind: EntityKind) -> None:
        _check_with(self.rules.namespace, kind, self.namespace.counts.regular)


@mutant("QUOTA-06", (*HUNDRED, REGULAR))
class HundredOfAnyKind(Quotas):
    """A namespace with 100 partitioned entities creates no further entity of any kind."""

    @beforehand
    def check_entities(self, kind: EntityKind) -> None:
        counts = self.namespace.counts
        there = counts.partitioned_queues + counts.partitioned_topics
        if kind is not EntityKind.SUBSCRIPTION and there >= MOST_PARTITIONED:
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-06")


def _limit(namespace: Namespace, kind: EntityKind, weight: int, rule: v.RuleId) -> None:
    """Allow 10,000 queues and topics; the new one counts as `weight` entities."""
    counts = namespace.counts
    there = counts.partitioned_queues + counts.partitioned_topics + counts.regular
    if kind is not EntityKind.SUBSCRIPTION and there + weight > MOST_ENTITIES:
        raise Refusal(v.Error.QUOTA_EXCEEDED, rule)


@mutant("QUOTA-07", (*MANY, REGULAR), deep=True)
class OneEntityTooFew(Quotas):
    """A namespace may have only 9,999 queues and topics."""

    def check_entities(self, kind: EntityKind, partitions: int) -> None:
        _limit(self.rules.namespace, kind, 2, "QUOTA-07")


@mutant("QUOTA-08", (*MANY, *queues(1), REGULAR), deep=True)
class EntitiesWithoutEnd(Quotas):
    """A namespace may have any number of queues."""

    def check_entities(self, kind: EntityKind, partitions: int) -> None:
        pass


@mutant("QUOTA-09", (*MANY, create()), deep=True)
class EachPartitionCounts(Quotas):
    """Each partition of a queue counts towards the 10,000 entities."""

    def check_entities(self, kind: EntityKind, partitions: int) -> None:
        _limit(self.rules.namespace, kind, partitions, "QUOTA-09")


@mutant("QUOTA-12", CROWDED, readings=COUNTING, deep=True)
class PremiumWithoutEnd(Quotas):
    """In Premium a namespace may have any number of queues, against the reading of 10,000."""

    @only_where
    def check(self) -> bool:
        return self.namespace.profile.tier is not v.Tier.PREMIUM


@mutant("QUOTA-13", readings={"QUOTA-PREMIUM": "quota"}, deep=True)
@run(*CROWDED)
class QuotaInPremium(Quotas):
    """In Premium the 10,001st queue is refused, against the reading without a limit."""

    @beforehand
    def check(self, kind: EntityKind) -> None:
        if self.namespace.profile.tier is v.Tier.PREMIUM:
            _limit(self.rules.namespace, kind, 1, "QUOTA-13")


@mutant("QUOTA-14", UNIT, deep=True)
class AUnitTooSmall(Quotas):
    """In Premium a namespace may have only 999 queues and topics per messaging unit."""

    def check_premium(self, kind: EntityKind, partitions: int) -> None:
        counts = self.namespace.counts
        there = counts.partitioned_queues + counts.partitioned_topics + counts.regular
        if there >= (A_UNIT - 1) * self.namespace.profile.messaging_units:
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-14")


@mutant("QUOTA-15", readings={"QUOTA-PREMIUM": "per-unit"}, deep=True)
@run(*UNIT, create(queue="more", partitioned=False))
class UnitsWithoutEnd(Quotas):
    """In Premium a namespace may have any number of queues, against the reading per unit."""

    def check_premium(self, kind: EntityKind, partitions: int) -> None:
        pass
