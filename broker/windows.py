"""Credit and windows as large as clients may give them, in numbers that the AMQP engine can count.

The engine counts in 32 bits with a sign: a credit of 2^31 or more would be none at all.
"""

import struct
from typing import Final

from busproof.broker.encoding import elements_of, end_of

__all__ = ["BEGIN", "FLOW", "clamped"]

BEGIN, FLOW = 0x11, 0x13
COUNTED: Final = {BEGIN: (2,), FLOW: (1, 6)}
"""Places of the incoming window and of the link's credit among the fields."""
UINT: Final = 0x70
LARGEST: Final = struct.pack(">I", 2**31 - 1)


def clamped(frame: bytes) -> bytes | None:
    """Return the frame with as much credit as the engine can count; `None` if it is as it was."""
    begins = frame[4] * 4
    counted = COUNTED.get(frame[begins + 2], ()) if frame[begins : begins + 2] == b"\0\x53" else ()
    changed = bytearray(frame)
    try:
        place, count = elements_of(frame, begins + 3)
        for number in range(min(count, max(counted, default=-1) + 1)):
            end = end_of(frame, place)
            if number in counted and frame[place] == UINT and frame[place + 1] & 0x80:
                changed[place + 1 : end] = LARGEST
            place = end
    except (IndexError, ValueError):
        return None  # the engine says what is wrong with it
    return bytes(changed) if changed != frame else None
