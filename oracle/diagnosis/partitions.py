"""Diagnosis of events that break rules on partitions, outages, front ends and peeks."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.messages.matching import recognised
from busproof.oracle.messages.partitions import has_outlasted, is_another_dark
from busproof.oracle.messages.peek_start import (
    begins_wrongly,
    continues_wrongly,
    settled_fronts,
    shows_too_little,
    shows_what_is_down,
)
from busproof.oracle.state import Namespace, Queue, everywhere
from busproof.oracle.transition import Observation

__all__ = ["blamed_for_partitions", "wrongly_begun"]


def wrongly_begun(
    namespace: Namespace, queue: Queue, command: v.Peek, views: tuple[v.MessageView, ...]
) -> tuple[v.RuleId, ...]:
    """PART-14, PART-15, PART-19, PART-20, DEFER-09: diagnose the start or length of a peek."""
    if len(views) > command.count or len({*views}) < len(views):
        return ("PART-19", "LIFE-07")
    if any(continues_wrongly(namespace, command, view) for view in views):
        return ("PART-20", "LIFE-07")
    queue = settled_fronts(queue)
    if not views:
        rule = shows_too_little(namespace, queue, command)
        return () if rule is None else (rule, *_left_out(queue), "LIFE-07")
    places = (recognised(namespace, queue, view, Observation()) for view in views)
    if any(shows_what_is_down(namespace, queue, each.where) for found in places for each in found):
        return ("PART-29", "LIFE-07")
    for seen in recognised(namespace, queue, views[0], Observation()):
        rule = begins_wrongly(seen, command)
        if rule is not None:
            return (rule, *_left_out(queue), "LIFE-07")
    return ()


def _left_out(queue: Queue) -> tuple[v.RuleId, ...]:
    """DEFER-09: diagnose a peek that may have skipped a message at its start."""
    deferred = any(stored.deferred for stored in queue.messages.values())
    return ("DEFER-09",) if deferred else ()


def blamed_for_partitions(
    namespace: Namespace, queue: Queue | None, event: v.Event
) -> Iterator[v.RuleId]:
    """Return further broken rules, given current and earlier outages."""
    if queue is None:
        return
    match event.command, event.outcome:
        case v.Receive(), v.Empty() | v.Refused():
            yield from _withheld(namespace, queue)
        case v.Receive(), v.Received():
            yield from _given(queue)
        case v.Send(), v.Done() if queue.outages.must_hit(everywhere(namespace, queue.settings)):
            yield "PART-03" if queue.settings.partitioned else "PART-01"
        case v.Send(), v.Refused():
            if queue.outages.any:
                yield "PART-02"
            if is_another_dark(namespace, queue):
                yield "PART-05"
        case (
            (v.Complete() | v.Abandon() | v.Defer() | v.DeadLetter() | v.RenewLock()),
            v.Refused(),
        ):
            if queue.settings.partitioned:
                yield "PART-12"


def _withheld(namespace: Namespace, queue: Queue) -> Iterator[v.RuleId]:
    """PART-02, PART-04, PART-05, PART-09, PART-12: an available message was not given."""
    waiting = [stored for stored in queue.messages.values() if stored.available]
    if any(has_outlasted(queue, stored) for stored in waiting):
        yield "PART-04"
    if queue.recovered or queue.outages.any:
        yield "PART-02"
    if is_another_dark(namespace, queue):
        yield "PART-05"
    if not queue.settings.partitioned:
        return
    if any(stored.since < queue.receivers.count for stored in waiting):
        yield "PART-09"
    if queue.settlements and queue.arrivals > 1:
        yield "PART-12"


def _given(queue: Queue) -> Iterator[v.RuleId]:
    """PART-01, PART-04, PART-09, PART-10, PART-12: a message was given that must not be."""
    if queue.outages.any and not queue.settings.partitioned:
        yield "PART-01"
    if queue.recovered:
        yield "PART-04"
    if queue.settings.partitioned and len(queue.locks):
        yield "PART-10"
    if queue.settings.partitioned and queue.settlements and queue.arrivals > 1:
        yield from ("PART-12", "PART-09")
