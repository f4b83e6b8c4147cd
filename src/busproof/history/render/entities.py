"""Rendering of commands about entities, and of descriptions, as text."""

from collections.abc import Callable, Iterator
from typing import Any, Final, assert_never

import attrs

from busproof import vocabulary as v
from busproof.history.render.phrases import (
    PARTITIONED,
    properties,
    quote_text,
    seconds,
    show_count,
    show_name,
)

__all__ = [
    "create_words",
    "description_words",
    "filter_words",
    "management_words",
    "rule_words",
    "subscription_words",
    "topic_description_words",
    "topic_management_words",
    "topic_words",
]

_Management = v.RestoreQueue | v.GetQueue | v.ListQueues | v.UpdateQueue | v.DeleteQueue
_OfTopics = v.GetTopic | v.ListTopics | v.UpdateTopic | v.DeleteTopic | v.ListSubscriptions


def create_words(command: v.CreateQueue) -> str:
    """Return the text of a queue's creation, with the settings that it names."""
    return f"Create queue {show_name(command.queue)}: {_settings_words(command)}"


def _settings_words(command: v.CreateQueue) -> str:
    parts = [PARTITIONED[command.partitioned]]
    sessions, *others = _receiving_parts(command)
    parts.append(sessions)
    if command.duplicate_detection:
        parts.append(f"duplicate detection over {seconds(command.duplicate_window)}")
    parts += [*others, *_request_parts(command)]
    return ", ".join(part for part in parts if part)


def _request_parts(command: v.CreateQueue | v.CreateTopic) -> Iterator[str]:
    """Yield the texts of the size and the api-version in a creation."""
    if command.max_size is not None:
        yield f"size {command.max_size} GB"
    if command.api_version is not None:
        yield f"api-version {show_name(command.api_version)}"


def topic_words(command: v.CreateTopic) -> str:
    """Return the text of a topic's creation."""
    parts = [PARTITIONED[command.partitioned]]
    if command.duplicate_detection:
        parts.append(f"duplicate detection over {seconds(command.duplicate_window)}")
    if command.time_to_live is not None:
        parts.append(f"messages live {seconds(command.time_to_live)}")
    parts += _request_parts(command)
    return f"Create topic {show_name(command.topic)}: {', '.join(parts)}"


def subscription_words(command: v.CreateSubscription) -> str:
    """Return the text of a subscription's creation; defaults are left out."""
    parts = [part for part in _receiving_parts(command) if part]
    words = (
        f"Create subscription {show_name(command.subscription)} of topic {show_name(command.topic)}"
    )
    return f"{words}: {', '.join(parts)}" if parts else words


def _receiving_parts(command: v.CreateQueue | v.CreateSubscription) -> list[str]:
    """Return the texts of an entity's settings other than defaults; that of sessions is first."""
    defaults = attrs.fields_dict(type(command))
    parts = ["requires sessions" if command.requires_session else ""]
    if command.lock_duration != defaults["lock_duration"].default:
        parts.append(f"locks of {seconds(command.lock_duration)}")
    if command.max_delivery_count != defaults["max_delivery_count"].default:
        parts.append(f"max delivery count {command.max_delivery_count}")
    if command.forward_to is not None:
        parts.append(f"forwards to {show_name(command.forward_to)}")
    if command.forward_dead_letters_to is not None:
        parts.append(f"forwards dead letters to {show_name(command.forward_dead_letters_to)}")
    if command.time_to_live is not None:
        parts.append(f"messages live {seconds(command.time_to_live)}")
    if command.dead_letter_expired:
        parts.append("dead-letters expired messages")
    return parts


def management_words(command: _Management) -> str:
    """Return the text of a command about a queue as a whole."""
    match command:
        case v.RestoreQueue(queue=queue):
            return f"Begin with queue {show_name(queue)}: {_restored_words(command)}"
        case v.GetQueue(queue=queue):
            return f"Get queue {show_name(queue)}"
        case v.ListQueues():
            return "List queues"
        case v.UpdateQueue(queue=queue):
            changes = _field_words(attrs.asdict(command, filter=_is_given))
            return f"Update queue {show_name(queue)}: {changes or 'nothing'}"
        case v.DeleteQueue(queue=queue):
            return f"Delete queue {show_name(queue)}"
        case _:
            assert_never(command)


def topic_management_words(command: _OfTopics) -> str:
    """Return the text of a command about a topic as a whole, or about its subscriptions."""
    match command:
        case v.GetTopic(topic=topic):
            return f"Get topic {show_name(topic)}"
        case v.ListTopics():
            return "List topics"
        case v.UpdateTopic(topic=topic):
            changes = _field_words(attrs.asdict(command, filter=_is_given))
            return f"Update topic {show_name(topic)}: {changes or 'nothing'}"
        case v.DeleteTopic(topic=topic):
            return f"Delete topic {show_name(topic)}"
        case v.ListSubscriptions(topic=topic):
            return f"List the subscriptions of topic {show_name(topic)}"
        case _:
            assert_never(command)


def _restored_words(command: v.RestoreQueue) -> str:
    settings = v.CreateQueue(**attrs.asdict(command))
    return _settings_words(settings)


def _is_given(field: "attrs.Attribute[object]", value: object) -> bool:
    return field.name not in ("queue", "topic") and value is not None


def description_words(description: v.QueueDescription) -> str:
    """Return the text of a queue's description, with the values that it has."""
    parts = _field_words(attrs.asdict(description, filter=_is_given))
    return f"{show_name(description.queue)}: {parts}" if parts else show_name(description.queue)


def topic_description_words(description: v.TopicDescription) -> str:
    """Return the text of a topic's description, with the values that it has."""
    parts = _field_words(attrs.asdict(description, filter=_is_given))
    return f"{show_name(description.topic)}: {parts}" if parts else show_name(description.topic)


def _field_words(settings: dict[str, object]) -> str:
    return ", ".join(_SETTINGS[name](value) for name, value in settings.items())


def rule_words(command: v.AddRule | v.RemoveRule | v.ListRules) -> str:
    """Return the text of a command about the rules of a subscription."""
    of = f"subscription {show_name(command.subscription)} of topic {show_name(command.topic)}"
    if isinstance(command, v.ListRules):
        return f"List the rules of {of}"
    within = (
        "" if command.transaction is None else f", in transaction {show_name(command.transaction)}"
    )
    if isinstance(command, v.RemoveRule):
        return f"Remove rule {show_name(command.rule)} from {of}{within}"
    acts = "" if command.action is None else f", which does {quote_text(command.action)}"
    return (
        f"Add rule {show_name(command.rule)} to {of}: {filter_words(command.filter)}{acts}{within}"
    )


def filter_words(wanted: v.Filter) -> str:
    """Return the text of a filter."""
    match wanted:
        case v.TrueFilter():
            return "everything"
        case v.FalseFilter():
            return "nothing"
        case v.SqlFilter(expression=expression):
            return f"SQL {quote_text(expression)}"
        case v.CorrelationFilter():
            return ", ".join(properties(wanted)) or "no condition"


_SETTINGS: Final[dict[str, Callable[[Any], str]]] = {
    "partitioned": PARTITIONED.__getitem__,
    "requires_session": lambda yes: "requires sessions" if yes else "no sessions required",
    "duplicate_detection": lambda yes: "duplicate detection" if yes else "no duplicate detection",
    "duplicate_window": lambda window: f"duplicate window {seconds(window)}",
    "lock_duration": lambda duration: f"locks of {seconds(duration)}",
    "max_delivery_count": lambda count: f"max delivery count {count}",
    "forward_to": lambda name: f"forwards to {show_name(name)}" if name else "forwards no more",
    "time_to_live": lambda life: f"messages live {seconds(life)}",
    "max_size": lambda size: f"size {size} GB",
    "message_count": lambda count: show_count(count, "message"),
    "size": lambda size: show_count(size, "byte"),
    "availability": str,
    "status": str,
    "subscription_count": lambda count: show_count(count, "subscription"),
    "transfer_dead_letters": lambda count: show_count(count, "transfer dead letter"),
}
"""Text of each setting in a description."""
