"""Listening sockets that refuse connections before the process runs out of open files.

A process without free files could neither accept nor refuse a connection: asyncio would log
thousands of lines a second, and the health check would get no answer.
"""

import errno
import os
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

__all__ = ["SPARE", "SPARE_FOR_HTTP", "guard_servers", "need_files", "open_files"]

SPARE: Final = 40
"""Open files that AMQP connections leave for HTTP, the store and everything else."""
SPARE_FOR_HTTP: Final = 20
"""Open files that HTTP connections leave for everything else."""

Opening = Callable[..., Coroutine[Any, Any, Any]]


def open_files() -> int | None:
    """Return the maximum number of open files; `None` if it is unlimited."""
    if sys.platform == "win32":
        return None
    import resource  # not available on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def need_files(connections: int) -> int | None:
    """Raise the limit of open files as far as permitted to what these connections need.

    Returns:
        the number of connections that the limit permits, if that is lower.
    """
    if sys.platform == "win32":
        return None
    import resource  # there is none on Windows

    needed = connections + SPARE
    # Many systems have a soft limit of 256 or 1,024, far below the hard limit.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    files = open_files()
    return None if files is None or files >= needed else max(0, files - SPARE)


class Listener(socket.socket):
    """A listening socket that refuses connections once few files are left.

    A new file gets the lowest free number, so its number is a lower bound of how many are open.

    Args:
        bound: a bound socket.
        most: the lowest file number of a connection to refuse.
        refused: called for each refused connection.
    """

    def __init__(self, bound: Any, most: int, refused: Callable[[], None]) -> None:
        super().__init__(bound.family, bound.type, bound.proto, fileno=os.dup(bound.fileno()))
        self._most = most
        self._refused = refused
        # A file to close when none is left, so that a connection can be accepted and closed.
        self._reserve = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, or refuse it by closing it.

        Raises:
            ConnectionAbortedError: the connection was refused.
        """
        try:
            connection, address = super().accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self._refuse_with_the_reserve()
        else:
            if connection.fileno() < self._most:
                return connection, address
            connection.close()
        self._refused()
        # asyncio treats this like a client that has disconnected, and continues to listen.
        raise ConnectionAbortedError(errno.ECONNABORTED, "too many files are open")

    def close(self) -> None:
        """Stop listening."""
        if self._reserve >= 0:
            os.close(self._reserve)
            self._reserve = -1
        super().close()

    def _refuse_with_the_reserve(self) -> None:
        """Refuse a connection by means of the reserved file, because no other can be opened.

        Otherwise the connection would wait for ever.
        """
        os.close(self._reserve)
        try:
            with suppress(OSError):
                super().accept()[0].close()
        finally:
            self._reserve = os.open(os.devnull, os.O_RDONLY)


async def guard_servers(opening: Opening, spare: int, refused: Callable[[], None]) -> list[Any]:
    """Open servers that refuse connections before the process runs out of open files.

    Args:
        opening: a function that opens a server, at its address or on a given socket.
        spare: the number of files to leave free.
        refused: called for each refused connection.
    """
    files = open_files()
    if files is None:
        return [await opening()]
    # asyncio makes one socket for each address of the host; each is replaced by a `Listener`.
    bound = await opening(start_serving=False)
    most = files - spare
    listeners = [Listener(opened, most, refused) for opened in bound.sockets]
    bound.close()
    return [await opening(sock=listener) for listener in listeners]
