"""The sections of a message: their codes, and the types allowed in each."""

import struct
from collections.abc import Iterator
from typing import Any, Final

from busproof.broker.amqp.encoding import OPAQUE, check, end_of, section
from busproof.broker.bounds import bounded

__all__ = [
    "ANNOTATIONS",
    "APPLICATION",
    "DATA",
    "DELIVERY",
    "FOOTER",
    "HEADER",
    "PROPERTIES",
    "PROPERTIES_AT_MOST",
    "SEQUENCE",
    "VALUE",
    "check_header",
    "check_kind",
    "check_pair",
    "checked_properties",
    "sections_of",
    "text_of",
]

HEADER, DELIVERY, ANNOTATIONS, PROPERTIES, APPLICATION = 0x70, 0x71, 0x72, 0x73, 0x74
DATA, SEQUENCE, VALUE, FOOTER = 0x75, 0x76, 0x77, 0x78
LISTS, MAPS = frozenset({0x45, 0xC0, 0xD0}), frozenset({0xC1, 0xD1})
KINDS: Final[dict[int, frozenset[int]]] = {
    HEADER: LISTS,
    DELIVERY: MAPS,
    ANNOTATIONS: MAPS,
    PROPERTIES: LISTS,
    APPLICATION: MAPS,
    DATA: frozenset({0xA0, 0xB0}),
    SEQUENCE: LISTS,
    VALUE: frozenset(),
    FOOTER: MAPS,
}
"""Types allowed for the value of a section; an empty set allows all."""
READ_WHOLE: Final = frozenset({DELIVERY, SEQUENCE, VALUE, FOOTER})
"""Sections that are passed on or dropped unread; everything in them is validated."""
PROPERTIES_AT_MOST: Final = 13
UNSET: Final[list[str | None]] = [None] * PROPERTIES_AT_MOST
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


def sections_of(raw: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield each section of a message: its code, its start, and where its value begins and ends.

    Raises:
        ValueError: the bytes are not an AMQP message.
    """
    place = 0
    while place < len(raw):
        try:
            said, begins, end = section(raw, place)
            code = said
            if type(said) is not int:
                code = NAMED.get(said, -1) if isinstance(said, str) else int(said)
        except (IndexError, OverflowError, TypeError, ValueError, struct.error) as error:
            raise ValueError(f"these bytes are no AMQP message: {error}") from None
        if not HEADER <= code <= FOOTER:
            raise ValueError(f"these bytes are no AMQP message: there is no section {said!r}")
        yield code, place, begins, end
        place = end


def check_kind(code: int, raw: bytes, begins: int) -> None:
    """Check that a section has an allowed type, because receiving clients fail on others.

    Headers, properties and passed-on maps are checked where they are read.
    """
    kinds = KINDS[code]
    if kinds and raw[begins] not in kinds:
        raise ValueError(f"section {code:#04x} is of type {raw[begins]:#04x}")
    if code in READ_WHOLE:
        check(raw, begins)


def checked_properties(properties: list[Any]) -> list[str | None]:
    """Return all the fields that properties can have, as texts.

    Raises:
        ValueError: they have more fields than AMQP has, or fields of other types.
    """
    texts: list[str | None] = []
    for value in properties:
        if value is None or type(value) is str:
            texts.append(value)
        elif value is OPAQUE or value == ():
            raise ValueError("the properties have fields of other types than AMQP has")
        else:
            texts.append(text_of(value))
    if len(texts) > PROPERTIES_AT_MOST:
        raise ValueError("the properties have more fields than AMQP has")
    return texts + UNSET[len(texts) :]


def text_of(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def check_header(durable: Any, priority: Any, ttl: Any) -> None:
    """Check the header fields that are passed on: durable, priority and time to live."""
    for name, value in (("priority", priority), ("ttl", ttl)):
        if value is not None:
            bounded(name, value)
    if durable not in (None, True, False):
        raise ValueError(f"durable is {durable!r}; it has to be true or false")


def check_pair(key: Any, value: Any, both: bytes) -> None:
    """Check that a key is simple, and validate a value that is not."""
    if key is None or key is OPAQUE:
        raise ValueError("a map of a message has a key that is neither a text nor a number")
    if value is OPAQUE:
        check(both, end_of(both, 0))
