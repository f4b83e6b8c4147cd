"""Direct calls into Proton's C library, without the objects that its Python binding creates.

The binding wraps every event, link and delivery anew on each access, which took a third of the time
for a message. Here a delivery or a link is the library's pointer; `whole` and `Link` wrap it for
rare calls.
"""

from typing import Any, Final

import cproton  # type: ignore[import-untyped] # Proton has no types
from cproton import ffi, lib
from proton import Delivery

__all__ = [
    "ACCEPTED",
    "DELIVERY",
    "RELEASED",
    "Raw",
    "Unfinished",
    "advance",
    "capacity",
    "content",
    "credit",
    "delivery_of",
    "grant",
    "is_aborted",
    "is_partial",
    "is_readable",
    "is_settled",
    "kind_of",
    "link_of",
    "name_of",
    "next_event",
    "outgoing_bytes",
    "output",
    "pending",
    "pop",
    "pop_output",
    "push",
    "queued",
    "raw",
    "send",
    "session_of",
    "settle",
    "state_of",
    "update",
    "whole",
]

Raw = Any
"""A pointer to a delivery, a link or an event; two are equal if they point to the same object."""

ACCEPTED: Final = int(Delivery.ACCEPTED)
RELEASED: Final = int(Delivery.RELEASED)
DELIVERY: Final[int] = cproton.PN_DELIVERY
"""Type of the events that report a transfer or a disposition."""

# These functions take and return plain pointers, so no wrapper is created.
kind_of = cproton.pn_event_type
delivery_of = cproton.pn_event_delivery
link_of = cproton.pn_delivery_link
state_of = cproton.pn_delivery_remote_state
is_aborted = cproton.pn_delivery_aborted
is_partial = cproton.pn_delivery_partial
is_readable = cproton.pn_delivery_readable
is_settled = cproton.pn_delivery_settled
update = cproton.pn_delivery_update
settle = cproton.pn_delivery_settle
advance = cproton.pn_link_advance
"""Finish the current transfer of a link."""
next_event = cproton.pn_collector_peek
"""Return the next event of a collector, or a null pointer, which is false, if there is none."""
pop = cproton.pn_collector_pop
"""Remove the next event of a collector."""
credit = cproton.pn_link_credit
grant = cproton.pn_link_flow
queued = cproton.pn_link_queued
capacity = cproton.pn_transport_capacity
"""Return how many bytes a transport can take; negative if it takes none any more."""
session_of = cproton.pn_link_session
outgoing_bytes = cproton.pn_session_outgoing_bytes
pending = cproton.pn_transport_pending
"""Return how many bytes of output a transport has; negative once its output is closed."""
push = cproton.pn_transport_push
"""Give a transport received bytes; return how many it has taken, negative after an error."""
pop_output = cproton.pn_transport_pop
"""Remove bytes from a transport's output."""


def raw(thing: Any) -> Raw:
    """Return the library's pointer inside a Python wrapper."""
    return thing._impl


def whole(delivery: Raw) -> Delivery:
    """Return a Python wrapper of a delivery."""
    wrapped: Delivery = Delivery.wrap(delivery)  # type: ignore[no-untyped-call] # Proton has no types
    return wrapped


def name_of(link: Raw) -> bytes:
    """Return the name of a link, which may be no valid text."""
    name: bytes = ffi.string(lib.pn_link_name(link))
    return name


def content(link: Raw, delivery: Raw) -> bytes:
    """Read the bytes of a transfer that have arrived and are still unread."""
    # The binding's own function for this would copy the bytes once more.
    size = lib.pn_delivery_pending(delivery)
    data = bytearray(size)
    # At the end of a transfer without unread bytes, the library returns an error and reads nothing.
    lib.pn_link_recv(link, ffi.from_buffer(data), size)
    return bytes(data)


def output(transport: Raw, size: int) -> bytes:
    """Return the next bytes of a transport's output, which stay there."""
    # The binding's own function for this would copy them once more.
    data = bytearray(size)
    lib.pn_transport_peek(transport, ffi.from_buffer(data), size)
    return bytes(data)


def send(link: Raw, tag: bytes, data: bytes) -> Raw:
    """Send a message under a delivery tag; return the delivery."""
    delivery = lib.pn_delivery(link, (len(tag), ffi.from_buffer(tag)))
    lib.pn_link_send(link, ffi.from_buffer(data), len(data))
    # Advancing completes the delivery; until then the engine would append further bytes to it.
    lib.pn_link_advance(link)
    return delivery


class Unfinished(dict[Raw, int]):
    """Number of bytes by link, with the total."""

    total = 0

    def __setitem__(self, link: Raw, size: int) -> None:
        # Keep the total up to date: summing over thousands of links on each transfer is too slow.
        self.total += size - self.get(link, 0)
        super().__setitem__(link, size)

    def pop(self, link: Raw, default: Any = None) -> Any:
        """Remove a link; subtract its bytes from the total."""
        self.total -= self.get(link, 0)
        return super().pop(link, default)
