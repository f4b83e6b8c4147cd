"""Sockets that listen, and refuse connections before the process runs out of open files.

Without this, a process that has run out can neither accept nor refuse: asyncio logs thousands of
lines a second, and the health check gets no answer.
"""

import errno
import os
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

__all__ = ["SPARE", "SPARE_FOR_HTTP", "guarded", "need_files", "open_files"]

SPARE: Final = 40
"""Open files that AMQP connections leave to HTTP, to the store and to everything else."""
SPARE_FOR_HTTP: Final = 20
"""Open files that HTTP connections leave to everything else."""

Opening = Callable[..., Coroutine[Any, Any, Any]]


def open_files() -> int | None:
    """Return how many files the process may have open; `None` where there is no such limit."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - there is none on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def need_files(connections: int) -> int | None:
    """Raise the limit of open files as far as so many connections need it, and as it may be.

    Returns:
        how many connections there may be, if they are fewer.
    """
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - there is none on Windows

    needed = connections + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    files = open_files()
    return None if files is None or files >= needed else max(0, files - SPARE)


class Listener(socket.socket):
    """A listening socket that refuses connections once few files are left.

    The number of an open file is the lowest that is free, so it says how many there are at least.

    Args:
        bound: a socket that is bound.
        most: the number of the first file that is refused.
        refused: is called for each connection that is refused.
    """

    def __init__(self, bound: Any, most: int, refused: Callable[[], None]) -> None:
        super().__init__(bound.family, bound.type, bound.proto, fileno=os.dup(bound.fileno()))
        self._most = most
        self._refused = refused
        self._reserve = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, or refuse it.

        Raises:
            ConnectionAbortedError: it was refused; asyncio then looks for the next one later.
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
        raise ConnectionAbortedError(errno.ECONNABORTED, "too many files are open")

    def close(self) -> None:
        """Listen no more."""
        if self._reserve >= 0:
            os.close(self._reserve)
            self._reserve = -1
        super().close()

    def _refuse_with_the_reserve(self) -> None:
        """Refuse a connection when no other file can be opened; else it would wait for ever."""
        os.close(self._reserve)
        try:
            with suppress(OSError):
                super().accept()[0].close()
        finally:
            self._reserve = os.open(os.devnull, os.O_RDONLY)


async def guarded(opening: Opening, spare: int, refused: Callable[[], None]) -> list[Any]:
    """Open servers that leave some files to others.

    Args:
        opening: opens a server, at its place or on the socket that it is given.
        spare: how many files they leave.
        refused: is called for each connection that is refused.
    """
    files = open_files()
    if files is None:
        return [await opening()]
    bound = await opening(start_serving=False)
    most = files - spare
    listeners = [Listener(each, most, refused) for each in bound.sockets]
    bound.close()
    return [await opening(sock=listener) for listener in listeners]
