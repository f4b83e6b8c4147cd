"""Limits on credit, windows and frame sizes, so that the AMQP engine can use the numbers.

The engine counts in signed 32-bit integers, so it would read a credit of 2^31 or more as negative.
Frames also grow after the engine has written them (`amqp/performatives.py`), so the frame size
leaves room for that.
"""

import struct
from typing import Final

from busproof.broker.amqp.encoding import elements_of, end_of
from busproof.broker.amqp.numbering import BEGIN, FLOW

__all__ = ["LEAST_FRAME", "OPEN", "ROOM", "clamp_numbers"]

OPEN: Final = 0x10
COUNTED: Final = {OPEN: (2,), BEGIN: (2,), FLOW: (1, 6)}
"""Positions of the fields to limit: frame size, incoming window and link credit."""
ROOM: Final = 16
"""Maximum growth of a transfer, in bytes."""
LEAST_FRAME: Final = 512
"""Minimum frame size in AMQP, in bytes."""
UINT: Final = 0x70
LARGEST: Final = struct.pack(">I", 2**31 - 1)


def clamp_numbers(frame: bytes) -> bytes | None:
    """Return a frame with its numbers limited to the engine's range; `None` if unchanged."""
    begins = frame[4] * 4
    # Short encodings hold only small numbers, so only full ones need a look.
    counted = COUNTED.get(frame[begins + 2], ()) if frame[begins : begins + 2] == b"\0\x53" else ()
    changed = bytearray(frame)
    try:
        place, count = elements_of(frame, begins + 3)
        for number in range(min(count, max(counted, default=-1) + 1)):
            end = end_of(frame, place)
            if number in counted and frame[place] == UINT:
                if frame[begins + 2] == OPEN:
                    changed[place + 1 : end] = _make_room(frame[place + 1 : end])
                # A client that granted the maximum credit, 2^32 - 1, would receive no message.
                elif frame[place + 1] & 0x80:
                    changed[place + 1 : end] = LARGEST
            place = end
    except (IndexError, ValueError):
        return None  # the engine reports the error
    return bytes(changed) if changed != frame else None


def _make_room(size: bytes) -> bytes:
    most = int.from_bytes(size, "big")
    # AMQP permits no frame size below 512, so a smaller result is not used.
    return (most - ROOM).to_bytes(4, "big") if most >= LEAST_FRAME + ROOM else size
