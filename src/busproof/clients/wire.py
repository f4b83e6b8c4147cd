"""What went over the wire in a scenario: connections, links, messages and outcomes.

The broker shows its bytes while the program runs; they are read once it has ended.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import attrs
from proton import Described, Message

from busproof.errors import ConformanceError
from busproof.recorder import frames as f
from busproof.recorder.frames import Frame, Nested, Splitter, Unreadable, decode_value, plain
from busproof.recorder.links import terminus_of
from busproof.recorder.messages import inner_messages

__all__ = [
    "ACCEPTED",
    "BATCH_FORMAT",
    "MODIFIED",
    "REJECTED",
    "RELEASED",
    "Connection",
    "Flow",
    "Link",
    "Outcome",
    "Overheard",
    "Record",
    "Transfer",
    "code_of",
    "fields_of",
    "message_in",
]

BATCH_FORMAT: Final = 0x80013700
COORDINATOR: Final = 0x30
ACCEPTED, REJECTED, RELEASED, MODIFIED = 0x24, 0x25, 0x26, 0x27
NAMES: Final = {
    "amqp:accepted:list": ACCEPTED,
    "amqp:rejected:list": REJECTED,
    "amqp:released:list": RELEASED,
    "amqp:modified:list": MODIFIED,
    "amqp:declared:list": 0x33,
    "amqp:transactional-state:list": 0x34,
    "amqp:coordinator:list": COORDINATOR,
}
WRAP: Final = 2**32


@attrs.frozen
class Chunk:
    """Bytes of a connection, with the time at which the broker got or wrote them, in seconds."""

    at: float
    connection: str
    by_client: bool
    data: bytes


@attrs.frozen
class HttpRequest:
    """An HTTP request, with the number of its connection; 0 for one that asks for a WebSocket."""

    method: str
    target: str
    headers: Mapping[str, str]
    connection: int

    @property
    def is_upgrade(self) -> bool:
        """Whether it asks for a WebSocket."""
        return self.headers.get("upgrade", "").lower() == "websocket"


class Overheard:
    """A listener that keeps all bytes; the broker calls it in a thread of its own."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._requests: list[HttpRequest] = []
        self._lock = threading.Lock()

    def note(self, connection: str, data: bytes, *, by_client: bool) -> None:
        """Keep bytes of a connection."""
        with self._lock:
            self._chunks.append(Chunk(time.monotonic(), connection, by_client, data))

    def note_request(
        self, method: str, target: str, headers: Mapping[str, str], connection: int
    ) -> None:
        """Keep an HTTP request."""
        with self._lock:
            self._requests.append(HttpRequest(method, target, dict(headers), connection))

    def record(self) -> "Record":
        """Return what went over the wire so far."""
        with self._lock:
            return Record(tuple(self._chunks), tuple(self._requests))


@attrs.frozen
class Outcome:
    """How a delivery ended: the code of its state, the state's fields, and who said so, when."""

    at: float
    code: int
    fields: list[Any]
    by_client: bool

    @property
    def condition(self) -> str:
        """The condition of the error in a rejection; empty if there is none."""
        return condition_of(self.fields[0]) if self.code == REJECTED and self.fields else ""


@attrs.define(eq=False)
class Transfer:
    """A delivery on a link.

    Attributes:
        at: when its last frame was sent, in seconds.
        place: number of earlier deliveries on its link.
        number: its delivery-id.
        tag: its delivery-tag.
        format: its message format.
        is_settled: whether it was sent settled.
        state: its state as the sender gave it, such as that of a transaction.
        payload: the encoded message.
        outcomes: what was said of it, in order.
    """

    at: float
    place: int
    number: int | None
    tag: bytes
    format: int
    is_settled: bool
    state: Described | None
    payload: bytes
    is_whole: bool = True
    outcomes: list[Outcome] = attrs.field(factory=list)

    @property
    def message(self) -> Message:
        """The message; the first one of a batch."""
        return message_in(self.payload)

    @property
    def body(self) -> Any:
        """The body of the message, as plain values; binaries would be lost with the message."""
        message = self.message
        return plain(message.body)

    @property
    def messages(self) -> list[Message]:
        """The messages: those of a batch, or the only one."""
        if self.format != BATCH_FORMAT:
            return [self.message]
        return [message_in(bytes(inner)) for inner in inner_messages(self.payload)]

    @property
    def is_accepted(self) -> bool:
        """Whether the receiving end accepted it."""
        return any(outcome.code == ACCEPTED for outcome in self.outcomes)


@attrs.frozen
class Flow:
    """Credit that the receiving end of a link gave, or what its sending end said of it.

    Attributes:
        at: when, in seconds.
        by_client: whether the client said it.
        count: the delivery-count; `None` if it was not said.
        credit: the credit.
        is_drain: whether it asks to use up the credit.
        sent: number of deliveries on the link so far.
    """

    at: float
    by_client: bool
    count: int | None
    credit: int
    is_drain: bool
    sent: int


@attrs.define(eq=False)
class Link:
    """A link of the client.

    Attributes:
        connection: the name of its connection.
        name: its name.
        is_receiver: whether the client receives on it.
        source: its source, as the client asked.
        target: its target, as the client asked.
        send_mode: the settle mode of the sending end that the client asked for.
        at: when the client attached it, in seconds.
        first: the delivery-count from which its sending end counts.
        is_confirmed: whether the service attached it, too.
        ended: when it ended, by whom, and the condition of the error.
        transfers: its deliveries.
        flows: the credit on it.
    """

    connection: str
    name: str
    is_receiver: bool
    source: Described | None
    target: Described | None
    send_mode: int | None
    at: float
    first: int = 0
    is_confirmed: bool = False
    ended: tuple[float, bool, str] | None = None
    transfers: list[Transfer] = attrs.field(factory=list)
    flows: list[Flow] = attrs.field(factory=list)
    unfinished: list[tuple[Frame, float]] = attrs.field(factory=list)

    @property
    def address(self) -> str:
        """The path of the node; empty for the coordinator of transactions."""
        node = self.source if self.is_receiver else self.target
        if node is None or self.kind == "transactions":
            return ""
        address = str(next(iter(fields_of(node)), None) or "")
        if "://" in address:
            address = address.partition("://")[2].partition("/")[2]
        return address.strip("/").lower()

    @property
    def kind(self) -> str:
        """What it carries: `transactions`, `login`, `management` or `messages`."""
        target = self.target
        if target is not None and code_of(target) == COORDINATOR:
            return "transactions"
        node = self.source if self.is_receiver else self.target
        address = str(next(iter(fields_of(node)), None) or "").lower()
        if address.rstrip("/").endswith("$cbs"):
            return "login"
        return "management" if address.endswith("$management") else "messages"

    @property
    def filters(self) -> dict[str, Any]:
        """The filters of its source, by name; without their descriptors."""
        fields = fields_of(self.source)
        found = fields[7] if len(fields) > 7 else None
        if not isinstance(found, dict):
            return {}
        return {
            str(name): value.value if isinstance(value, Described) else value
            for name, value in found.items()
        }


@attrs.define(eq=False)
class Connection:
    """A connection of the client.

    Attributes:
        name: the broker's name for it.
        at: when its first byte came, in seconds.
        service_idle: the time of silence after which the service ends it, in seconds, if any.
        spoke: when bytes of the client came.
        closed: when the client closed it with an AMQP frame.
        unreadable: what of it was no AMQP.
        links: its links, in the order of their attachment.
    """

    name: str
    at: float
    service_idle: float | None = None
    spoke: list[float] = attrs.field(factory=list)
    closed: float | None = None
    unreadable: str = ""
    links: list[Link] = attrs.field(factory=list)


class Record:
    """All connections of a scenario.

    Args:
        chunks: the bytes, in the order in which the broker got and wrote them.
        http: the HTTP requests, in their order.
    """

    def __init__(self, chunks: tuple[Chunk, ...], http: tuple[HttpRequest, ...] = ()) -> None:
        self._chunks = chunks
        self.http = http

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """The connections, in the order of their beginnings."""
        readers: dict[str, _Reader] = {}
        for chunk in self._chunks:
            reader = readers.get(chunk.connection)
            if reader is None:
                reader = readers[chunk.connection] = _Reader(chunk.connection, chunk.at)
            reader.take(chunk)
        return tuple(reader.connection for reader in readers.values())

    @property
    def links(self) -> Iterator[Link]:
        """The links of all connections, in the order of their attachment."""
        every = [link for connection in self.connections for link in connection.links]
        yield from sorted(every, key=lambda link: link.at)

    def of(self, kind: str, *, receives: bool, entity: str | None = None) -> list[Link]:
        """Return the links of a kind and a direction, in the order of their attachment."""
        return [
            link
            for link in self.links
            if link.kind == kind and link.is_receiver is receives and entity in (None, link.address)
        ]

    def sent(self, entity: str) -> list[Transfer]:
        """Return all deliveries to an entity, in their order."""
        links = self.of("messages", receives=False, entity=entity)
        return sorted((one for link in links for one in link.transfers), key=lambda one: one.at)

    def given(self, entity: str) -> list[Transfer]:
        """Return all deliveries of an entity to the client, in their order."""
        links = self.of("messages", receives=True, entity=entity)
        return sorted((one for link in links for one in link.transfers), key=lambda one: one.at)

    def requests(self, kind: str = "management") -> list[tuple[Link, Transfer]]:
        """Return the requests to nodes of a kind, `management` or `login`, in their order."""
        found = [(link, one) for link in self.of(kind, receives=False) for one in link.transfers]
        return sorted(found, key=lambda pair: pair[1].at)


class _Session:
    """A session of AMQP: its links by handle, and its deliveries by number, in each direction."""

    def __init__(self) -> None:
        self.ours: dict[int, Link] = {}
        self.theirs: dict[int, Link] = {}
        self.named: dict[tuple[str, bool], Link] = {}
        self.sent: dict[int, Transfer] = {}
        self.given: dict[int, Transfer] = {}


class _Reader:
    """Reads the bytes of one connection."""

    def __init__(self, name: str, at: float) -> None:
        self.connection = Connection(name, at)
        self._splitters = {True: Splitter(), False: Splitter()}
        self._ours: dict[int, _Session] = {}
        self._theirs: dict[int, _Session] = {}

    def take(self, chunk: Chunk) -> None:
        """Take bytes of either direction."""
        if chunk.by_client:
            self.connection.spoke.append(chunk.at)
        if self.connection.unreadable:
            return
        try:
            for frame in self._splitters[chunk.by_client].feed(chunk.data):
                self._read(frame, chunk)
        except (Unreadable, ConformanceError, LookupError, TypeError, ValueError) as error:
            self.connection.unreadable = f"{type(error).__name__}: {error}"

    def _read(self, frame: Frame, chunk: Chunk) -> None:
        by_client, at = chunk.by_client, chunk.at
        sessions = self._ours if by_client else self._theirs
        if frame.code == f.OPEN:
            if not by_client and frame.fields[4]:
                self.connection.service_idle = frame.fields[4] / 1000
        elif frame.code == f.CLOSE:
            if by_client:
                self.connection.closed = at
        elif frame.code == f.BEGIN:
            if by_client:
                self._ours[frame.channel] = _Session()
            else:
                self._theirs[frame.channel] = self._ours[frame.fields[0]]
        elif (session := sessions.get(frame.channel)) is not None:
            self._read_in(session, frame, at, by_client=by_client)

    def _read_in(self, session: _Session, frame: Frame, at: float, *, by_client: bool) -> None:
        handles = session.ours if by_client else session.theirs
        fields = frame.fields
        if frame.code == f.ATTACH:
            self._attach(session, frame, at, by_client=by_client)
        elif frame.code == f.FLOW and fields[4] is not None:
            if (link := handles.get(fields[4])) is not None:
                count, credit = fields[5], fields[6] or 0
                link.flows.append(
                    Flow(at, by_client, count, credit, bool(fields[8]), len(link.transfers))
                )
        elif frame.code == f.TRANSFER:
            if (link := handles.get(fields[0])) is not None:
                self._transfer(session, link, frame, at, by_client=by_client)
        elif frame.code == f.DISPOSITION:
            self._dispose(session, fields, at, by_client=by_client)
        elif frame.code == f.DETACH:
            link = handles.pop(fields[0], None)
            if link is not None and link.ended is None:
                link.ended = (at, by_client, condition_of(fields[2]))

    def _attach(self, session: _Session, frame: Frame, at: float, *, by_client: bool) -> None:
        fields = frame.fields
        name, handle, role = str(fields[0]), fields[1], bool(fields[2])
        if by_client:
            link = Link(
                self.connection.name,
                name,
                role,
                terminus_of(fields[5]),
                terminus_of(fields[6]),
                fields[3],
                at,
                first=0 if role else fields[9] or 0,
            )
            session.ours[handle] = session.named[name, role] = link
            self.connection.links.append(link)
            return
        link = session.named[name, not role]
        session.theirs[handle] = link
        own = terminus_of(fields[5] if link.is_receiver else fields[6])
        link.is_confirmed = own is not None
        if link.is_receiver:
            link.first = fields[9] or 0

    def _transfer(
        self, session: _Session, link: Link, frame: Frame, at: float, *, by_client: bool
    ) -> None:
        link.unfinished.append((frame, at))
        if frame.fields[5]:
            return
        parts, link.unfinished = link.unfinished, []
        first = parts[0][0].fields
        state = next((part.fields[7] for part, _ in parts if part.fields[7] is not None), None)
        transfer = Transfer(
            at,
            len(link.transfers),
            first[1],
            bytes(first[2] or b""),
            first[3] or 0,
            any(bool(part.fields[4]) for part, _ in parts),
            described(state),
            b"".join(part.payload for part, _ in parts),
            is_whole=not frame.fields[9],
        )
        link.transfers.append(transfer)
        if first[1] is not None:
            (session.sent if by_client else session.given)[first[1]] = transfer

    def _dispose(self, session: _Session, fields: list[Any], at: float, *, by_client: bool) -> None:
        # Who has the role of the receiver speaks of what it was sent.
        of_receiver = bool(fields[0])
        deliveries = session.given if of_receiver is by_client else session.sent
        last = fields[1] if fields[2] is None else fields[2]
        state = described(fields[4])
        if state is None:
            return
        values = fields_of(state)
        for number in range(fields[1], last + 1):
            if (transfer := deliveries.get(number)) is not None:
                transfer.outcomes.append(Outcome(at, code_of(state), values, by_client))


def described(value: Any) -> Described | None:
    """Return a described value of a frame's field, decoded; `None` if it is none."""
    found = decode_value(value) if isinstance(value, Nested) else value
    return found if isinstance(found, Described) else None


def code_of(value: Described) -> int:
    """Return the code of a descriptor, which may be written as a symbol."""
    descriptor: Any = value.descriptor
    return NAMES.get(descriptor, -1) if isinstance(descriptor, str) else int(descriptor)


def condition_of(error: Any) -> str:
    """Return the condition of an error; empty if there is none."""
    return str(next(iter(fields_of(described(error))), ""))


def fields_of(value: Described | None) -> list[Any]:
    """Return the fields of a described list; none of anything else."""
    fields: Any = None if value is None else value.value
    return list(fields) if isinstance(fields, list) else []


def message_in(payload: bytes) -> Message:
    """Return an encoded message."""
    message = Message()
    message.decode(payload)
    return message
