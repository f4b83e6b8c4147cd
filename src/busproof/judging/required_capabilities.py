"""Capabilities that an adapter has to declare for a command: its own, and those of its fields."""

from collections.abc import Iterator, Sequence
from typing import Final

from busproof import vocabulary as v

__all__ = ["FILTERED", "needs"]

FILTERED: Final = (
    "correlation_id",
    "to",
    "reply_to",
    "subject",
    "reply_to_session_id",
    "content_type",
)
"""Message properties that require the capability `filters`, besides application properties."""


def _is_mortal(subject: object) -> bool:
    """Return whether an entity or a message has a setting for the time to live."""
    life = getattr(subject, "time_to_live", None)
    return life is not None or getattr(subject, "dead_letter_expired", False)


def _has_filtered(value: object) -> bool:
    """Return whether a message has a property that requires filters."""
    return isinstance(value, v.Message) and (
        bool(value.properties) or any(getattr(value, name) is not None for name in FILTERED)
    )


def _needs_of_message(command: v.Command) -> Iterator[v.Capability]:
    """Yield the capabilities that the messages of a send require."""
    messages: Sequence[object] = ()
    if isinstance(command, v.SendBatch):
        messages = command.messages
    elif (one := getattr(command, "message", None)) is not None:
        messages = (one,)
    if any(isinstance(message, v.Message) and message.size is not None for message in messages):
        yield v.Capability.DISPOSABLE_NAMESPACE
    if _is_mortal(command) or any(map(_is_mortal, messages)):
        yield v.Capability.TIME_TO_LIVE
    if any(map(_has_filtered, messages)):
        yield v.Capability.FILTERS


def _needs_of_destinations(command: v.Command) -> Iterator[v.Capability]:
    """Yield the capabilities that destinations, dead letters, status and subscriptions require."""
    if getattr(command, "forward_to", None) is not None:
        changed = isinstance(command, v.UpdateQueue)
        yield v.Capability.REDIRECTION if changed else v.Capability.FORWARDING
    if getattr(command, "forward_dead_letters_to", None) is not None:
        yield v.Capability.DEAD_LETTER_FORWARDING
    path = str(getattr(command, "queue", ""))
    if path.endswith(v.TRANSFERS):
        yield v.Capability.TRANSFER_DEAD_LETTER
    elif v.is_dead_letter_queue(path):
        yield v.Capability.DEAD_LETTER
    if isinstance(command, v.UpdateQueue | v.UpdateTopic):
        if command.status is not None:
            yield v.Capability.ENTITY_STATUS
        if command.max_size is not None:
            yield v.Capability.SIZE_UPDATES
    managed = isinstance(command, v.GetQueue | v.UpdateQueue | v.DeleteQueue)
    if managed and "/subscriptions/" in getattr(command, "queue", ""):
        yield v.Capability.TOPIC_MANAGEMENT


def _needs_of_creation(command: v.CreateQueue | v.CreateTopic) -> Iterator[v.Capability]:
    """Yield the capabilities that the creation of a queue or topic requires."""
    if not command.partitioned:
        yield v.Capability.REGULAR_QUEUES
    if command.api_version is not None:
        yield v.Capability.API_VERSIONS
    if command.max_size is not None:
        yield v.Capability.SIZES


def _needs_of_rule(command: v.AddRule) -> Iterator[v.Capability]:
    """Yield the capabilities that adding a subscription rule requires."""
    if isinstance(command.filter, v.SqlFilter):
        yield v.Capability.SQL_FILTERS
    if command.action is not None:
        yield v.Capability.RULE_ACTIONS


def needs(command: v.Command) -> Iterator[v.Capability]:
    """Yield the capabilities that an adapter has to declare to get this command."""
    if command.capability is not None:
        yield command.capability
    if getattr(command, "requires_session", False):
        yield v.Capability.SESSIONS
    if getattr(command, "duplicate_detection", False):
        yield v.Capability.DUPLICATE_DETECTION
    if isinstance(command, v.CreateQueue | v.CreateTopic):
        yield from _needs_of_creation(command)
    yield from _needs_of_destinations(command)
    if getattr(command, "transaction", None) is not None:
        yield v.Capability.TRANSACTIONS
        if isinstance(command, v.Settlement):
            yield v.Capability.TRANSACTIONAL_SETTLEMENT
    yield from _needs_of_message(command)
    match command:
        case v.AddRule():
            yield from _needs_of_rule(command)
        case v.SettleBatch():
            yield from (settlement.capability for settlement in command.settlements())
        case v.Peek() if command.from_sequence_number is not None:
            yield v.Capability.PEEK_FROM
        case v.Receive() | v.ReceiveBatch():
            if command.session_id is not None:
                yield v.Capability.SESSIONS
            if command.mode is v.ReceiveMode.PEEK_LOCK:
                yield v.Capability.PEEK_LOCK
