"""What Proton's own library does, without the objects that its Python makes of each event.

Proton's Python wraps every event, link and delivery anew whenever it is looked at, which took a
third of what a message cost. Here a delivery or a link is the pointer that the library knows it by;
`whole` and `Link` make the object of it where something rare is asked.
"""

from typing import Any, Final

import cproton  # type: ignore[import-untyped] # Proton has no types
from proton import Collector, Delivery

__all__ = [
    "ACCEPTED",
    "DELIVERY",
    "RELEASED",
    "Raw",
    "Unfinished",
    "advance",
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
    "next_event",
    "outgoing_bytes",
    "pop",
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
"""A delivery, a link or an event, as the library points to it; equal if it is the same one."""

ACCEPTED: Final = int(Delivery.ACCEPTED)
RELEASED: Final = int(Delivery.RELEASED)
DELIVERY: Final[int] = cproton.PN_DELIVERY
"""The kind of events that tell of a transfer, or of a change of state of one."""

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
credit = cproton.pn_link_credit
grant = cproton.pn_link_flow
queued = cproton.pn_link_queued
session_of = cproton.pn_link_session
outgoing_bytes = cproton.pn_session_outgoing_bytes


def raw(thing: Any) -> Raw:
    """What the library knows a link by."""
    return thing._impl


def whole(delivery: Raw) -> Delivery:
    """A delivery as Proton's Python knows it."""
    found: Delivery = Delivery.wrap(delivery)  # type: ignore[no-untyped-call] # Proton has no types
    return found


def next_event(collector: Collector) -> Raw:
    """The next event; a pointer to nothing, which counts as false, if there is none."""
    return cproton.pn_collector_peek(raw(collector))


def pop(collector: Collector) -> None:
    """Go on to the event after it."""
    cproton.pn_collector_pop(raw(collector))


def content(link: Raw, delivery: Raw) -> bytes:
    """What of a transfer has come and was not read yet."""
    data = b""
    while waiting := cproton.pn_delivery_pending(delivery):
        count, more = cproton.pn_link_recv(link, waiting)
        if count <= 0:
            break
        data += more
    return data


def advance(link: Raw) -> None:
    """Be done with the transfer that is read or written."""
    cproton.pn_link_advance(link)


def send(link: Raw, tag: bytes, data: bytes) -> Raw:
    """Transfer a message under this tag; returns its delivery."""
    delivery = cproton.pn_delivery(link, tag)
    cproton.pn_link_send(link, data)
    cproton.pn_link_advance(link)
    return delivery


class Unfinished(dict[Raw, int]):
    """Bytes of each link, and of all together."""

    total = 0

    def __setitem__(self, link: Raw, size: int) -> None:
        self.total += size - self.get(link, 0)
        super().__setitem__(link, size)

    def pop(self, link: Raw, default: Any = None) -> Any:
        """Forget a link."""
        self.total -= self.get(link, 0)
        return super().pop(link, default)
