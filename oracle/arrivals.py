"""A message on its way into an entity."""

import attrs

from busproof import vocabulary as v
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.window import Window

__all__ = ["Arrival", "Passed"]


@attrs.frozen(kw_only=True)
class Arrival:
    """A message that an entity has taken.

    Attributes:
        message: what was sent.
        key: its partition key there, if it has one.
        where: the partitions that may have taken it.
        certain: whether it is known to have been taken.
        answered: whether it arrives now, rather than at any later time or never.
        revision: of the topic when it was sent, if that was before it arrived.
        hops: how often it has been forwarded.
        shows: the rules besides that its being received shows.
        came: when it arrived, if that need not be now.
        least: a shorter time to live than its own that it may have where it goes.
        reason: why it was dead-lettered, if it comes from a dead-letter queue.
        several: whether it is one of several copies, whose order is not said.
        owed: whether it surely arrives in the end, though nobody says when.
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
    """A message that an entity forwards, and the rule by which it surely could not go on.

    That rule is `None` where nothing is known that kept it.
    """

    arrival: Arrival
    kept_by: v.RuleId | None = None
