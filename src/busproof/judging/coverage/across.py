"""What only events of independent parts show together: that one entity does not affect another.

The parts of a history are explained one by one, so the rules on other entities are shown by looking
at all events in their order.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Rules

__all__ = ["shown_across"]

Sends = v.Send | v.SendBatch
Receives = v.Receive | v.ReceiveBatch


def shown_across(events: Sequence[v.Event], shown: Mapping[int, Rules]) -> dict[int, Rules]:
    """DUP-13, PART-05: return the further rules that events show, by their indices.

    Args:
        events: all events of a history.
        shown: the rules that each event shows by itself.
    """
    more: dict[int, Rules] = {}
    dark: defaultdict[str, set[int]] = defaultdict(set)
    ids = _Identified()
    for index, event in enumerate(events):
        command = event.command
        match command:
            case v.TakePartitionDown():
                dark[v.owner_of(command.queue)].add(command.partition)
            case v.BringPartitionUp():
                dark[v.owner_of(command.queue)].discard(command.partition)
        rules = (
            *(("PART-05",) if any(dark.values()) and _is_beside(event, dark) else ()),
            *(("DUP-13",) if ids.shows(event, shown.get(index, ())) else ()),
        )
        if rules:
            more[index] = rules
    return more


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
                if message_id is not None and "KEY-11" not in shown:
                    if self._last.get(message_id, command.queue) != command.queue:
                        self._elsewhere.add((command.queue, message_id))
                    self._last[message_id] = command.queue
            case v.Receive() if isinstance(outcome, v.Received):
                return "LIFE-01" in shown and (
                    (command.queue, outcome.message.message_id or "") in self._elsewhere
                )
        return False
