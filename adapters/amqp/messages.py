"""Conversion of messages between the vocabulary and AMQP."""

from collections.abc import Sequence
from typing import Any, Final

import attrs
from proton import Data, Described, symbol, timestamp, ulong
from proton import Message as Wire

from busproof import vocabulary as v
from busproof.adapters.amqp.native import content_type_of
from busproof.adapters.amqp.rules import plain

__all__ = ["STANDS_FOR", "STANDS_IN", "decode", "encode", "encode_batch"]

MILLISECOND: Final = 1000
"""Microseconds in a millisecond."""

ANNOTATIONS, PROPERTIES, DATA_SECTION = 0x72, 0x73, 0x75
"""Descriptor codes of message sections."""

KEY: Final = symbol("x-opt-partition-key")
DUE: Final = symbol("x-opt-scheduled-enqueue-time")
NUMBER, UNTIL, STATE = "x-opt-sequence-number", "x-opt-locked-until", "x-opt-message-state"
REASON, DESCRIPTION = "DeadLetterReason", "DeadLetterErrorDescription"
STATES: Final = {
    0: v.MessageState.ACTIVE,
    1: v.MessageState.DEFERRED,
    2: v.MessageState.SCHEDULED,
}
STANDS_FOR: Final = "x-opt-busproof-size"
"""Annotation with the number of bytes that a body stands for; only busproof's broker counts it."""
STANDS_IN: Final = "x-opt-busproof-stands-in"
"""Annotation: whether a body stands for several messages and may exceed the size of one."""
PADDING: Final = b"\0"
TEXTS: Final = {
    "correlation_id": "correlation_id",
    "to": "address",
    "reply_to": "reply_to",
    "subject": "subject",
    "reply_to_session_id": "reply_to_group_id",
    "session_id": "group_id",
}
"""Properties of messages in the vocabulary, and their names in Proton."""


def encode(message: v.Message, due: int | None = None, *, counted: bool = False) -> bytes:
    """Encode a message for sending.

    Args:
        message: the message; its body is padded to its size.
        due: the scheduled enqueue time, in milliseconds since 1970.
        counted: whether the service counts the declared size, so that the body is not padded.
    """
    body = message.body.encode()
    if message.size is not None and not counted:
        body = body.ljust(message.size, PADDING)
    sent: Any = Wire(body=body, inferred=True)
    if message.message_id is not None:
        sent.id = message.message_id
    for ours, theirs in TEXTS.items():
        if (value := getattr(message, ours)) is not None:
            setattr(sent, theirs, value)
    if message.content_type is not None:
        sent.content_type = symbol(message.content_type)
    annotations: dict[Any, Any] = {}
    if message.partition_key is not None:
        annotations[KEY] = message.partition_key
    if due is not None:
        annotations[DUE] = timestamp(due)
    if message.size is not None and counted:
        annotations[symbol(STANDS_FOR)] = message.size
        if not message.stands_in:
            annotations[symbol(STANDS_IN)] = False
    sent.annotations = annotations or None
    sent.properties = dict(message.properties) or None
    if message.time_to_live is not None:
        # Add half a millisecond, because Proton truncates the float.
        sent.ttl = (-(-message.time_to_live // MILLISECOND) + 0.5) / 1000
    return bytes(sent.encode())


def encode_batch(messages: Sequence[v.Message], *, counted: bool) -> bytes:
    """Encode a batch as one transfer: an envelope with the first message's keys, then each message.

    Args:
        messages: the messages.
        counted: whether the service counts the declared size, so that bodies are not padded.
    """
    parts: list[bytes] = []
    if messages:
        first = messages[0]
        if first.partition_key is not None:
            parts.append(_section(ANNOTATIONS, {KEY: first.partition_key}))
        named = [first.message_id, *[None] * 9, first.session_id]
        parts.append(_section(PROPERTIES, named))
    parts += [_section(DATA_SECTION, encode(message, counted=counted)) for message in messages]
    return b"".join(parts)


def _section(code: int, value: Any) -> bytes:
    """Encode a section of a message."""
    tree = Data()
    tree.put_object(Described(ulong(code), value))
    return bytes(tree.encode())


def decode(raw: bytes, *, token: str | None = None, epoch: int | None = None) -> v.MessageView:
    """Decode a received message; its dead-letter reason stays, even if it was forwarded.

    Args:
        raw: the encoded message.
        token: the lock token, if the message is locked.
        epoch: time 0 of the recording, in microseconds since 1970; `None` if it is unknown.
    """
    came: Any = Wire()
    came.decode(raw)
    notes = {str(name): value for name, value in (came.annotations or {}).items()}
    properties = {_text(name): value for name, value in (came.properties or {}).items()}
    reason = properties.pop(REASON, None)
    properties.pop(DESCRIPTION, None)
    body = _body(came.body)
    text = body.rstrip(PADDING)
    until = notes.get(UNTIL)
    ends = None
    if token is not None and until is not None and epoch is not None:
        ends = int(until) * MILLISECOND - epoch
    view = v.MessageView(
        body=text.decode("utf-8", "replace"),
        message_id=_text_or_none(came.id),
        partition_key=_text_or_none(notes.get(str(KEY))),
        content_type=content_type_of(came),
        properties={
            name: None if value is None else plain(value) for name, value in properties.items()
        },
        size=notes.get(STANDS_FOR, len(body) if len(body) > len(text) else None),
        sequence_number=notes.get(NUMBER),
        delivery_count=None if token is None else came.delivery_count + 1,
        lock_token=token,
        locked_until=ends,
        dead_letter_reason=None if reason is None else str(reason),
        state=STATES.get(notes[STATE]) if STATE in notes else None,
    )
    texts: dict[str, Any] = {
        ours: _text_or_none(getattr(came, theirs)) for ours, theirs in TEXTS.items()
    }
    return attrs.evolve(view, **texts)


def _body(body: Any) -> bytes:
    if isinstance(body, str):
        return body.encode()
    return bytes(body) if isinstance(body, bytes | memoryview) else str(body).encode()


def _text(value: Any) -> str:
    return bytes(value).decode() if isinstance(value, bytes | memoryview) else str(value)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)
