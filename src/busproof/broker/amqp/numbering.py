"""Translation of what clients do beside the protocol, and the service accepts.

AMQP requires the delivery-ids of a session to increase by one, and Proton ends the connection of a
client that breaks the rule. The service accepts such ids, and Python clients rely on that: threads
that share a session may send two messages under one id and then skip one. Here such deliveries get
the ids that the engine expects, and dispositions are translated back to the client's ids.

Go clients may give a link credit after they have detached it; the engine would end the connection.
"""

import struct
from collections.abc import Iterator
from typing import Final

import attrs

from busproof.broker.amqp.encoding import elements_of, end_of, value_at

__all__ = [
    "ATTACH",
    "BEGIN",
    "DETACH",
    "DISPOSITION",
    "FALSE",
    "FLOW",
    "MOST_DETACHED",
    "TRANSFER",
    "Numbering",
]

BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH = range(0x11, 0x17)
BODY: Final = 8
"""Offset of the performative in a frame whose header has the minimum size."""
NULL, TRUE, FALSE, BOOLEAN, ZERO, SMALL, UINT = 0x40, 0x41, 0x42, 0x56, 0x43, 0x52, 0x70
SIZES: Final = {NULL: 1, TRUE: 1, FALSE: 1, ZERO: 1, SMALL: 2, BOOLEAN: 2, UINT: 5}
"""Encoded sizes of numbers and booleans by type code, in bytes."""
BINARY8, LIST8 = 0xA0, 0xC0
FLAGS: Final = (4, 5, 9)
"""Field positions of `settled`, `more` and `aborted` in a transfer."""
ALL: Final = 2**32
WINDOWS: Final = 4
"""Number of fields of a Flow that are about its session, and not about a link."""
MOST_DETACHED: Final = 64
"""Number of detached links that are remembered; the credit for one follows at once."""


@attrs.define
class _Session:
    """The deliveries that a client has sent in a session.

    Attributes:
        next: the engine's id for the next delivery.
        unfinished: link handle to the engine's id of its incomplete delivery.
        client_ids: the engine's id of a delivery to the client's, where they differ.
        following: the id of the client's next transfer by its latest Begin or Flow, encoded.
        detached: the handles of the links that the client detached last, oldest first.
    """

    next: int | None = None
    unfinished: dict[int, int] = attrs.field(factory=dict)
    client_ids: dict[int, int] = attrs.field(factory=dict)
    following: bytes = b"\x43"
    detached: dict[int, None] = attrs.field(factory=dict)

    def detach(self, handle: int) -> None:
        """Note that the client uses a link no more."""
        # A link may end in the middle of a message, and another link may get its handle.
        self.unfinished.pop(handle, None)
        self.detached[handle] = None
        if len(self.detached) > MOST_DETACHED:
            del self.detached[next(iter(self.detached))]


class Numbering:
    """A translator of delivery-ids between a connection's client and the engine."""

    def __init__(self) -> None:
        self._sessions: dict[int, _Session] = {}
        """Sessions by the client's channel number."""
        self._channels: dict[int, int] = {}
        """The channel number of the engine to that of the client."""
        self.differs = False
        """Whether any id from the client has differed from the engine's."""
        self.flows = 0
        """Number of the client's Flow frames."""

    def follows(self, data: bytes, place: int) -> bool:
        """Return whether a transfer is a whole delivery with the expected id, as most are.

        Any other transfer, or one in an unusual encoding, is for `take` to examine.
        """
        session = self._sessions.get(int.from_bytes(data[place + 6 : place + 8], "big"))
        # A continued message may omit its id, so its transfers need a closer look.
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
            # Without the optional fields, this is the first byte of the message, which is zero.
            at += SIZES.get(data[at], 0)
            at += SIZES.get(data[at], 0)
            # Settled, continued and aborted transfers change what is known about the session.
            if data[at] in (TRUE, BOOLEAN):
                return False
        except IndexError:
            return False
        session.next = (number + 1) % ALL
        return True

    def take(self, frame: bytes) -> bytes | None:
        """Examine a received frame; return a replacement for the engine if it needs one."""
        code, channel = frame[BODY + 2], int.from_bytes(frame[6:8], "big")
        try:
            if code == TRANSFER:
                return self._transfer(self._sessions[channel], frame)
            if code == BEGIN:
                # A channel may be reused after its session has ended; the new one starts empty.
                self._sessions[channel] = _Session()
                self._sessions[channel].following = _following(frame, 1)
            elif code == FLOW:
                self._sessions[channel].following = _following(frame, 2)
                return _flow_of_session(frame, self._sessions[channel].detached)
            elif code == ATTACH:
                place, _ = elements_of(frame, BODY + 3)
                handle = value_at(frame, end_of(frame, place))
                self._sessions[channel].detached.pop(handle, None)
            elif code == DETACH:
                place, _ = elements_of(frame, BODY + 3)
                self._sessions[channel].detach(value_at(frame, place))
        except (IndexError, KeyError, TypeError, ValueError, struct.error):
            pass  # the engine reports the error
        return None

    def _transfer(self, session: _Session, frame: bytes) -> bytes | None:
        fields, count = elements_of(frame, BODY + 3)
        place = end_of(frame, fields)
        handle = value_at(frame, fields)
        is_known = handle in session.unfinished
        if count < 2 and is_known:
            # The last frame of a message may say nothing but its link, as Go's does.
            session.unfinished.pop(handle)
            return None
        after = end_of(frame, place)
        delivery_id: int = value_at(frame, place)
        if frame[place] not in (NULL if is_known else ZERO, ZERO, SMALL, UINT):
            return None  # the engine reports the error
        is_settled, is_more, is_aborted = _flags_of(frame, after, count)
        # Only the first transfer of a message has to carry the id; others may omit or repeat it.
        if (number := session.unfinished.pop(handle, None)) is None:
            # A session may begin with any id.
            number = delivery_id if session.next is None else session.next
            if delivery_id != number:
                self.differs = True
                # The engine answers no settled delivery, so its id would never be removed.
                if not is_settled:
                    session.client_ids[number] = delivery_id
            session.next = (number + 1) % ALL
        if is_aborted:
            # The engine sends no disposition for an aborted delivery either.
            session.client_ids.pop(number, None)
        if is_more:
            session.unfinished[handle] = number
        if delivery_id is None or delivery_id == number:
            return None
        return _replace_id(number, frame, place, after)

    def begun(self, frame: bytes) -> None:
        """Record the channel that the engine uses to answer a Begin."""
        place, _ = elements_of(frame, BODY + 3)
        self._channels[int.from_bytes(frame[6:8], "big")] = value_at(frame, place)

    def following(self, channel: int) -> bytes:
        """Return the id of the client's next transfer in a session of the engine's, encoded."""
        session = self._sessions.get(self._channels.get(channel, -1))
        return b"\x43" if session is None else session.following

    def told(self, frame: bytes) -> Iterator[bytes]:
        """Yield the engine's disposition, split and renumbered to the client's ids."""
        session = self._sessions.get(self._channels.get(int.from_bytes(frame[6:8], "big"), -1))
        fields, count = elements_of(frame, BODY + 3)
        # A disposition in the role of sender is about the broker's own deliveries and ids.
        if session is None or not session.client_ids or frame[fields] != TRUE:
            yield frame
            return
        place = fields + 1
        first, after = value_at(frame, place), end_of(frame, place)
        last = first if count < 3 or frame[after] == NULL else value_at(frame, after)
        rest = frame[end_of(frame, after) if count > 2 else after :]
        # The engine answers consecutive deliveries as one range, in which the client's ids may have
        # gaps or repetitions.
        amount = (last - first) % ALL + 1
        ids = [(first + offset) % ALL for offset in range(amount)]
        for begins, ends in _runs([session.client_ids.pop(number, number) for number in ids]):
            body = b"\x41" + _uint(begins) + _uint(ends) + rest
            yield _rebuild_frame(frame, max(count, 3), body)


def _following(frame: bytes, field: int) -> bytes:
    """Return a number among the fields of a frame, encoded as in the frame."""
    place, _ = elements_of(frame, BODY + 3)
    for _ in range(field):
        place = end_of(frame, place)
    return frame[place : end_of(frame, place)] if frame[place] in (ZERO, SMALL, UINT) else b"\x43"


def _flow_of_session(frame: bytes, detached: dict[int, None]) -> bytes | None:
    """Return a Flow of a detached link as one of its session; `None` for any other."""
    fields, count = elements_of(frame, BODY + 3)
    if not detached or count <= WINDOWS:
        return None
    place = fields
    for _ in range(WINDOWS):
        place = end_of(frame, place)
    return (
        _rebuild_frame(frame, WINDOWS, frame[fields:place])
        if value_at(frame, place) in detached
        else None
    )


def _flags_of(frame: bytes, place: int, count: int) -> list[bool]:
    """Return whether a transfer is settled, continued by another and aborted."""
    flags = dict.fromkeys(FLAGS, False)
    for number in range(2, min(count, FLAGS[-1] + 1)):
        if number in flags:
            flags[number] = value_at(frame, place) is True
        place = end_of(frame, place)
    return list(flags.values())


def _replace_id(number: int, frame: bytes, place: int, after: int) -> bytes:
    """Return a transfer with its delivery-id replaced."""
    fields, count = elements_of(frame, BODY + 3)
    last = end_of(frame, BODY + 3)
    inner = frame[fields:place] + _uint(number) + frame[after:last]
    return _rebuild_frame(frame, count, inner, frame[last:])


def _rebuild_frame(frame: bytes, count: int, fields: bytes, rest: bytes = b"") -> bytes:
    """Return a frame with its performative's fields replaced."""
    size = (len(fields) + 4).to_bytes(4, "big") + count.to_bytes(4, "big")
    length = (BODY + 12 + len(fields) + len(rest)).to_bytes(4, "big")
    return b"".join((length, frame[4 : BODY + 3], b"\xd0", size, fields, rest))


def _runs(ids: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last id of each run of consecutive ids."""
    first = last = ids[0]
    for number in ids[1:]:
        # A new run begins where the ids start again at 0 as well.
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _uint(number: int) -> bytes:
    return b"\x70" + number.to_bytes(4, "big")
