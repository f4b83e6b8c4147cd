"""Frames as the service writes them: with every field of their lists, and an answer to each drain.

Proton omits trailing fields without a value, as AMQP permits. Python clients before 7.15 read
fields by position without checking their number, fail, and end the connection.
"""

from typing import Final

from busproof.broker.amqp.encoding import elements_of, end_of, value_at
from busproof.broker.amqp.numbering import ATTACH, BEGIN, DISPOSITION, FALSE, TRANSFER, Numbering

__all__ = ["FIELDS", "Outgoing"]

FIELDS: Final = dict(zip(range(0x10, 0x19), (10, 8, 14, 11, 11, 6, 3, 1, 1), strict=True))
"""Number of fields of each performative, from Open to Close."""
CLOSE: Final = 0x18
ERROR: Final = b"\x00\x53\x1d"
"""Descriptor of an error: a condition, a description and an info."""
ERROR_FIELDS: Final = 3
FLOW: Final = b"\x00\x53\x13"
"""Descriptor of a Flow."""
OPEN_WINDOW: Final = b"\x70\x7f\xff\xff\xff"
"""The window of a session in each direction, as the engine writes it."""
SETTLED: Final = 4
"""Number of fields of a disposition before its outcome."""
NO_CREDIT: Final = b"\x43\x40\x41\x40\x40"
"""The last fields of a Flow that answers a drain: credit, available, drain, echo, properties."""
FLOW_FIELDS: Final = 11
BODY: Final = 11
"""Where the list of a frame begins, behind the header and the descriptor."""
STRING8: Final = 0xA1
LIST8, LIST32 = 0xC0, 0xD0
SHORT_TRANSFER: Final = bytes((TRANSFER, LIST8))
"""Type code and list code with which most transfers begin."""
NULLS: Final = b"\x40" * max(FIELDS.values())
HEADER: Final = 8
"""Size of the protocol header and of a frame header, in bytes."""
PROTOCOL: Final = int.from_bytes(b"AMQP", "big")
"""First bytes of the protocol header as a number, where a frame has its size."""


class Outgoing:
    """A filter that rewrites the AMQP engine's output.

    Every field of a frame is written out, and delivery-ids are the client's own.

    Args:
        numbering: maps the client's delivery-ids to the engine's.
    """

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._rest = b""
        self._transfers: dict[bytes, int] = {}
        """Number of transfers that the engine has written, by channel."""
        self._handles: dict[bytes, tuple[bytes, int]] = {}
        """Channel and handle of each link to a receiving client, by name."""
        self.most = 2**32 - 1
        """Maximum frame size that the client accepts, in bytes."""

    def feed(self, data: bytes) -> bytes:
        """Take a piece of the engine's output, and return the frames that it completes, rewritten.

        Each frame has all its fields and the client's delivery-ids. The rest of an incomplete frame
        waits for the next piece.
        """
        if self._rest:
            data = self._rest + data
        place, written, length = 0, list[bytes](), len(data)
        while place + HEADER <= length:
            size = int.from_bytes(data[place : place + 4], "big")
            # A protocol header has the letters "AMQP" in the place of a size.
            end = place + (HEADER if size == PROTOCOL else size)
            if end > length:
                break
            frame = data[place:end]
            if frame[10:12] == SHORT_TRANSFER:
                channel = frame[6:8]
                self._transfers[channel] = self._transfers.get(channel, 0) + 1
                written.append(self._full(frame, TRANSFER))
            elif len(frame) == HEADER or frame[10] not in FIELDS:
                # A protocol header, an empty frame (heartbeat), or SASL if a client restarts it.
                written.append(frame)
            elif (code := frame[10]) != DISPOSITION:
                self._note(frame, code)
                written.append(self._full(frame, code))
            elif _has_outcome(frame):
                differs = self._numbering.differs
                parts = self._numbering.told(frame) if differs else (frame,)
                written.extend(self._full(part, code) for part in parts)
            place = end
        # The engine's output may be cut anywhere, so the rest of a frame waits for the next piece.
        self._rest = data[place:]
        return b"".join(written)

    def drained(self, link: bytes, count: int) -> bytes:
        """Return the Flow that answers a drain whose credit was used up; the engine writes none.

        Args:
            link: the name of the link.
            count: the number of messages that were sent on the link, and of credits drained.
        """
        known = self._handles.get(link)
        if known is None:
            return b""
        channel, handle = known
        inside = b"".join(
            (
                self._numbering.following(int.from_bytes(channel, "big")) + OPEN_WINDOW,
                _uint(self._transfers.get(channel, 0)) + OPEN_WINDOW,
                _uint(handle) + _uint(count) + NO_CREDIT,
            )
        )
        body = FLOW + _list(inside, FLOW_FIELDS)
        return (HEADER + len(body)).to_bytes(4, "big") + b"\x02\x00" + channel + body

    def _note(self, frame: bytes, code: int) -> None:
        """Note what the answer to a drain needs, and the engine does not tell."""
        channel = frame[6:8]
        if code == BEGIN:
            self._numbering.begun(frame)
            self._transfers[channel] = 0
        elif code == TRANSFER:
            self._transfers[channel] = self._transfers.get(channel, 0) + 1
        elif code == ATTACH:
            place, _ = elements_of(frame, BODY)
            handle = end_of(frame, place)
            role = end_of(frame, handle)
            if frame[role] == FALSE:
                # A name that is no valid text is a name nevertheless.
                name = frame[place + (2 if frame[place] == STRING8 else 5) : handle]
                self._handles[name] = channel, value_at(frame, handle)

    def _full(self, frame: bytes, code: int) -> bytes:
        """Add the missing fields to a frame, which has an 8-byte header and a 3-byte descriptor."""
        kind, wanted = frame[11], FIELDS[code]
        if kind == LIST8:
            size, count, fields = frame[12], frame[13], 14
        elif kind == LIST32:
            size, count, fields = int.from_bytes(frame[12:16], "big") - 3, frame[19], 20
        else:
            size, count, fields = 1, 0, 12
        missing = wanted - count
        if missing <= 0:
            # The Python client reads an error's info without checking that there is one.
            return _add_info(frame, fields) if code == CLOSE else frame
        last = fields + size - 1
        size += missing
        if size < 256:
            start = bytes((LIST8, size, wanted))
        else:
            start = b"\xd0" + (size + 3).to_bytes(4, "big") + wanted.to_bytes(4, "big")
        length = len(frame) + missing + len(start) - (fields - 11)
        # A frame above the agreed size always ends the connection; a short list does so only with
        # old clients.
        if length > self.most:
            return frame
        head = length.to_bytes(4, "big") + frame[4:11] + start + frame[fields:last]
        return head + NULLS[:missing] + frame[last:]


def _has_outcome(frame: bytes) -> bool:
    """Return whether a disposition tells a receiving client an outcome, or is for a sending one.

    When a link ends, the engine settles its messages without one. The service does not, and clients
    take it for the answer to a settlement that they ask for later.
    """
    place, count = elements_of(frame, BODY)
    return count > SETTLED or frame[place] != FALSE


def _uint(number: int) -> bytes:
    return b"\x70" + (number % 2**32).to_bytes(4, "big")


def _add_info(frame: bytes, place: int) -> bytes:
    """Return a Close whose error has all fields, because Proton's own errors lack an info."""
    error = frame[place:]
    if not error.startswith(ERROR) or error[3] not in (LIST8, LIST32):
        return frame
    short = error[3] == LIST8
    count, start = (error[5], 6) if short else (int.from_bytes(error[8:12], "big"), 12)
    if count >= ERROR_FIELDS:
        return frame
    inside = ERROR + _list(error[start:] + NULLS[: ERROR_FIELDS - count], ERROR_FIELDS)
    body = frame[8:11] + _list(inside, 1)
    return (HEADER + len(body)).to_bytes(4, "big") + frame[4:8] + body


def _list(fields: bytes, count: int) -> bytes:
    return b"\xd0" + (len(fields) + 4).to_bytes(4, "big") + count.to_bytes(4, "big") + fields
