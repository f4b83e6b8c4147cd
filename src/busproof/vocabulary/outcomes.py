"""Results of requests as a client sees them, and the event that records both."""

import attrs

from busproof.vocabulary.commands import Command
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.subscription_rules import SubscriptionRule
from busproof.vocabulary.values import Error

__all__ = [
    "Deleted",
    "Described",
    "Done",
    "Empty",
    "Event",
    "Indeterminate",
    "Listed",
    "Outcome",
    "Peeked",
    "QueueDescription",
    "Received",
    "ReceivedSeveral",
    "Refused",
    "Renewed",
    "RenewedSeveral",
    "RulesListed",
    "Scheduled",
    "SessionAccepted",
    "SessionState",
    "SessionsListed",
    "TopicDescribed",
    "TopicDescription",
    "Unsupported",
    "Witness",
]


@attrs.frozen(kw_only=True)
class Done:
    """The request took effect and returned nothing."""


@attrs.frozen(kw_only=True)
class Received:
    """A receive returned this message."""

    message: MessageView


@attrs.frozen(kw_only=True)
class ReceivedSeveral:
    """A batch receive, or a receive of deferred messages, returned these messages."""

    messages: tuple[MessageView, ...] = ()


@attrs.frozen(kw_only=True)
class Empty:
    """A receive returned no message."""


@attrs.frozen(kw_only=True)
class Peeked:
    """A peek returned these messages, possibly none."""

    messages: tuple[MessageView, ...] = ()


@attrs.frozen(kw_only=True)
class RulesListed:
    """The rules of a subscription, in any order."""

    rules: tuple[SubscriptionRule, ...] = ()


@attrs.frozen(kw_only=True)
class SessionAccepted:
    """The session with this id was locked."""

    session_id: str


@attrs.frozen(kw_only=True)
class SessionState:
    """The state of a session; `None` if it has none."""

    state: str | None = None


@attrs.frozen(kw_only=True)
class SessionsListed:
    """The ids of sessions, in no particular order."""

    session_ids: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Renewed:
    """A lock was renewed; `locked_until` is a time on the recording's clock, if known."""

    locked_until: int | None = None


@attrs.frozen(kw_only=True)
class RenewedSeveral:
    """Several locks were renewed; the ends are in the order of the request, if they are known."""

    locked_until: tuple[int | None, ...] = ()


@attrs.frozen(kw_only=True)
class Deleted:
    """The number of messages that were deleted, possibly 0."""

    count: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class Scheduled:
    """The message was scheduled; the number, if one was returned, cancels it."""

    sequence_number: int | None = None


@attrs.frozen(kw_only=True)
class QueueDescription:
    """Description of a queue or subscription; values that are not reported are `None`.

    For a subscription, its partitioning, duplicate detection and sizes are not judged, because they
    belong to its topic.

    Attributes:
        queue: its path.
        partitioned: whether it is partitioned.
        requires_session: whether it requires sessions.
        duplicate_detection: whether it detects duplicates.
        duplicate_window: the length of the duplicate detection window, in microseconds.
        lock_duration: the lock duration, in microseconds.
        max_delivery_count: the number of deliveries before a message is dead-lettered.
        time_to_live: the default time to live of messages, in microseconds.
        max_size: the maximum size of the whole queue, all partitions together, in GB.
        message_count: the number of messages in all partitions, with locked ones and without dead
            letters.
        size: the number of bytes that these messages use.
        availability: whether all partitions are available.
        transfer_dead_letters: the number of messages in the transfer dead-letter queue.
    """

    queue: str
    partitioned: bool | None = None
    requires_session: bool | None = None
    duplicate_detection: bool | None = None
    duplicate_window: int | None = None
    lock_duration: int | None = None
    max_delivery_count: int | None = None
    time_to_live: int | None = None
    max_size: int | None = None
    message_count: int | None = None
    size: int | None = None
    availability: Availability | None = None
    transfer_dead_letters: int | None = None


@attrs.frozen(kw_only=True)
class Described:
    """The description of a queue or subscription."""

    description: QueueDescription


@attrs.frozen(kw_only=True)
class TopicDescription:
    """Description of a topic; values that are not reported are `None`.

    Attributes:
        topic: its name.
        partitioned: whether it is partitioned.
        duplicate_detection: whether it detects duplicates.
        duplicate_window: the length of the duplicate detection window, in microseconds.
        time_to_live: the default time to live of messages, in microseconds.
        max_size: the maximum size of the whole topic, all partitions together, in GB.
        subscription_count: the number of its subscriptions.
        availability: whether all partitions are available.
    """

    topic: str
    partitioned: bool | None = None
    duplicate_detection: bool | None = None
    duplicate_window: int | None = None
    time_to_live: int | None = None
    max_size: int | None = None
    subscription_count: int | None = None
    availability: Availability | None = None


@attrs.frozen(kw_only=True)
class TopicDescribed:
    """The description of a topic."""

    description: TopicDescription


@attrs.frozen(kw_only=True)
class Listed:
    """The names of all queues, of all topics or of a topic's subscriptions, in any order."""

    names: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Refused:
    """The bus answered with an error, and nothing took effect.

    A refused request about several locks may have settled some of them (SETTLE-LOST).
    """

    error: Error
    detail: str = ""


@attrs.frozen(kw_only=True)
class Indeterminate:
    """No answer arrived; the request may take effect now, later or never."""

    detail: str = ""


@attrs.frozen(kw_only=True)
class Unsupported:
    """The adapter cannot translate this request; it was not sent."""

    detail: str = ""


Outcome = (
    Done
    | Received
    | Empty
    | Peeked
    | RulesListed
    | Described
    | TopicDescribed
    | Listed
    | SessionAccepted
    | SessionState
    | SessionsListed
    | ReceivedSeveral
    | Renewed
    | RenewedSeveral
    | Deleted
    | Scheduled
    | Refused
    | Indeterminate
    | Unsupported
)


@attrs.frozen(kw_only=True)
class Witness:
    """A choice of the bus that the adapter saw: the partition that took a sent message.

    The judge does not trust it, but checks that it was allowed and agrees with later observations.
    """

    partition: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class Event:
    """One request and its outcome.

    Attributes:
        client: the client that sent the request; its requests never overlap.
        connection: the connection that carried it; one front end serves a connection.
        called: when the request was made, in microseconds.
        returned: when the answer arrived, in microseconds; `None` if none arrived.
        command: the request.
        outcome: the result that the client saw.
        witness: the choice that the adapter saw, if any.
    """

    client: str = "c1"
    connection: str = "c1"
    called: int = 0
    returned: int | None = None
    command: Command
    outcome: Outcome
    witness: Witness | None = None
