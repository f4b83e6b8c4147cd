"""Answers with a message: its body, and headers with its properties."""

import json
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import cproton  # type: ignore[import-untyped] # Proton has no types
from proton import Message, timestamp

from busproof.broker.amqp.encoding import value_at
from busproof.broker.amqp.messages import PARTITION_KEY, SCHEDULED_TIME, STANDS_FOR
from busproof.broker.amqp.sections import DATA, sections_of
from busproof.broker.http_requests import Answer
from busproof.broker.rest.headers import is_custom, is_value

__all__ = ["answer_message", "write_date"]

TEXTS: Final = {
    "MessageId": "id",
    "CorrelationId": "correlation_id",
    "SessionId": "group_id",
    "Label": "subject",
    "To": "address",
    "ReplyTo": "reply_to",
    "ReplyToSessionId": "reply_to_group_id",
}
"""Broker properties that are texts, and their names in Proton."""
ENQUEUED: Final = "x-opt-enqueued-time"
LOCKED: Final = "x-opt-locked-until"
NUMBER: Final = "x-opt-sequence-number"
FIRST_NUMBER: Final = "x-opt-enqueue-sequence-number"
GIVEN: Final = 200
CREATED: Final = 201


def write_date(milliseconds: float) -> str:
    """Return a time in milliseconds since 1970 as a date of HTTP, to the second."""
    return format_datetime(datetime.fromtimestamp(milliseconds // 1000, UTC), usegmt=True)


def answer_message(raw: bytes, token: UUID | None, address: str) -> Answer:
    """Return the answer with a message.

    Args:
        raw: the message as AMQP delivers it.
        token: its lock token, if it is locked.
        address: the address of the entity's messages, which that of a locked message begins with.
    """
    came: Any = Message()
    came.decode(raw)
    said = _collect_properties(came)
    headers: list[tuple[str, str]] = []
    if token is not None:
        said["LockToken"] = str(token)
        named = said.get("MessageId") or str(said.get("SequenceNumber", ""))
        headers.append(("Location", f"{address}/{quote(named, safe='')}/{token}"))
    headers.append(("BrokerProperties", json.dumps(said)))
    # Proton's binding would turn a missing one into a string.
    content_type = cproton.pn_message_get_content_type(came._msg)
    if content_type is not None and is_value(content_type):
        headers.append(("Content-Type", content_type))
    for name, value in (came.properties or {}).items():
        if is_custom(text := _show_text(name)):
            headers.append((text, json.dumps(_show_value(value))))
    status = GIVEN if token is None else CREATED
    return Answer(status, _join_body(raw, came), "", tuple(headers))


def _collect_properties(came: Any) -> dict[str, Any]:
    """Return the broker properties of a message."""
    notes = {str(name): value for name, value in (came.annotations or {}).items()}
    said: dict[str, Any] = {
        "DeliveryCount": came.delivery_count + 1,
        "EnqueuedSequenceNumber": int(notes.get(FIRST_NUMBER, 0)),
        "State": "Active",
    }
    for ours, theirs in TEXTS.items():
        if (value := getattr(came, theirs)) is not None:
            said[ours] = _show_text(value)
    if notes.get(PARTITION_KEY) is not None:
        said["PartitionKey"] = _show_text(notes[PARTITION_KEY])
    if NUMBER in notes:
        said["SequenceNumber"] = int(notes[NUMBER])
    if STANDS_FOR in notes:
        said[STANDS_FOR] = int(notes[STANDS_FOR])
    dates = (
        ("EnqueuedTimeUtc", ENQUEUED),
        ("LockedUntilUtc", LOCKED),
        ("ScheduledEnqueueTimeUtc", SCHEDULED_TIME),
    )
    for name, note in dates:
        if notes.get(note) is not None:
            said[name] = write_date(int(notes[note]))
    if came.ttl:
        # The header holds 50 days; a longer time is the difference of these two.
        long = came.expiry_time - came.creation_time
        said["TimeToLive"] = round(long, 3) if long > 0 else came.ttl
    return said


def _show_text(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return str(value)


def _show_value(value: Any) -> Any:
    """Return the value of a custom property as JSON has it: a text, if JSON has no such type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, timestamp):
        return write_date(value)
    for kind in (int, float):
        # Proton has types of its own for the numbers of AMQP.
        if isinstance(value, kind):
            return kind(value)
    return _show_text(value)


def _join_body(raw: bytes, came: Any) -> bytes:
    """Return the body: the bytes of its data, or its value as text."""
    parts = list[bytes]()
    for code, _, begins, _ in sections_of(raw):
        if code == DATA:
            parts.append(value_at(raw, begins))
    if parts:
        return b"".join(parts)
    body = came.body
    if body is None:
        return b""
    if isinstance(body, bytes | memoryview):
        return bytes(body)
    return str(body).encode() if isinstance(body, str) else json.dumps(body, default=str).encode()
