"""Limits on credit, windows and frame sizes, in numbers that the AMQP engine can use.

The engine counts in signed 32-bit integers, so a credit of 2^31 or more would be none. And frames
grow after the engine has written them (`amqp/performatives.py`), so room is left for that.
"""

import struct
from typing import Final

from busproof.broker.amqp.encoding import elements_of, end_of
from busproof.broker.amqp.numbering import BEGIN

__all__ = ["FLOW", "LEAST_FRAME", "OPEN", "ROOM", "clamped"]

OPEN, FLOW = 0x10, 0x13
COUNTED: Final = {OPEN: (2,), BEGIN: (2,), FLOW: (1, 6)}
"""Positions of the frame size, the incoming window and the link credit among the fields."""
ROOM: Final = 16
"""Maximum growth of a transfer, in bytes."""
LEAST_FRAME: Final = 512
"""Minimum frame size in AMQP, in bytes."""
UINT: Final = 0x70
LARGEST: Final = struct.pack(">I", 2**31 - 1)


def clamped(frame: bytes) -> bytes | None:
    """Return the frame with its numbers limited to the engine's range; `None` if unchanged."""
    begins = frame[4] * 4
    # Short forms of numbers are below every bound here, so only full ones are looked at.
    counted = COUNTED.get(frame[begins + 2], ()) if frame[begins : begins + 2] == b"\0\x53" else ()
    changed = bytearray(frame)
    try:
        place, count = elements_of(frame, begins + 3)
        for number in range(min(count, max(counted, default=-1) + 1)):
            end = end_of(frame, place)
            if number in counted and frame[place] == UINT:
                if frame[begins + 2] == OPEN:
                    changed[place + 1 : end] = _with_room(frame[place + 1 : end])
                # A client that gave all the credit there is, 2^32 - 1, got no message.
                elif frame[place + 1] & 0x80:
                    changed[place + 1 : end] = LARGEST
            place = end
    except (IndexError, ValueError):
        return None  # the engine reports the error
    return bytes(changed) if changed != frame else None


def _with_room(size: bytes) -> bytes:
    most = int.from_bytes(size, "big")
    # AMQP permits no frame size below 512, so the client's number is not made less than that.
    return (most - ROOM).to_bytes(4, "big") if most >= LEAST_FRAME + ROOM else size
