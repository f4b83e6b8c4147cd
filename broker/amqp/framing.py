"""What comes before and beneath the AMQP engine: protocol headers, SASL, the bounds of frames.

Proton's own server knows no PLAIN without Cyrus SASL, and tells nobody the message format of a
transfer, by which a batch is known; so the bytes are looked at here before they reach it.
"""

import struct
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from proton import UNDESCRIBED, Array, Data, Described, symbol, ubyte, ulong

from busproof.broker.amqp.encoding import binary, values_in
from busproof.broker.amqp.numbering import ATTACH, BEGIN, DETACH, TRANSFER, Numbering
from busproof.broker.amqp.windows import FLOW, OPEN, clamped
from busproof.broker.auth.tokens import Claim, Keys, TokenError

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
BATCH_MARK: Final = b"\x70\x80\x01\x37\x00"
LOOKED_AT: Final = frozenset({OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DETACH})
OPENS: Final = frozenset({OPEN, BEGIN, ATTACH})
MECHANISMS: Final = ("MSSBCBS", "PLAIN", "ANONYMOUS")
LARGEST_SASL_FRAME: Final = 4096
OK, REFUSED = 0, 1
VALUE: Final = 240
"""Bytes that a value takes in two trees of the engine."""
USUAL: Final = 64
"""How many values the frame of a link has that is asked for as usual."""


def array(kind: int, elements: list[Any]) -> Array:
    """An array of elements of one type; Proton's own types do not allow it to be made."""
    none: Any = UNDESCRIBED
    return Array(none, kind, *elements)


class Handshake:
    """A client saying who it is, until the engine takes over.

    Args:
        keys: of the namespace, for PLAIN.
        send: what writes bytes to the client.
    """

    def __init__(self, keys: Keys, send: Callable[[bytes], None]) -> None:
        self._keys = keys
        self._send = send
        self._received = b""
        self._greeted = False
        self.claim: Claim | None = None
        self.failed = False
        self.done = False

    def feed(self, data: bytes) -> bytes:
        """Take bytes that came; returns those that are for the engine, once it is done.

        `failed` says that the connection is to be closed.
        """
        self._received += data
        if not self._greeted and not self._greets():
            return b""
        while not self.done and not self.failed:
            frame = self._frame()
            if frame is None:
                return b""
            self._answer(frame)
        rest, self._received = self._received, b""
        return rest if self.done else b""

    def _greets(self) -> bool:
        if len(self._received) < len(SASL_HEADER):
            self.failed = not SASL_HEADER.startswith(self._received[:4])
            if self.failed:
                self._send(SASL_HEADER)
            return False
        self._send(SASL_HEADER)
        if not self._received.startswith(SASL_HEADER):
            self.failed = True
            return False
        self._received = self._received[len(SASL_HEADER) :]
        self._greeted = True
        offered = array(Data.SYMBOL, [symbol(each) for each in MECHANISMS])
        self._say(0x40, [offered])
        return True

    def _frame(self) -> bytes | None:
        if len(self._received) < 8:
            return None
        size, offset, kind = struct.unpack(">IBB", self._received[:6])
        if kind != 1 or offset != 2 or not 8 <= size <= LARGEST_SASL_FRAME:
            self.failed = True
            return None
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
            said: Any = tree.get_object()
            mechanism, response = str(said.value[0]), binary([*said.value, b""][1] or b"")
        except Exception:  # noqa: BLE001 - whatever proton makes of bytes of any kind
            self.failed = True
            return
        self.done = said.descriptor == 0x41 and self._admits(mechanism, response)
        self.failed = not self.done
        self._say(0x44, [ubyte(OK if self.done else REFUSED)])

    def _admits(self, mechanism: str, response: bytes) -> bool:
        if mechanism != "PLAIN":
            return mechanism in MECHANISMS
        said = response.split(b"\0")
        if len(said) != 3:
            return False
        try:
            name, password = said[1].decode(), said[2].decode()
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
    """Cuts a stream into pieces that end where a frame does; transfers of batches come alone.

    Args:
        largest: how many bytes a frame may have.
        numbering: how the engine numbers what the client sends.
        most: how many bytes a frame may have that opens a connection, a session or a link.
    """

    def __init__(self, largest: int, numbering: Numbering, most: int = 2**32) -> None:
        self._largest = largest
        self._most = most
        self.costs: dict[int, deque[int]] = {BEGIN: deque(), ATTACH: deque()}
        """What it costs to keep each session and link that was opened, in their order."""
        self.too_long = 0
        """The size of a frame that opens something and is longer than it may be."""
        self._numbering = numbering
        self._received = bytearray()
        self._wanted = 0
        """How many bytes there have to be before the next frame is whole."""
        self._begun = False
        self.broken = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Pieces of whole frames, and whether the piece is the first transfer of a batch.

        The last piece ends with what is not a frame, if such a thing came; what follows is dropped.
        """
        if not (data := self._gathered(data)):
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
                # Proton says what is wrong with it.
                self.broken = True
                yield data[start:], False
                return
            if end > len(data):
                break
            changed = self._changed(data, place, end)
            if self.too_long:
                self.broken = True
                yield data[start:place], False
                return
            batch = data.find(BATCH_MARK, place, min(end, place + 128)) >= 0
            batch = batch and is_batch(data[place:end])
            if batch or changed is not None:
                if start < place:
                    yield data[start:place], False
                yield changed or data[place:end], batch
                start = end
            place = end
        size = int.from_bytes(data[place : place + 4], "big") if place + 4 <= len(data) else 4
        self._keep(data[place:], size)
        if start < place:
            yield data[start:place], False

    def _changed(self, data: bytes, place: int, end: int) -> bytes | None:
        """What the engine is given in the place of a frame, if it is to be given something else."""
        code = place + data[place + 4] * 4 + 2
        if code >= end or data[code] not in LOOKED_AT:
            return None
        if data[code] == TRANSFER and code == place + 10 and self._numbering.follows(data, place):
            return None
        frame = data[place:end]
        if data[code] in OPENS and not self._counted(frame, data[code]):
            return None
        if frame[4] == 2 and (numbered := self._numbering.take(frame)) is not None:
            return numbered
        return clamped(frame)

    def _counted(self, frame: bytes, code: int) -> bool:
        """Whether a frame that opens something is short enough; what it costs is noted."""
        if len(frame) > self._most:
            self.too_long = self.too_long or len(frame)
            return False
        if code in self.costs:
            self.costs[code].append(_cost_of(frame))
        return True

    @property
    def waiting(self) -> int:
        """Bytes of a frame whose end has not come."""
        return len(self._received)

    def _gathered(self, data: bytes) -> bytes:
        """Return what came so far, once a frame may be whole; else nothing."""
        if self.broken:
            return b""
        if self._received or self._wanted > len(data):
            # A frame may come byte by byte: what came is added in place and looked at once.
            self._received += data
            if len(self._received) < self._wanted:
                return b""
            data = bytes(self._received)
            self._received.clear()
        return data

    def _keep(self, rest: bytes, wanted: int) -> None:
        self._received += rest
        self._wanted = wanted


def _cost_of(frame: bytes) -> int:
    """About how many bytes are kept of what a frame opens, in the engine and here.

    The engine makes a tree of some values, in which each takes far more than it does in a frame.
    """
    values = values_in(frame, frame[4] * 4)
    return 2 * len(frame) + VALUE * max(0, values - USUAL)


def is_batch(frame: bytes) -> bool:
    """Whether a frame is a transfer with the message format of a batch."""
    tree = Data()
    try:
        tree.decode(frame[frame[4] * 4 :])
        tree.rewind()
        tree.next()
        performative = tree.get_object()
    except Exception:  # noqa: BLE001 - whatever proton makes of bytes of any kind
        return False
    if not isinstance(performative, Described) or performative.descriptor != TRANSFER:
        return False
    fields: Any = performative.value
    return len(fields) > 3 and fields[3] == BATCH_FORMAT
