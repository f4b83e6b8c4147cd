"""The administration over HTTP: requests are passed on, and recorded if they are about entities."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import attrs
import h11

from busproof import vocabulary as v
from busproof.broker.rest.addresses import address_of
from busproof.errors import HistoryError
from busproof.recorder import administration
from busproof.recorder.administration import Said
from busproof.recorder.desk import Desk
from busproof.recorder.outcomes import UNAUTHORIZED
from busproof.recorder.proxy import PATIENCE, Place, Proxy

__all__ = ["Administration"]

PIECE: Final = 65_536
MOST: Final = 8 * 1024 * 1024
"""Maximum size of a body, in bytes; the largest list of entities has some 300 KB."""
OF_A_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade", b"expect"}
)
"""Headers that are about a connection and not about a request."""
CLIENT: Final = "http"
REFUSED: Final = 400


@attrs.frozen
class _Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class _Broken(Exception):
    """A connection ended within a message, or a message is no HTTP."""


class Administration:
    """The HTTP side of the proxy.

    Args:
        proxy: the proxy, whose recording it shares.
        place: where the service's administration listens.
    """

    def __init__(self, proxy: Proxy, place: Place) -> None:
        self._proxy = proxy
        self._desk: Desk = proxy.desk
        self._place = place
        self._topics: set[str] = set()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one client by those of the service."""
        peer = h11.Connection(h11.SERVER)
        try:
            while True:
                request, body = await self._read_request(peer, reader, writer)
                answer = await self._handle_request(request, body)
                writer.write(_encode_answer(peer, answer))
                await writer.drain()
                if peer.our_state is h11.MUST_CLOSE:
                    return
                peer.start_next_cycle()
        except (_Broken, OSError, asyncio.CancelledError, h11.ProtocolError):
            # At the end of the recording, a client may be waited for.
            return
        except HistoryError as error:
            self._proxy.fail(str(error))
        finally:
            writer.close()

    async def _read_request(
        self, peer: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[h11.Request, bytes]:
        head = None
        body = bytearray()
        while True:
            event = peer.next_event()
            if event is h11.NEED_DATA:
                if peer.they_are_waiting_for_100_continue:
                    go_on = h11.InformationalResponse(status_code=100, headers=[])
                    writer.write(peer.send(go_on) or b"")
                data = await reader.read(PIECE)
                peer.receive_data(data)
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > MOST:
                    raise _Broken
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return head, bytes(body)
            else:
                raise _Broken

    async def _handle_request(self, request: h11.Request, body: bytes) -> _Answer:
        said = Said(
            request.method.decode("ascii"),
            request.target.decode("ascii"),
            {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers},
            body,
        )
        journal = self._desk.journal
        address = address_of(said.method, said.target)
        command = None if address else administration.command_of(said, self._topics)
        call = None
        if address is not None:
            # These messages are not recorded, so what is known of their entity is not enough.
            journal.left_out.leave(address.path.lower())
            self._desk.tally.count("messages over HTTP, and from then on all about their entity")
        if command is not None:
            is_noted = not isinstance(command, administration.READS)
            command = self._desk.redact_command(command)
            call = journal.begin(CLIENT, CLIENT, command, is_noted=is_noted)
            journal.flush()
        elif said.method != "GET" and address is None:
            self._desk.tally.count(f"administration by {said.method} of {_kind(said.path)}")
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await self._forward_request(request, body)
        except (OSError, TimeoutError, _Broken, h11.ProtocolError) as error:
            if call is not None:
                journal.end(call, v.Indeterminate(detail="the administration did not answer"))
                journal.flush()
            reason = getattr(error, "strerror", None) or "it did not answer"
            self._proxy.tell(f"cannot reach {self._place.host}:{self._place.port}: {reason}")
            return _Answer(502, [], b"")
        if call is not None and command is not None:
            command = administration.resolve_command(command, answer.body)
            journal.rename(call, command)
            if isinstance(command, v.CreateTopic | v.GetTopic) and answer.status < REFUSED:
                self._topics.add(command.topic)
            said_back = administration.outcome_of(command, answer.status, answer.body)
            outcome = self._desk.privacy.redact_answer(said_back)
            if isinstance(outcome, v.Unsupported):
                self._desk.tally.count(outcome.detail)
                journal.drop(call)
            elif isinstance(outcome, v.Refused) and outcome.detail == UNAUTHORIZED:
                self._desk.tally.count("requests without the right for them")
                journal.drop(call)
            else:
                journal.end(call, outcome)
            journal.flush()
        return answer

    async def _forward_request(self, request: h11.Request, body: bytes) -> _Answer:
        """Ask the service, on a connection for this request alone."""
        place = self._place
        reader, writer = await asyncio.open_connection(
            place.host,
            place.port,
            ssl=place.tls,
            server_hostname=place.host if place.tls else None,
        )
        try:
            service = h11.Connection(h11.CLIENT)
            headers = [
                (name, value)
                for name, value in request.headers
                if name not in OF_A_HOP and name not in (b"host", b"content-length")
            ]
            headers.append((b"host", place.authority.encode("ascii")))
            headers.append((b"connection", b"close"))
            if body or request.method in (b"PUT", b"POST"):
                headers.append((b"content-length", str(len(body)).encode("ascii")))
            head = h11.Request(method=request.method, target=request.target, headers=headers)
            writer.write(service.send(head) or b"")
            if body:
                writer.write(service.send(h11.Data(data=body)) or b"")
            writer.write(service.send(h11.EndOfMessage()) or b"")
            await writer.drain()
            return await _read_answer(service, reader)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


async def _read_answer(service: h11.Connection, reader: asyncio.StreamReader) -> _Answer:
    head = None
    body = bytearray()
    while True:
        event = service.next_event()
        if event is h11.NEED_DATA:
            service.receive_data(await reader.read(PIECE))
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MOST:
                raise _Broken
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return _Answer(head.status_code, list(head.headers), bytes(body))
        elif not isinstance(event, h11.InformationalResponse):
            raise _Broken


def _encode_answer(peer: h11.Connection, answer: _Answer) -> bytes:
    headers = [
        (name, value)
        for name, value in answer.headers
        if name not in OF_A_HOP and name != b"content-length"
    ]
    headers.append((b"content-length", str(len(answer.body)).encode("ascii")))
    head: Any = h11.Response(status_code=answer.status, headers=headers)
    data = peer.send(head) or b""
    if answer.body:
        data += peer.send(h11.Data(data=answer.body)) or b""
    return data + (peer.send(h11.EndOfMessage()) or b"")


def _kind(path: str) -> str:
    """Return what a path names, without any name of its own."""
    return "a rule" if "/rules/" in path else "an entity"
