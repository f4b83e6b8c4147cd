"""Late witnesses: a received sequence number reveals the partition of an earlier send."""

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from busproof.vocabulary.commands import CreateQueue, Send
from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import Done, Event, Peeked, Received, Witness

__all__ = ["with_late_witnesses"]


def with_late_witnesses(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events with partitions of sends filled in that were revealed later.

    The partition is clear only if a body was sent once, to one partitioned queue.
    """
    partitioned = {
        event.command.queue
        for event in events
        if isinstance(event.command, CreateQueue) and event.command.partitioned
    }
    sent = Counter(_sent(event) for event in events if isinstance(event.command, Send))
    seen = {
        (_queue(event), view.body): view.sequence_number >> SEQUENCE_BITS
        for event in events
        for view in _views(event)
        if view.sequence_number is not None and view.sequence_number >= 0
    }
    return tuple(
        attrs.evolve(event, witness=Witness(partition=seen[_sent(event)]))
        if _lacks_witness(event)
        and _queue(event) in partitioned
        and sent[_sent(event)] == 1
        and _sent(event) in seen
        else event
        for event in events
    )


def _lacks_witness(event: Event) -> bool:
    is_sent = isinstance(event.command, Send) and isinstance(event.outcome, Done)
    return is_sent and event.witness is None


def _queue(event: Event) -> str:
    return str(getattr(event.command, "queue", ""))


def _sent(event: Event) -> tuple[str, str]:
    command = event.command
    return (command.queue, command.message.body) if isinstance(command, Send) else ("", "")


def _views(event: Event) -> Iterator[MessageView]:
    if isinstance(event.outcome, Received):
        yield event.outcome.message
    elif isinstance(event.outcome, Peeked):
        yield from event.outcome.messages
