"""What the events that are not done yet show of a message.

Of overlapping requests, later is what the search has not placed, not what was recorded later.
"""

from collections.abc import Sequence

from busproof import vocabulary as v
from busproof.judging.replay.evidence import Evidence, messages_of
from busproof.judging.replay.orders import Order
from busproof.model.state import QueuedMessage

__all__ = ["Outlook"]


class Outlook:
    """The events to come, asked about messages.

    Args:
        evidence: facts about the whole history.
        order: which events are done.
        slack: how wrong the bus's timers may be, in microseconds.
    """

    def __init__(self, evidence: Evidence, order: Order, slack: int) -> None:
        self._evidence = evidence
        self._order = order
        self._slack = slack

    def shows(self, queued: QueuedMessage) -> Sequence[str | None]:
        """Return the connections of what shows a message from now on; `None` for peeks."""
        shows = self._evidence.shows(queued.entity.path, queued.message.body)
        return [connection for index, connection in shows if not self._order.is_done(index)]

    def receiver(self, queued: QueuedMessage) -> str | None:
        """Return the connection that receives a message next, if any does."""
        return next(filter(None, self.shows(queued)), None)

    def is_received_within(self, queued: QueuedMessage, moment: int) -> bool:
        """Return whether a message is received before a lock ends that began at this moment."""
        shows = self._evidence.shows(queued.entity.path, queued.message.body)
        ends = (self._order.end(i) for i, one in shows if one and not self._order.is_done(i))
        life = queued.entity.settings.lock_duration - self._slack
        return (end := next(ends, None)) is not None and end < moment + life

    def is_traced(self, command: v.Command) -> bool:
        """Return whether messages that a request sends are seen, so that it took effect."""
        sights = (self._evidence.last_sight(message.body) for message in messages_of(command))
        return any(sight >= 0 and not self._order.is_done(sight) for sight in sights)

    def has_done_with(self, path: str, connection: str) -> bool:
        """Return whether the last receive of a connection from an entity is done."""
        return self._order.is_done(self._evidence.last_receive(path, connection))
