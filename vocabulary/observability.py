"""Observability: how much of an implementation a client can see."""

from collections.abc import Collection

import attrs

from busproof.vocabulary.values import Clock

__all__ = ["Observability", "observability_from"]


@attrs.frozen(kw_only=True)
class Observability:
    """Visibility of one implementation for its clients, as its adapter declares it.

    Attributes:
        clock: whether time is virtual.
        slack: how much earlier or later than announced a timer may fire, in microseconds.
        partitions: whether partitions can be identified, by a witness or by taking them down.
        witness: whether the partition that took a message is known, from the witness of a send or
            from the top 16 bits of a sequence number.
        partial: whether the history is only a part of what happened, so that a peek need not have
            shown everything.
        left_out: connections with receives that a partial history omits; what those may have put
            into caches stays possible.
        assigns_message_ids: whether the client library sets a MessageId if the sender sets none.
        limits: whether the adapter declares that requests beyond a documented limit are refused
            (LIMIT); otherwise they may be refused or accepted.
        dead_letters: whether the adapter declares dead-lettering; otherwise a message that was
            delivered too often may be given up or delivered again.
    """

    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    partitions: bool = True
    witness: bool = True
    assigns_message_ids: bool = False
    limits: bool = False
    dead_letters: bool = True
    left_out: frozenset[str] = frozenset()
    partial: bool = False


def observability_from(clock: Clock, slack: int, capabilities: Collection[str]) -> Observability:
    """Return the observability of an implementation with these capabilities."""
    return Observability(
        clock=clock,
        slack=slack,
        partitions="witness" in capabilities or "outages" in capabilities,
        witness="witness" in capabilities,
        assigns_message_ids="client-library" in capabilities,
        limits="limits" in capabilities,
        dead_letters="dead-letter" in capabilities,
    )
