"""Faults in how large and how long single requests may be: the LIMIT rules."""

from typing import Final

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults, Seeded
from busproof.adapters.seeded.limiting import KB
from busproof.adapters.seeded.queues import Queue
from busproof.vocabulary.commands import Schedule, Send
from busproof.vocabulary.values import Error, Tier

__all__ = ["FAULTS"]

faulty = Faults()

ANY: Final = 10**12


@faulty("small-messages-only", "LIMIT-01", "A message of more than 64 KB is refused.")
class _SmallMessagesOnly(SeededBus):
    def largest(self, command: Send | Schedule) -> int:
        return min(64 * KB, super().largest(command))


@faulty("any-message-size", "LIMIT-02", "A message of more than 256 KB is taken.")
class _AnyMessageSize(SeededBus):
    def largest(self, command: Send | Schedule) -> int:
        return super().largest(command) if self.profile.tier is Tier.PREMIUM else ANY


@faulty("too-large-called-full", "LIMIT-02", "A message that is too large is told to be too many.")
class _TooLargeCalledFull(SeededBus):
    def too_large(self) -> Error:
        return Error.QUOTA_EXCEEDED


@faulty("too-large-is-kept", "LIMIT-02", "A message that is too large is refused, and kept.")
class _TooLargeIsKept(SeededBus):
    def refuse_beyond(self, queue: Queue, command: Send | Schedule, error: Error) -> Observed:
        if error is Error.MESSAGE_TOO_LARGE and isinstance(command, Send):
            self.append(queue, command.message, 0)
        return super().refuse_beyond(queue, command, error)


@faulty("premium-limit-of-standard", "LIMIT-03", "Premium takes no message of more than 256 KB.")
class _PremiumLimitOfStandard(SeededBus):
    def largest(self, command: Send | Schedule) -> int:  # noqa: ARG002 - all alike
        return 256 * KB


@faulty("any-message-size-in-premium", "LIMIT-04", "Premium takes messages of any size.")
class _AnyMessageSizeInPremium(SeededBus):
    def largest(self, command: Send | Schedule) -> int:
        return ANY if self.profile.tier is Tier.PREMIUM else super().largest(command)


@faulty("too-large-when-scheduled", "LIMIT-06", "A message of any size can be scheduled.")
class _TooLargeWhenScheduled(SeededBus):
    def largest(self, command: Send | Schedule) -> int:
        return ANY if isinstance(command, Schedule) else super().largest(command)


@faulty("too-large-in-transaction", "LIMIT-21", "A message of any size is taken in a transaction.")
class _TooLargeInTransaction(SeededBus):
    def largest(self, command: Send | Schedule) -> int:
        return super().largest(command) if command.transaction is None else ANY


class _ShortKeys(SeededBus):
    """Takes keys of no more than 64 characters in one property."""

    short = ""

    def longest(self, name: str) -> int:
        return 64 if name == self.short else super().longest(name)


@faulty("short-message-ids-only", "LIMIT-07", "A MessageId of more than 64 characters is refused.")
class _ShortMessageIds(_ShortKeys):
    short = "message_id"


@faulty("short-session-ids-only", "LIMIT-09", "A SessionId of more than 64 characters is refused.")
class _ShortSessionIds(_ShortKeys):
    short = "session_id"


@faulty(
    "short-partition-keys-only", "LIMIT-11", "A PartitionKey of more than 64 characters is refused."
)
class _ShortPartitionKeys(_ShortKeys):
    short = "partition_key"


class _LongKeys(SeededBus):
    """Takes keys of any length in one property."""

    long = ""

    def longest(self, name: str) -> int:
        return ANY if name == self.long else super().longest(name)


@faulty("any-message-id", "LIMIT-08", "A MessageId of more than 128 characters is taken.")
class _AnyMessageId(_LongKeys):
    long = "message_id"


@faulty("any-session-id", "LIMIT-10", "A SessionId of more than 128 characters is taken.")
class _AnySessionId(_LongKeys):
    long = "session_id"


@faulty("any-partition-key", "LIMIT-12", "A PartitionKey of more than 128 characters is taken.")
class _AnyPartitionKey(_LongKeys):
    long = "partition_key"


@faulty("any-property", "LIMIT-13", "A property of more than 32 KB is taken.")
class _AnyProperty(SeededBus):
    def largest_property(self) -> int:
        return ANY


@faulty("any-properties", "LIMIT-14", "Properties of more than 64 KB together are taken.")
class _AnyProperties(SeededBus):
    def all_properties(self) -> int:
        return ANY


@faulty("small-transactions-only", "LIMIT-15", "A transaction takes 64 messages.")
class _SmallTransactionsOnly(SeededBus):
    def most_in_transaction(self) -> int:
        return 64


@faulty("any-transaction", "LIMIT-16", "A transaction takes any number of messages.")
class _AnyTransaction(SeededBus):
    def most_in_transaction(self) -> int:
        return ANY


@faulty("short-names-only", "LIMIT-17", "A name of more than 50 characters is refused.")
class _ShortNamesOnly(SeededBus):
    def longest_name(self) -> int:
        return 50


@faulty("any-name", "LIMIT-18", "A name of more than 260 characters is taken.")
class _AnyName(SeededBus):
    def longest_name(self) -> int:
        return ANY


@faulty("small-states-only", "LIMIT-19", "A session's state of more than 32 KB is refused.")
class _SmallStatesOnly(SeededBus):
    def largest_state(self) -> int:
        return 32 * KB


@faulty("any-state", "LIMIT-20", "A session's state of more than 256 KB is taken.")
class _AnyState(SeededBus):
    def largest_state(self) -> int:
        return ANY


FAULTS: Final[tuple[Seeded, ...]] = faulty.all()
