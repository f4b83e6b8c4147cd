"""The sections of a message: their codes, and the value types allowed in each."""

import struct
from collections.abc import Iterator
from typing import Any, Final

from busproof.broker.amqp.encoding import (
    OPAQUE,
    check,
    checking,
    elements_of,
    end_of,
    pairs,
    section,
)
from busproof.broker.bounds import check_bound

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
    "check_properties",
    "checking_parts",
    "pairs_of",
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
"""Types allowed for the value of each section; an empty set allows all."""
READ_WHOLE: Final = frozenset({DELIVERY, SEQUENCE, VALUE, FOOTER})
"""Sections that are passed on or dropped without being read; all of their values are validated."""
PROPERTIES_AT_MOST: Final = 13
MOST_SECTIONS: Final = 10_000
MOST_KEYS: Final = 10_000
"""Maximum number of keys in a section, so that 64 KB of properties have six bytes for each."""
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
    place = number = 0
    while place < len(raw):
        number += 1
        # A section needs only four bytes, so a message could have 65,000 of them.
        if number > MOST_SECTIONS:
            raise ValueError(f"the message has more than {MOST_SECTIONS:,} sections")
        try:
            descriptor, begins, end = section(raw, place)
            code = descriptor
            # A descriptor may be a symbol, although nearly all clients write the number.
            if type(descriptor) is not int:
                code = NAMED.get(descriptor, -1) if isinstance(descriptor, str) else int(descriptor)
        except (IndexError, OverflowError, TypeError, ValueError, struct.error) as error:
            raise ValueError(f"these bytes are no AMQP message: {error}") from None
        if not HEADER <= code <= FOOTER:
            raise ValueError(f"these bytes are no AMQP message: there is no section {descriptor!r}")
        yield code, place, begins, end
        place = end


def check_kind(code: int, raw: bytes, begins: int, *, checked: bool) -> None:
    """Check that a section's value has an allowed type, because receiving clients fail on others.

    Headers, properties and passed-on maps are validated where they are read. With `checked`, the
    caller has already validated the whole message by `checking_parts`.
    """
    kinds = KINDS[code]
    if kinds and raw[begins] not in kinds:
        raise ValueError(f"section {code:#04x} is of type {raw[begins]:#04x}")
    # Otherwise a receiving client would be the first to notice an error within them.
    if code in READ_WHOLE and not checked:
        check(raw, begins)


def checking_parts(raw: bytes) -> Iterator[None]:
    """Validate, step by step, all values of a message that are passed on.

    Raises:
        ValueError: the bytes are not an AMQP message.
    """
    for code, _, begins, _ in sections_of(raw):
        # A data section is a binary, which contains no values.
        if code != DATA:
            yield from checking(raw, begins)


def check_properties(properties: list[Any]) -> list[str | None]:
    """Return all possible fields of the properties as text; those left out are `None`.

    Raises:
        ValueError: there are more fields than AMQP defines, or one has another type.
    """
    texts: list[str | None] = []
    for value in properties:
        if value is None or type(value) is str:
            texts.append(value)
        elif value is OPAQUE or value == ():
            raise ValueError("a field of the properties has a type that AMQP does not allow")
        else:
            # In AMQP ids may be numbers, UUIDs or binaries; the model compares text.
            texts.append(text_of(value))
    if len(texts) > PROPERTIES_AT_MOST:
        raise ValueError("the properties have more fields than AMQP defines")
    return texts + UNSET[len(texts) :]


def text_of(value: Any) -> str:
    """Return a value as text; bytes are decoded as UTF-8."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def check_header(durable: Any, priority: Any, ttl: Any) -> None:
    """Check the header fields that are passed on: durable, priority and time to live."""
    for name, value in (("priority", priority), ("ttl", ttl)):
        if value is not None:
            check_bound(name, value)
    if durable not in (None, True, False):
        raise ValueError(f"durable is {durable!r}; it has to be true or false")


def pairs_of(raw: bytes, begins: int, *, checked: bool) -> Iterator[tuple[Any, Any, bytes]]:
    """Yield each key of a map, its value, and the bytes of both.

    Raises:
        ValueError: there are too many, a key is not simple, or a value is not AMQP.
    """
    # Check the number that the map states, before reading any of it.
    if elements_of(raw, begins)[1] > 2 * MOST_KEYS:
        raise ValueError(f"a map of the message has more than {MOST_KEYS:,} keys")
    for key, value, both in pairs(raw, begins):
        # Clients read these maps into dictionaries, which cannot have such keys.
        if key is None or key is OPAQUE:
            raise ValueError("a map of a message has a key that is neither a string nor a number")
        if value is OPAQUE and not checked:
            check(both, end_of(both, 0))
        yield key, value, both
