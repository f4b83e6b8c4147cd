"""HTTP for the administration endpoint: requests in, answers out, by h11."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import attrs
import h11

from busproof.broker.limits import ALL_DEFAULT, Limits

__all__ = ["Answer", "Request", "served"]

PLAIN: Final = ("", "identity")
MOST_CHUNKS: Final = 10_000
"""The most chunks that a body may have; each costs as much as a small request."""
AT_ONCE: Final = 100
"""How many pieces of a body are read before others have a turn."""
THROWN_AWAY: Final = 1_048_576
"""Bytes that are read of a request after it was refused, so that its client gets the answer."""
LINGERING: Final = 2.0
"""For how long that is done, in seconds."""


@attrs.frozen
class Request:
    """What a client asks; `headers` have names in small letters."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    peer: str = ""
    """The address that the client asks from."""
    secure: bool = False
    """Whether it asks by HTTPS."""

    @property
    def base(self) -> str:
        """The address that the client knows this endpoint by."""
        return f"http{'s' * self.secure}://{self.headers.get('host', 'localhost')}"

    @property
    def has_body(self) -> bool:
        """Whether the head announces a body."""
        length = self.headers.get("content-length", "")
        return "transfer-encoding" in self.headers or length.strip("0 ") != ""


@attrs.frozen
class Answer:
    """What it is answered."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[Request], Answer]
Admission = Callable[[Request], Answer | None]
"""Answers a request that is refused for what its head says; `None` if its body is to be read."""


class Refused(Exception):  # noqa: N818 - what a client is answered, not an error of ours
    """The answer to a request that is refused before its body is read."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


async def _at_once() -> None:
    """Nothing has to be waited for."""


def _all(_: Request) -> Answer | None:
    """Let everybody send a body."""
    return None


def served(
    handler: Handler,
    kept: Callable[[], Awaitable[None]] = _at_once,
    limits: Limits = ALL_DEFAULT,
    admit: Admission = _all,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """What `asyncio.start_server` calls for each connection.

    Args:
        handler: answers a request.
        kept: waits until what the answer says is kept for good.
        limits: how many may ask, how much, and for how long.
        admit: answers a request that is refused before its body is read.
    """
    there = 0

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal there
        if there >= limits.http_connections:
            writer.transport.abort()
            return
        there += 1
        try:
            await _converse(Conversation(reader, writer, limits, admit), handler, kept)
        except asyncio.CancelledError:
            # The broker ends while a client keeps its connection; Python 3.11 would print how.
            return
        finally:
            there -= 1
            writer.close()

    return converse


async def _converse(
    conversation: "Conversation", handler: Handler, kept: Callable[[], Awaitable[None]]
) -> None:
    try:
        while (request := await conversation.request()) is not None:
            answer = handler(request)
            await kept()
            if not await conversation.answer(answer):
                return
            # A client may send thousands of requests at once; others have a turn in between.
            await asyncio.sleep(0)
    except TimeoutError:
        conversation.writer.transport.abort()
    except Refused as refused:
        await conversation.end(refused.answer)
    except h11.RemoteProtocolError as error:
        answer = Answer(error.error_status_hint or 400, f"{error}\n".encode(), "text/plain")
        await conversation.end(answer)
    except OSError:
        return  # nobody is left to be told


@attrs.define
class Conversation:
    """One client's requests, one after another, none of which may take too long."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    limits: Limits
    admit: Admission = _all
    connection: h11.Connection = attrs.field(factory=lambda: h11.Connection(h11.SERVER))
    asks_for_no_body: bool = False

    async def request(self) -> Request | None:
        """The next request; `None` if there is none.

        Raises:
            TimeoutError: it does not come to an end.
            Refused: its body is not to be read.
        """
        async with asyncio.timeout(self.limits.http_idle):
            head = await self._head()
            if head is None:
                return None
            self._check(head)
            return attrs.evolve(head, body=await self._body())

    def _check(self, head: Request) -> None:
        if head.headers.get("content-encoding", "") not in PLAIN:
            raise h11.RemoteProtocolError("the body is compressed", error_status_hint=415)
        if head.has_body and (answer := self.admit(head)) is not None:
            raise Refused(answer)

    async def answer(self, answer: Answer) -> bool:
        """Answer it; whether another request may follow.

        Raises:
            TimeoutError: the client does not read it.
        """
        self._write(answer)
        async with asyncio.timeout(self.limits.http_idle):
            await self.writer.drain()
        if self.connection.our_state is h11.DONE and self.connection.their_state is h11.DONE:
            self.connection.start_next_cycle()
            self.asks_for_no_body = False
            return True
        return False

    async def end(self, answer: Answer) -> None:
        """Answer a request whose rest is not read, while somebody may still listen.

        What the client still sends is thrown away for a while: a connection that is closed before
        takes the answer with it.
        """
        if self.connection.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        self._write(attrs.evolve(answer, headers=(*answer.headers, ("Connection", "close"))))
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

    async def _event(self) -> object:
        """The next part of a request, once it is there."""
        while (event := self.connection.next_event()) is h11.NEED_DATA:
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
