"""Conversations of which one field is at a boundary: each frame, section, annotation, request.

The random fuzz changes bytes, and seldom makes a frame that is right but for the value of a field.
Here all is right but for one value.
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from . import frames as f
from .fuzzing import NAME

_NUMBERS: Final = {
    "ubyte": (0x50, ">B", (0, 255)),
    "byte": (0x51, ">b", (-1,)),
    "ushort": (0x60, ">H", (65_535,)),
    "uint": (0x70, ">I", (0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1)),
    "int": (0x71, ">i", (-1, -(2**31), 2**31 - 1)),
    "ulong": (0x80, ">Q", (2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1)),
    "long": (0x81, ">q", (-1, -(2**63), 2**63 - 1)),
    "timestamp": (0x83, ">q", (0, -(2**63), 2**63 - 1, 253_402_300_800_000)),
    "double": (0x82, ">d", (float("nan"), float("inf"), -0.5)),
}
BOUNDARIES: Final[dict[str, bytes]] = {
    **{
        f"{kind} {number}": bytes((code,)) + struct.pack(form, number)
        for kind, (code, form, numbers) in _NUMBERS.items()
        for number in numbers
    },
    "null": f.NULL,
    "true": f.TRUE,
    "empty text": f.text(""),
    "huge text": f.text("x" * 20_000),
    "no text": b"\xa1\x02\xff\xfe",
    "control characters": f.text("\0\n\x7f\u202e"),
    "half a character": b"\xa1\x03\xed\xa0\x80",
    "empty symbol": f.symbol(""),
    "huge symbol": f.symbol("x" * 20_000),
    "empty binary": f.binary(b""),
    "huge binary": f.binary(b"\0" * 20_000),
    "uuid": b"\x98" + bytes(16),
    "decimal": b"\x94" + b"\xff" * 16,
    "character": b"\x73\x00\x11\x00\x00",
    "empty list": b"\x45",
    "list of lists": f.listed(*[b"\x45"] * 500),
    "deep list": b"\xc0\x02\x01\x45",
    "empty map": f.mapped(),
    "map with a key alone": f.mapped(f.text("a")),
    "map with a list as a key": f.mapped(b"\x45", f.NULL),
    "map of many": f.mapped(*[f.symbol("a"), f.NULL] * 1_000),
    "empty array": b"\xe0\x02\x00\xa1",
    "array of symbols": b"\xe0\x06\x02\xa3\x01a\x01b",
    "array of too many": b"\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40",
    "described": f.described(0x24, b"\x45"),
    "described by nothing": b"\x00\x40\x40",
    "described by a text": b"\x00" + f.text("x") + f.NULL,
    "described often": b"\x00\x53\x01" * 40 + f.NULL,
    "no type": b"\xff",
    "cut off": b"\xb1\x00\xff\xff\xff",
}
"""Values at which something ends, or that a field is not made for."""


@attrs.frozen
class Case:
    """A conversation with one value in it that is at a boundary."""

    place: str
    boundary: str
    frames: tuple[bytes, ...]

    def __str__(self) -> str:
        return f"{self.place}: {self.boundary}"


@attrs.frozen
class Performative:
    """A frame, of which any field may be another."""

    name: str
    code: int
    fields: tuple[bytes, ...]
    payload: bytes = b""
    kind: int = 0

    def encoded(self, place: int = -1, value: bytes = b"") -> bytes:
        """Write the frame, with another value in the place of a field."""
        fields = list(self.fields)
        if place >= 0:
            fields[place] = value
        return f.frame(self.code, *fields, payload=self.payload, kind=self.kind)


@attrs.frozen
class Composite:
    """A described list or map within a frame, of which any field may be another."""

    name: str
    code: int
    fields: tuple[bytes, ...]
    is_map: bool = False

    def encoded(self, place: int = -1, value: bytes = b"") -> bytes:
        """Write the value, with another in the place of a field."""
        fields = list(self.fields)
        if place >= 0:
            fields[place] = value
        return f.described(self.code, f.mapped(*fields) if self.is_map else f.listed(*fields))


NONE: Final = (f.NULL,) * 20
SOURCE: Final = Composite("source", 0x28, (f.text("q"), *NONE[:10]))
TARGET: Final = Composite("target", 0x29, (f.text("q"), *NONE[:6]))
COORDINATOR: Final = Composite("coordinator", 0x30, NONE[:1])
NOTES: Final = tuple(
    part
    for name, value in (
        ("x-opt-partition-key", f.text("k")),
        ("x-opt-scheduled-enqueue-time", b"\x83" + bytes(8)),
        ("x-opt-via-partition-key", f.NULL),
        ("x-opt-busproof-size", f.uint(4)),
        ("x-opt-busproof-stands-in", f.FALSE),
        ("x-opt-sequence-number", f.NULL),
        ("x-opt-locked-until", f.NULL),
        ("own", f.NULL),
    )
    for part in (f.symbol(name), value)
)
SECTIONS: Final = (
    Composite("header", 0x70, (f.FALSE, b"\x50\x04", f.uint(60_000), f.FALSE, f.uint(0))),
    Composite("delivery annotations", 0x71, (f.symbol("own"), f.NULL), is_map=True),
    Composite("annotations", 0x72, NOTES, is_map=True),
    Composite(
        "properties",
        0x73,
        (f.text("id"), f.NULL, f.text("to"), f.text("s"), f.text("r"), f.text("c"), *NONE[:7]),
    ),
    Composite("application properties", 0x74, (f.text("a"), f.NULL), is_map=True),
    Composite("footer", 0x78, (f.symbol("own"), f.NULL), is_map=True),
)
BODY: Final = f.described(0x75, f.binary(b"body"))
REQUESTS: Final[dict[str, dict[str, bytes]]] = {
    "peek-message": {
        "from-sequence-number": f.ulong(0),
        "message-count": f.uint(1),
        "session-id": f.NULL,
    },
    "receive-by-sequence-number": {
        "sequence-numbers": b"\xe0\x0a\x01\x81" + bytes(8),
        "receiver-settle-mode": f.uint(0),
        "session-id": f.NULL,
    },
    "renew-lock": {"lock-tokens": b"\xe0\x12\x01\x98" + bytes(16)},
    "update-disposition": {
        "disposition-status": f.text("completed"),
        "lock-tokens": b"\xe0\x12\x01\x98" + bytes(16),
        "deadletter-reason": f.NULL,
        "deadletter-description": f.NULL,
        "properties-to-modify": f.NULL,
        "session-id": f.NULL,
    },
    "schedule-message": {"messages": f.listed(f.mapped(f.text("message"), f.binary(BODY)))},
    "cancel-scheduled-message": {"sequence-numbers": b"\xe0\x0a\x01\x81" + bytes(8)},
    "batch-delete-messages": {"message-count": f.uint(1), "enqueued-time-utc": f.NULL},
    "renew-session-lock": {"session-id": f.text("s")},
    "get-session-state": {"session-id": f.text("s")},
    "set-session-state": {"session-id": f.text("s"), "session-state": f.binary(b"state")},
    "get-message-sessions": {"last-updated-time": f.NULL, "skip": f.uint(0), "top": f.uint(1)},
    "add-rule": {"rule-name": f.text("r"), "rule-description": f.mapped()},
    "remove-rule": {"rule-name": f.text("r")},
    "enumerate-rules": {"skip": f.uint(0), "top": f.uint(1)},
}
"""The fields of each operation, as `amqp/management/operations.py` has them."""


def message(*, other: Composite | None = None, place: int = -1, value: bytes = b"") -> bytes:
    """Write a message, one of whose sections has another value."""
    *first, footer = SECTIONS
    parts = [each.encoded(*((place, value) if each is other else ())) for each in first]
    return b"".join((*parts, BODY, footer.encoded(*((place, value) if footer is other else ()))))


def request(operation: str, field: str = "", value: bytes = b"") -> bytes:
    """Write a request, one of whose fields has another value."""
    fields = {**REQUESTS[operation], **({field: value} if field else {})}
    body = f.mapped(*(part for name, each in fields.items() for part in (f.text(name), each)))
    asked = f.mapped(f.text("operation"), f.text(f"com.microsoft:{operation}"))
    properties = f.listed(f.text("1"), f.NULL, f.NULL, f.NULL, f.text("back"))
    return f.described(0x73, properties) + f.described(0x74, asked) + f.described(0x77, body)


def link(name: str, handle: int, role: bytes, *ends: bytes) -> Performative:
    """An Attach."""
    fields = (f.text(name), f.uint(handle), role, b"\x50\x02", b"\x50\x00", *ends)
    return Performative(f"attach {name}", f.ATTACH, (*fields, *NONE[:2], f.uint(0), *NONE[:4]))


def sent(name: str, number: int, handle: int, payload: bytes) -> Performative:
    """A Transfer."""
    fields = (f.uint(handle), f.uint(number), f.binary(bytes([number])), f.uint(0), f.FALSE)
    return Performative(f"transfer {name}", f.TRANSFER, (*fields, f.FALSE, *NONE[:5]), payload)


def conversation(key: str) -> tuple[Performative, ...]:
    """What a client says that sends, receives, settles, asks, and ends a transaction."""
    response = f.binary(b"\0" + NAME.encode() + b"\0" + key.encode())
    managed = Composite("managed", 0x28, (f.text("q/$management"), *NONE[:10]))
    asked = Composite("asked", 0x29, (f.text("q/$management"), *NONE[:6]))
    numbers = (f.uint(0), f.uint(2_000), f.uint(0), f.uint(2_000))
    flowing = (f.uint(0), f.uint(10), f.NULL, f.FALSE, f.NULL)
    return (
        Performative("sasl-init", 0x41, (f.symbol("PLAIN"), response, f.NULL), kind=1),
        Performative("open", f.OPEN, (f.text("c"), f.NULL, f.uint(65_536), *NONE[:7])),
        Performative("begin", f.BEGIN, (f.NULL, *numbers[:1], *numbers[1::2], *NONE[:4])),
        link("sender", 0, f.FALSE, SOURCE.encoded(), TARGET.encoded()),
        link("receiver", 1, f.TRUE, SOURCE.encoded(), TARGET.encoded()),
        link("asker", 2, f.FALSE, SOURCE.encoded(), asked.encoded()),
        link("answers", 3, f.TRUE, managed.encoded(), TARGET.encoded()),
        link("coordinator", 4, f.FALSE, SOURCE.encoded(), COORDINATOR.encoded()),
        Performative("flow", f.FLOW, (*numbers, f.uint(3), *flowing)),
        Performative("flow again", f.FLOW, (*numbers, f.uint(1), *flowing)),
        sent("message", 0, 0, message()),
        sent("request", 1, 2, request("peek-message")),
        sent("declare", 2, 4, f.described(0x77, f.described(0x31, f.listed(f.NULL)))),
        Performative(
            "disposition", f.DISPOSITION, (f.TRUE, f.uint(0), f.uint(0), f.TRUE, f.ACCEPT, f.NULL)
        ),
        Performative("detach", f.DETACH, (f.uint(0), f.TRUE, f.NULL)),
        Performative("end", f.END, NONE[:1]),
        Performative("close", f.CLOSE, NONE[:1]),
    )


Change = tuple[str, int, Callable[[], bytes]]
"""The place and the boundary in words, the number of the frame, and what writes it."""


def changes(key: str) -> Iterator[Change]:
    """Each place with each boundary."""
    said = conversation(key)
    places = {each.name: number for number, each in enumerate(said)}
    for boundary, value in BOUNDARIES.items():
        for place, number, write in _places(said, places, value):
            yield f"{place}: {boundary}", number, write


def _places(
    said: Sequence[Performative], places: Mapping[str, int], value: bytes
) -> Iterator[Change]:
    for number, each in enumerate(said):
        for place in range(len(each.fields)):
            yield f"{each.name}, field {place}", number, partial(each.encoded, place, value)
    for attach, end in (("sender", TARGET), ("receiver", SOURCE), ("coordinator", COORDINATOR)):
        number = places[f"attach {attach}"]
        for place in range(len(end.fields)):
            write = partial(_with_end, said[number], end, place, value)
            yield f"{attach}'s {end.name}, field {place}", number, write

    receiver = places["attach receiver"]
    write = partial(_of_session, said[receiver], value)
    yield "receiver's session filter", receiver, write

    def carried(frame: str, name: str, write: Callable[[], bytes]) -> Change:
        number = places[frame]
        return name, number, partial(_with_payload, said[number], write)

    for section in SECTIONS:
        for place in range(len(section.fields)):
            write = partial(message, other=section, place=place, value=value)
            yield carried("transfer message", f"{section.name}, field {place}", write)
    yield carried("transfer message", "body", partial(f.described, 0x77, value))
    for operation, fields in REQUESTS.items():
        for field in fields:
            write = partial(request, operation, field, value)
            yield carried("transfer request", f"{operation}, {field}", write)
    for code in (0x31, 0x32):
        for place in range(2):
            inner = f.listed(*(value if place == each else f.NULL for each in range(2)))
            write = partial(f.described, 0x77, f.described(code, inner))
            yield carried("transfer declare", f"coordinator {code:#x}, field {place}", write)


def _with_end(frame: Performative, end: Composite, place: int, value: bytes) -> bytes:
    return frame.encoded(5 if end is SOURCE else 6, end.encoded(place, value))


def _of_session(frame: Performative, session_id: bytes) -> bytes:
    name = f.symbol("com.microsoft:session-filter")
    fields = (f.text("s"), *NONE[:6], f.mapped(name, session_id), *NONE[:3])
    return frame.encoded(5, attrs.evolve(SOURCE, fields=fields).encoded())


def _with_payload(frame: Performative, write: Callable[[], bytes]) -> bytes:
    return attrs.evolve(frame, payload=write()).encoded()


FOUND: Final = frozenset(
    {
        "attach sender, field 13: ubyte 255",
        "attach sender, field 13: character",
        "header, field 0: huge binary",
        "update-disposition, disposition-status: array of too many",
        "receiver's session filter: huge text",
    }
)
"""Cases by which a failure was found; they are tried at any size."""


def cases(key: str, every: int = 1) -> Iterator[Case]:
    """Each conversation with one value at a boundary, or each of so many."""
    usual = [each.encoded() for each in conversation(key)]
    for count, (place, number, write) in enumerate(changes(key)):
        if count % every == 0 or place in FOUND:
            name, _, boundary = place.rpartition(": ")
            yield Case(name, boundary, (*usual[:number], write(), *usual[number + 1 :]))
