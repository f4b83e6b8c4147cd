"""Encoding of messages for delivery, from their stored content and the model's view of them."""

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from busproof import vocabulary as v
from busproof.broker.amqp.encoding import (
    elements_of,
    end_of,
    pairs,
    section,
    string_of,
    symbol_of,
)
from busproof.broker.amqp.messages import Content
from busproof.broker.amqp.sections import ANNOTATIONS, APPLICATION, DELIVERY, PROPERTIES
from busproof.broker.bounds import LAST_MOMENT

__all__ = ["add_size", "encode_message", "list_of", "map_of"]

STATES: Final = {v.MessageState.ACTIVE: 0, v.MessageState.DEFERRED: 1, v.MessageState.SCHEDULED: 2}
EXPIRY, CREATION = 8, 9
"""Positions of the expiry and creation times in the properties."""
LONGEST_TTL: Final = 0xFFFF_FFFF

_DURABLE: Final = {None: b"\x40", True: b"\x41", False: b"\x42"}
_TTL: Final = struct.Struct(">BI")
_DELIVERIES: Final = struct.Struct(">2sI")
_LONG: Final = struct.Struct(">q").pack
_SEQUENCE = symbol_of("x-opt-sequence-number") + b"\x81"
_ENQUEUED = symbol_of("x-opt-enqueued-time") + b"\x83"
_LOCKED = symbol_of("x-opt-locked-until") + b"\x83"
_STATE = symbol_of("x-opt-message-state") + b"\x71"
_LOCK_TOKEN = symbol_of("x-opt-lock-token") + b"\x98"
_GIVEN = struct.Struct(f">{len(_SEQUENCE)}sq{len(_ENQUEUED)}sq{len(_LOCKED)}sq")
"""The annotations of a message that is locked for its receiver."""
_TOKEN = b"\x00\x53\x71\xc1" + bytes([1 + len(_LOCK_TOKEN) + 16, 2]) + _LOCK_TOKEN
"""Delivery annotations of a message without others, up to the lock token."""
_NO_NOTES = b"\x00\x53\x71\xc1\x01\x00"
"""Empty delivery annotations, which the service sends if a message is not locked."""


def encode_message(
    view: v.MessageView,
    content: Content,
    *,
    token: bytes | None = None,
    locked_until: int | None = None,
    life: int | None = None,
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    """Encode a message for delivery.

    Args:
        view: the model's view of the message.
        content: its stored content.
        token: its lock token.
        locked_until: when its lock ends, in milliseconds since 1970.
        life: its time to live in the entity, in microseconds; `None` for none.
        more: application properties added since it was sent, as encoded values.
    """
    count, kept = content.delivery
    if count:
        locked = b"" if token is None else _LOCK_TOKEN + token
        delivery = map_of(DELIVERY, count + (2 if locked else 0), locked + kept)
    else:
        delivery = _NO_NOTES if token is None else _TOKEN + token
    return b"".join(
        (
            # AMQP counts only earlier deliveries; the model counts this one, too.
            _header(
                content.durable,
                content.priority,
                None if life is None else life // 1000,
                max(0, (view.delivery_count or 1) - 1),
            ),
            delivery,
            _annotations(view, content, locked_until),
            content.properties if life is None else _mortal(content, life),
            _add_properties(content, more) if more else content.application,
            content.body,
        )
    )


# Messages of an entity share few headers, so most are encoded only once.
@lru_cache(maxsize=512)
def _header(durable: bool | None, priority: int | None, ttl: int | None, count: int) -> bytes:
    """Return a header; `ttl` is in milliseconds, and `count` excludes this delivery."""
    level = b"\x40" if priority is None else bytes((0x50, priority & 255))
    # The field has 32 bits; for longer times, clients use the expiry time in the properties.
    lives = b"\x40" if ttl is None else _TTL.pack(0x70, min(LONGEST_TTL, ttl))
    fields = _DURABLE[durable] + level + lives + _DELIVERIES.pack(b"\x40\x70", count)
    return b"\x00\x53\x70\xc0" + bytes((len(fields) + 1, 5)) + fields


def map_of(code: int, count: int, inside: bytes) -> bytes:
    """Return a section whose value is a map."""
    # The form with 32-bit sizes holds any map, so the sizes need no comparison.
    return bytes([0, 0x53, code, 0xD1]) + struct.pack(">II", len(inside) + 4, count) + inside


def list_of(code: int, fields: Sequence[bytes]) -> bytes:
    """Return a section whose value is a list."""
    # The form with 32-bit sizes, because the fields may exceed the 255 bytes of the short one.
    inside = b"".join(fields)
    return bytes([0, 0x53, code, 0xD0]) + struct.pack(">II", len(inside) + 4, len(fields)) + inside


def add_size(raw: bytes) -> bytes:
    """Return bytes behind their number, as a value of variable size has them."""
    return struct.pack(">I", len(raw)) + raw


def _annotations(view: v.MessageView, content: Content, locked_until: int | None) -> bytes:
    count, out = content.annotations
    # Most messages are delivered under a lock; one call packs their three annotations.
    if locked_until is not None and view.sequence_number is not None and view.state is None:
        times = _GIVEN.pack(
            *(_SEQUENCE, view.sequence_number),
            *(_ENQUEUED, content.enqueued),
            *(_LOCKED, locked_until),
        )
        return map_of(ANNOTATIONS, count + 6, out + times)
    if view.sequence_number is not None:
        out += _SEQUENCE + _LONG(view.sequence_number)
        count += 2
    # A scheduled message has no enqueued time yet.
    if view.state is not v.MessageState.SCHEDULED:
        out += _ENQUEUED + _LONG(content.enqueued)
        count += 2
    if locked_until is not None:
        out += _LOCKED + _LONG(locked_until)
        count += 2
    if view.state is not None:
        out += _STATE + struct.pack(">i", STATES[view.state])
        count += 2
    return map_of(ANNOTATIONS, count, out)


def _mortal(content: Content, life: int) -> bytes:
    """Return the properties with an expiry time added.

    Clients compute the time to live as the difference of the expiry and creation times.
    """
    _, begins, _ = section(content.properties, 0)
    place, count = elements_of(content.properties, begins)
    fields = []
    for _ in range(count):
        end = end_of(content.properties, place)
        fields.append(content.properties[place:end])
        place = end
    # The sender may have omitted the last fields, which include these two.
    fields += [b"\x40"] * (CREATION + 1 - len(fields))
    # Clients cannot represent a time after the year 9999.
    dies = min(LAST_MOMENT, content.enqueued + life // 1000)
    fields[EXPIRY] = b"\x83" + _LONG(dies)
    fields[CREATION] = b"\x83" + _LONG(content.enqueued)
    return list_of(PROPERTIES, fields)


def _add_properties(content: Content, more: Mapping[str, bytes]) -> bytes:
    """Return the application properties with some replaced or added."""
    out: list[bytes] = []
    if content.application:
        _, begins, _ = section(content.application, 0)
        for name, _, both in pairs(content.application, begins):
            # A map must not have a key twice; the newer value counts.
            if _text(name) not in more:
                out.append(both)
    for name, value in more.items():
        out.append(string_of(name) + value)
    return map_of(APPLICATION, 2 * len(out), b"".join(out))


def _text(name: object) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
