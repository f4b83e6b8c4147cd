"""Diagnosis of events that break rules on partitions, outages, front ends and peeks."""

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
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, everywhere
from busproof.oracle.transition import Observation


def wrongly_begun(
    namespace: Namespace, queue: Queue, command: v.Peek, views: tuple[v.MessageView, ...]
) -> tuple[v.RuleId, ...]:
    """PART-14, PART-15, PART-19, PART-20, DEFER-09: return the rules that a peek breaks."""
    if len(views) > command.count or len({*views}) < len(views):
        return ("PART-19", "LIFE-07")
    if any(continues_wrongly(namespace, command, view) for view in views):
        return ("PART-20", "LIFE-07")
    queue = settled_fronts(queue)
    if not views:
        rule = shows_too_little(namespace, queue, command)
        return () if rule is None else (rule, *_left_out(queue), "LIFE-07")
    places = (recognised(namespace, queue, view, Observation()) for view in views)
    if any(
        shows_what_is_down(namespace, queue, candidate.where)
        for candidates in places
        for candidate in candidates
    ):
        return ("PART-29", "LIFE-07")
    for candidate in recognised(namespace, queue, views[0], Observation()):
        rule = begins_wrongly(candidate, command)
        if rule is not None:
            return (rule, *_left_out(queue), "LIFE-07")
    return ()


def _left_out(queue: Queue) -> tuple[v.RuleId, ...]:
    """DEFER-09: return the rule that a peek may break by leaving out a deferred message."""
    return rules_if((any(stored.deferred for stored in queue.messages.values()), "DEFER-09"))


def blamed_for_partitions(
    namespace: Namespace, queue: Queue | None, event: v.Event
) -> tuple[v.RuleId, ...]:
    """Return further rules that the event may break because of outages, now or earlier."""
    if queue is None:
        return ()
    partitioned = queue.settings.partitioned
    rules: tuple[v.RuleId, ...] = ()
    match event.command, event.outcome:
        case v.Receive(), v.Empty() | v.Refused():
            rules = _withheld(namespace, queue)
        case v.Receive(), v.Received():
            rules = rules_if(
                # The answer is wrong for a reason found elsewhere; these rules say what an outage,
                # a cache or a settlement on several partitions may have to do with it.
                (queue.outages.any and not partitioned, "PART-01"),
                (queue.recovered, "PART-04"),
                (partitioned and len(queue.locks), "PART-10"),
                (partitioned and queue.settlements and queue.arrivals > 1, "PART-12", "PART-09"),
            )
        case v.Send(), v.Done():
            # With every partition down there is none that could have taken the message.
            dark = queue.outages.must_hit(everywhere(namespace, queue.settings))
            rules = rules_if((dark, "PART-03" if partitioned else "PART-01"))
        case v.Send(), v.Refused():
            # The entity in which a partition is down may be another one, whose outage must not
            # matter here.
            elsewhere = is_another_dark(namespace, queue)
            rules = rules_if((queue.outages.any, "PART-02"), (elsewhere, "PART-05"))
        case (
            (v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock()),
            v.Refused(),
        ):
            rules = rules_if((partitioned, "PART-12"))
    return rules


def _withheld(namespace: Namespace, queue: Queue) -> tuple[v.RuleId, ...]:
    """PART-02, PART-04, PART-05, PART-09, PART-12, PART-25: return what an empty answer breaks."""
    waiting = [stored for stored in queue.messages.values() if stored.available]
    since = any(stored.since < queue.receivers.count for stored in waiting)
    partitioned = queue.settings.partitioned
    return rules_if(
        (any(has_outlasted(queue, stored) for stored in waiting), "PART-04"),
        (queue.recovered or queue.outages.any, "PART-02"),
        (is_another_dark(namespace, queue), "PART-05"),
        (partitioned and since, "PART-09"),
        (partitioned and since, "PART-25"),
        (partitioned and queue.settlements and queue.arrivals > 1, "PART-12"),
    )
