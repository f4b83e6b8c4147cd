"""Diagnosis of receives that gave a wrong message, or withheld one."""

from busproof import vocabulary as v
from busproof.oracle.coverage.deliveries import COUNTED_AGAIN
from busproof.oracle.coverage.filters import OF_SQL
from busproof.oracle.coverage.settlements import DEFAULT_DURATION
from busproof.oracle.diagnosis.unknown_message import absence
from busproof.oracle.forwarding.forwarding_setup import LONGEST_LOCK
from busproof.oracle.messages.deliveries import DEFAULT_DELIVERIES, count_is_possible
from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.messages.locks import is_lock_of_another, lock_is_possible
from busproof.oracle.messages.matching import Candidate, recognised
from busproof.oracle.messages.message_store import first_in_line, order_rule
from busproof.oracle.messages.sequence_numbers import misnumbered
from busproof.oracle.queued_messages import Key, Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.several.batches import Reached, are_locked_apart, one_more, one_of
from busproof.oracle.state import Namespace, Queue, Subscription
from busproof.oracle.transition import Observation


def wrongly_received(
    namespace: Namespace, queue: Queue, event: v.Event, observed: Observation
) -> tuple[v.RuleId, ...]:
    """Return the rules that the answer to any kind of receive breaks."""
    match event.command, event.outcome:
        case v.Receive() | v.ReceiveBatch(), v.Received() | v.ReceivedSeveral() if (
            not queue.managed.status.gives
        ):
            return ("MGMT-27",)
        case v.Receive() as command, v.Received(message=view):
            return _wrongly_given(namespace, queue, command, view, observed)
        case v.ReceiveBatch() as command, v.ReceivedSeveral(messages=views):
            return _wrongly_given_together(namespace, command, event.connection, views)
        case v.Receive() | v.ReceiveBatch() as command, v.Empty() | v.Refused():
            one = command if isinstance(command, v.Receive) else one_of(command)
            return _withheld(namespace, queue, one)
        case v.ReceiveDeferred() as command, v.ReceivedSeveral(messages=views):
            return _wrongly_given_by_number(namespace, queue, command, views)
        case _:
            return ()


def _wrongly_given(
    namespace: Namespace,
    queue: Queue,
    command: v.Receive,
    view: v.MessageView,
    observed: Observation,
) -> tuple[v.RuleId, ...]:
    # The questions are asked in the order in which a reader would ask them: is the message there,
    # may it be given at all, to this receiver, under this number, with this lock and count, and
    # before the others?
    candidates = list(recognised(namespace, queue, view, observed))
    if not candidates:
        return absence(namespace, queue, view)
    stored = candidates[0].stored
    if stored.deferred or stored.spent:
        by_default = queue.settings.max_delivery_count == DEFAULT_DELIVERIES
        of_spent = rules_if((True, "DLQ-02"), (by_default, "DLQ-04"))
        return ("DEFER-01", "DEFER-06") if stored.deferred else of_spent
    # The delivery count decides when a message is dead-lettered, so a wrong one also breaks DLQ-01.
    if not any(count_is_possible(candidate) for candidate in candidates):
        return (*_wrongly_counted(stored, view), "DLQ-01")
    # A message that was scheduled has a number to cancel it by, and gets another one when it
    # arrives.
    if stored.came is not None and view.sequence_number == stored.scheduled_number is not None:
        return ("SCHED-06",)
    if command.session_id not in (None, stored.message.session_id):
        foreign = ("SESS-04", "KEY-06", "LIFE-10")
        return ("SESS-01",) if stored.message.session_id is None else foreign
    misnumber = misnumbered(candidates[0])
    return (
        rules_if((misnumber, misnumber or ""))
        or _lock_broken(candidates[0], command)
        or _wrongly_counted(stored, view)
        or _order_broken(queue, stored)
    )


def _wrongly_given_together(
    namespace: Namespace, command: v.ReceiveBatch, connection: str, views: tuple[v.MessageView, ...]
) -> tuple[v.RuleId, ...]:
    """BATCH-12 to BATCH-14, PART-13: return the rules broken by these messages together."""
    # A receive of several may return fewer messages than requested, but neither more nor none nor
    # one of them twice.
    if not 1 <= len(views) <= command.count or len({view.body for view in views}) < len(views):
        return ("BATCH-12", "LIFE-02", "PART-13")
    if not are_locked_apart(command, views):
        return ("BATCH-14",)
    # Each message is judged after those before it were given: the second message of a key may be
    # given only together with the first one.
    reached: list[Reached] = [(namespace, ())]
    for view in views:
        # Several states explain the messages so far; any of them names the broken rules.
        state = reached[0][0]
        reached = one_more(reached, command, connection, view)
        if not reached:
            queue, one = state.queues[command.queue], one_of(command)
            rules = _wrongly_given(state, queue, one, view, Observation(v.Received(message=view)))
            return (*rules, "BATCH-13", "BATCH-14")
    raise AssertionError("messages that can be given one by one can be given together")


def _wrongly_counted(stored: Stored, view: v.MessageView) -> tuple[v.RuleId, ...]:
    """SESS-09, SESS-10: return the rule that a wrong delivery count breaks."""
    if stored.expected is None or view.delivery_count in (None, stored.expected):
        return ()
    return (COUNTED_AGAIN.get(stored.returned or "", "LIFE-01"),)


def _wrongly_given_by_number(
    namespace: Namespace, queue: Queue, command: v.ReceiveDeferred, views: tuple[v.MessageView, ...]
) -> tuple[v.RuleId, ...]:
    """Return the rules on deferral that these messages break.

    They are DEFER-03 to DEFER-05, DEFER-07, DEFER-08, DEFER-11 and DEFER-12.
    """
    for view in views:
        # A receive by number may only return what it named, whatever else is deferred.
        if view.sequence_number not in (None, *command.sequence_numbers):
            return ("DEFER-08",)
        candidate = next(recognised(namespace, queue, view, Observation()), None)
        if candidate is None or _is_named_by(queue, view):
            return _altered_or_gone(namespace, queue, view)
        if candidate.stored.deferred is False:
            return ("DEFER-04",)
        if candidate.stored.lock is not None:
            return ("DEFER-05", "LIFE-02")
        if not count_is_possible(candidate):
            return ("DLQ-01",)
    return ("DEFER-11", "DEFER-12", "LOCK-01")


def _altered_or_gone(
    namespace: Namespace, queue: Queue, view: v.MessageView
) -> tuple[v.RuleId, ...]:
    """DEFER-02 to DEFER-08: return the rules broken by a wrong, altered or settled message."""
    wrong, settled = absence(namespace, queue, view), ("DEFER-07", "DEFER-03")
    if _is_named_by(queue, view):
        return ("DEFER-02", "DEFER-08", "DEFER-04", *settled, *wrong)
    if not any(stored.deferred for stored in queue.with_body(view.body)):
        return (*settled, *wrong)
    return (*rules_if(("SEQ-04" in wrong, "DEFER-08")), *wrong, "DEFER-06", *settled)


def _is_named_by(queue: Queue, view: v.MessageView) -> bool:
    """Return whether the number in the view belongs to another message that was deferred."""
    place = queue.deferred.get(-1 if view.sequence_number is None else view.sequence_number)
    named = None if place is None else queue.messages.get(place)
    return named is not None and named.message.body != view.body


def _lock_broken(candidate: Candidate, command: v.Receive) -> tuple[v.RuleId, ...]:
    """Return the rules that the lock of a delivery breaks; none if it is as it should be."""
    lock = candidate.stored.lock
    # Even the earliest possible end of the lock is still to come, so another receiver surely holds
    # it.
    if lock is not None and candidate.namespace.now.latest < lock.expiry.earliest:
        return ("LIFE-02", "LOCK-10", *(("LOCK-04",) if lock.first else ()))
    keeps = command.mode is v.ReceiveMode.PEEK_LOCK
    if keeps and not lock_is_possible(candidate, command.session_id):
        shared = is_lock_of_another(candidate)
        return ("LOCK-07", "BATCH-14") if shared else _wrongly_locked(candidate.queue)
    return ("LIFE-02",) if lock is not None else ()


def _wrongly_locked(queue: Queue) -> tuple[v.RuleId, ...]:
    """Return the rules that the end of a lock breaks by contradicting the lock duration."""
    settings, managed = queue.settings, queue.managed
    # After an update, the wrong end is usually that of the old duration, so the rules on updates
    # come first.
    return rules_if(
        (managed.updated, "MGMT-12"),
        (managed.updated and settings.partitioned, "MGMT-17"),
        (managed.updated and "update" in managed.refused, "MGMT-19"),
        (settings.lock_duration == DEFAULT_DURATION, "LOCK-02"),
        (settings.lock_duration == LONGEST_LOCK, "LOCK-03"),
        (True, "LOCK-01"),
    )


def _order_broken(queue: Queue, stored: Stored) -> tuple[v.RuleId, ...]:
    if stored.came is not None and stored.line is None:
        return ("KEY-26" if queue.in_order else "SCHED-07", "LIFE-10")
    first = None if stored.line is None else first_in_line(queue, stored.line)
    # No earlier message is surely there, so the order is not what the delivery broke.
    if first is None or first.number >= min(stored.sent, stored.number):
        return ("LIFE-10",)
    again = ("LIFE-04", "LIFE-05") if first.deliveries else ()
    return (order_rule(queue), *again)


def _withheld(namespace: Namespace, queue: Queue, command: v.Receive) -> tuple[v.RuleId, ...]:
    """Return the rules that are broken by not giving an available message."""
    if command.session_id is not None:
        return _withheld_from_session(queue, command.session_id)
    if v.is_dead_letter_queue(command.queue):
        stays = ("DLQ-05", "DLQ-02", "DLQ-12", "DLQ-07", "DLQ-09", "LIFE-09")
        return stays if queue.arrivals else ("DLQ-08", *stays)
    # Only a message that is surely available should have been given.
    waiting = [stored for stored in queue.messages.values() if stored.available]
    unseen = [stored for stored in waiting if not stored.deliveries]
    by_id = any(stored.key is None and stored.message.message_id is not None for stored in waiting)
    return (
        *rules_if((namespace.now.earliest > queue.receivers.others_until >= 0, "LIFE-13")),
        *dict.fromkeys(stored.returned for stored in waiting if stored.returned),
        *_withheld_from_the_start(queue, unseen),
        *("LIFE-09", "TXN-12", "LIFE-01"),
        *rules_if(
            (queue.settings.duplicate_detection, "DUP-04"),
            (any(stored.deliveries for stored in waiting), "DLQ-03"),
            (any(stored.resisted for stored in waiting), "LOCK-08"),
            (queue.managed.suspended, "MGMT-27"),
        ),
        *dict.fromkeys(rule for stored in waiting for rule in stored.shows),
        *rules_if(
            (any(stored.came for stored in waiting), "SCHED-05"),
            ("peeks" in queue.requests, "LIFE-07"),
            (by_id, "KEY-12"),
            ("queue" in queue.managed.tried, "MGMT-09"),
            (bool(queue.managed.before), "MGMT-15"),
        ),
    )


def _withheld_from_the_start(queue: Queue, unseen: list[Stored]) -> tuple[v.RuleId, ...]:
    """Return the rules on how messages came here, for messages that were never given."""
    copied = isinstance(queue.role, Subscription)
    named = any(stored.message.message_id is not None for stored in unseen)
    return (
        *dict.fromkeys(stored.came for stored in unseen if stored.came),
        *(_of_filters(unseen) if copied else ()),
        *rules_if(
            (unseen and copied, "TOPIC-01"),
            (any("BATCH-01" in stored.shows for stored in unseen), "BATCH-01"),
            (any(stored.batch >= 0 for stored in unseen), "TXN-12"),
            (named and queue.settings.duplicate_detection, "DUP-04"),
        ),
    )


def _of_filters(unseen: list[Stored]) -> list[v.RuleId]:
    """Return the rules on the SQL by which a subscription had to take these messages."""
    return [rule for stored in unseen for rule in stored.shows if rule in OF_SQL]


def _withheld_from_session(queue: Queue, session_id: str) -> tuple[v.RuleId, ...]:
    first = first_in_line(queue, Key(SESSION_ID, session_id))
    returned = None if first is None else first.returned
    return rules_if(
        (returned, returned or ""),
        (True, "LIFE-09", "LIFE-10", "SESS-05"),
        (not queue.settings.partitioned, "SESS-26"),
    )
