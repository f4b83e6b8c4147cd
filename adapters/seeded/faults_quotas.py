"""Faults in how many entities there can be: the QUOTA rules."""

from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary.commands import CreateQueue, CreateTopic
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("one-partitioned-too-few", "QUOTA-01", "A namespace takes 99 partitioned queues.")
class _OnePartitionedTooFew(SeededBus):
    def most_partitioned(self) -> int:
        return super().most_partitioned() - 1


@faulty("partitioned-without-end", "QUOTA-02", "A namespace takes any number of partitioned ones.")
class _PartitionedWithoutEnd(SeededBus):
    def partitioned(self) -> int:
        return 0


@faulty("too-many-called-invalid", "QUOTA-02", "One queue too many is told to be invalid.")
class _TooManyCalledInvalid(SeededBus):
    def refuse_one_more(self, asked: CreateQueue, error: Error) -> Outcome:  # noqa: ARG002
        return Refused(error=Error.INVALID_OPERATION)


@faulty(
    "one-too-many-with-sessions",
    "QUOTA-02",
    "A partitioned queue that requires sessions is one too many and is created.",
    deep=True,
)
class _OneTooManyWithSessions(SeededBus):
    def too_many(self, asked: CreateQueue) -> Error | None:
        return None if asked.requires_session else super().too_many(asked)


@faulty(
    "refused-and-created",
    "MGMT-10",
    "A partitioned queue that is one too many is refused and is there nevertheless.",
    deep=True,
)
class _RefusedAndCreated(SeededBus):
    def refuse_one_more(self, asked: CreateQueue, error: Error) -> Outcome:
        self.queues[asked.queue] = self.made(asked)
        return super().refuse_one_more(asked, error)


class _OfTopics(SeededBus):
    """Knows whether it is a topic that is asked for."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.of_topics = False

    def create_topic(self, command: CreateTopic) -> Outcome:
        self.of_topics = True
        created = super().create_topic(command)
        self.of_topics = False
        return created


@faulty("topics-without-end", "QUOTA-03", "A namespace takes any number of partitioned topics.")
class _TopicsWithoutEnd(_OfTopics):
    def too_many(self, asked: CreateQueue) -> Error | None:
        return None if self.of_topics else super().too_many(asked)


@faulty("half-as-many-topics", "QUOTA-03", "A namespace takes 50 partitioned topics.")
class _HalfAsManyTopics(_OfTopics):
    def most_partitioned(self) -> int:
        most = super().most_partitioned()
        return most // 2 if self.of_topics else most


@faulty(
    "deleted-still-counts",
    "QUOTA-05",
    "A partitioned queue that was deleted counts among the 100 for good.",
    deep=True,
)
class _DeletedStillCounts(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.gone = 0

    def take_away(self, queue: Queue) -> None:
        super().take_away(queue)
        self.gone += bool(queue.settings.partitioned)

    def partitioned(self) -> int:
        return super().partitioned() + self.gone


@faulty(
    "refused-counts",
    "QUOTA-05",
    "A partitioned queue that was refused counts among the 100.",
    deep=True,
)
class _RefusedCounts(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.refused = 0

    def refuse_one_more(self, asked: CreateQueue, error: Error) -> Outcome:
        self.refused += 1
        return super().refuse_one_more(asked, error)

    def partitioned(self) -> int:
        return super().partitioned() + self.refused


@faulty("regular-counts", "QUOTA-06", "Regular queues and topics count among the 100 as well.")
class _RegularCounts(SeededBus):
    def partitioned(self) -> int:
        return len(self.queues)


@faulty("hundred-of-any-kind", "QUOTA-06", "With 100 partitioned ones nothing more is created.")
class _HundredOfAnyKind(SeededBus):
    def too_many(self, asked: CreateQueue) -> Error | None:
        full = self.partitioned() >= self.most_partitioned()
        return Error.QUOTA_EXCEEDED if full else super().too_many(asked)


@faulty("one-entity-too-few", "QUOTA-07", "A namespace takes 9,999 queues and topics.", deep=True)
class _OneEntityTooFew(SeededBus):
    def most_entities(self) -> int:
        return super().most_entities() - 1


@faulty("entities-without-end", "QUOTA-08", "A namespace takes any number of queues.", deep=True)
class _EntitiesWithoutEnd(SeededBus):
    def is_crowded(self) -> bool:
        return False


@faulty(
    "each-partition-counts",
    "QUOTA-09",
    "A partitioned queue needs room for each of its partitions among the 10,000.",
    deep=True,
)
class _EachPartitionCounts(SeededBus):
    def too_many(self, asked: CreateQueue) -> Error | None:
        wanted = self.profile.partitions if asked.partitioned else 1
        if len(self.queues) + wanted > self.most_entities():
            return Error.QUOTA_EXCEEDED
        return super().too_many(asked)


@faulty(
    "premium-without-end",
    "QUOTA-12",
    "In Premium a namespace takes any number of queues, where the 10,000 are read to hold.",
    deep=True,
)
class _PremiumWithoutEnd(SeededBus):
    def too_many_in_premium(self, asked: CreateQueue) -> Error | None:  # noqa: ARG002
        return None


@faulty(
    "quota-in-premium",
    "QUOTA-13",
    "In Premium the 10,001st queue is refused, where no number is read to hold.",
    deep=True,
)
class _QuotaInPremium(SeededBus):
    def too_many_in_premium(self, asked: CreateQueue) -> Error | None:  # noqa: ARG002
        return Error.QUOTA_EXCEEDED if self.is_crowded() else None


FAULTS: Final = faulty.all()
"""In the order in which they stand here."""
