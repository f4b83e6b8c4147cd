"""Tolerance for delivery-ids that are not consecutive.

AMQP requires the delivery-ids of a session to count up by one, and Proton ends the connection of a
client that breaks the rule. The service tolerates it, and Python clients rely on that: threads that
share a session send two messages under one id and then skip one. Here such deliveries get the
engine's ids, and dispositions are translated back to the client's.
"""

import struct
from collections.abc import Iterator
from typing import Final

import attrs

from busproof.broker.amqp.encoding import elements_of, end_of, value_at

__all__ = ["ATTACH", "BEGIN", "DETACH", "DISPOSITION", "TRANSFER", "Numbering"]

BEGIN, ATTACH, TRANSFER, DISPOSITION, DETACH = 0x11, 0x12, 0x14, 0x15, 0x16
BODY: Final = 8
"""Offset of the performative in a frame with a header of minimum size."""
NULL, TRUE, BOOLEAN, ZERO, SMALL, UINT = 0x40, 0x41, 0x56, 0x43, 0x52, 0x70
SIZES: Final = {NULL: 1, TRUE: 1, 0x42: 1, ZERO: 1, SMALL: 2, BOOLEAN: 2, UINT: 5}
"""Encoded sizes of numbers and booleans, in bytes."""
BINARY8, LIST8 = 0xA0, 0xC0
FLAGS: Final = (4, 5, 9)
"""Field positions of `settled`, `more` and `aborted` in a transfer."""
ALL: Final = 2**32


@attrs.define
class _Session:
    """The deliveries that a client has sent in one session.

    Attributes:
        next: the engine's id for the next delivery.
        unfinished: link handle to the engine's id of its incomplete delivery.
        client_ids: the engine's id of a delivery to the client's, where they differ.
    """

    next: int | None = None
    unfinished: dict[int, int] = attrs.field(factory=dict)
    client_ids: dict[int, int] = attrs.field(factory=dict)


class Numbering:
    """The delivery-ids of a connection."""

    def __init__(self) -> None:
        self._sessions: dict[int, _Session] = {}
        """Sessions by the client's channel number."""
        self._channels: dict[int, int] = {}
        """The engine's channel number to the client's."""
        self.differs = False
        """Whether any id of the client has differed from the engine's."""

    def follows(self, data: bytes, place: int) -> bool:
        """Return whether the transfer here is a whole delivery with the expected id, as most are.

        All other transfers, and those in an unusual encoding, are examined by `take`.
        """
        session = self._sessions.get(int.from_bytes(data[place + 6 : place + 8], "big"))
        # A part of an unfinished message may omit its id, so it needs a closer look.
        if session is None or session.unfinished or data[place + 11] != LIST8:
            return False
        try:
            at = place + 14
            at += SIZES.get(data[at], 0)
            kind = data[at]
            if kind == SMALL:
                number = data[at + 1]
            else:
                number = int.from_bytes(data[at + 1 : at + 5], "big") if kind == UINT else 0
            at += SIZES.get(kind, 0)
            if number != session.next or kind == NULL or data[at] != BINARY8:
                return False
            at += 2 + data[at + 1]
            # Where fields are omitted, the first byte of the message stands here, which is zero.
            at += SIZES.get(data[at], 0)
            at += SIZES.get(data[at], 0)
            # Settled, more or aborted: such transfers change what is known of the session.
            if data[at] in (TRUE, BOOLEAN):
                return False
        except IndexError:
            return False
        session.next = (number + 1) % ALL
        return True

    def take(self, frame: bytes) -> bytes | None:
        """Examine a received frame; return its replacement for the engine, if it needs one."""
        code, channel = frame[BODY + 2], int.from_bytes(frame[6:8], "big")
        try:
            if code == TRANSFER:
                return self._transfer(self._sessions[channel], frame)
            if code == BEGIN:
                # A channel may be used again once its session has ended; nothing of that is kept.
                self._sessions[channel] = _Session()
            elif code == DETACH:
                place, _ = elements_of(frame, BODY + 3)
                # A link may end amid a message, and another take its handle.
                self._sessions[channel].unfinished.pop(value_at(frame, place), None)
        except (IndexError, KeyError, TypeError, ValueError, struct.error):
            pass  # the engine reports the error
        return None

    def _transfer(self, session: _Session, frame: bytes) -> bytes | None:
        fields, count = elements_of(frame, BODY + 3)
        place = end_of(frame, fields)
        handle, after = value_at(frame, fields), end_of(frame, place)
        delivery_id: int = value_at(frame, place)
        is_known = handle in session.unfinished
        if frame[place] not in (NULL if is_known else ZERO, ZERO, SMALL, UINT):
            return None  # the engine reports the error
        is_settled, is_more, is_aborted = _flags_of(frame, after, count)
        # Only the first transfer of a message is numbered; the rest may omit the id, or repeat it.
        if (number := session.unfinished.pop(handle, None)) is None:
            # A client may begin with any id: the first one is right whatever it is.
            number = delivery_id if session.next is None else session.next
            if delivery_id != number:
                self.differs = True
                # The engine answers no settled delivery, so nothing would remove its id.
                if not is_settled:
                    session.client_ids[number] = delivery_id
            session.next = (number + 1) % ALL
        if is_aborted:
            # The engine answers no delivery that was taken back, either.
            session.client_ids.pop(number, None)
        if is_more:
            session.unfinished[handle] = number
        if delivery_id is None or delivery_id == number:
            return None
        return _with_id(number, frame, place, after)

    def begun(self, frame: bytes) -> None:
        """Record the channel that the engine answers a Begin on."""
        place, _ = elements_of(frame, BODY + 3)
        self._channels[int.from_bytes(frame[6:8], "big")] = value_at(frame, place)

    def told(self, frame: bytes) -> Iterator[bytes]:
        """Yield the engine's disposition, split and renumbered with the client's ids."""
        session = self._sessions.get(self._channels.get(int.from_bytes(frame[6:8], "big"), -1))
        fields, count = elements_of(frame, BODY + 3)
        # The sender's dispositions are about the broker's deliveries, whose ids are its own.
        if session is None or not session.client_ids or frame[fields] != TRUE:
            yield frame
            return
        place = fields + 1
        first, after = value_at(frame, place), end_of(frame, place)
        last = first if count < 3 or frame[after] == NULL else value_at(frame, after)
        rest = frame[end_of(frame, after) if count > 2 else after :]
        # The engine answers several deliveries in a row by one range; the client's ids may have
        # gaps there, or name one twice.
        amount = (last - first) % ALL + 1
        ids = [(first + offset) % ALL for offset in range(amount)]
        for begins, ends in _runs([session.client_ids.pop(number, number) for number in ids]):
            body = b"\x41" + _uint(begins) + _uint(ends) + rest
            yield _framed(frame, max(count, 3), body)


def _flags_of(frame: bytes, place: int, count: int) -> list[bool]:
    """Return the flags of a transfer: settled, more and aborted."""
    flags = dict.fromkeys(FLAGS, False)
    for number in range(2, min(count, FLAGS[-1] + 1)):
        if number in flags:
            flags[number] = value_at(frame, place) is True
        place = end_of(frame, place)
    return list(flags.values())


def _with_id(number: int, frame: bytes, place: int, after: int) -> bytes:
    """Return the transfer with another delivery-id."""
    fields, count = elements_of(frame, BODY + 3)
    last = end_of(frame, BODY + 3)
    inner = frame[fields:place] + _uint(number) + frame[after:last]
    return _framed(frame, count, inner, frame[last:])


def _framed(frame: bytes, count: int, fields: bytes, rest: bytes = b"") -> bytes:
    """Return the frame with other fields."""
    size = (len(fields) + 4).to_bytes(4, "big") + count.to_bytes(4, "big")
    length = (BODY + 12 + len(fields) + len(rest)).to_bytes(4, "big")
    return b"".join((length, frame[4 : BODY + 3], b"\xd0", size, fields, rest))


def _runs(ids: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of consecutive ids."""
    first = last = ids[0]
    for number in ids[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _uint(number: int) -> bytes:
    return b"\x70" + number.to_bytes(4, "big")
