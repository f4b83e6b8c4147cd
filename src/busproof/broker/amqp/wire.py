"""The byte stream to a client, which may read slowly or not at all."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from busproof.broker.core import Hub
from busproof.broker.disturbances import Line

__all__ = ["LAST_WORDS", "Wire"]

LAST_WORDS: Final = 5.0
"""Time for a client to read the last bytes before its connection is aborted, in seconds."""
MOST_BUFFERED: Final = 65_536
"""Bytes that a transport buffers before it asks for a pause, unless `unread` is lower."""


class Wire:
    """A writer that sends only what is durable, and stops reading from clients that do not read.

    Args:
        hub: state shared by all connections.
        give: delivers waiting messages once the client has caught up.
        name: the name of the connection.
    """

    def __init__(self, hub: Hub, give: Callable[[], None], name: str) -> None:
        self._hub = hub
        self._name = name
        self._line: Line | None = None
        """What a fault does with all that is written; `None` without a fault."""
        self._give = give
        self._transport: asyncio.Transport | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._reads_slowly = False
        self._is_deaf = False
        """Whether reading is paused until the client has read more."""
        self._is_held = False
        """Whether reading is paused until the received bytes are handled."""
        self._unsent = 0
        """Bytes that wait until the decisions that they report are durable."""

    def open(self, transport: asyncio.Transport) -> None:
        """Start writing to a client."""
        self._transport = transport
        # asyncio reports that a client has caught up only if it fell behind before.
        transport.set_write_buffer_limits(high=min(MOST_BUFFERED, self._hub.limits.unread))

    def lose(self) -> None:
        """Stop writing to a client that has disconnected."""
        self._transport = None
        self._give = _give_nothing
        # The timer would otherwise keep a lost connection in memory until it fires.
        if self._ending is not None:
            self._ending.cancel()

    @property
    def is_open(self) -> bool:
        """Whether the client is connected."""
        return self._transport is not None

    @property
    def paused(self) -> bool:
        """Whether so many bytes are unread that nothing more should be sent."""
        # Bytes that wait for the disk are not in the transport yet, so they are counted separately.
        return self._reads_slowly or self._unsent > self._hub.limits.unread

    def slow_down(self) -> None:
        """Record that the client reads too slowly."""
        self._reads_slowly = True

    def go_on(self) -> None:
        """Continue reading and delivering, because the client has caught up."""
        self._reads_slowly = False
        self._listen()
        self._give()

    def write(self, data: bytes) -> None:
        """Send bytes once the decisions that they report are durable."""
        if self._transport is None:
            return
        if self._hub.saver is None:
            self._write(self._transport, data)
        else:
            self._unsent += len(data)
            # Hold back all answers: one might report a lock that a crash would undo.
            self._hub.tell(partial(self._sent, self._transport, data))
        if self.waiting > self._hub.limits.unread and not self._is_deaf:
            # Each further request would add an answer that the client does not read.
            self._is_deaf = True
            self._transport.pause_reading()

    def disturb(self, line: Line) -> None:
        """Let a fault have all that is written from now on."""
        self._line = line

    def hold(self) -> None:
        """Stop reading from the client until its bytes are handled."""
        self._is_held = True
        if self._transport is not None:
            self._transport.pause_reading()

    def release(self) -> None:
        """Resume reading, unless the client first has to read answers."""
        if self._is_held:
            self._is_held = False
            self._resume()

    def close(self) -> None:
        """Close the connection once everything is written; abort it after a grace period."""
        if self._transport is not None and self._ending is None:
            transport = self._transport
            # Bytes that still wait for the disk go first: the client reads why it must leave.
            self._hub.tell(transport.close)
            # A client that reads nothing could otherwise delay the end for ever.
            self._ending = self._hub.loop.call_later(LAST_WORDS, transport.abort)

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def waiting(self) -> int:
        """Bytes that the client has not read, as far as the transport shows."""
        buffered = 0 if self._transport is None else self._transport.get_write_buffer_size()
        return self._unsent + buffered

    def cut(self) -> None:
        """Close the connection; abort it if some bytes are still unread."""
        self.close()
        if self._transport is not None and self._transport.get_write_buffer_size():
            # It is disconnected because of its memory, which includes the unread bytes.
            self._transport.abort()

    def _write(self, transport: asyncio.Transport, data: bytes) -> None:
        """Write unless the transport is closing; asyncio reports a reset later."""
        if transport.is_closing():
            return
        if (listener := self._hub.disturbances.listener) is not None:
            listener.note(self._name, data, by_client=False)
        if self._line is None:
            transport.write(data)
        else:
            self._line(transport, data)

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
        """Write bytes that have become durable."""
        was_paused = self.paused
        self._write(transport, data)
        self._unsent -= len(data)
        if self.waiting <= self._hub.limits.unread:
            self._listen()
        if was_paused and not self.paused:
            self._hub.loop.call_soon(self._give)


def _give_nothing() -> None:
    """Deliver nothing to a client that has gone."""
