"""Spark types for the fields of commands, outcomes and messages."""

from collections.abc import Mapping
from typing import Final

__all__ = [
    "COMMAND",
    "DESCRIPTION",
    "MESSAGE",
    "OUTCOME",
    "SETTINGS",
    "SUBSCRIPTIONS",
    "VIEW",
    "ddl",
]

SUBSCRIPTIONS: Final = "/subscriptions/"

_PROPERTIES: Final = (
    "correlation_id",
    "to",
    "reply_to",
    "subject",
    "reply_to_session_id",
    "content_type",
)
"""Message properties that the bus returns unchanged and does not interpret."""

_TEXTS: Final = ("body", "message_id", "session_id", "partition_key", *_PROPERTIES)

MESSAGE: Final[Mapping[str, str]] = {
    **dict.fromkeys(_TEXTS, "STRING"),
    "properties": "MAP<STRING, STRING>",
    "size": "BIGINT",
    "stands_in": "BOOLEAN",
    "time_to_live": "BIGINT",
}

VIEW: Final[Mapping[str, str]] = {
    **MESSAGE,
    "sequence_number": "BIGINT",
    "delivery_count": "BIGINT",
    "lock_token": "STRING",
    "locked_until": "BIGINT",
    "dead_letter_reason": "STRING",
    "state": "STRING",
}


def ddl(fields: Mapping[str, str]) -> str:
    """Return the fields as a Spark schema in DDL."""
    return ", ".join(f"`{name}` {kind}" for name, kind in fields.items())


SETTINGS: Final[Mapping[str, str]] = {
    "partitioned": "BOOLEAN",
    "requires_session": "BOOLEAN",
    "duplicate_detection": "BOOLEAN",
    "duplicate_window": "BIGINT",
    "lock_duration": "BIGINT",
    "max_delivery_count": "BIGINT",
    "max_size": "BIGINT",
    "api_version": "STRING",
    "forward_to": "STRING",
    "time_to_live": "BIGINT",
    "dead_letter_expired": "BOOLEAN",
    "forward_dead_letters_to": "STRING",
    "status": "STRING",
}
"""Settings of an entity, for its creation and updates."""

DESCRIPTION: Final[Mapping[str, str]] = {
    "queue": "STRING",
    "topic": "STRING",
    "partitioned": "BOOLEAN",
    "requires_session": "BOOLEAN",
    "duplicate_detection": "BOOLEAN",
    "duplicate_window": "BIGINT",
    "lock_duration": "BIGINT",
    "max_delivery_count": "BIGINT",
    "time_to_live": "BIGINT",
    "max_size": "BIGINT",
    "message_count": "BIGINT",
    "size": "BIGINT",
    "availability": "STRING",
    "transfer_dead_letters": "BIGINT",
    "subscription_count": "BIGINT",
}
"""Fields in the description of a queue, topic or subscription."""

COMMAND: Final[Mapping[str, str]] = {
    "type": "STRING",
    "queue": "STRING",
    "topic": "STRING",
    "subscription": "STRING",
    **SETTINGS,
    "message": f"STRUCT<{ddl(MESSAGE)}>",
    "messages": f"ARRAY<STRUCT<{ddl(MESSAGE)}>>",
    "timeout": "BIGINT",
    "transaction": "STRING",
    "delay": "BIGINT",
    "sequence_number": "BIGINT",
    "sequence_numbers": "ARRAY<BIGINT>",
    "from_sequence_number": "BIGINT",
    "mode": "STRING",
    "session_id": "STRING",
    "lock_token": "STRING",
    "lock_tokens": "ARRAY<STRING>",
    "disposition": "STRING",
    "reason": "STRING",
    "count": "BIGINT",
    "age": "BIGINT",
    "state": "STRING",
    "partition": "INT",
    "duration": "BIGINT",
    "rule": "STRING",
    "filter": "STRING",
    "action": "STRING",
}

OUTCOME: Final[Mapping[str, str]] = {
    "type": "STRING",
    "message": f"STRUCT<{ddl(VIEW)}>",
    "messages": f"ARRAY<STRUCT<{ddl(VIEW)}>>",
    "session_id": "STRING",
    "session_ids": "ARRAY<STRING>",
    "state": "STRING",
    "locked_until": "BIGINT",
    "count": "BIGINT",
    "sequence_number": "BIGINT",
    "error": "STRING",
    "detail": "STRING",
    "description": f"STRUCT<{ddl(DESCRIPTION)}>",
    "names": "ARRAY<STRING>",
    "rules": "STRING",
}
