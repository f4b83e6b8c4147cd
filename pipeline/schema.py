"""The published schema of a history as a table: one row an event, in Parquet or in memory.

What this engine knows of the wire format stands here by name, and a test holds it to the
vocabulary. A history that uses more than that, because it comes from a newer busproof or from
elsewhere, is not judged here and is told as such.
"""

from collections.abc import Mapping
from typing import Final

__all__ = [
    "COMMAND",
    "DESCRIPTION",
    "EVENT",
    "EVENTS",
    "KNOWN_COMMANDS",
    "KNOWN_OUTCOMES",
    "MESSAGE",
    "NEVER",
    "OUTCOME",
    "PROPERTIES",
    "RECORD",
    "SETTINGS",
    "SUBSCRIPTIONS",
    "VIEW",
    "ddl",
]

NEVER: Final = 2**62
"""A time and a place in the order after all others."""

SUBSCRIPTIONS: Final = "/subscriptions/"

PROPERTIES: Final = (
    "correlation_id",
    "to",
    "reply_to",
    "subject",
    "reply_to_session_id",
    "content_type",
)
"""What of a message comes back as it was sent and means nothing to the bus."""

_TEXTS: Final = ("body", "message_id", "session_id", "partition_key", *PROPERTIES)

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
    """The fields as Spark's language for schemas has them."""
    return ", ".join(f"`{name}` {kind}" for name, kind in fields.items())


EVENT: Final[Mapping[str, str]] = {
    "record": "STRING",
    "client": "STRING",
    "connection": "STRING",
    "called": "BIGINT",
    "returned": "BIGINT",
    "command": "STRING",
    "outcome": "STRING",
    "witness": "STRUCT<partition: INT>",
}

RECORD: Final[Mapping[str, str]] = {
    **EVENT,
    "scenario": "STRING",
    "rules": "ARRAY<STRING>",
    "feature": "STRING",
    "verdict": "STRING",
    "cause": "STRING",
    "detail": "STRING",
}
"""What is read of any record; the rest of a header is read by the codec."""

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
"""What an entity can be created or updated with."""

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
"""What is told of a queue, a topic or a subscription."""

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
    "reason": "STRING",
    "count": "BIGINT",
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
    "sequence_number": "BIGINT",
    "error": "STRING",
    "detail": "STRING",
    "description": f"STRUCT<{ddl(DESCRIPTION)}>",
    "names": "ARRAY<STRING>",
    "rules": "STRING",
}

KNOWN_COMMANDS: Final = [
    "CreateQueue",
    "RestoreQueue",
    "CreateTopic",
    "CreateSubscription",
    "AddRule",
    "RemoveRule",
    "ListRules",
    "GetQueue",
    "ListQueues",
    "UpdateQueue",
    "DeleteQueue",
    "GetTopic",
    "ListTopics",
    "UpdateTopic",
    "DeleteTopic",
    "ListSubscriptions",
    "Send",
    "SendBatch",
    "Schedule",
    "CancelScheduled",
    "Receive",
    "ReceiveBatch",
    "Complete",
    "Abandon",
    "DeadLetter",
    "Defer",
    "ReceiveDeferred",
    "RenewLock",
    "Peek",
    "AcceptSession",
    "AcceptNextSession",
    "RenewSessionLock",
    "CloseSession",
    "SetSessionState",
    "GetSessionState",
    "ListSessions",
    "BeginTransaction",
    "CommitTransaction",
    "RollBackTransaction",
    "TakePartitionDown",
    "BringPartitionUp",
    "AdvanceClock",
]

KNOWN_OUTCOMES: Final = [
    "Done",
    "Received",
    "ReceivedSeveral",
    "Empty",
    "Peeked",
    "RulesListed",
    "Described",
    "TopicDescribed",
    "Listed",
    "SessionAccepted",
    "SessionState",
    "SessionsListed",
    "Renewed",
    "Scheduled",
    "Refused",
    "Indeterminate",
    "Unsupported",
]

EVENTS: Final[Mapping[str, str]] = {
    "history_id": "BIGINT",
    "seq": "BIGINT",
    "client": "STRING",
    "connection": "STRING",
    "called": "BIGINT",
    "returned": "BIGINT",
    "op": "STRING",
    "entity": "STRING",
    "transaction": "STRING",
    "lock_token": "STRING",
    "mode": "STRING",
    "session_id": "STRING",
    "partition": "INT",
    "state": "STRING",
    "duration": "BIGINT",
    "delay": "BIGINT",
    "sequence_number": "BIGINT",
    "sequence_numbers": "ARRAY<BIGINT>",
    "reason": "STRING",
    "settings": f"STRUCT<{ddl(SETTINGS)}>",
    "sent": f"STRUCT<{ddl(MESSAGE)}>",
    "outcome": "STRING",
    "error": "STRING",
    "seen": f"ARRAY<STRUCT<{ddl(VIEW)}>>",
    "told_session": "STRING",
    "told_state": "STRING",
    "told_number": "BIGINT",
    "described": f"STRUCT<{ddl(DESCRIPTION)}>",
    "witness": "INT",
}
"""One row an event; `docs/how-to/check-on-spark.md` says what each column means."""
