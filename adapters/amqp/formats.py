"""The message format of batches, which Proton cannot set: it always writes format 0."""

import struct
from typing import Any, Final

from proton import Data, Described, uint, ulong

__all__ = ["mark_batches"]

BATCH_FORMAT: Final = 0x80013700
TRANSFER: Final = 0x14
FORMAT_FIELD: Final = 3
HEADER: Final = struct.Struct(">IBBH")
"""A frame header: its size, the start of the body in words of 4 bytes, type and channel."""


def mark_batches(data: bytes) -> bytes:
    """Return the frames with the message format of a batch set in all transfers."""
    frames: list[bytes] = []
    place = 0
    while place + HEADER.size <= len(data):
        size = HEADER.unpack_from(data, place)[0]
        frames.append(_mark_batch(data[place : place + size]))
        place += max(size, HEADER.size)
    return b"".join((*frames, data[place:]))


def _mark_batch(frame: bytes) -> bytes:
    _, begins, kind, channel = HEADER.unpack_from(frame)
    start = begins * 4
    tree = Data()
    if len(frame) <= start:
        return frame
    used = tree.decode(frame[start:])
    tree.rewind()
    tree.next()
    performative: Any = tree.get_object()
    if not isinstance(performative, Described) or performative.descriptor != TRANSFER:
        return frame
    sent: Any = performative.value
    fields: list[Any] = [*sent, *[None] * (FORMAT_FIELD + 1 - len(sent))]
    fields[FORMAT_FIELD] = uint(BATCH_FORMAT)
    transfer = Data()
    transfer.put_object(Described(ulong(TRANSFER), fields))
    body = frame[HEADER.size : start] + bytes(transfer.encode()) + frame[start + used :]
    return HEADER.pack(HEADER.size + len(body), begins, kind, channel) + body
