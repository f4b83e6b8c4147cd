"""A recording while it runs: its files, its ports, and its end."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from busproof.errors import HistoryError, UsageError
from busproof.history.records import Header
from busproof.recorder.desk import Desk
from busproof.recorder.journal import Journal, Rolling
from busproof.recorder.messages import Privacy
from busproof.recorder.proxy import Place, Proxy
from busproof.recorder.tally import Tally
from busproof.recorder.web import Administration

__all__ = ["Kept", "Ports", "Recording", "begin_recording"]


@attrs.frozen(kw_only=True)
class Ports:
    """Where clients connect, and where the service is.

    Attributes:
        host: the address to listen on.
        port: the port for AMQP, also over WebSockets; 0 for any free one.
        admin_port: the port for the administration; `None` for none.
        tls: the certificate for clients; `None` for no TLS.
        amqp: where the service speaks AMQP.
        websockets: where it speaks AMQP over WebSockets.
        administration: where its administration is.
    """

    host: str
    port: int
    admin_port: int | None
    tls: ssl.SSLContext | None
    amqp: Place
    websockets: Place
    administration: Place


@attrs.frozen(kw_only=True)
class Kept:
    """What a recording keeps.

    Attributes:
        privacy: what it keeps of messages.
        rolling: when the next file begins.
        receive_wait: how long a service must have had credit before it is taken to have no
            message, in microseconds.
    """

    privacy: Privacy
    rolling: Rolling = attrs.field(factory=Rolling)
    receive_wait: int = 1_000_000


class Recording:
    """A running recording, from `begin_recording`.

    Attributes:
        desk: what its connections share, and what it leaves out.
        journal: its files.
        ports: the ports that are listened on: for AMQP, and for the administration if wanted.
    """

    def __init__(
        self, desk: Desk, journal: Journal, proxy: Proxy, servers: list[asyncio.Server]
    ) -> None:
        self.desk = desk
        self.journal = journal
        self._proxy = proxy
        self._servers = servers
        self.ports = [int(server.sockets[0].getsockname()[1]) for server in servers]

    @property
    def connections(self) -> int:
        """The number of AMQP connections so far."""
        return self._proxy.connections

    async def wait_for_end(self, ended: asyncio.Event) -> None:
        """Record until an event is set, or nothing can be written any more."""
        waiting = asyncio.ensure_future(ended.wait())
        both: list[asyncio.Future[Any]] = [waiting, self._proxy.failure]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    def stop(self) -> None:
        """End all connections, and close the files.

        Raises:
            HistoryError: something could not be written; what was passed on is in the files.
        """
        for server in self._servers:
            server.close()
        self._proxy.stop()
        # What failed once fails again for the same reason.
        with suppress(HistoryError):
            self.journal.close()
        if reason := self.journal.failure:
            raise HistoryError(f"{reason}; all connections were ended")


async def begin_recording(
    folder: Path,
    header: Header,
    ports: Ports,
    kept: Kept,
    tell: Callable[[str], None],
    heard: Callable[[bytes], None] | None = None,
) -> Recording:
    """Begin a recording.

    Args:
        folder: a new folder for its files.
        header: what is known of the service.
        ports: where to listen, and where the service is.
        kept: what is kept.
        tell: prints a sentence.
        heard: called with each event, as a line of the history.

    Raises:
        HistoryError: the folder is not new, or cannot be written.
        UsageError: a port is in use, or the host is unknown.
    """
    journal = Journal(folder, header, kept.rolling, heard)
    desk = Desk(journal, kept.privacy, Tally(tell), kept.receive_wait)
    proxy = Proxy(desk, ports.amqp, ports.websockets, tell)
    loop = asyncio.get_running_loop()
    opening = loop.create_server(proxy.make, ports.host, ports.port, ssl=ports.tls)
    servers = [await _start_server(opening, ports.host, ports.port)]
    if ports.admin_port is not None:
        converse = Administration(proxy, ports.administration).converse
        opened = asyncio.start_server(converse, ports.host, ports.admin_port, ssl=ports.tls)
        servers.append(await _start_server(opened, ports.host, ports.admin_port))
    return Recording(desk, journal, proxy, servers)


async def _start_server(opening: Any, host: str, port: int) -> asyncio.Server:
    try:
        server: asyncio.Server = await opening
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot listen on {host}:{port}: {reason}; choose another --listen or --admin-port"
        ) from None
    return server
