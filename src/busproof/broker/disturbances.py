"""Faults that clients meet on request: refusals, ended links, and connections that fail.

Each waits for an operation of a client on an entity, and strikes as often as it says. The bus knows
nothing of them: what it has decided, stays decided.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Protocol

import attrs

from busproof.broker.amqp.refusals import Refusal
from busproof.errors import UsageError

__all__ = [
    "CONDITIONS",
    "KINDS",
    "OPERATIONS",
    "Disturbances",
    "Fault",
    "Line",
    "Listener",
    "fault_of",
]

OPERATIONS: Final = ("send", "deliver", "settle", "request", "login")
"""What a client does when a fault strikes: it sends a message, is given one, settles one, asks a
`$management` node, or proves who it is to `$cbs`."""
KINDS: Final = {
    "refuse": "the operation is refused with the condition, and is not carried out",
    "detach": "the operation is carried out, and then its link is ended with the condition",
    "drain": "the operation is carried out, and then the credit of its link is asked back",
    "lose": "the operation is carried out, and the connection breaks in place of the answer",
    "cut": "the connection breaks in the middle of what is written next",
    "delay": "what is written from now on arrives that many seconds later",
    "stall": "what is written arrives after that many seconds, and nothing before it",
    "silence": "nothing more is written on the connection",
}
"""The faults, and what each does."""
CONDITIONS: Final[Mapping[str, tuple[str, int]]] = {
    "server-busy": ("com.microsoft:server-busy", 503),
    "timeout": ("com.microsoft:timeout", 408),
    "internal-error": ("amqp:internal-error", 500),
    "detach-forced": ("amqp:link:detach-forced", 500),
    "not-allowed": ("amqp:not-allowed", 400),
    "unauthorized": ("amqp:unauthorized-access", 401),
    "resource-limit": ("amqp:resource-limit-exceeded", 403),
    "lock-lost": ("com.microsoft:message-lock-lost", 410),
}
"""The conditions of refusals and of ended links, by short names, with their status codes."""
MOST: Final = 100
"""Maximum number of faults that wait at a time."""
LONGEST: Final = 3_600.0
"""Maximum delay, in seconds."""


@attrs.frozen(kw_only=True)
class Fault:
    """A fault that waits for an operation.

    Attributes:
        kind: one of `KINDS`.
        operation: one of `OPERATIONS`.
        entity: the path of the entity; `None` for any.
        times: how often it strikes.
        skip: number of operations before the first one that it strikes.
        condition: one of `CONDITIONS`, for a refusal or an ended link.
        seconds: the delay.
    """

    kind: str
    operation: str = "send"
    entity: str | None = None
    times: int = 1
    skip: int = 0
    condition: str = "server-busy"
    seconds: float = 0.0

    @property
    def refusal(self) -> Refusal:
        """The refusal that the client gets."""
        condition, status = CONDITIONS[self.condition]
        advice = " Wait 10 seconds before you try again." if self.condition == "server-busy" else ""
        return Refusal(condition, f"This was asked for: a fault.{advice}", status)


class Line(Protocol):
    """What is done with the bytes for a client."""

    def __call__(self, transport: asyncio.Transport, data: bytes) -> None:
        """Write the bytes, or do with them what the fault does."""


class Struck(Protocol):
    """The connection of a client that meets a fault."""

    def disturb(self, line: Line) -> None:
        """Let the line do what it does with all that is written from now on."""

    def detach(self, link: Any, refusal: Refusal) -> None:
        """Detach a link with an error."""

    def pump(self) -> None:
        """Handle the engine's events and write its output."""


class Listener(Protocol):
    """An observer of the bytes of all connections."""

    def note(self, connection: str, data: bytes, *, by_client: bool) -> None:
        """Take bytes of a connection."""

    def note_request(
        self, method: str, target: str, headers: Mapping[str, str], connection: int
    ) -> None:
        """Take an HTTP request: of administration, or for a WebSocket; 0 is no connection."""


class Disturbances:
    """The faults that wait for clients.

    Attributes:
        credit: the credit of a link to a sending client; `None` for the usual one.
        listener: who is shown all bytes, if anybody is.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: list[Fault] = []
        self.credit: int | None = None
        self.listener: Listener | None = None

    @property
    def waiting(self) -> tuple[Fault, ...]:
        """The faults that have not struck yet, or not as often as they have to."""
        return tuple(self._waiting)

    def add(self, fault: Fault) -> None:
        """Let a fault wait for its operation.

        Raises:
            UsageError: a field has no such value, or too many faults wait.
        """
        if len(self._waiting) >= MOST:
            raise UsageError(f"{MOST} faults wait already; clear them")
        _check(fault)
        self._waiting.append(fault)

    def clear(self) -> None:
        """Forget all faults that have not struck; broken connections stay broken."""
        self._waiting.clear()
        self.credit = None

    def meet(self, operation: str, entity: str, struck: Struck, link: Any) -> None:
        """Let a client meet the first fault that waits for this operation.

        Raises:
            Refusal: the fault is a refusal.
        """
        if not self._waiting:
            return
        for place, fault in enumerate(self._waiting):
            if fault.operation == operation and fault.entity in (None, entity):
                self._count(place, fault)
                if not fault.skip:
                    self._strike(fault, struck, link)
                return

    def _count(self, place: int, fault: Fault) -> None:
        if fault.skip:
            self._waiting[place] = attrs.evolve(fault, skip=fault.skip - 1)
        elif fault.times > 1:
            self._waiting[place] = attrs.evolve(fault, times=fault.times - 1)
        else:
            del self._waiting[place]

    def _strike(self, fault: Fault, struck: Struck, link: Any) -> None:
        if fault.kind == "refuse":
            raise fault.refusal
        if fault.kind == "detach":
            # The operation is answered first.
            self._loop.call_soon(_detach, struck, link, fault.refusal)
        elif fault.kind == "drain":
            self._loop.call_soon(_drain, struck, link)
        else:
            struck.disturb(_line(fault, self._loop))


def _detach(struck: Struck, link: Any, refusal: Refusal) -> None:
    struck.detach(link, refusal)
    struck.pump()


def _drain(struck: Struck, link: Any) -> None:
    link.drain(0)
    struck.pump()


def _line(fault: Fault, loop: asyncio.AbstractEventLoop) -> Line:
    if fault.kind == "delay":
        return _Slow(loop, fault.seconds)
    if fault.kind == "stall":
        return _Stalled(loop, fault.seconds)
    return {"lose": _lose, "cut": _cut, "silence": _keep_silent}[fault.kind]


def _lose(transport: asyncio.Transport, data: bytes) -> None:  # noqa: ARG001 - as `Line`
    transport.abort()


def _cut(transport: asyncio.Transport, data: bytes) -> None:
    transport.write(data[: len(data) // 2])
    transport.abort()


def _keep_silent(transport: asyncio.Transport, data: bytes) -> None:
    """Write nothing."""


class _Slow:
    """A line on which everything arrives later, in its order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._waiting = deque[bytes]()

    def __call__(self, transport: asyncio.Transport, data: bytes) -> None:
        """Write the bytes once their time has come."""
        self._waiting.append(data)
        # Timers of one moment may run in any order, so each writes what has waited longest.
        self._loop.call_later(self._seconds, self._write, transport)

    def _write(self, transport: asyncio.Transport) -> None:
        data = self._waiting.popleft()
        if not transport.is_closing():
            transport.write(data)


class _Stalled:
    """A line on which nothing arrives before a moment, and then everything at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._until = loop.time() + seconds
        self._waiting: list[bytes] = []

    def __call__(self, transport: asyncio.Transport, data: bytes) -> None:
        """Write the bytes once the moment has come."""
        if not self._waiting and self._loop.time() >= self._until:
            transport.write(data)
            return
        if not self._waiting:
            self._loop.call_at(self._until, self._write, transport)
        self._waiting.append(data)

    def _write(self, transport: asyncio.Transport) -> None:
        if not transport.is_closing():
            transport.write(b"".join(self._waiting))
        self._waiting.clear()


def _check(fault: Fault) -> None:
    for name, allowed in (
        ("kind", KINDS),
        ("operation", OPERATIONS),
        ("condition", CONDITIONS),
    ):
        if getattr(fault, name) not in allowed:
            value = getattr(fault, name)
            raise UsageError(f"{name} is {value!r}; it is one of {', '.join(allowed)}")
    if (fault.kind, fault.operation) == ("refuse", "deliver"):
        raise UsageError("a delivery cannot be refused; it can be cut, lost or delayed")
    for name, least in (("times", 1), ("skip", 0)):
        value = getattr(fault, name)
        # JSON's true is 1 in Python, and no number.
        if type(value) is not int or value < least:
            raise UsageError(f"{name} is {value!r}; it is a whole number from {least} on")
    if isinstance(fault.seconds, bool) or not isinstance(fault.seconds, int | float):
        raise UsageError(f"seconds is {fault.seconds!r}; it is a number")
    if not 0 <= fault.seconds <= LONGEST:
        raise UsageError(f"seconds is {fault.seconds!r}; it is from 0 to {LONGEST:.0f}")
    if fault.entity is not None and not isinstance(fault.entity, str):
        raise UsageError(f"entity is {fault.entity!r}; it is the name of an entity")


def fault_of(fields: Mapping[str, Any]) -> Fault:
    """Return the fault that the fields of a request describe.

    Raises:
        UsageError: there is no such field, or the kind is missing.
    """
    known = [field.name for field in attrs.fields(Fault)]
    unknown = sorted(fields.keys() - set(known))
    if unknown:
        raise UsageError(f"a fault has no {unknown[0]!r}; it has {', '.join(known)}")
    if "kind" not in fields:
        raise UsageError(f"a fault needs a kind: {', '.join(KINDS)}")
    return Fault(**fields)
