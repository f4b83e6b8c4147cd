"""The layer below the AMQP engine: protocol headers, SASL, and the boundaries of frames.

Without Cyrus SASL, Proton's server does not support PLAIN, and it does not expose the message
format of a transfer, which marks a batch. So this module examines the bytes before the engine gets
them.
"""

import struct
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from proton import UNDESCRIBED, Array, Data, Described, symbol, ubyte, ulong

from busproof.broker.amqp.encoding import binary, elements_of, end_of, value_at, values_in
from busproof.broker.amqp.numbering import (
    ATTACH,
    BEGIN,
    DETACH,
    DISPOSITION,
    FLOW,
    TRANSFER,
    Numbering,
)
from busproof.broker.amqp.refusals import (
    Refusal,
    disposition_too_large,
    opening_too_large,
    too_many_values,
)
from busproof.broker.amqp.windows import OPEN, clamp_numbers
from busproof.broker.auth.tokens import AccessPolicies, Claim, TokenError

__all__ = [
    "AMQP_HEADER",
    "BATCH_FORMAT",
    "Frames",
    "Handshake",
    "array",
    "is_batch",
]

AMQP_HEADER: Final = b"AMQP\x00\x01\x00\x00"
SASL_HEADER: Final = b"AMQP\x03\x01\x00\x00"
BATCH_FORMAT: Final = 0x80013700
# The batch format, 0x80013700, has only one encoding: searching for these bytes finds all.
BATCH_MARK: Final = b"\x70\x80\x01\x37\x00"
LOOKED_AT: Final = frozenset({OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DETACH})
OPENS: Final = frozenset({OPEN, BEGIN, ATTACH})
# The mechanisms that the service offers. Python clients require ANONYMOUS among them.
MECHANISMS: Final = ("MSSBCBS", "PLAIN", "ANONYMOUS")
# AMQP sets 512 bytes (section 5.3). Some bound is needed before a client is authenticated.
LARGEST_SASL_FRAME: Final = 4096
MOST_VALUES: Final = 16_384
"""Maximum number of values in a frame, besides its message.

Proton's binding reads a value in a microsecond, and a few bytes can hold a long array of nulls.
"""
MOST_SPREAD: Final = 16_777_216
"""Maximum memory of one disposition for all its messages, in bytes.

The engine gives each of the messages a copy of the outcome: 55 KB for 20,000 took 1.1 GB.
"""
SHORT_DISPOSITION: Final = 64
"""Bytes of a disposition that may be for any number of messages, as one that accepts them is."""
LONG_CODE: Final = b"\x00\x80" + bytes(7)
"""What begins a performative whose code is written as a number of eight bytes."""
SMALL_CODE: Final = 0x53
LIST8: Final = 0xC0
LISTS: Final = frozenset({0x45, LIST8, 0xD0})
ARRAY8, ARRAY32 = b"\xe0", b"\xf0"
OK, REFUSED = 0, 1
VALUE: Final = 240
"""Memory that the engine uses for a value in its two trees, in bytes."""
USUAL: Final = 64
"""Number of values in an ordinary Attach frame; only values beyond it are counted as memory."""


def array(kind: int, elements: list[Any]) -> Array:
    """Return an array of values of one type, which Proton's own types cannot describe."""
    none: Any = UNDESCRIBED
    return Array(none, kind, *elements)


class Handshake:
    """The SASL handshake that precedes AMQP on a connection.

    Args:
        keys: the namespace's keys, for PLAIN.
        send: writes bytes to the client.
    """

    def __init__(self, keys: AccessPolicies, send: Callable[[bytes], None]) -> None:
        self._keys = keys
        self._send = send
        self._received = b""
        self._greeted = False
        self.claim: Claim | None = None
        self.failed = False
        self.done = False

    def feed(self, data: bytes) -> bytes:
        """Take received bytes; return those for the AMQP engine once the handshake is over.

        If `failed` is set afterwards, the caller must close the connection.
        """
        self._received += data
        if not self._greeted and not self._greets():
            return b""
        while not self.done and not self.failed:
            frame = self._frame()
            if frame is None:
                return b""
            self._answer(frame)
        # A client may send its first AMQP frames together with its last SASL frame.
        rest, self._received = self._received, b""
        return rest if self.done else b""

    def _greets(self) -> bool:
        if len(self._received) < len(SASL_HEADER):
            self.failed = not SASL_HEADER.startswith(self._received[:4])
            if self.failed:
                # AMQP requires a server to answer an unsupported header with its own, and to close.
                self._send(SASL_HEADER)
            return False
        self._send(SASL_HEADER)
        if not self._received.startswith(SASL_HEADER):
            self.failed = True
            return False
        self._received = self._received[len(SASL_HEADER) :]
        self._greeted = True
        offered = array(Data.SYMBOL, [symbol(mechanism) for mechanism in MECHANISMS])
        self._say(0x40, [offered])
        return True

    def _frame(self) -> bytes | None:
        if len(self._received) < 8:
            return None
        size, offset, kind = struct.unpack(">IBB", self._received[:6])
        if kind != 1 or offset != 2 or not 8 <= size <= LARGEST_SASL_FRAME:
            self.failed = True
            return None
        # A SASL frame has no extended header, so its body always begins after eight bytes.
        if len(self._received) < size:
            return None
        frame, self._received = self._received[8:size], self._received[size:]
        return frame

    def _answer(self, frame: bytes) -> None:
        try:
            tree = Data()
            tree.decode(frame)
            tree.rewind()
            tree.next()
            frame_body: Any = tree.get_object()
            # The type is checked because `bytes` of a huge number would allocate that many zeros.
            mechanism, response = (
                str(frame_body.value[0]),
                binary([*frame_body.value, b""][1] or b""),
            )
        except Exception:  # noqa: BLE001 - Proton raises many errors for malformed bytes
            self.failed = True
            return
        # No mechanism here has a challenge, so a client can only send its init.
        self.done = frame_body.descriptor == 0x41 and self._admits(mechanism, response)
        self.failed = not self.done
        self._say(0x44, [ubyte(OK if self.done else REFUSED)])

    def _admits(self, mechanism: str, response: bytes) -> bool:
        if mechanism != "PLAIN":
            # ANONYMOUS and MSSBCBS prove nothing: such clients put tokens to `$cbs` instead.
            return mechanism in MECHANISMS
        parts = response.split(b"\0")
        # PLAIN has an authorization identity, a name and a password, separated by zeros (RFC 4616).
        if len(parts) != 3:
            return False
        try:
            name, password = parts[1].decode(), parts[2].decode()
            self.claim = self._keys.login(name, password)
        except (TokenError, UnicodeDecodeError):
            return False
        return True

    def _say(self, code: int, fields: list[Any]) -> None:
        tree = Data()
        tree.put_object(Described(ulong(code), fields))
        body = bytes(tree.encode())
        self._send(struct.pack(">IBBH", len(body) + 8, 2, 1, 0) + body)


class Frames:
    """A splitter of received bytes at frame boundaries; each transfer of a batch comes alone.

    Args:
        largest: maximum size of a frame, in bytes.
        numbering: maps the client's delivery-ids to the engine's.
        most: maximum size of a frame that opens a connection, session or link, in bytes.
    """

    def __init__(self, largest: int, numbering: Numbering, most: int = 2**32) -> None:
        self._largest = largest
        self._most = most
        self.costs: dict[int, deque[int]] = {BEGIN: deque(), ATTACH: deque()}
        """For BEGIN and ATTACH, the memory of each such frame in bytes, oldest first."""
        self.refusal: Refusal | None = None
        """The error to end the connection with, if the client has exceeded a limit."""
        self._numbering = numbering
        self._received = bytearray()
        self._wanted = 0
        """Number of bytes needed before the next frame can be complete."""
        self._begun = False
        self.broken = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield pieces that end at a frame boundary, and whether a piece begins a batch.

        If malformed data follows, the last piece includes it, so that Proton reports the error;
        later bytes are dropped.
        """
        if not (data := self._gather(data)):
            return
        start = place = 0
        if not self._begun:
            if len(data) < len(AMQP_HEADER):
                self._keep(data, len(AMQP_HEADER))
                return
            place, self._begun = len(AMQP_HEADER), True
        while place + 4 <= len(data):
            end = place + int.from_bytes(data[place : place + 4], "big")
            if not place + 8 <= end <= place + self._largest:
                # Proton reports the error to the client.
                self.broken = True
                yield data[start:], False
                return
            # Pass on only whole frames, so that any of them can be replaced.
            if end > len(data):
                break
            changed = self._change_frame(data, place, end)
            if self.refusal is not None:
                self.broken = True
                yield data[start:place], False
                return
            # Search for the format's bytes first, because decoding every transfer is expensive.
            batch = data.find(BATCH_MARK, place, min(end, place + 128)) >= 0
            batch = batch and is_batch(data[place:end])
            if batch or changed is not None:
                if start < place:
                    yield data[start:place], False
                yield changed or data[place:end], batch
                start = end
            place = end
        # The four bytes of the size have to arrive before the size is known.
        size = int.from_bytes(data[place : place + 4], "big") if place + 4 <= len(data) else 4
        self._keep(data[place:], size)
        if start < place:
            yield data[start:place], False

    def _change_frame(self, data: bytes, place: int, end: int) -> bytes | None:
        """Return what the engine gets in place of a frame, or `None` to leave it unchanged."""
        code = place + data[place + 4] * 4 + 2
        if data.startswith(LONG_CODE, code - 2, end):
            frame = _shorten_code(data[place:end])
            return self._change_frame(frame, 0, len(frame)) or frame
        self.refusal = _objection(data, place, code, end)
        if self.refusal is not None or code >= end or data[code] not in LOOKED_AT:
            return None
        is_short = code == place + 10 and code + 2 < end
        # Most frames are plain transfers, so they are recognised without copying them.
        if data[code] == TRANSFER and is_short and self._numbering.follows(data, place):
            return None
        frame = data[place:end]
        if data[code] == FLOW:
            self._numbering.flows += 1
        # The engine keeps the contents of an opening frame as long as the session or link is open.
        if data[code] in OPENS and not self._count_opening(frame, data[code]):
            return None
        if frame[4] == 2 and (numbered := self._numbering.take(frame)) is not None:
            return numbered
        return clamp_numbers(frame)

    def _count_opening(self, frame: bytes, code: int) -> bool:
        """Check the size of an opening frame and record its memory; return whether it fits."""
        if len(frame) > self._most:
            self.refusal = opening_too_large(len(frame), self._most)
            return False
        if code in self.costs:
            # A queue, because the engine reports an opened link only once it has the frame.
            self.costs[code].append(_cost_of(frame))
        return True

    @property
    def waiting(self) -> int:
        """Number of bytes received of an incomplete frame."""
        return len(self._received)

    def _gather(self, data: bytes) -> bytes:
        """Return the received bytes once a frame may be complete; until then, return nothing."""
        if self.broken:
            return b""
        if self._received or self._wanted > len(data):
            # A frame may arrive byte by byte. Append in place, so that no byte is examined twice.
            self._received += data
            if len(self._received) < self._wanted:
                return b""
            data = bytes(self._received)
            self._received.clear()
        return data

    def _keep(self, rest: bytes, wanted: int) -> None:
        self._received += rest
        self._wanted = wanted


def _shorten_code(frame: bytes) -> bytes:
    """Return a frame with its performative's code in one byte, in which all else looks for it."""
    begins = frame[4] * 4
    code = begins + len(LONG_CODE)
    size = len(frame) - len(LONG_CODE) + 2
    return size.to_bytes(4, "big") + frame[4:begins] + b"\x00\x53" + frame[code:]


def _objection(data: bytes, place: int, code: int, end: int) -> Refusal | None:
    """Return the refusal of a frame that would cost the engine too much, if it would."""
    if code + 2 < end and _may_be_dear(data, place, code, end) and _is_dear(data[place:end]):
        return too_many_values(MOST_VALUES)
    if code + 1 < end and data[code - 1] == SMALL_CODE and data[code + 1] not in LISTS:
        # The engine would take it for one without fields, or for nothing.
        return Refusal("amqp:decode-error", "The fields of a frame are not a list.")
    if code < end and data[code] == DISPOSITION:
        spread = _estimate_memory(data[place:end])
        return disposition_too_large(spread, MOST_SPREAD) if spread > MOST_SPREAD else None
    return None


def _may_be_dear(data: bytes, place: int, code: int, end: int) -> bool:
    """Return whether a performative could have too many values, so that they must be counted."""
    if code == place + 10 and data[code + 1] == LIST8:
        # A short list has at most 255 bytes, so only an array within it can hold many values: ten
        # bytes can describe any number of nulls, which once blocked other clients for 90 ms.
        return data.find(ARRAY32, code, code + 3 + data[code + 2]) >= 0
    if end - place > MOST_VALUES:
        return True
    return data.find(ARRAY8, code, end) >= 0 or data.find(ARRAY32, code, end) >= 0


def _is_dear(frame: bytes) -> bool:
    """Return whether a performative has too many values; its message is not counted."""
    begins = frame[4] * 4
    try:
        last = end_of(frame, begins)
    except (IndexError, ValueError):
        return False  # the engine reports the error
    # The message after the performative has separate limits and may hold far more values.
    return values_in(frame[:last], begins, MOST_VALUES) > MOST_VALUES


def _cost_of(frame: bytes) -> int:
    """Estimate the memory that the engine and the broker keep for an opening frame, in bytes.

    The engine keeps some of its values in a tree, which takes far more memory than the frame.
    """
    values = values_in(frame, frame[4] * 4)
    return 2 * len(frame) + VALUE * max(0, values - USUAL)


def _estimate_memory(frame: bytes) -> int:
    """Estimate the memory that the engine takes for a disposition with its messages, in bytes."""
    if len(frame) <= SHORT_DISPOSITION and ARRAY8 not in frame and ARRAY32 not in frame:
        return 0
    begins = frame[4] * 4
    try:
        place, count = elements_of(frame, begins + 3)
        if count < 3:
            return 0  # it is for one message
        first = end_of(frame, place)
        last = end_of(frame, first)
        one, other = value_at(frame, first), value_at(frame, last)
        messages = 1 if other is None else (other - one) % 2**32 + 1
    except (IndexError, TypeError, ValueError):
        return 0  # the engine reports the error
    return int(messages) * _cost_of(frame)


def is_batch(frame: bytes) -> bool:
    """Return whether a frame is a transfer with the batch message format."""
    tree = Data()
    try:
        # A payload may contain the same bytes and even look like a batch, so decode the format.
        tree.decode(frame[frame[4] * 4 :])
        tree.rewind()
        tree.next()
        performative = tree.get_object()
    except Exception:  # noqa: BLE001 - Proton raises many errors for malformed bytes
        return False
    if not isinstance(performative, Described) or performative.descriptor != TRANSFER:
        return False
    fields: Any = performative.value
    # What is no list at all is for the engine to report.
    return isinstance(fields, list) and len(fields) > 3 and fields[3] == BATCH_FORMAT
