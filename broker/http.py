"""HTTP for the administration endpoint: requests in, answers out, by h11."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

import attrs
import h11

from busproof.broker.limits import ALL_DEFAULT, Limits

__all__ = ["Answer", "Request", "served"]

PLAIN: Final = ("", "identity")


@attrs.frozen
class Request:
    """What a client asks; `headers` have names in small letters."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    peer: str = ""
    """The address that the client asks from."""


@attrs.frozen
class Answer:
    """What it is answered."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[Request], Answer]


async def _at_once() -> None:
    """Nothing has to be waited for."""


def served(
    handler: Handler,
    kept: Callable[[], Awaitable[None]] = _at_once,
    limits: Limits = ALL_DEFAULT,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """What `asyncio.start_server` calls for each connection.

    Args:
        handler: answers a request.
        kept: waits until what the answer says is kept for good.
        limits: how many may ask, how much, and for how long.
    """
    there = 0

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal there
        if there >= limits.http_connections:
            writer.transport.abort()
            return
        there += 1
        try:
            await _converse(Conversation(reader, writer, limits), handler, kept)
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
    except TimeoutError:
        conversation.writer.transport.abort()
    except h11.RemoteProtocolError as error:
        conversation.refuse(error)
    except OSError:
        return  # nobody is left to be told


@attrs.define
class Conversation:
    """One client's requests, one after another, none of which may take too long."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    limits: Limits
    connection: h11.Connection = attrs.field(factory=lambda: h11.Connection(h11.SERVER))
    asks_for_no_body: bool = False

    async def request(self) -> Request | None:
        """The next request; `None` if there is none.

        Raises:
            TimeoutError: it does not come to an end.
        """
        async with asyncio.timeout(self.limits.http_idle):
            request = await self._read(_peer_of(self.writer))
        if request is not None and request.headers.get("content-encoding", "") not in PLAIN:
            raise h11.RemoteProtocolError("the body is compressed", error_status_hint=415)
        return request

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

    def refuse(self, error: h11.RemoteProtocolError) -> None:
        """Answer what is no HTTP, while somebody may still listen."""
        if self.connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            status = error.error_status_hint or 400
            self._write(Answer(status, f"{error}\n".encode(), "text/plain"))

    async def _read(self, peer: str) -> Request | None:
        head: h11.Request | None = None
        body = b""
        while True:
            event = self.connection.next_event()
            if event is h11.NEED_DATA:
                self.connection.receive_data(await self.reader.read(65_536))
            elif isinstance(event, h11.Request):
                head = event
                self.asks_for_no_body = event.method == b"HEAD"
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
                if len(body) > self.limits.http_body:
                    raise h11.RemoteProtocolError("the body is too large", error_status_hint=413)
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
                return Request(head.method.decode(), head.target.decode(), headers, body, peer)
            else:
                return None

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
