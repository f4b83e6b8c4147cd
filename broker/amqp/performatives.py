"""Frames as the service writes them, with every field of their lists.

Proton omits trailing fields without a value, as AMQP permits. Python clients before 7.15 read
fields by position without checking their number, fail, and end the connection.
"""

from typing import Final

from busproof.broker.amqp.numbering import BEGIN, DISPOSITION, TRANSFER, Numbering

__all__ = ["FIELDS", "Outgoing"]

FIELDS: Final = dict(zip(range(0x10, 0x19), (10, 8, 14, 11, 11, 6, 3, 1, 1), strict=True))
"""Number of fields of each performative, from Open to Close."""
CLOSE: Final = 0x18
ERROR: Final = b"\x00\x53\x1d"
"""Descriptor of an error: a condition, a description and an info."""
ERROR_FIELDS: Final = 3
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
                written.append(self._full(frame, TRANSFER))
            elif len(frame) == HEADER or frame[10] not in FIELDS:
                # A protocol header, an empty frame (heartbeat), or SASL if a client restarts it.
                written.append(frame)
            elif (code := frame[10]) == DISPOSITION and self._numbering.differs:
                written.extend(self._full(part, code) for part in self._numbering.told(frame))
            else:
                if code == BEGIN:
                    self._numbering.begun(frame)
                written.append(self._full(frame, code))
            place = end
        # The engine's output may be cut anywhere, so the rest of a frame waits for the next piece.
        self._rest = data[place:]
        return b"".join(written)

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
            return _with_info(frame, fields) if code == CLOSE else frame
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


def _with_info(frame: bytes, place: int) -> bytes:
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
