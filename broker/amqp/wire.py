"""The way of bytes to one client, who may read slowly, or not at all."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from busproof.broker.core import Hub

__all__ = ["LAST_WORDS", "Wire"]

LAST_WORDS: Final = 5.0
"""For how long a client may take to read what was said before its end, in seconds."""


class Wire:
    """Writes what is known to be kept for good, and stops reading where nobody reads.

    Args:
        hub: what all connections share.
        give: gives the client what was held back, once it has caught up.
    """

    def __init__(self, hub: Hub, give: Callable[[], None]) -> None:
        self._hub = hub
        self._give = give
        self._transport: asyncio.Transport | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._reads_slowly = False
        self._is_deaf = False
        """Whether nothing is read from the client, until it has read more itself."""
        self._is_held = False
        """Whether nothing is read from the client, until what it sent has been handled."""
        self._unsent = 0
        """Bytes that wait until what they tell is kept for good."""

    def open(self, transport: asyncio.Transport) -> None:
        """The client has connected."""
        self._transport = transport

    def lose(self) -> None:
        """The client is gone."""
        self._transport = None
        if self._ending is not None:
            self._ending.cancel()

    @property
    def is_open(self) -> bool:
        """Whether the client is there."""
        return self._transport is not None

    @property
    def paused(self) -> bool:
        """Whether as much as may be is on its way to the client."""
        return self._reads_slowly or self._unsent > self._hub.limits.unread

    def slow_down(self) -> None:
        """The client reads too slowly."""
        self._reads_slowly = True

    def go_on(self) -> None:
        """The client has caught up."""
        self._reads_slowly = False
        self._listen()
        self._give()

    def write(self, data: bytes) -> None:
        """Let the client have these bytes, once what they tell is kept for good."""
        if self._transport is None:
            return
        if self._hub.saver is None:
            _write(self._transport, data)
        else:
            self._unsent += len(data)
            self._hub.tell(partial(self._sent, self._transport, data))
        if self.waiting > self._hub.limits.unread and not self._is_deaf:
            # Each thing it asks for would have an answer, and it reads none.
            self._is_deaf = True
            self._transport.pause_reading()

    def hold(self) -> None:
        """Read nothing from the client for now."""
        self._is_held = True
        if self._transport is not None:
            self._transport.pause_reading()

    def release(self) -> None:
        """Read from the client again, unless it has to read first."""
        if self._is_held:
            self._is_held = False
            self._resume()

    def close(self) -> None:
        """End the connection when all was said, or when the client has not listened for long."""
        if self._transport is not None and self._ending is None:
            transport = self._transport
            self._hub.tell(transport.close)
            self._ending = self._hub.loop.call_later(LAST_WORDS, transport.abort)

    @property
    def waiting(self) -> int:
        """Bytes that the client has not read yet, as far as it shows."""
        buffered = 0 if self._transport is None else self._transport.get_write_buffer_size()
        return self._unsent + buffered

    def cut(self) -> None:
        """End the connection; a client that has not read what came before hears nothing more."""
        self.close()
        if self._transport is not None and self._transport.get_write_buffer_size():
            self._transport.abort()

    def _listen(self) -> None:
        if self._is_deaf and self._transport is not None and not self._transport.is_closing():
            self._is_deaf = False
            self._resume()

    def _resume(self) -> None:
        transport = self._transport
        free = not self._is_deaf and not self._is_held
        if free and transport is not None and not transport.is_closing():
            transport.resume_reading()

    def _sent(self, transport: asyncio.Transport, data: bytes) -> None:
        """What these bytes tell is kept for good."""
        was_paused = self.paused
        _write(transport, data)
        self._unsent -= len(data)
        if self.waiting <= self._hub.limits.unread:
            self._listen()
        if was_paused and not self.paused:
            self._hub.loop.call_soon(self._give)


def _write(transport: asyncio.Transport, data: bytes) -> None:
    """Write, unless the way is closed: a reset is found while writing, and told of later."""
    if not transport.is_closing():
        transport.write(data)
