"""What the documents leave open, as types: one class for each entry of `spec/ambiguities`.

A *settled* ambiguity is read in one way by each bus, the same one every time: a bus is consistent.
The profile may name the reading; otherwise the bus chooses one when it first matters. The first
member is what a regular bus chooses.

A *given* ambiguity is read as the profile says. One of its readings often leaves the bus free each
time (`either`, `any`). Then the rule itself makes a choice, as wherever several answers are right.

Entries that are not here concern only what an observer may conclude, or what the model does in a
way that every reading permits. A test compares the members with `spec/ambiguities`.
"""

from enum import StrEnum
from functools import cache
from typing import ClassVar, Self

__all__ = [
    "ActionKeys",
    "ApiVersionForm",
    "BasicFeatures",
    "BasicRegular",
    "BasicSizes",
    "BatchKeys",
    "CacheDelete",
    "CacheDeliveryCount",
    "CacheExpiry",
    "CacheLock",
    "CountsInOutage",
    "DeadLetterCount",
    "DeferredExpiry",
    "DeletePartitioned",
    "DisabledCopies",
    "DuplicateProlongs",
    "EmptyKey",
    "ErrorPrecedence",
    "ForwardFailed",
    "ForwardHops",
    "ForwardLifetime",
    "ForwardMessageId",
    "FullPartition",
    "FullUnkeyed",
    "GbPartitions",
    "Given",
    "KbBytes",
    "KeyOrder",
    "KeyProperties",
    "Libraries",
    "LifetimeInTransaction",
    "LikeCase",
    "LikeRegular",
    "LockInTransaction",
    "ManagementInOutage",
    "MaxDeliveries",
    "NextInOutage",
    "OutageError",
    "PartitioningDefault",
    "PeekEmpty",
    "PeekInOutage",
    "PremiumCheckbox",
    "PremiumOldest",
    "PremiumUnasked",
    "QuotaEntities",
    "QuotaExisting",
    "QuotaPremium",
    "QuotaShared",
    "QuotaSubscriptions",
    "QuotaWeight",
    "Reading",
    "ReceiveInOutage",
    "RegularKeys",
    "RegularOrder",
    "RenewExpired",
    "RoleStatus",
    "RoundRobin",
    "RuleInTransaction",
    "SchedulePlace",
    "ScheduledCopies",
    "ScheduledCount",
    "SequenceGaps",
    "SettleLost",
    "SettlePartitions",
    "Settled",
    "SettlementRefusal",
    "ShortTimeout",
    "SizeUpdate",
    "TxnAfterRefusal",
    "TxnEntities",
    "TxnMessageId",
    "TxnOtherOperations",
    "TxnOutage",
    "TxnRefusal",
]


class Reading(StrEnum):
    """A reading of an ambiguity.

    Attributes:
        entry: the id of the ambiguity in `spec/ambiguities`, which the name of the class spells.
    """

    entry: ClassVar[str]

    def __init_subclass__(cls) -> None:
        words = "".join(f"-{letter}" if letter.isupper() else letter for letter in cls.__name__)
        cls.entry = words.strip("-").upper()

    @classmethod
    @cache
    def named(cls, value: str | None) -> Self | None:
        """Return the reading of this name; `None` if it is none of this class, such as `either`."""
        return next((reading for reading in cls if reading == value), None)


class Settled(Reading):
    """A reading that a bus chooses once, unless the profile names it."""


class Given(Reading):
    """A reading that only the profile chooses; without a profile's word it is the first."""


class ActionKeys(Settled):
    """Can a rule's action change MessageId, SessionId or the partition key?"""

    ADDED = "added"
    REFUSED = "refused"


class ApiVersionForm(Given):
    """What does a request get whose api-version is not a year and a month?"""

    EITHER = "either"
    REFUSED = "refused"


class BasicFeatures(Settled):
    """Does Basic offer topics, sessions, duplicate detection, transactions and forwarding?"""

    OFFERED = "offered"
    REFUSED = "refused"


class BasicRegular(Settled):
    """Can an entity of Basic be created that is not partitioned?"""

    AS_ASKED = "as-asked"
    NEVER = "never"


class BasicSizes(Given):
    """Which sizes are there in Basic?"""

    EITHER = "either"
    LIKE_STANDARD = "like-standard"


class BatchKeys(Settled):
    """What becomes of a batch for a partitioned entity whose messages have several keys?"""

    REFUSED = "refused"
    SPLIT = "split"


class CacheDelete(Given):
    """What becomes of messages that are cached for receives which receive and delete?"""

    EITHER = "either"
    KEPT = "kept"


class CacheDeliveryCount(Settled):
    """Does a message that a front end cached and never handed out count as delivered?"""

    STAYS = "stays"
    COUNTS = "counts"


class CacheExpiry(Settled):
    """May a cached message be handed out after its time to live?"""

    HANDED_OUT = "handed-out"
    NOT_HANDED_OUT = "not-handed-out"


class CacheLock(Given):
    """From when does the lock of a message in a front end's cache run?"""

    FROM_CACHING = "from-caching"
    FROM_HANDING_OUT = "from-handing-out"


class CountsInOutage(Given):
    """What does Get count of a partition that it cannot ask?"""

    EITHER = "either"
    LEFT_OUT = "left-out"
    REFUSED = "refused"


class DeadLetterCount(Settled):
    """Does the delivery count of a dead letter begin anew, or go on?"""

    ANEW = "anew"
    KEPT = "kept"


class DeferredExpiry(Given):
    """What becomes of an expired deferred message when it is asked for by its number?"""

    EITHER = "either"
    DEAD_LETTERED = "dead-lettered"


class DeletePartitioned(Settled):
    """What does a request get that deletes several messages of a partitioned entity?"""

    REFUSED = "refused"
    DELETED = "deleted"


class DisabledCopies(Settled):
    """Does a subscription that is disabled altogether get copies of what is sent meanwhile?"""

    COLLECTED = "collected"
    MISSED = "missed"


class DuplicateProlongs(Settled):
    """Does a copy that was dropped prolong the window?"""

    FIRST = "first"
    LAST = "last"


class EmptyKey(Settled):
    """Does an empty SessionId, PartitionKey or MessageId count as set?"""

    SET = "set"
    UNSET = "unset"


class ErrorPrecedence(Given):
    """Which error comes first where a message's keys differ and its partition is down?"""

    EITHER = "either"
    KEY_FIRST = "key-first"


class ForwardFailed(Settled):
    """Where is a message that cannot be forwarded?"""

    TRANSFER = "transfer"
    DEAD_LETTER = "dead-letter"


class ForwardHops(Settled):
    """How often can a message be forwarded in a row?"""

    FOUR = "four"
    THREE = "three"


class ForwardLifetime(Settled):
    """Does a forwarded message keep the time to live of the entity that it comes from?"""

    ANEW = "anew"
    KEPT = "kept"


class ForwardMessageId(Settled):
    """Is a MessageId that was the key at the source a key at the destination?"""

    NOT_A_KEY = "not-a-key"
    KEY = "key"


class FullPartition(Settled):
    """What is full when one partition has reached its size and others have not?"""

    PER_PARTITION = "per-partition"
    POOLED = "pooled"


class FullUnkeyed(Settled):
    """Does a message without key go round a partition that is full?"""

    GOES_ROUND = "goes-round"
    REFUSED = "refused"


class GbPartitions(Settled):
    """Is the number of partitions 16, or 16 for each GB of the size given?"""

    SIXTEEN = "sixteen"
    PER_GB = "per-gb"


class KbBytes(Settled):
    """How many bytes is a KB where the size of a message is limited?"""

    BINARY = "binary"
    DECIMAL = "decimal"


class KeyOrder(Given):
    """Does a PartitionKey alone give order, without sessions?"""

    ONE_RECEIVER = "one-receiver"
    SESSIONS_ONLY = "sessions-only"


class KeyProperties(Settled):
    """Is one message's SessionId the same key as another's PartitionKey of the same value?"""

    ONE_KEY = "one-key"
    TWO_KEYS = "two-keys"


class Libraries(Given):
    """Do limits to the older library limit a bus?"""

    LIBRARIES = "libraries"
    BUS = "bus"


class LifetimeInTransaction(Settled):
    """Does a message that is sent in a transaction live from its send, or from the commit?"""

    COMMIT = "commit"
    SEND = "send"


class LikeCase(Settled):
    """Does LIKE distinguish upper and lower case?"""

    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class LikeRegular(Given):
    """Is what is said of peeks an exception to what is said of all features?"""

    EXCEPTIONS = "exceptions"
    IDENTICAL = "identical"


class LockInTransaction(Settled):
    """What becomes of a lock that ends while a settlement waits for a commit?"""

    ENDS = "ends"
    LASTS = "lasts"


class ManagementInOutage(Given):
    """Which management operations fail in an outage, and what do they leave behind?"""

    EITHER = "either"
    WHOLE = "whole"
    FAILS = "fails"


class MaxDeliveries(Settled):
    """Is a message delivered as often as the maximum says, or once more?"""

    EXACTLY = "exactly"
    ONE_MORE = "one-more"


class NextInOutage(Given):
    """Must the next session be found while a partition is down?"""

    EITHER = "either"
    FOUND = "found"


class OutageError(Given):
    """Which error does an unavailable partition give?"""

    ANY = "any"
    UNAVAILABLE = "unavailable"


class PartitioningDefault(Settled):
    """Is an entity partitioned whose creation does not say so?"""

    REGULAR = "regular"
    PARTITIONED = "partitioned"


class PeekEmpty(Given):
    """What does a peek show that is answered first by a partition without messages?"""

    EITHER = "either"
    NOTHING = "nothing"
    NEXT_PARTITION = "next-partition"


class PeekInOutage(Given):
    """What does a peek show while a partition is down?"""

    EITHER = "either"
    SERVED = "served"


class PremiumCheckbox(Settled):
    """What does a request to create a partitioned entity get in Premium?"""

    NO_EFFECT = "no-effect"
    REFUSED = "refused"
    ALWAYS_ON = "always-on"


class PremiumOldest(Settled):
    """What does the oldest edition imply for Premium, which it never forbids?"""

    NOT_SUPPORTED = "not-supported"
    SUPPORTED = "supported"


class PremiumUnasked(Settled):
    """What does a request get in a partitioned namespace that leaves out the option?"""

    PARTITIONED = "partitioned"
    REFUSED = "refused"


class QuotaEntities(Settled):
    """How many queues and topics may a namespace of Basic or Standard have?"""

    TEN_THOUSAND = "ten-thousand"
    THOUSAND = "thousand"


class QuotaExisting(Settled):
    """Do partitioned entities that exist in Premium from before count towards a limit?"""

    COUNTED = "counted"
    NOT_COUNTED = "not-counted"


class QuotaPremium(Given):
    """What does the bracket on Premium cover?"""

    EITHER = "either"
    COUNTING = "counting"
    QUOTA = "quota"
    PER_UNIT = "per-unit"


class QuotaShared(Settled):
    """Do partitioned queues and topics share the 100?"""

    SEPARATE = "separate"
    SHARED = "shared"


class QuotaSubscriptions(Settled):
    """Do subscriptions count towards the 10,000?"""

    NOT_COUNTED = "not-counted"
    COUNTED = "counted"


class QuotaWeight(Settled):
    """Does a partitioned entity count once towards the 10,000, or once for each partition?"""

    ONE = "one"
    PER_PARTITION = "per-partition"


class ReceiveInOutage(Given):
    """Does a receive still serve what the other partitions hold while one is down?"""

    EITHER = "either"
    SERVED = "served"


class RegularKeys(Given):
    """Must SessionId and PartitionKey agree on regular entities too?"""

    EITHER = "either"
    REFUSED = "refused"
    ACCEPTED = "accepted"


class RegularOrder(Given):
    """Does a regular entity give its messages in the order in which they were sent?"""

    EITHER = "either"
    FIRST_IN_FIRST_OUT = "first-in-first-out"


class RenewExpired(Settled):
    """Can the lock of a message be renewed whose time to live has passed?"""

    ACCEPTED = "accepted"
    REFUSED = "refused"


class RoleStatus(Given):
    """May an update of a subscription name a status for senders, or its topic's settings?"""

    EITHER = "either"
    REFUSED = "refused"


class RoundRobin(Given):
    """How strictly do messages without a key take the partitions by turns?"""

    ANY = "any"
    STRICT = "strict"


class RuleInTransaction(Settled):
    """What does changing a rule in a transaction on a partitioned entity get?"""

    REFUSED = "refused"
    IGNORED = "ignored"


class SchedulePlace(Settled):
    """Is the partition of a scheduled message chosen when it is scheduled, or when it is due?"""

    WHEN_SCHEDULED = "when-scheduled"
    WHEN_DUE = "when-due"


class ScheduledCopies(Settled):
    """Is a message compared with others when it is scheduled, or when it is due?"""

    WHEN_SCHEDULED = "when-scheduled"
    WHEN_DUE = "when-due"


class ScheduledCount(Settled):
    """Are messages that are scheduled and not due among those that are counted?"""

    LEFT_OUT = "left-out"
    COUNTED = "counted"


class SequenceGaps(Given):
    """Are numbers without gaps within a partition?"""

    EITHER = "either"
    GAP_FREE = "gap-free"


class SettleLost(Settled):
    """If one of several locks in a request is lost, what becomes of the other messages?"""

    NOTHING = "nothing"
    OTHERS = "others"


class SettlePartitions(Settled):
    """Does one request work for locks of messages in different partitions?"""

    REFUSED = "refused"
    ACCEPTED = "accepted"


class SettlementRefusal(Settled):
    """When is a settlement with a lost lock refused that is part of a transaction?"""

    AT_ONCE = "at-once"
    AT_COMMIT = "at-commit"


class ShortTimeout(Given):
    """Must an unkeyed send with a timeout of 15 s or less fail in an outage?"""

    MAY_FAIL = "may-fail"
    MUST_FAIL = "must-fail"


class SizeUpdate(Settled):
    """Can the size of an entity be changed after its creation?"""

    CHANGED = "changed"
    REFUSED = "refused"


class TxnAfterRefusal(Settled):
    """What is left of a transaction after one of its sends was refused?"""

    CONTINUES = "continues"
    DEAD = "dead"


class TxnEntities(Settled):
    """Can one transaction send to a second entity?"""

    ACCEPTED = "accepted"
    REFUSED = "refused"


class TxnMessageId(Settled):
    """Is a MessageId a key in a transaction where it is none outside of one?"""

    WITH_DUPLICATE_DETECTION = "with-duplicate-detection"
    ALWAYS = "always"


class TxnOtherOperations(Settled):
    """Which operations besides sends are held to the rules for keys in a transaction?"""

    SENDS_ONLY = "sends-only"
    ALL = "all"


class TxnOutage(Given):
    """What becomes of a transaction whose partition goes down between its send and its commit?"""

    EITHER = "either"
    REFUSED = "refused"


class TxnRefusal(Settled):
    """When does the refusal of a message in a transaction come?"""

    AT_SEND = "at-send"
    AT_COMMIT = "at-commit"
