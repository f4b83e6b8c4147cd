"""Late witnesses: a later sequence number may reveal the partition of an earlier send."""

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from busproof import vocabulary as v
from busproof.history.packed import packed

__all__ = ["with_late_witnesses"]


def with_late_witnesses(events: Sequence[v.Event]) -> Sequence[v.Event]:
    """Return the events, with each send's partition filled in if a later event reveals it.

    The partition is certain only if the body was sent once, to one partitioned queue.
    """
    if not any(map(_lacks_witness, events)):
        return events
    partitioned = {
        event.command.queue
        for event in events
        if isinstance(event.command, v.CreateQueue) and event.command.partitioned
    }
    sent = Counter(_key_of_send(event) for event in events if isinstance(event.command, v.Send))
    partition_of = {
        (_queue(event), view.body): view.sequence_number >> v.SEQUENCE_BITS
        for event in events
        for view in _views(event)
        if view.sequence_number is not None and view.sequence_number >= 0
    }
    return packed(
        attrs.evolve(event, witness=v.Witness(partition=partition_of[_key_of_send(event)]))
        if _lacks_witness(event)
        and _queue(event) in partitioned
        and sent[_key_of_send(event)] == 1
        and _key_of_send(event) in partition_of
        else event
        for event in events
    )


def _lacks_witness(event: v.Event) -> bool:
    is_sent = isinstance(event.command, v.Send) and isinstance(event.outcome, v.Done)
    return is_sent and event.witness is None


def _queue(event: v.Event) -> str:
    return str(getattr(event.command, "queue", ""))


def _key_of_send(event: v.Event) -> tuple[str, str]:
    command = event.command
    return (command.queue, command.message.body) if isinstance(command, v.Send) else ("", "")


def _views(event: v.Event) -> Iterator[v.MessageView]:
    if isinstance(event.outcome, v.Received):
        yield event.outcome.message
    elif isinstance(event.outcome, v.Peeked):
        yield from event.outcome.messages
