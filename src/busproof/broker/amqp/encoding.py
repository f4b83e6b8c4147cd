"""Reading and writing of AMQP values, as far as message sections need it.

Proton takes about ten microseconds to read a value, and its binaries are lost with the tree that
holds them. This module reads the received bytes directly and returns slices of them.
"""

import struct
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final
from uuid import UUID

__all__ = [
    "OPAQUE",
    "binary",
    "check",
    "checking",
    "elements_of",
    "end_of",
    "items",
    "long_of",
    "pairs",
    "section",
    "string_of",
    "symbol_of",
    "value_at",
    "values_in",
]

_FIXED: Final[dict[int, tuple[str, int]]] = {
    0x50: (">B", 1),
    0x51: (">b", 1),
    0x52: (">B", 1),
    0x53: (">B", 1),
    0x54: (">b", 1),
    0x55: (">b", 1),
    0x60: (">H", 2),
    0x61: (">h", 2),
    0x70: (">I", 4),
    0x71: (">i", 4),
    0x72: (">f", 4),
    0x80: (">Q", 8),
    0x81: (">q", 8),
    0x82: (">d", 8),
    0x83: (">q", 8),
}
_UNPACK: Final[dict[int, Callable[..., tuple[Any, ...]]]] = {
    code: struct.Struct(form).unpack_from for code, (form, _) in _FIXED.items()
}
_SINGLE: Final = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: ()}
_WIDTHS: Final = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
_SHORT, _LONG, _UNKNOWN = -1, -4, -9
_SIZES: Final = tuple(
    {0xA: _SHORT, 0xC: _SHORT, 0xE: _SHORT, 0xB: _LONG, 0xD: _LONG, 0xF: _LONG, **_WIDTHS}.get(
        code >> 4, _UNKNOWN
    )
    for code in range(256)
)
"""Size of the values of each type, in bytes; negated, the width of the size that precedes them."""
_TEXTS: Final = {0xA1: "utf-8", 0xB1: "utf-8", 0xA3: "ascii", 0xB3: "ascii"}
_PASSED_ON: Final = frozenset({0x73, 0x74, 0x84, 0x94})
"""Type codes of characters and decimals, which are passed on without being decoded."""
_FIXED_SIZES: Final = tuple(
    1 + _SIZES[code] if code in _UNPACK or code in _SINGLE or code in fixed else 0
    for fixed in [{0x56, 0x98, *_PASSED_ON}]
    for code in range(256)
)
"""Size of each fixed-size value including its constructor, in bytes; 0 for other types."""
_COMPOUND: Final = frozenset({0xC0, 0xC1, 0xD0, 0xD1, 0xE0, 0xF0})
DESCRIBED: Final = 0
STEP: Final = 1_024
"""Number of values to validate between two yields."""
DEEPEST: Final = 32
"""Maximum nesting of descriptors and described values; messages need one level."""
MOST_NODES: Final = 65_535
"""Maximum number of values that Proton reads within one value, even in an array of nulls."""
SHORT_SECTION: Final = b"\x00\x53"
"""Bytes that begin nearly every section: a descriptor that is a small unsigned number."""


class _Opaque:
    """Placeholder for a value whose type is passed on without being decoded."""


OPAQUE: Final = _Opaque()


def end_of(data: bytes, place: int, deep: int = 0) -> int:
    """Return the position after the value that begins at `place`.

    Raises:
        ValueError: it is truncated, has too many levels of descriptors, or is of an unknown type.
    """
    code = data[place]
    if code == DESCRIBED:
        if deep > DEEPEST:
            raise ValueError("a value is described too often")
        return end_of(data, end_of(data, place + 1, deep + 1), deep + 1)
    size = _SIZES[code]
    if size >= 0:
        end = place + 1 + size
    elif size == _SHORT:
        end = place + 2 + data[place + 1]
    elif size == _LONG:
        end = place + 5 + int.from_bytes(data[place + 1 : place + 5], "big")
    else:
        raise ValueError(f"there is no AMQP type {code:#04x}")
    if end > len(data):
        raise ValueError("a value is cut off")
    return end


def value_at(data: bytes, place: int) -> Any:
    """Return the value that begins at `place`, or `OPAQUE` if its type is not a simple one."""
    code = data[place]
    unpack = _UNPACK.get(code)
    if unpack is not None:
        return unpack(data, place + 1)[0]
    if code in _SINGLE:
        return _SINGLE[code]
    if code == 0x56:
        return data[place + 1] == 1
    if code == 0x98:
        return UUID(bytes=bytes(data[place + 1 : place + 17]))
    if code in (0xA0, 0xA1, 0xA3):
        raw = data[place + 2 : place + 2 + data[place + 1]]
    elif code in (0xB0, 0xB1, 0xB3):
        raw = data[place + 5 : end_of(data, place)]
    else:
        return OPAQUE
    return raw.decode(_TEXTS[code]) if code in _TEXTS else bytes(raw)


def section(data: bytes, place: int) -> tuple[Any, int, int]:
    """Return the descriptor of the section at `place`, and where its value begins and ends.

    Raises:
        ValueError: there is no section here.
    """
    if data.startswith(SHORT_SECTION, place):
        return data[place + 2], place + 3, end_of(data, place + 3)
    if data[place] != DESCRIBED:
        raise ValueError("a section has no descriptor")
    begins = end_of(data, place + 1)
    return value_at(data, place + 1), begins, end_of(data, begins)


def elements_of(data: bytes, place: int) -> tuple[int, int]:
    """Return where the elements of a list or map begin, and their number."""
    code = data[place]
    if code == 0x45:
        return place + 1, 0
    if code in (0xC0, 0xC1):
        return place + 3, data[place + 2]
    if code in (0xD0, 0xD1):
        return place + 9, int.from_bytes(data[place + 5 : place + 9], "big")
    raise ValueError(f"type {code:#04x} is neither a list nor a map")


def items(data: bytes, place: int, most: int) -> list[Any]:
    """Return the elements of the list at `place`; a list of more than `most` is an error."""
    if data[place] == 0x45:
        return []
    last = end_of(data, place)
    place, count = elements_of(data, place)
    if count > most:
        raise ValueError(f"a list has {count:,} fields; at most {most:,} are read")
    values: list[Any] = []
    for _ in range(count):
        code = data[place]
        if code == 0x40:
            values.append(None)
            place += 1
        elif code == 0xA1:
            end = place + 2 + data[place + 1]
            values.append(data[place + 2 : end].decode())
            place = end
        else:
            values.append(value_at(data, place))
            place = end_of(data, place)
    _check_ends(place, last)
    return values


def pairs(data: bytes, place: int) -> Iterator[tuple[Any, Any, bytes]]:
    """Yield each key of a map, its value, and the bytes of both."""
    last = end_of(data, place)
    place, count = elements_of(data, place)
    if count % 2:
        raise ValueError("a map has a key without a value")
    for _ in range(count // 2):
        middle = end_of(data, place)
        end = end_of(data, middle)
        yield value_at(data, place), value_at(data, middle), bytes(data[place:end])
        place = end
    _check_ends(place, last)


def check(data: bytes, place: int) -> int:
    """Validate a value and everything within it; return the position after it.

    Raises:
        ValueError: it is not AMQP, or is nested too deeply.
    """
    steps = checking(data, place)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return int(end.value)


def checking(data: bytes, place: int, deep: int = 0) -> Generator[None, None, int]:
    """Validate a value as `check` does, yielding now and then so that other work can go on."""
    if deep > DEEPEST:
        raise ValueError("a value is nested too deeply")
    code = data[place]
    if code == DESCRIBED:
        middle = yield from checking(data, place + 1, deep + 1)
        return (yield from checking(data, middle, deep + 1))
    if code not in _COMPOUND:
        return _check_simple(data, place)
    last = end_of(data, place)
    yield
    if code in (0xE0, 0xF0):
        yield from _checking_array(data, place, last, deep)
        return last
    place, count = elements_of(data, place)
    if count % 2 and code in (0xC1, 0xD1):
        raise ValueError("a map has a key without a value")
    for number in range(count):
        if size := _FIXED_SIZES[data[place]]:
            place += size
        else:
            place = yield from checking(data, place, deep + 1)
        if number % STEP == STEP - 1:
            yield
    _check_ends(place, last)
    return last


def _check_simple(data: bytes, place: int) -> int:
    """Validate a value of a simple type; return the position after it."""
    if value_at(data, place) is OPAQUE and data[place] not in _PASSED_ON:
        raise ValueError(f"there is no AMQP type {data[place]:#04x}")
    return end_of(data, place)


def values_in(data: bytes, place: int, most: int = 2**32) -> int:
    """Count the values from `place` on, nested ones included, as far as they can be read.

    Counting stops once there are more than `most`.
    """
    count, last = 0, len(data) - 9
    while place <= last and count <= most:
        code, count = data[place], count + 1
        high, long = code >> 4, int.from_bytes(data[place + 1 : place + 5], "big")
        if code == DESCRIBED:
            place += 1
        elif high in _WIDTHS:
            place += 1 + _WIDTHS[high]
        elif high in (0xC, 0xD):
            place += 3 if high == 0xC else 9
        else:
            if high in (0xE, 0xF):
                begins, width = (place + 2, 1) if high == 0xE else (place + 5, 4)
                count += min(MOST_NODES, int.from_bytes(data[begins : begins + width], "big"))
                end = place + (2 + data[place + 1] if high == 0xE else 5 + long)
                count += _values_in_array(data[begins + width : end])
            place += 2 + data[place + 1] if high in (0xA, 0xE) else 5 + long
    return count


def _values_in_array(elements: bytes) -> int:
    """Return an upper bound of the number of values within an array's elements."""
    if elements and (elements[0] == DESCRIBED or elements[0] >> 4 >= 0xC):
        has_arrays = b"\xe0" in elements or b"\xf0" in elements
        return MOST_NODES if has_arrays else len(elements)
    return 0


def _checking_array(data: bytes, place: int, last: int, deep: int) -> Generator[None, None, None]:
    """Validate each element of an array as a value with the array's constructor."""
    width = 1 if data[place] == 0xE0 else 4
    first = place + 1 + width
    count = int.from_bytes(data[first : first + width], "big")
    begins = first + width
    place = begins + 1
    if data[begins] == DESCRIBED:
        place = (yield from checking(data, begins + 1, deep + 1)) + 1
    constructor = data[place - 1 : place]
    if not constructor or constructor[0] == DESCRIBED or count > last - place:
        raise ValueError("an array has no elements that can be read")
    if size := _FIXED_SIZES[constructor[0]]:
        _check_ends(place + count * (size - 1), last)
        return
    for number in range(count):
        end = place + _size_of(constructor[0], data, place)
        if end > last:
            raise ValueError("an array is cut off")
        yield from checking(constructor + data[place:end], 0, deep + 1)
        place = end
        if number % STEP == STEP - 1:
            yield
    _check_ends(place, last)


def _size_of(code: int, data: bytes, place: int) -> int:
    """Return the number of bytes that follow the constructor of a value."""
    width = _WIDTHS.get(code >> 4)
    if width is not None:
        return width
    if code >> 4 in (0xA, 0xC, 0xE):
        return 1 + data[place]
    return 4 + int.from_bytes(data[place : place + 4], "big")


def _check_ends(place: int, last: int) -> None:
    if place != last:
        raise ValueError("a list, map or array does not end where its elements do")


def binary(value: Any) -> bytes:
    """Return a binary value, as decoded by Proton, as bytes.

    The type is checked first, because `bytes(number)` would make that many zeros.

    Raises:
        ValueError: the value is not a binary.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise ValueError(f"a binary is expected, and not a {type(value).__name__}")


def symbol_of(name: str) -> bytes:
    """Encode a symbol of up to 255 characters."""
    return b"\xa3" + bytes([len(name)]) + name.encode("ascii")


def string_of(text: str) -> bytes:
    """Encode a string."""
    raw = text.encode()
    if len(raw) < 256:
        return b"\xa1" + bytes([len(raw)]) + raw
    return b"\xb1" + struct.pack(">I", len(raw)) + raw


def long_of(number: int) -> bytes:
    """Encode a long or a timestamp, without the type code."""
    return struct.pack(">q", number)
