"""Frames of AMQP written field by field, and a client that says nothing else."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from work import PATIENCE

from busproof.broker.core import Hub

from .. import raw
from . import fuzzing
from .fuzzing import KEY, NAME

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
NULL: Final = b"\x40"
TRUE: Final = b"\x41"
FALSE: Final = b"\x42"
ACCEPT: Final = b"\x00\x53\x24\x45"


def _sized(short: int, long: int, inside: bytes) -> bytes:
    if len(inside) < 256:
        return bytes((short, len(inside))) + inside
    return bytes((long,)) + struct.pack(">I", len(inside)) + inside


def truth(value: bool) -> bytes:
    """A boolean."""
    return TRUE if value else FALSE


def uint(number: int) -> bytes:
    """A number of 32 bits."""
    return b"\x70" + struct.pack(">I", number)


def ulong(number: int) -> bytes:
    """A number of 64 bits."""
    return b"\x80" + struct.pack(">Q", number)


def text(value: str) -> bytes:
    """A string."""
    return _sized(0xA1, 0xB1, value.encode())


def symbol(value: str) -> bytes:
    """A symbol."""
    return _sized(0xA3, 0xB3, value.encode())


def binary(value: bytes) -> bytes:
    """A binary."""
    return _sized(0xA0, 0xB0, value)


def listed(*fields: bytes) -> bytes:
    """A list."""
    inside = b"".join(fields)
    return b"\xd0" + struct.pack(">II", len(inside) + 4, len(fields)) + inside


def mapped(*pairs: bytes) -> bytes:
    """A map; keys and values take turns."""
    inside = b"".join(pairs)
    return b"\xd1" + struct.pack(">II", len(inside) + 4, len(pairs)) + inside


def described(code: int, value: bytes) -> bytes:
    """A described value, such as a performative or a section."""
    return bytes((0, 0x53, code)) + value


def frame(
    code: int, *fields: bytes, channel: int = 0, payload: bytes = b"", kind: int = 0
) -> bytes:
    """A frame with a performative."""
    body = described(code, listed(*fields)) + payload
    return struct.pack(">IBBH", len(body) + 8, 2, kind, channel) + body


def login(key: str = KEY) -> bytes:
    """The header of SASL, and who the client is."""
    response = b"\0" + NAME.encode() + b"\0" + key.encode()
    return raw.SASL + frame(0x41, symbol("PLAIN"), binary(response), kind=1)


def opening(largest: int = 262_144) -> bytes:
    """The header of AMQP, and Open."""
    return raw.AMQP + frame(OPEN, text("client"), NULL, uint(largest))


def begin(channel: int = 0, window: int = 2_000, properties: bytes = NULL) -> bytes:
    """Begin a session that takes so many transfers."""
    fields = (NULL, uint(0), uint(window), uint(2_000), uint(65_535), NULL, NULL, properties)
    return frame(BEGIN, *fields, channel=channel)


def attach(
    name: str,
    handle: int,
    *,
    receives: str | None = None,
    sends: str | None = None,
    settled: bool = False,
    more: bytes = NULL,
    properties: bytes = NULL,
    target: bytes | None = None,
    channel: int = 0,
) -> bytes:
    """Attach a link to receive from an address, or to send to one; `more` is a filter."""
    source = described(0x28, listed(text(receives or "here"), *[NULL] * 6, more))
    target = target or described(0x29, listed(text(sends or "here")))
    role = FALSE if receives is None else TRUE
    modes = b"\x50\x01" if settled else b"\x50\x00", b"\x50\x00"
    fields = (text(name), uint(handle), role, *modes, source, target, NULL, NULL, uint(0))
    return frame(ATTACH, *fields, NULL, NULL, NULL, properties, channel=channel)


def flow(credit: int, handle: int = 0, window: int = 2_000, channel: int = 0) -> bytes:
    """Give credit to a link, and a window to its session."""
    numbers = (uint(0), uint(window), uint(0), uint(2_000))
    return frame(FLOW, *numbers, uint(handle), uint(0), uint(credit), channel=channel)


def transfer(
    number: int | None,
    payload: bytes,
    handle: int = 0,
    *,
    settled: bool = False,
    more: bool = False,
    aborted: bool = False,
    state: bytes = NULL,
    form: int = 0,
) -> bytes:
    """Transfer a message, or a part of one, or take it back."""
    delivery = NULL if number is None else uint(number)
    tag = binary(struct.pack(">I", number or 0))
    flags = (truth(settled), truth(more), NULL, state, *((NULL, TRUE) if aborted else ()))
    return frame(TRANSFER, uint(handle), delivery, tag, uint(form), *flags, payload=payload)


def speaking(
    hub: Hub, number: int, *said: bytes, window: int = 2_000
) -> tuple[fuzzing.Connection, fuzzing.Wire]:
    """A client without a socket that has logged in, begun a session, and said this."""
    connection, wire = fuzzing.met(hub, number)
    for one in (login(), opening(), begin(window=window), *said):
        connection.data_received(one)
    return connection, wire


class Peer:
    """A client that sends just these bytes, and reads only on request."""

    def __init__(self, port: int, first: bytes = b"") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.said = b""
        self.is_over = False
        self.say(login() + opening() + first)

    def say(self, *frames: bytes) -> None:
        """Send bytes, as far as they are taken."""
        if self.is_over:
            return
        try:
            self.socket.sendall(b"".join(frames))
        except (ConnectionError, TimeoutError):
            self.is_over = True

    def read(self, wanted: bytes = b"", seconds: float = PATIENCE) -> bool:
        """Read until these bytes came, or the connection has ended; whether they came."""
        end = time.monotonic() + seconds
        while wanted not in self.said or not wanted:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                came = self.socket.recv(1_048_576)
            except TimeoutError:
                break
            except ConnectionError:
                came = b""
            if not came:
                self.is_over = True
                break
            self.said += came
        self.socket.settimeout(PATIENCE)
        return wanted in self.said

    def read_some(self) -> None:
        """Read what comes next, or that the connection has ended."""
        self.socket.settimeout(PATIENCE)
        came = self.socket.recv(1_048_576)
        self.is_over = not came
        self.said += came

    def read_all(self, seconds: float = PATIENCE) -> None:
        """Read and forget until nothing comes for a while, or the connection has ended."""
        self.socket.settimeout(seconds)
        with suppress(TimeoutError, ConnectionError):
            while came := self.socket.recv(1_048_576):
                self.said = (self.said + came)[-4_096:]
            self.is_over = True
        self.socket.settimeout(PATIENCE)


@contextmanager
def peer(port: int, *first: bytes) -> Iterator[Peer]:
    """A client that says so at first."""
    client = Peer(port, b"".join(first))
    try:
        yield client
    finally:
        client.socket.close()
