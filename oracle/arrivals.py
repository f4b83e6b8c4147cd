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
        answered: whether it arrives now; otherwise it may arrive at any later time or never.
        revision: the topic's revision when it was sent, if that was before it arrived.
        hops: how often it has been forwarded.
        shows: further rules that its delivery exercises.
        came: when it arrived, if not necessarily now.
        least: a shorter time to live that it may have at its destination.
        reason: why it was dead-lettered, if it comes from a dead-letter queue.
        several: whether it is one of several copies, whose order is open.
        owed: whether it must arrive eventually, without a time limit.
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
    owed: bool = False


@attrs.frozen
class Passed:
    """A forwarded message, and the rule that surely prevented its forwarding.

    That rule is `None` if nothing is known to have prevented it.
    """

    arrival: Arrival
    kept_by: v.RuleId | None = None
