"""HTTP for the administration endpoint, with h11."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import attrs
import h11

from busproof.broker.limits import ALL_DEFAULT, Limits

__all__ = ["Answer", "Request", "served"]

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
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[Request], Answer]
Admission = Callable[[Request], Answer | None]
"""Answers a request that its head is enough to refuse; returns `None` to have the body read."""


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


def _all(_: Request) -> Answer | None:
    """Admit any request body."""
    return None


def served(
    handler: Handler,
    kept: Callable[[], Awaitable[None]] = _at_once,
    limits: Limits = ALL_DEFAULT,
    admit: Admission = _all,
    take: Take = _take_at_once,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return a callback for `asyncio.start_server` that serves HTTP.

    Args:
        handler: answers a request.
        kept: waits until the decisions that the answer reports are durable.
        limits: limits on connections, sizes and times.
        admit: answers a request that is refused before its body is read.
        take: does what takes time in a turn, between those of other clients.
    """
    there = 0
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
        conversation = Conversation(reader, writer, limits, admit, take, waiting)
        try:
            await _converse(conversation, handler, kept)
        except asyncio.CancelledError:
            # If the broker stops meanwhile, Python 3.11 would print a traceback.
            return
        finally:
            there -= 1
            waiting.pop(writer, None)
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
            await kept()
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


@attrs.define
class Conversation:
    """The requests of one client in sequence, each with a time limit."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    limits: Limits
    admit: Admission = _all
    take: Take = _take_at_once
    waiting: dict[asyncio.StreamWriter, None] = attrs.field(factory=dict)
    """The clients that have not yet sent a whole request, the longest-waiting first."""
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
                self._check(head)
                return attrs.evolve(head, body=await self._body())
        finally:
            self.waiting.pop(self.writer, None)

    def _check(self, head: Request) -> None:
        if {"content-length", "transfer-encoding"} <= head.headers.keys():
            # A proxy before the broker may read another end of the request (RFC 9112, 6.1).
            raise h11.RemoteProtocolError("the body has two lengths", error_status_hint=400)
        if head.headers.get("content-encoding", "") not in PLAIN:
            raise h11.RemoteProtocolError("the body is compressed", error_status_hint=415)
        if head.has_body and (answer := self.admit(head)) is not None:
            raise Refused(answer)

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
        peer, tls = _peer_of(self.writer), self.writer.get_extra_info("ssl_object")
        target = event.target.decode()
        return Request(event.method.decode(), target, headers, b"", peer, tls is not None)

    async def _body(self) -> bytes:
        pieces, size, chunks = list[bytes](), 0, 0
        while isinstance(event := await self._event(), h11.Data):
            pieces.append(bytes(event.data))
            size += len(event.data)
            chunks += event.chunk_start
            if size > self.limits.http_body:
                raise h11.RemoteProtocolError("the body is too large", error_status_hint=413)
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
        if answer.body:
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
