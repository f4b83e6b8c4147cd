"""Observability: how much of a bus an observer can see."""

from collections.abc import Collection

import attrs

from busproof.vocabulary.values import Clock

__all__ = ["Observability", "observability_from"]


@attrs.frozen(kw_only=True)
class Observability:
    """Properties of a bus that decide how much an observer sees, as its adapter declares them.

    Attributes:
        clock: whether time is virtual or real.
        slack: how much earlier or later than announced a timer may fire, in microseconds.
        partitions: whether partitions can be identified, by a witness or by taking them down.
        witness: whether the partition that took a message is known, from the witness of a send or
            from the top 16 bits of a sequence number.
        partial: whether the history has only a part of the events, so that a peek may lack messages
            that seem to be there.
        outages: whether partitions are taken down, so that one may be when a history begins.
        left_out: connections whose receives a partial history leaves out; their front ends may have
            cached any message.
        assigns_message_ids: whether the client library sets a MessageId if the sender sets none.
        limits: whether the bus has to refuse requests beyond a documented limit (LIMIT); otherwise
            it may accept them.
        dead_letters: whether the bus dead-letters messages; otherwise one that was delivered too
            often may be dropped or delivered again.
        dead_letter_reasons: whether each dead letter is shown with the reason for which it became
            one; otherwise the reason may be missing.
    """

    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    partitions: bool = True
    witness: bool = True
    assigns_message_ids: bool = False
    limits: bool = False
    dead_letters: bool = True
    dead_letter_reasons: bool = False
    outages: bool = False
    left_out: frozenset[str] = frozenset()
    partial: bool = False


def observability_from(clock: Clock, slack: int, capabilities: Collection[str]) -> Observability:
    """Return the observability of a bus whose adapter declares these capabilities."""
    return Observability(
        clock=clock,
        slack=slack,
        partitions="witness" in capabilities or "outages" in capabilities,
        witness="witness" in capabilities,
        outages="outages" in capabilities,
        assigns_message_ids="client-library" in capabilities,
        limits="limits" in capabilities,
        dead_letters="dead-letter" in capabilities,
        dead_letter_reasons="dead-letter-reasons" in capabilities,
    )
