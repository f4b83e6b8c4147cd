"""A message in transit to an entity."""

import attrs

from busproof import vocabulary as v
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.window import Window


@attrs.frozen(kw_only=True)
class Arrival:
    """A message that an entity has accepted.

    Attributes:
        message: the sent message.
        key: its partition key there, if it has one.
        where: the partitions that may have taken it.
        certain: whether it was surely accepted.
        answered: whether it arrives now; otherwise its send was not answered, or it is forwarded,
            and it may arrive at any later time or never.
        revision: if the message was sent in a transaction, the topic's revision at that time, which
            may be older than the one at its arrival; otherwise `None`.
        hops: how often it has been forwarded.
        shows: further rules that count as exercised when this message is delivered.
        came: when it arrived; `None` if it arrives now.
        least: a shorter time to live in microseconds that it may have at its destination.
        reason: why it was dead-lettered, if it comes from a dead-letter queue.
        several: whether one send left several copies here, whose order is open.
    """

    message: v.Message
    key: Key | None
    where: Partitions
    certain: bool = True
    answered: bool = True
    revision: int | None = None
    hops: int = 0
    shows: tuple[v.RuleId, ...] = ()
    came: Window | None = None
    least: int | None = None
    reason: str | None = None
    several: bool = False


@attrs.frozen
class Passed:
    """Record of a forwarded message, which may have become a dead letter of its source instead.

    `kept_by` is the rule that surely prevented the forwarding; `None` if no such rule is known.
    """

    arrival: Arrival
    kept_by: v.RuleId | None = None
