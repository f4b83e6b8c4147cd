"""Frames as the service writes them, with all fields of their lists.

Proton omits trailing fields without a value, as AMQP permits. Python clients before 7.15 index
fields without checking their number, and end the connection.
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
"""Code and list of most frames."""
NULLS: Final = b"\x40" * max(FIELDS.values())
HEADER: Final = 8
"""Size of the protocol header, and of a frame header, in bytes."""
PROTOCOL: Final = int.from_bytes(b"AMQP", "big")
"""First bytes of the protocol header, where a frame has its size."""


class Outgoing:
    """A filter on the engine's output: full lists, and the client's delivery-ids.

    Args:
        numbering: the engine's delivery-ids of what the client sends.
    """

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._rest = b""
        self.most = 2**32 - 1
        """The client's maximum frame size, in bytes."""

    def feed(self, data: bytes) -> bytes:
        """Return the frames that are complete."""
        if self._rest:
            data = self._rest + data
        place, written, length = 0, list[bytes](), len(data)
        while place + HEADER <= length:
            size = int.from_bytes(data[place : place + 4], "big")
            # A protocol header has no size: its name stands in that place.
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
        # The engine gives its output in pieces that may end within a frame.
        self._rest = data[place:]
        return b"".join(written)

    def _full(self, frame: bytes, code: int) -> bytes:
        """Pad a frame of the engine, which has an 8-byte header and a 3-byte descriptor."""
        kind, wanted = frame[11], FIELDS[code]
        if kind == LIST8:
            size, count, fields = frame[12], frame[13], 14
        elif kind == LIST32:
            size, count, fields = int.from_bytes(frame[12:16], "big") - 3, frame[19], 20
        else:
            size, count, fields = 1, 0, 12
        missing = wanted - count
        if missing <= 0:
            # The client of Python reads an error's info without asking whether there is one.
            return _with_info(frame, fields) if code == CLOSE else frame
        last = fields + size - 1
        size += missing
        if size < 256:
            start = bytes((LIST8, size, wanted))
        else:
            start = b"\xd0" + (size + 3).to_bytes(4, "big") + wanted.to_bytes(4, "big")
        length = len(frame) + missing + len(start) - (fields - 11)
        # A frame beyond the agreed size ends the connection; a short list does so with old clients.
        if length > self.most:
            return frame
        head = length.to_bytes(4, "big") + frame[4:11] + start + frame[fields:last]
        return head + NULLS[:missing] + frame[last:]


def _with_info(frame: bytes, place: int) -> bytes:
    """Return a Close whose error has all fields; Proton leaves the info of its own errors out."""
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
