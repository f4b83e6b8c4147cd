"""The frames in one direction of an AMQP connection, and the fields of their performatives."""

from collections.abc import Iterator
from typing import Any, Final

from proton import Array, Data, Described

from busproof.broker.amqp.encoding import OPAQUE, elements_of, end_of, section, value_at

__all__ = [
    "ATTACH",
    "BEGIN",
    "CLOSE",
    "DETACH",
    "DISPOSITION",
    "END",
    "FLOW",
    "OPEN",
    "TRANSFER",
    "Frame",
    "Nested",
    "Splitter",
    "Unreadable",
    "decode_value",
    "frame_of",
    "plain",
]

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
NAMES: Final = {
    f"amqp:{name}:list": code
    for code, name in enumerate(
        ("open", "begin", "attach", "flow", "transfer", "disposition", "detach", "end", "close"),
        OPEN,
    )
}
HEADER: Final = 8
"""Size of a protocol header and of a frame's header, in bytes."""
PROTOCOL: Final = b"AMQP"
AMQP_FRAME: Final = 0
LARGEST: Final = 256 * 1024 * 1024
"""Maximum size of a frame, in bytes; peers agree on 64 KB to 1 MB."""
FIELDS: Final = 14
"""Number of fields of the longest performative, an Attach."""
NONE: Final[list[Any]] = [None] * FIELDS


class Unreadable(Exception):
    """Bytes that are not AMQP; what they would do cannot be recorded."""


class Nested(bytes):
    """An encoded value within a performative that is a list, a map, an array or described."""

    __slots__ = ()


class Frame:
    """A performative with its channel and its payload.

    Attributes:
        code: the performative's code, such as `TRANSFER`.
        channel: the channel.
        fields: all fields of the performative; those left out are `None`.
        payload: the bytes after the performative.

    Args:
        fields: those that were written; a performative may end early.
    """

    __slots__ = ("channel", "code", "fields", "payload")

    def __init__(self, code: int, channel: int, fields: list[Any], payload: bytes) -> None:
        self.code = code
        self.channel = channel
        self.fields = fields + NONE[len(fields) :]
        self.payload = payload


def frame_of(raw: bytes) -> Frame:
    """Return the frame in these bytes.

    Raises:
        Unreadable: they are no frame.
    """
    begins = raw[4] * 4
    try:
        descriptor, place, end = section(raw, begins)
        code = NAMES.get(descriptor, -1) if isinstance(descriptor, str) else descriptor
        return Frame(code, int.from_bytes(raw[6:8], "big"), _fields(raw, place), raw[end:])
    except (IndexError, TypeError, ValueError) as error:
        raise Unreadable(f"a frame cannot be read: {error}") from None


def _fields(raw: bytes, place: int) -> list[Any]:
    place, count = elements_of(raw, place)
    if count > FIELDS:
        raise ValueError(f"a performative has {count} fields")
    fields = []
    for _ in range(count):
        end = end_of(raw, place)
        value = value_at(raw, place)
        fields.append(Nested(raw[place:end]) if value is OPAQUE else value)
        place = end
    return fields


class Splitter:
    """A splitter of the bytes in one direction of a connection into frames.

    The handshake of SASL is passed over, so that no login is ever looked at.
    """

    def __init__(self) -> None:
        self._received = b""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the AMQP frames that these bytes complete.

        Raises:
            Unreadable: the bytes are not AMQP.
        """
        data = self._received + data if self._received else data
        place = 0
        length = len(data)
        while place + HEADER <= length:
            size = int.from_bytes(data[place : place + 4], "big")
            if data.startswith(PROTOCOL, place):
                place += HEADER
                continue
            if not HEADER <= size <= LARGEST:
                raise Unreadable(f"a frame says that it has {size} bytes")
            if place + size > length:
                break
            begins = data[place + 4] * 4
            # A frame without a body keeps the connection alive.
            if data[place + 5] == AMQP_FRAME and begins < size:
                yield frame_of(data[place : place + size])
            place += size
        self._received = data[place:]


def decode_value(raw: bytes) -> Any:
    """Return an encoded value as plain Python values.

    Raises:
        Unreadable: the bytes are not one AMQP value.
    """
    tree = Data()
    try:
        tree.decode(raw)
        tree.rewind()
        tree.next()
        return plain(tree.get_object())
    except Exception as error:  # noqa: BLE001 - Proton raises many errors for malformed bytes
        raise Unreadable(f"a value cannot be read: {error}") from None


def plain(value: Any) -> Any:  # noqa: PLR0911 - one case for each kind of value
    """Return a value without Proton's own types, whose binaries are lost with their tree."""
    if isinstance(value, Described):
        return Described(plain(value.descriptor), plain(value.value))
    if isinstance(value, dict):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Array):
        return [plain(inner) for inner in value.elements]
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, memoryview | bytes):
        return bytes(value)
    if isinstance(value, bool) or value is None:
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value
