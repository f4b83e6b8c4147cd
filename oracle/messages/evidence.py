"""Rules that the answer to a receive exercises."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.forwarding.forwarding import why_late
from busproof.oracle.management.topics import shown_by_copy, shown_by_nothing
from busproof.oracle.messages.activation import is_awaited, why_active
from busproof.oracle.messages.deliveries import DEFAULT_DELIVERIES, permitted
from busproof.oracle.messages.expiry import why_given as why_given_at_its_age
from busproof.oracle.messages.expiry import why_nothing as why_expired
from busproof.oracle.messages.matching import Seen
from busproof.oracle.messages.message_store import surely_available
from busproof.oracle.messages.partitions import why_handed_out, why_not_handed_out
from busproof.oracle.messages.stopped_clocks import lock_is_over
from busproof.oracle.state import Namespace, Queue


def cached_elsewhere(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another front end than the latest receiver's may still have a cache.

    Under one reading (MESSAGES-EXPIRE) cached messages may be lost with it; then this never ends.
    So it is if that connection received and deleted (CACHE-DELETE).
    """
    readings, receivers = namespace.profile.readings, queue.receivers
    if receivers.deleters - {receivers.connection} and readings.get("CACHE-DELETE") != "kept":
        return True
    if readings.get("MESSAGES-EXPIRE") == "message":
        return receivers.others_until >= 0 or left_out(namespace, queue)
    until = receivers.others_until
    return not lock_is_over(namespace, queue, until) or left_out(namespace, queue)


def left_out(namespace: Namespace, queue: Queue) -> bool:
    """Return whether the history omits receives over other connections."""
    return bool(namespace.observability.left_out - {queue.receivers.connection})


def why_nothing(
    namespace: Namespace, queue: Queue, session_id: str | None, *, cached: bool
) -> tuple[v.RuleId, ...]:
    """Return the rules that an empty answer exercises: locked, settled and expired messages."""
    rules: tuple[v.RuleId, ...] = ("LIFE-11",) if queue.outages.any else ()
    rules = (*why_not_handed_out(namespace, queue, cached=cached), *rules)
    if cached and surely_available(queue, cached_elsewhere=False):
        rules = ("LIFE-08", *rules)
    if not cached:
        rules = (*queue.kept_away, *shown_by_nothing(queue), *rules)
    if len(queue.messages) < queue.arrivals:
        rules = ("LIFE-03", *rules)
    rules = (*_why_no_dead_letter(namespace, queue), *rules)
    rules = (*why_expired(namespace, queue, session_id), *rules)
    rules = (*is_awaited(namespace, queue, session_id), *rules)
    if len(queue.managed.before):
        apart: tuple[v.RuleId, ...] = ("MGMT-17",) if queue.settings.partitioned else ()
        rules = ("MGMT-15", *apart, *rules)
    return ("LIFE-02", *rules) if len(queue.locks) else rules


def _why_no_dead_letter(namespace: Namespace, queue: Queue) -> Iterator[v.RuleId]:
    """DLQ-02, DLQ-07, DLQ-08, DLQ-13, DLQ-14: return the rules about either queue."""
    name = queue.settings.queue
    if not v.is_dead_letter_queue(name):
        dead = namespace.queues.get(name + v.DEAD_LETTERS)
        if queue.spent:
            yield "DLQ-02"
        if dead is not None and dead.arrivals:
            yield "DLQ-14"
        aside = queue.messages.get(queue.latest_deferred)
        if aside is not None and aside.deferred:
            yield "DEFER-01"
        return
    if name.endswith(v.TRANSFERS):
        yield "FWD-32"
    else:
        yield from _why_not_for_its_age(namespace.queues[v.owner_of(name)])
    if not queue.arrivals:
        yield "DLQ-08"
    if len(queue.messages) < queue.arrivals:
        yield "DLQ-07"
    if queue.outages.any:
        yield "DLQ-13"


def _why_not_for_its_age(owner: Queue) -> Iterator[v.RuleId]:
    """TTL-08, TTL-10: return the rules exercised because no expired message is there."""
    if owner.deaths.shown and not owner.settings.dead_letter_expired:
        yield "TTL-08"
    if owner.deaths.aside and owner.settings.dead_letter_expired:
        yield "TTL-10"


def why_given(namespace: Namespace, candidate: Seen, view: v.MessageView) -> tuple[v.RuleId, ...]:
    """Return the rules that a delivery exercises, whatever the message's place in a line."""
    stored, queue = candidate.stored, candidate.queue
    cached = cached_elsewhere(namespace, queue)
    again = "LIFE-05" if stored.lock is not None else stored.returned
    copied = shown_by_copy(namespace, queue, stored.message.body)
    rules: tuple[v.RuleId, ...] = (*stored.shows, *copied, "LIFE-01", *candidate.rules)
    if queue.fed and not stored.deliveries:
        rules = (*why_late(namespace, queue, stored.message.body), *rules)
    if v.is_dead_letter_queue(queue.settings.queue):
        rules = ("DLQ-06", *candidate.rules, *_why_dead_letter(namespace, candidate))
    rules = (*why_active(queue, stored, view.sequence_number), *rules)
    rules = (*why_given_at_its_age(namespace, queue, stored), *rules)
    if stored.deliveries:
        rules = (*rules, *_why_again(namespace, candidate, view))
    if namespace.observability.assigns_message_ids and stored.message.message_id is None:
        rules = ("KEY-13", *rules)
    if len(queue.room.refused):
        rules = (*rules, "SIZE-11")
    if queue.receivers.others_until >= 0 and stored.since < queue.receivers.switched:
        rules = (*rules, "LIFE-08" if cached else "LIFE-13")
    if queue.outages.any:
        rules = (*rules, "LIFE-11")
    elif not cached:
        rules = (*rules, "LIFE-09")
    rules = (*why_handed_out(namespace, candidate, cached=cached), *rules)
    return rules if again is None else (again, *rules)


def _why_again(namespace: Namespace, candidate: Seen, view: v.MessageView) -> Iterator[v.RuleId]:
    """DLQ-01, DLQ-03, LOCK-08, LOCK-09: return the rules that a redelivery exercises."""
    stored, queue = candidate.stored, candidate.queue
    if stored.resisted:
        yield "LOCK-08"
    if stored.number + 1 < queue.arrivals:
        yield "LOCK-09"
    if v.is_dead_letter_queue(queue.settings.queue):
        return
    if view.delivery_count is not None:
        yield "DLQ-01"
    if stored.counted + 1 == permitted(namespace, queue)[0]:
        yield "DLQ-03"


def _why_dead_letter(namespace: Namespace, candidate: Seen) -> Iterator[v.RuleId]:
    """DLQ-04, DLQ-07, DLQ-09, DLQ-12, DLQ-13: return the rules a dead letter exercises."""
    stored, queue = candidate.stored, candidate.queue
    most = namespace.queues[v.owner_of(queue.settings.queue)].settings.max_delivery_count
    if stored.returned == "DLQ-02" and most == DEFAULT_DELIVERIES:
        yield "DLQ-04"
    if stored.deliveries:
        yield "DLQ-07"
    if stored.deliveries >= most:
        yield "DLQ-09"
    if queue.settings.partitioned and queue.arrivals > 1:
        yield "DLQ-12"
    if queue.outages.any:
        yield "DLQ-13"
