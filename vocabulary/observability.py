"""What a client can observe of an implementation."""

from collections.abc import Collection

import attrs

from busproof.vocabulary.values import Clock

__all__ = ["Observability", "observability_from"]


@attrs.frozen(kw_only=True)
class Observability:
    """What a client of one implementation can see, as its adapter declares it.

    Attributes:
        clock: whether time is virtual.
        slack: how much earlier or later than announced a timer may fire, in microseconds.
        partitions: whether partitions can be told apart, by a witness or by taking them down.
        witness: whether the partition that took a message is told, by the witness of a send or by
            the top 16 bits of a sequence number.
        partial: whether only a part of a history is looked at, so that a peek need not have shown
            all that it did.
        left_out: connections over which there were receives that are not told, because only a
            part of a history is looked at; what they may have put into caches stays possible.
        assigns_message_ids: whether the client library sets a MessageId that the sender left out.
        limits: whether requests beyond a documented limit are refused (LIMIT), as the adapter says;
            otherwise they may be, or not.
    """

    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    partitions: bool = True
    witness: bool = True
    assigns_message_ids: bool = False
    limits: bool = False
    left_out: frozenset[str] = frozenset()
    partial: bool = False


def observability_from(clock: Clock, slack: int, capabilities: Collection[str]) -> Observability:
    """What the model may take as seen, of an implementation with these capabilities."""
    return Observability(
        clock=clock,
        slack=slack,
        partitions="witness" in capabilities or "outages" in capabilities,
        witness="witness" in capabilities,
        assigns_message_ids="client-library" in capabilities,
        limits="limits" in capabilities,
    )
