"""What only events of independent parts show together: that one entity does not affect another.

The parts of a history are explained one by one, so the rules on other entities are shown by looking
at all events in their order.
"""

from collections.abc import Collection, Mapping
from copy import deepcopy

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Rules

__all__ = ["Across"]

Sends = v.Send | v.SendBatch
Receives = v.Receive | v.ReceiveBatch


class Across:
    """What the events of a history show together, in the order of recording."""

    def __init__(self) -> None:
        self._dark: dict[str, set[int]] = {}
        self._ids = _Identified()

    def copy(self) -> "Across":
        """Return a copy that goes on by itself."""
        return deepcopy(self)

    def shown(self, rules: Rules, event: v.Event) -> Rules:
        """DUP-13, PART-05: return the rules that the next event shows, with these further ones.

        Args:
            rules: the rules that it shows by itself.
            event: the event.
        """
        dark = self._dark
        match event.command:
            case v.TakePartitionDown(queue=queue, partition=partition):
                dark.setdefault(v.owner_of(queue), set()).add(partition)
            case v.BringPartitionUp(queue=queue, partition=partition):
                dark.setdefault(v.owner_of(queue), set()).discard(partition)
        more = (
            *(("PART-05",) if any(dark.values()) and _is_beside(event, dark) else ()),
            *(("DUP-13",) if self._ids.shows(event, rules) else ()),
        )
        return tuple(dict.fromkeys((*rules, *more))) if more else rules


def _is_beside(event: v.Event, dark: Mapping[str, Collection[int]]) -> bool:
    """PART-05: return whether an entity works that is beside one with partitions down."""
    command = event.command
    if not isinstance(command, Sends | Receives):
        return False
    base = v.owner_of(command.queue).partition(v.SUBSCRIPTIONS)[0]
    works = isinstance(event.outcome, v.Done | v.Received | v.ReceivedSeveral)
    return works and not dark.get(base)


class _Identified:
    """DUP-13: MessageIds that were sent to several entities with duplicate detection."""

    def __init__(self) -> None:
        self._detecting: set[str] = set()
        self._last: dict[str, str] = {}
        self._elsewhere: set[tuple[str, str]] = set()

    def shows(self, event: v.Event, shown: Rules) -> bool:
        """Return whether an event shows that a message is no copy of one sent elsewhere."""
        command = event.command
        outcome = event.outcome
        match command:
            case v.CreateQueue(duplicate_detection=True):
                self._detecting.add(command.queue)
            case v.CreateTopic(duplicate_detection=True):
                self._detecting.add(command.topic)
            case v.Send() if isinstance(outcome, v.Done) and command.queue in self._detecting:
                message_id = command.message.message_id
                # Beside a single such entity there is nothing to compare.
                is_known = message_id is not None and len(self._detecting) > 1
                if message_id is not None and is_known and "KEY-11" not in shown:
                    if self._last.get(message_id, command.queue) != command.queue:
                        self._elsewhere.add((command.queue, message_id))
                    self._last[message_id] = command.queue
            case v.Receive() if isinstance(outcome, v.Received):
                return "LIFE-01" in shown and (
                    (command.queue, outcome.message.message_id or "") in self._elsewhere
                )
        return False
