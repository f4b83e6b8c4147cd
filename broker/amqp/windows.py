"""Credit, windows and frames as large as clients permit, in numbers that the AMQP engine can use.

The engine counts in 32 bits with a sign: a credit of 2^31 or more would be none at all. And its
frames grow by some bytes before they go out (`amqp/performatives.py`), for which it leaves room.
"""

import struct
from typing import Final

from busproof.broker.amqp.encoding import elements_of, end_of
from busproof.broker.amqp.numbering import BEGIN

__all__ = ["FLOW", "LEAST_FRAME", "OPEN", "ROOM", "clamped"]

OPEN, FLOW = 0x10, 0x13
COUNTED: Final = {OPEN: (2,), BEGIN: (2,), FLOW: (1, 6)}
"""Places among the fields of the size of frames, the incoming window and the link's credit."""
ROOM: Final = 16
"""By how many bytes a transfer may grow at most."""
LEAST_FRAME: Final = 512
"""The least size of a frame that AMQP knows."""
UINT: Final = 0x70
LARGEST: Final = struct.pack(">I", 2**31 - 1)


def clamped(frame: bytes) -> bytes | None:
    """Return the frame with as much as the engine can use; `None` if it is as it was."""
    begins = frame[4] * 4
    counted = COUNTED.get(frame[begins + 2], ()) if frame[begins : begins + 2] == b"\0\x53" else ()
    changed = bytearray(frame)
    try:
        place, count = elements_of(frame, begins + 3)
        for number in range(min(count, max(counted, default=-1) + 1)):
            end = end_of(frame, place)
            if number in counted and frame[place] == UINT:
                if frame[begins + 2] == OPEN:
                    changed[place + 1 : end] = _with_room(frame[place + 1 : end])
                elif frame[place + 1] & 0x80:
                    changed[place + 1 : end] = LARGEST
            place = end
    except (IndexError, ValueError):
        return None  # the engine says what is wrong with it
    return bytes(changed) if changed != frame else None


def _with_room(size: bytes) -> bytes:
    most = int.from_bytes(size, "big")
    return (most - ROOM).to_bytes(4, "big") if most >= LEAST_FRAME + ROOM else size
