"""What is asked about entities: queues, topics, subscriptions and the rules of these."""

import attrs

from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.subscription_rules import Filter
from busproof.vocabulary.values import MICROSECONDS

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

    `partitioned` is `None` where the request leaves the option out. `duplicate_window` and
    `lock_duration` are in microseconds. `max_size` is in GB, of each partition if the queue is
    partitioned; `None` leaves it out. `api_version` is the one that the request names, if it has to
    name one of its own. `forward_to` names the queue or topic that its messages go on to, and
    `forward_dead_letters_to` the one that its dead letters go on to.
    `time_to_live` is in microseconds, `None` for ever; `dead_letter_expired` says whether a message
    that has outlived its own becomes a dead letter.
    """

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
    """Begin with a partitioned queue from when the namespace's tier still permitted it.

    `max_size` is in GB, of each partition.
    """

    queue: str
    requires_session: bool = False
    duplicate_detection: bool = False
    max_size: int = attrs.field(default=1, validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class GetQueue:
    """Ask what a queue or a subscription is and what it holds; `queue` is its path."""

    queue: str


@attrs.frozen(kw_only=True)
class ListQueues:
    """Ask for the names of all queues."""


@attrs.frozen(kw_only=True)
class UpdateQueue:
    """Change a queue or a subscription; `None` leaves a setting as it is, times in microseconds.

    `forward_to` names the queue or topic that its messages go on to; an empty name ends that.
    `status` disables it for who sends, who receives, or both, or enables it again.
    """

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


@attrs.frozen(kw_only=True)
class DeleteQueue:
    """Delete a queue or a subscription, and all that it holds."""

    queue: str


@attrs.frozen(kw_only=True)
class CreateTopic:
    """Create a topic.

    `partitioned` is `None` where the request leaves the option out. `duplicate_window` and
    `time_to_live` are in microseconds. `max_size` is in GB, of each partition if the topic is
    partitioned; `None` leaves it out. `api_version` is the one that the request names, if it has to
    name one of its own.
    """

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
    """Ask what a topic is."""

    topic: str


@attrs.frozen(kw_only=True)
class ListTopics:
    """Ask for the names of all topics."""


@attrs.frozen(kw_only=True)
class UpdateTopic:
    """Change a topic; `None` leaves a setting as it is, `time_to_live` is in microseconds.

    `status` disables it for who sends, or enables it again.
    """

    topic: str
    partitioned: bool | None = None
    duplicate_detection: bool | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    status: EntityStatus | None = None


@attrs.frozen(kw_only=True)
class DeleteTopic:
    """Delete a topic with its subscriptions, and all that these hold."""

    topic: str


@attrs.frozen(kw_only=True)
class ListSubscriptions:
    """Ask for the names of a topic's subscriptions, as they were created under."""

    topic: str


TopicManagement = GetTopic | UpdateTopic | DeleteTopic | ListSubscriptions
"""What is asked of one topic as a whole."""


@attrs.frozen(kw_only=True)
class CreateSubscription:
    """Create a subscription of a topic; `lock_duration` and `time_to_live` are in microseconds.

    It is addressed as `topic/subscriptions/name` wherever a queue can be.
    """

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
    """Add a rule to a subscription, in a transaction if one is named.

    `action` is what its rule changes in its copy of a message, in the service's dialect of SQL.
    """

    topic: str
    subscription: str
    rule: str
    filter: Filter
    transaction: str | None = None
    action: str | None = None


@attrs.frozen(kw_only=True)
class RemoveRule:
    """Remove a rule from a subscription, in a transaction if one is named."""

    topic: str
    subscription: str
    rule: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class ListRules:
    """Ask for the rules of a subscription."""

    topic: str
    subscription: str
