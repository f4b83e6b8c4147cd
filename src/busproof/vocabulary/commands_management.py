"""Requests about entities: queues, topics, subscriptions and their rules."""

from typing import ClassVar

import attrs

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.subscription_rules import Filter
from busproof.vocabulary.values import MICROSECONDS, Extent

__all__ = [
    "AddRule",
    "CreateQueue",
    "CreateSubscription",
    "CreateTopic",
    "DeleteQueue",
    "DeleteTopic",
    "GetQueue",
    "GetTopic",
    "ListQueues",
    "ListRules",
    "ListSubscriptions",
    "ListTopics",
    "RemoveRule",
    "RestoreQueue",
    "TopicManagement",
    "UpdateQueue",
    "UpdateTopic",
]


@attrs.frozen(kw_only=True)
class CreateQueue:
    """Create a queue.

    `partitioned` is `None` if the request leaves the option out. `duplicate_window` and
    `lock_duration` are in microseconds. `max_size` is in GB, per partition if the queue is
    partitioned; `None` leaves it out. `api_version` is the version that the request names, if it
    has to name a particular one. `forward_to` names the queue or topic to which its messages are
    forwarded, and `forward_dead_letters_to` the one for its dead letters. `time_to_live` is in
    microseconds, `None` for no limit; `dead_letter_expired` moves expired messages to the
    dead-letter queue.
    """

    capability: ClassVar = None
    extent: ClassVar = Extent.MESSAGES
    queue: str
    partitioned: bool | None = True
    requires_session: bool = False
    duplicate_detection: bool = False
    duplicate_window: int = attrs.field(
        default=600 * MICROSECONDS, validator=attrs.validators.gt(0)
    )
    lock_duration: int = attrs.field(default=60 * MICROSECONDS, validator=attrs.validators.gt(0))
    max_delivery_count: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    max_size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    api_version: str | None = None
    forward_to: str | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    dead_letter_expired: bool = False
    forward_dead_letters_to: str | None = None


@attrs.frozen(kw_only=True)
class RestoreQueue:
    """Start with a partitioned queue from the time when the namespace's tier still permitted it.

    `max_size` is in GB, per partition.
    """

    capability: ClassVar = Capability.LEGACY_ENTITIES
    extent: ClassVar = Extent.QUEUE
    queue: str
    requires_session: bool = False
    duplicate_detection: bool = False
    max_size: int = attrs.field(default=1, validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class GetQueue:
    """Get the description of a queue or subscription; `queue` is its path."""

    capability: ClassVar = Capability.MANAGEMENT
    extent: ClassVar = Extent.QUEUE
    queue: str


@attrs.frozen(kw_only=True)
class ListQueues:
    """List the names of all queues."""

    capability: ClassVar = Capability.MANAGEMENT
    extent: ClassVar = Extent.EVERYTHING


@attrs.frozen(kw_only=True)
class UpdateQueue:
    """Change the settings of a queue or a subscription; `None` keeps a setting.

    Times are in microseconds, `max_size` is in GB, as in `CreateQueue`. `forward_to` names the
    queue or topic that messages are forwarded to; an empty name ends forwarding. `status` disables
    sending, receiving or both, or enables the entity again.
    """

    capability: ClassVar = Capability.MANAGEMENT
    extent: ClassVar = Extent.QUEUE
    queue: str
    partitioned: bool | None = None
    requires_session: bool | None = None
    duplicate_detection: bool | None = None
    lock_duration: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    max_delivery_count: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    forward_to: str | None = None
    status: EntityStatus | None = None
    max_size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )


@attrs.frozen(kw_only=True)
class DeleteQueue:
    """Delete a queue or a subscription with all its messages."""

    capability: ClassVar = Capability.MANAGEMENT
    extent: ClassVar = Extent.QUEUE
    queue: str


@attrs.frozen(kw_only=True)
class CreateTopic:
    """Create a topic.

    `partitioned` is `None` if the request leaves the option out. `duplicate_window` and
    `time_to_live` are in microseconds. `max_size` is in GB, per partition if the topic is
    partitioned; `None` leaves it out. `api_version` is the version that the request names, if it
    has to name a particular one.
    """

    capability: ClassVar = Capability.TOPICS
    extent: ClassVar = Extent.TOPIC
    topic: str
    partitioned: bool | None = True
    duplicate_detection: bool = False
    duplicate_window: int = attrs.field(
        default=600 * MICROSECONDS, validator=attrs.validators.gt(0)
    )
    max_size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    api_version: str | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )


@attrs.frozen(kw_only=True)
class GetTopic:
    """Get the description of a topic."""

    capability: ClassVar = Capability.TOPIC_MANAGEMENT
    extent: ClassVar = Extent.TOPIC
    topic: str


@attrs.frozen(kw_only=True)
class ListTopics:
    """List the names of all topics."""

    capability: ClassVar = Capability.TOPIC_MANAGEMENT
    extent: ClassVar = Extent.EVERYTHING


@attrs.frozen(kw_only=True)
class UpdateTopic:
    """Change the settings of a topic; `None` keeps a setting, `time_to_live` is in microseconds.

    `max_size` is in GB, as in `CreateTopic`. `status` disables sending, or enables it again.
    """

    capability: ClassVar = Capability.TOPIC_MANAGEMENT
    extent: ClassVar = Extent.TOPIC
    topic: str
    partitioned: bool | None = None
    duplicate_detection: bool | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    status: EntityStatus | None = None
    max_size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )


@attrs.frozen(kw_only=True)
class DeleteTopic:
    """Delete a topic with its subscriptions and all their messages."""

    capability: ClassVar = Capability.TOPIC_MANAGEMENT
    extent: ClassVar = Extent.TOPIC
    topic: str


@attrs.frozen(kw_only=True)
class ListSubscriptions:
    """List the names of a topic's subscriptions, spelt as at their creation."""

    capability: ClassVar = Capability.TOPIC_MANAGEMENT
    extent: ClassVar = Extent.TOPIC
    topic: str


TopicManagement = GetTopic | UpdateTopic | DeleteTopic | ListSubscriptions
"""Requests about one topic as a whole."""


@attrs.frozen(kw_only=True)
class CreateSubscription:
    """Create a subscription of a topic; `lock_duration` and `time_to_live` are in microseconds.

    Its path is `topic/subscriptions/name`, which commands accept where they accept a queue's name.
    """

    capability: ClassVar = Capability.TOPICS
    extent: ClassVar = Extent.TOPIC
    topic: str
    subscription: str
    requires_session: bool = False
    lock_duration: int = attrs.field(default=60 * MICROSECONDS, validator=attrs.validators.gt(0))
    max_delivery_count: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    forward_to: str | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    dead_letter_expired: bool = False
    forward_dead_letters_to: str | None = None


@attrs.frozen(kw_only=True)
class AddRule:
    """Add a rule to a subscription; if a transaction is named, with its commit.

    `action` changes properties of the copies that the rule makes, in the service's dialect of SQL.
    """

    capability: ClassVar = Capability.FILTERS
    extent: ClassVar = Extent.TOPIC
    topic: str
    subscription: str
    rule: str
    filter: Filter
    transaction: str | None = None
    action: str | None = None


@attrs.frozen(kw_only=True)
class RemoveRule:
    """Remove a rule from a subscription; if a transaction is named, with its commit."""

    capability: ClassVar = Capability.FILTERS
    extent: ClassVar = Extent.TOPIC
    topic: str
    subscription: str
    rule: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class ListRules:
    """List the rules of a subscription."""

    capability: ClassVar = Capability.FILTERS
    extent: ClassVar = Extent.TOPIC
    topic: str
    subscription: str
