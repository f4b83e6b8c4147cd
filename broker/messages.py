"""AMQP messages as they come in and go out: what the model is told of them, and all the rest.

The model knows a message by a name (its `body`) and by the properties that mean something to the
bus. What else was sent is kept here as it came, so that it goes out as it came.
"""

import struct
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID, uuid4

import attrs

from busproof.broker.encoding import (
    elements_of,
    end_of,
    items,
    long_of,
    pairs,
    section,
    string_of,
    symbol_of,
    value_at,
)
from busproof.model.filters import PropertyValue
from busproof.model.values import Message, MessageState, MessageView

__all__ = ["Content", "Parsed", "encoded", "inner_messages", "parse"]

HEADER, DELIVERY, ANNOTATIONS, PROPERTIES, APPLICATION = 0x70, 0x71, 0x72, 0x73, 0x74
DATA, SEQUENCE, VALUE, FOOTER = 0x75, 0x76, 0x77, 0x78
NAMED: Final = {
    "amqp:header:list": HEADER,
    "amqp:delivery-annotations:map": DELIVERY,
    "amqp:message-annotations:map": ANNOTATIONS,
    "amqp:properties:list": PROPERTIES,
    "amqp:application-properties:map": APPLICATION,
    "amqp:data:binary": DATA,
    "amqp:amqp-sequence:list": SEQUENCE,
    "amqp:amqp-value:*": VALUE,
    "amqp:footer:map": FOOTER,
}

PARTITION_KEY: Final = "x-opt-partition-key"
SCHEDULED_TIME: Final = "x-opt-scheduled-enqueue-time"
GIVEN_BY_THE_BUS: Final = frozenset(
    {
        "x-opt-sequence-number",
        "x-opt-enqueued-time",
        "x-opt-locked-until",
        "x-opt-enqueue-sequence-number",
        "x-opt-message-state",
        "x-opt-deadletter-source",
        "x-opt-lock-token",
        SCHEDULED_TIME,
    }
)
"""Annotations that say where a message is; those of another message's life are not taken over."""

STATES: Final = {MessageState.ACTIVE: 0, MessageState.DEFERRED: 1, MessageState.SCHEDULED: 2}

Pairs = tuple[int, bytes]
"""How many keys and values of a map, and their bytes."""


@attrs.frozen
class Content:
    """What of a message goes out as it came in, section by section.

    `enqueued` is when it was taken, in milliseconds since 1970.
    """

    durable: bool = False
    priority: int = 4
    ttl: int | None = None
    annotations: Pairs = (0, b"")
    properties: bytes = b""
    application: bytes = b""
    body: bytes = b""
    enqueued: int = 0


@attrs.frozen
class Parsed:
    """A message that came in: what the model is told, what is kept, and when it is due, if later.

    `due` is in milliseconds since 1970.
    """

    message: Message
    content: Content
    due: int | None = None

    def content_when_due(self) -> Content:
        """What is kept of a scheduled message, which is taken when it is due."""
        return self.content if self.due is None else attrs.evolve(self.content, enqueued=self.due)


def _sections(raw: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Each section of a message: its code, where it begins, where its value does, where it ends.

    Raises:
        ValueError: these bytes are no AMQP message.
    """
    place = 0
    while place < len(raw):
        try:
            said, begins, end = section(raw, place)
            code = NAMED.get(said, -1) if isinstance(said, str) else int(said)
        except (IndexError, TypeError, ValueError, struct.error) as error:
            raise ValueError(f"these bytes are no AMQP message: {error}") from None
        if not HEADER <= code <= FOOTER:
            raise ValueError(f"these bytes are no AMQP message: there is no section {said!r}")
        yield code, place, begins, end
        place = end


def parse(raw: bytes, name: str, enqueued: int) -> Parsed:
    """Read a message that came in; the model is to know it by `name`.

    Raises:
        ValueError: these bytes are no AMQP message.
    """
    try:
        return _parsed(raw, name, enqueued)
    except (IndexError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"these bytes are no AMQP message: {error}") from None


def _parsed(raw: bytes, name: str, enqueued: int) -> Parsed:
    header: list[Any] = []
    properties: list[Any] = []
    annotated: tuple[Pairs, str | None, int | None] = (0, b""), None, None
    application: dict[str, PropertyValue] = {}
    kept = {PROPERTIES: b"", APPLICATION: b""}
    body = b""
    for code, place, begins, end in _sections(raw):
        if code == HEADER:
            header = items(raw, begins)
        elif code == ANNOTATIONS:
            annotated = _annotated(raw, begins)
        elif code == PROPERTIES:
            properties, kept[code] = items(raw, begins), raw[place:end]
        elif code == APPLICATION:
            application, kept[code] = _filterable(raw, begins), raw[place:end]
        elif code >= DATA:
            body += raw[place:end]
    if not properties or properties[0] is None:
        kept[PROPERTIES] = _identified(kept[PROPERTIES])
    annotations, partition_key, due = annotated
    header += [None] * (3 - len(header))
    content = Content(
        durable=bool(header[0]),
        priority=4 if header[1] is None else int(header[1]),
        ttl=header[2],
        annotations=annotations,
        properties=kept[PROPERTIES],
        application=kept[APPLICATION],
        body=body,
        enqueued=enqueued,
    )
    return Parsed(_message(name, properties, application, partition_key), content, due)


def _identified(properties: bytes) -> bytes:
    """The properties with a MessageId, which the sender left out.

    Clients expect each message that they receive to have one: JavaScript's cannot settle it
    otherwise. The model is not told: what was not sent selects no partition and is no duplicate.
    """
    count, rest = 1, b""
    if properties:
        _, begins, end = section(properties, 0)
        first, count = elements_of(properties, begins)
        rest = properties[end_of(properties, first) : end] if count else b""
    inside = string_of(uuid4().hex) + rest
    return b"\x00\x53\x73\xd0" + struct.pack(">II", len(inside) + 4, max(count, 1)) + inside


def _annotated(raw: bytes, place: int) -> tuple[Pairs, str | None, int | None]:
    """What a sender has annotated: what goes on, the partition key, and when it is due."""
    count, out = 0, b""
    key: str | None = None
    due: int | None = None
    for name, value, both in pairs(raw, place):
        if name == PARTITION_KEY:
            key = _text(value)
        elif name == SCHEDULED_TIME and isinstance(value, int):
            due = value
        if name not in GIVEN_BY_THE_BUS:
            count, out = count + 2, out + both
    return (count, out), key, due


def inner_messages(raw: bytes) -> list[bytes]:
    """The messages of a batch: the envelope's data sections, each a whole message.

    Raises:
        ValueError: these bytes are no AMQP message.
    """
    found = [value_at(raw, begins) for code, _, begins, _ in _sections(raw) if code == DATA]
    return [each for each in found if isinstance(each, bytes)]


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _message(
    name: str,
    properties: list[Any],
    application: dict[str, PropertyValue],
    partition_key: str | None,
) -> Message:
    said = properties + [None] * (13 - len(properties))
    return Message(
        body=name,
        message_id=_text(said[0]),
        to=_text(said[2]),
        subject=_text(said[3]),
        reply_to=_text(said[4]),
        correlation_id=_text(said[5]),
        content_type=_text(said[6]),
        session_id=_text(said[10]),
        reply_to_session_id=_text(said[12]),
        partition_key=partition_key,
        properties=application,
    )


def _filterable(raw: bytes, place: int) -> dict[str, PropertyValue]:
    """The properties of a kind that the model's filters know."""
    return {
        str(_text(key)): value
        for key, value, _ in pairs(raw, place)
        if isinstance(value, str | int | float | bool)
    }


_SEQUENCE = symbol_of("x-opt-sequence-number") + b"\x81"
_ENQUEUED = symbol_of("x-opt-enqueued-time") + b"\x83"
_LOCKED = symbol_of("x-opt-locked-until") + b"\x83"
_STATE = symbol_of("x-opt-message-state") + b"\x71"
_DUE = symbol_of(SCHEDULED_TIME) + b"\x83"
_LOCK_TOKEN = symbol_of("x-opt-lock-token") + b"\x98"
_TOKEN = b"\x00\x53\x71\xc1" + bytes([1 + len(_LOCK_TOKEN) + 16, 2]) + _LOCK_TOKEN


def encoded(
    view: MessageView,
    content: Content,
    *,
    token: UUID | None = None,
    locked_until: int | None = None,
    death: dict[str, str] | None = None,
) -> bytes:
    """A message as it goes out.

    Args:
        view: how the model shows it.
        content: what is kept of it.
        token: of its lock.
        locked_until: when the lock ends, in milliseconds since 1970.
        death: why it is a dead letter, as properties of the application's kind.
    """
    out = _header(content, view.delivery_count)
    if token is not None:
        out += _TOKEN + token.bytes
    out += _annotations(view, content, locked_until) + content.properties
    return out + (_with_death(content, death) if death else content.application) + content.body


def _header(content: Content, delivery_count: int | None) -> bytes:
    count = max(0, (delivery_count or 1) - 1)
    ttl = b"\x40" if content.ttl is None else b"\x70" + struct.pack(">I", content.ttl)
    fields = (b"\x41" if content.durable else b"\x42") + b"\x50" + bytes([content.priority & 255])
    fields += ttl + b"\x42\x70" + struct.pack(">I", count)
    return b"\x00\x53\x70\xc0" + bytes([len(fields) + 1, 5]) + fields


def _map(code: int, count: int, inside: bytes) -> bytes:
    """A section that is a map."""
    return bytes([0, 0x53, code, 0xD1]) + struct.pack(">II", len(inside) + 4, count) + inside


def _annotations(view: MessageView, content: Content, locked_until: int | None) -> bytes:
    count, out = content.annotations
    if view.sequence_number is not None:
        out += _SEQUENCE + long_of(view.sequence_number)
        count += 2
    out += _DUE if view.state is MessageState.SCHEDULED else _ENQUEUED
    out += long_of(content.enqueued)
    count += 2
    if locked_until is not None:
        out += _LOCKED + long_of(locked_until)
        count += 2
    if view.state is not None:
        out += _STATE + struct.pack(">i", STATES[view.state])
        count += 2
    return _map(ANNOTATIONS, count, out)


def _with_death(content: Content, death: dict[str, str]) -> bytes:
    """The properties of the application, and among them why the message is a dead letter."""
    count, out = 0, b""
    if content.application:
        _, begins, _ = section(content.application, 0)
        for name, _, both in pairs(content.application, begins):
            if _text(name) not in death:
                count, out = count + 2, out + both
    for name, said in death.items():
        count, out = count + 2, out + string_of(name) + string_of(said)
    return _map(APPLICATION, count, out)
