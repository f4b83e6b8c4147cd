"""What a client sees of its request, and the event that puts both on record."""

import attrs

from busproof.vocabulary.commands import Command
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.subscription_rules import SubscriptionRule
from busproof.vocabulary.values import Error

__all__ = [
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
    """The request took effect and there is nothing more to tell."""


@attrs.frozen(kw_only=True)
class Received:
    """A receive was given this message."""

    message: MessageView


@attrs.frozen(kw_only=True)
class ReceivedSeveral:
    """A receive that asked for several messages, or by their numbers, was given these."""

    messages: tuple[MessageView, ...] = ()


@attrs.frozen(kw_only=True)
class Empty:
    """A receive was given nothing."""


@attrs.frozen(kw_only=True)
class Peeked:
    """A peek was shown these messages, possibly none."""

    messages: tuple[MessageView, ...] = ()


@attrs.frozen(kw_only=True)
class RulesListed:
    """The rules of a subscription, in any order."""

    rules: tuple[SubscriptionRule, ...] = ()


@attrs.frozen(kw_only=True)
class SessionAccepted:
    """The next session was locked, which has this id."""

    session_id: str


@attrs.frozen(kw_only=True)
class SessionState:
    """What is stored with a session; `None` if nothing is."""

    state: str | None = None


@attrs.frozen(kw_only=True)
class SessionsListed:
    """The ids of sessions, in no particular order."""

    session_ids: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Renewed:
    """A lock began anew; `locked_until` is a time on the recording's clock, if it is told."""

    locked_until: int | None = None


@attrs.frozen(kw_only=True)
class Scheduled:
    """The message will arrive later; by this number it can be cancelled, if one is told."""

    sequence_number: int | None = None


@attrs.frozen(kw_only=True)
class QueueDescription:
    """What is told of a queue or a subscription; what the implementation does not tell is `None`.

    Of a subscription it is not held against the implementation what it tells of partitioning,
    duplicates and sizes, which are its topic's.

    Attributes:
        queue: its name, or its path.
        partitioned: whether it is partitioned.
        requires_session: whether it requires sessions.
        duplicate_detection: whether it detects duplicates.
        duplicate_window: for how long, in microseconds.
        lock_duration: in microseconds.
        max_delivery_count: after how many deliveries a message is dead-lettered.
        time_to_live: of messages that bring none of their own, in microseconds.
        max_size: the greatest size of the whole queue, all partitions together, in GB.
        message_count: messages in all partitions, locked ones among them, dead letters not.
        size: bytes that they take.
        availability: whether all partitions can be reached.
        transfer_dead_letters: messages that it could not forward and keeps apart.
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
    """What a queue or a subscription is and what it holds."""

    description: QueueDescription


@attrs.frozen(kw_only=True)
class TopicDescription:
    """What is told of a topic; what the implementation does not tell is `None`.

    Attributes:
        topic: its name.
        partitioned: whether it is partitioned.
        duplicate_detection: whether it detects duplicates.
        duplicate_window: for how long, in microseconds.
        time_to_live: of messages that bring none of their own, in microseconds.
        max_size: the greatest size of the whole topic, all partitions together, in GB.
        subscription_count: how many subscriptions it has.
        availability: whether all partitions can be reached.
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
    """What a topic is."""

    description: TopicDescription


@attrs.frozen(kw_only=True)
class Listed:
    """The names of all queues, of all topics or of a topic's subscriptions, in any order."""

    names: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Refused:
    """The bus answered with an error, and nothing took effect."""

    error: Error
    detail: str = ""


@attrs.frozen(kw_only=True)
class Indeterminate:
    """No answer came: the request may take effect, then or later, or never."""

    detail: str = ""


@attrs.frozen(kw_only=True)
class Unsupported:
    """The adapter has no translation for this request; it was not tried."""

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
    | Scheduled
    | Refused
    | Indeterminate
    | Unsupported
)


@attrs.frozen(kw_only=True)
class Witness:
    """A choice of the bus that the adapter saw: the partition that took a sent message.

    The judge checks that it was allowed and that later sightings agree; it never trusts it.
    """

    partition: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class Event:
    """One request and what came of it.

    Attributes:
        client: who asked; requests of one client never overlap.
        connection: over which connection; one connection stays with one front end.
        called: when the request was made, in microseconds.
        returned: when the answer came; `None` where none came.
        command: what was asked.
        outcome: what was seen.
        witness: the choice that the adapter saw, if it saw one.
    """

    client: str = "c1"
    connection: str = "c1"
    called: int = 0
    returned: int | None = None
    command: Command
    outcome: Outcome
    witness: Witness | None = None
