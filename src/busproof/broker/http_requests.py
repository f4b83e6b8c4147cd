"""Requests over HTTP and their answers, with h11."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import attrs
import h11

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.held import Budget
from busproof.broker.limits import ALL_DEFAULT, Limits

__all__ = ["Answer", "Handler", "Later", "Request", "Room", "make_handler", "room_for"]

PLAIN: Final = ("", "identity")
MOST_CHUNKS: Final = 10_000
"""Maximum number of chunks in a body, because each costs as much as a small request."""
AT_ONCE: Final = 100
"""Number of pieces of a body to read before other clients have a turn."""
THROWN_AWAY: Final = 1_048_576
"""Number of bytes to read and discard after a refusal, so that the client receives the answer."""
LINGERING: Final = 2.0
"""Time for reading and discarding them, in seconds."""


@attrs.frozen
class Request:
    """An HTTP request; the names in `headers` are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    peer: str = ""
    """The client's address."""
    secure: bool = False
    """Whether the request was sent over HTTPS."""
    connection: int = 0
    """The number of the client's connection, over which several requests may come."""
    written: tuple[tuple[str, str], ...] = ()
    """The headers with their names as the client wrote them."""

    @property
    def base(self) -> str:
        """Return the address of this endpoint, as the client of the request knows it."""
        return f"http{'s' * self.secure}://{self.headers.get('host', 'localhost')}"

    @property
    def has_body(self) -> bool:
        """Whether the head of the request announces a body."""
        length = self.headers.get("content-length", "")
        return "transfer-encoding" in self.headers or length.strip("0 ") != ""


@attrs.frozen
class Answer:
    """The answer to an HTTP request."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    """The type of the body; empty if `headers` has it, or it has none."""
    headers: tuple[tuple[str, str], ...] = ()


@attrs.frozen
class Later:
    """An answer that comes later; it is cancelled if the client goes before."""

    answer: asyncio.Future[Answer]


@attrs.frozen
class Room:
    """Room for the body of a request.

    Attributes:
        most: the maximum size, in bytes.
        too_large: what is answered to a larger body.
    """

    most: int
    too_large: Answer


def room_for(most: int) -> Room:
    """Return the room for a body of so many bytes."""
    return Room(most, Answer(413, b"the body is too large\n", "text/plain"))


NO_ROOM: Final = room_for(0)

Handler = Callable[[Request], Answer | Awaitable[Answer | Later]]
Admission = Callable[[Request], Answer | Room]
"""Answers a request that its head is enough to refuse, or returns the room for its body."""


class Refused(Exception):
    """A request that is refused before its body is read."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


Take = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Calls a function, and returns its result, when it is this client's turn."""


async def _at_once() -> None:
    """Return at once, as there is nothing to wait for."""


async def _take_at_once(act: Callable[[], Any]) -> Any:
    """Call a function at once, as there are no others that have turns."""
    return act()


def _all(_: Request) -> Room:
    """Admit any request body of a megabyte."""
    return room_for(THROWN_AWAY)


def make_handler(
    handler: Handler,
    kept: Callable[[], Awaitable[None]] = _at_once,
    limits: Limits = ALL_DEFAULT,
    admit: Admission = _all,
    take: Take = _take_at_once,
    budget: Budget | None = None,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return a callback for `asyncio.start_server` that serves HTTP.

    Args:
        handler: answers a request.
        kept: waits until the decisions that the answer reports are durable.
        limits: limits on connections, sizes and times.
        admit: answers a request that is refused before its body is read.
        take: does what takes time in a turn, between those of other clients.
        budget: counts the bytes of bodies.
    """
    there = 0
    numbers = count(1)
    waiting: dict[asyncio.StreamWriter, None] = {}

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal there
        if there >= limits.http_connections:
            # The client that has not sent a whole request for the longest time makes room.
            silent = next(iter(waiting), writer)
            waiting.pop(silent, None)
            silent.transport.abort()
            if silent is writer:
                return
        there += 1
        conversation = Conversation(
            reader, writer, next(numbers), limits, admit, take, waiting, budget
        )
        try:
            await _converse(conversation, handler, kept)
        except asyncio.CancelledError:
            # If the broker stops meanwhile, Python 3.11 would print a traceback.
            return
        finally:
            there -= 1
            waiting.pop(writer, None)
            conversation.release()
            writer.close()
            # Raising it has added these frames, which refer to the reader that keeps it: a cycle
            # that would wait for the garbage collector.
            if (error := reader.exception()) is not None:
                error.__traceback__ = error.__context__ = None

    return converse


async def _converse(
    conversation: "Conversation", handler: Handler, kept: Callable[[], Awaitable[None]]
) -> None:
    try:
        while (request := await conversation.request()) is not None:
            answer = await conversation.take(partial(handler, request))
            if not isinstance(answer, Answer):
                answer = await answer
            if isinstance(answer, Later):
                answer = await conversation.wait_for(answer)
            if answer is None:
                return  # the client has gone
            await kept()
            conversation.release()
            if not await conversation.answer(answer):
                return
            # A client may pipeline thousands of requests, so give others a turn in between.
            await asyncio.sleep(0)
    except TimeoutError:
        conversation.writer.transport.abort()
    except Refused as refused:
        await conversation.end(refused.answer)
    except h11.RemoteProtocolError as error:
        answer = Answer(error.error_status_hint or 400, f"{error}\n".encode(), "text/plain")
        # A frame of h11 refers to the error that it raises, and so to the whole conversation.
        error.__traceback__ = None
        await conversation.end(answer)
    except OSError:
        return  # the client has disconnected


@attrs.define(eq=False)
class Conversation:
    """The requests of one client in sequence, each with a time limit."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    limits: Limits
    admit: Admission = _all
    take: Take = _take_at_once
    waiting: dict[asyncio.StreamWriter, None] = attrs.field(factory=dict)
    """The clients that have not yet sent a whole request, the longest-waiting first."""
    budget: Budget | None = None
    connection: h11.Connection = attrs.field(factory=lambda: h11.Connection(h11.SERVER))
    asks_for_no_body: bool = False

    async def request(self) -> Request | None:
        """Return the next request; `None` if the client sends no more.

        Raises:
            TimeoutError: the request takes too long to arrive.
            Refused: the request is refused before its body is read.
        """
        self.waiting[self.writer] = None
        try:
            async with asyncio.timeout(self.limits.http_idle):
                head = await self._head()
                if head is None:
                    return None
                return attrs.evolve(head, body=await self._body(self._room_for(head)))
        finally:
            self.waiting.pop(self.writer, None)

    def _room_for(self, head: Request) -> Room:
        """Return the room for the body of a request.

        Raises:
            Refused: the request is refused.
        """
        if {"content-length", "transfer-encoding"} <= head.headers.keys():
            # A proxy before the broker may read another end of the request (RFC 9112, 6.1).
            raise h11.RemoteProtocolError("the body has two lengths", error_status_hint=400)
        if head.headers.get("content-encoding", "") not in PLAIN:
            raise h11.RemoteProtocolError("the body is compressed", error_status_hint=415)
        if not head.has_body:
            return NO_ROOM
        admitted = self.admit(head)
        if isinstance(admitted, Answer):
            raise Refused(admitted)
        length = head.headers.get("content-length", "0")
        # h11 has checked that the length is a number of at most 20 digits.
        if int(length) > admitted.most:
            raise Refused(admitted.too_large)
        if self.connection.they_are_waiting_for_100_continue:
            told = h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[])
            self.writer.write(self.connection.send(told) or b"")
        return admitted

    async def wait_for(self, later: Later) -> Answer | None:
        """Return an answer once it is there, or `None` if the client goes before."""
        reading = asyncio.ensure_future(self.reader.read(65_536))
        try:
            both: set[asyncio.Future[Any]] = {later.answer, reading}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                data = reading.result()
                if not data:
                    return None
                # The client sends its next request already; no more of it is read meanwhile.
                self.connection.receive_data(data)
            return await later.answer
        finally:
            later.answer.cancel()
            reading.cancel()
            # Only one may read at a time, and the reading has not ended yet.
            await asyncio.wait({reading})

    def let_go(self, _: Refusal) -> None:
        """End the connection, as the bodies of requests take too much memory."""
        self.writer.transport.abort()

    def release(self) -> None:
        """Stop counting the body of a request."""
        if self.budget is not None:
            self.budget.release(self)

    async def answer(self, answer: Answer) -> bool:
        """Answer a request; return whether another may follow.

        Raises:
            TimeoutError: the client takes too long to read the answer.
        """
        await self.take(partial(self._write, answer))
        async with asyncio.timeout(self.limits.http_idle):
            await self.writer.drain()
        if self.connection.our_state is h11.DONE and self.connection.their_state is h11.DONE:
            self.connection.start_next_cycle()
            self.asks_for_no_body = False
            return True
        return False

    async def end(self, answer: Answer) -> None:
        """Answer a request that is not read to its end, if an answer is still possible.

        For a while, the rest is read and discarded: closing the connection at once would lose the
        answer.
        """
        if self.connection.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        last = attrs.evolve(answer, headers=(*answer.headers, ("Connection", "close")))
        await self.take(partial(self._write, last))
        left = THROWN_AWAY
        with suppress(TimeoutError, OSError):
            if self.writer.can_write_eof():
                self.writer.write_eof()
            async with asyncio.timeout(LINGERING):
                while left > 0 and (data := await self.reader.read(65_536)):
                    left -= len(data)

    async def _head(self) -> Request | None:
        event = await self._event()
        if not isinstance(event, h11.Request):
            return None
        self.asks_for_no_body = event.method == b"HEAD"
        headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
        raw = event.headers.raw_items()
        written = tuple((name.decode(), value.decode("latin-1")) for name, value in raw)
        peer, tls = _peer_of(self.writer), self.writer.get_extra_info("ssl_object")
        target, method, secure = event.target.decode(), event.method.decode(), tls is not None
        return Request(method, target, headers, b"", peer, secure, self.number, written)

    async def _body(self, room: Room) -> bytes:
        pieces, size, chunks = list[bytes](), 0, 0
        while isinstance(event := await self._event(), h11.Data):
            pieces.append(bytes(event.data))
            size += len(event.data)
            chunks += event.chunk_start
            if size > room.most:
                raise Refused(room.too_large)
            if self.budget is not None:
                self.budget.hold(self, size)
            if chunks > MOST_CHUNKS:
                raise h11.RemoteProtocolError("the body has too many chunks", error_status_hint=413)
            if len(pieces) % AT_ONCE == 0:
                await asyncio.sleep(0)
        return b"".join(pieces)

    async def _event(self) -> Any:
        """Return the next part of a request, as an h11 event."""
        while (event := await self.take(self.connection.next_event)) is h11.NEED_DATA:
            self.connection.receive_data(await self.reader.read(65_536))
        return event

    def _write(self, answer: Answer) -> None:
        headers = [("Content-Length", str(len(answer.body))), ("Server", "busproof")]
        if answer.body and answer.content_type:
            headers.append(("Content-Type", answer.content_type))
        headers += answer.headers
        reason = HTTPStatus(answer.status).phrase
        response = h11.Response(status_code=answer.status, headers=headers, reason=reason)
        body = b"" if self.asks_for_no_body else answer.body
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.writer.write(self.connection.send(event) or b"")


def _peer_of(writer: asyncio.StreamWriter) -> str:
    known = writer.get_extra_info("peername")
    return str(known[0]) if known else ""
