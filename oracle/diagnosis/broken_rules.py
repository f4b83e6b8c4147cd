"""Diagnosis of a violation: the rules that an event breaks."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.diagnosis.deliveries import wrongly_received
from busproof.oracle.diagnosis.expiry import blamed_for_age
from busproof.oracle.diagnosis.limits import (
    blamed_for_limits,
    is_about_room,
    is_beyond,
    room_denied,
)
from busproof.oracle.diagnosis.management import blamed_in_management, is_management
from busproof.oracle.diagnosis.partitions import blamed_for_partitions, wrongly_begun
from busproof.oracle.diagnosis.settlements import (
    OF_DELETIONS,
    blamed_for_batches,
    blamed_for_deletions,
    blamed_for_locks_together,
    blamed_for_settlements,
    wrongly_settled,
)
from busproof.oracle.diagnosis.unknown_message import absence
from busproof.oracle.management.added_later import blamed_as_added
from busproof.oracle.management.premium import blamed_in_premium
from busproof.oracle.management.topics import told_of_topics
from busproof.oracle.messages.keys import effective_key, home_name, interpretations, rule_of
from busproof.oracle.messages.matching import recognised
from busproof.oracle.messages.partitioning import REROUTING_TIMEOUT, home_of
from busproof.oracle.messages.peek_start import is_served_in_outage
from busproof.oracle.messages.peeking import in_order
from busproof.oracle.messages.sequence_numbers import misnumbered
from busproof.oracle.queued_messages import Key
from busproof.oracle.state import Namespace, Queue, Subscription, Topic, feeding
from busproof.oracle.transition import Observation, Transition

__all__ = ["blamed"]

_OF_REQUESTS: Final[dict[type[v.Command], tuple[v.RuleId, ...]]] = {
    v.DeadLetter: ("LOCK-06", "DLQ-14", "LOCK-07"),
    v.Defer: ("LOCK-06", "LOCK-07"),
    v.ReceiveDeferred: ("DEFER-02", "DEFER-06", "DEFER-13", "DEFER-11", "DEFER-12"),
    v.RenewLock: ("LOCK-04", "LOCK-05", "LOCK-07"),
    v.SettleBatch: ("LOCK-14", "LOCK-16", "LOCK-17", "LIFE-06"),
    v.RenewLocks: ("LOCK-18", "LOCK-16", "LOCK-17", "LOCK-05"),
    v.DeleteBatch: OF_DELETIONS,
    v.CancelScheduled: ("SCHED-03", "SCHED-05"),
    v.AcceptSession: ("LIFE-10",),
    v.AcceptNextSession: ("SESS-06", "SESS-07"),
    v.RenewSessionLock: ("SESS-13", "SESS-12"),
    v.SetSessionState: ("SESS-17", "SESS-21", "SESS-12"),
    v.GetSessionState: (
        "SESS-17",
        "SESS-18",
        "SESS-19",
        "SESS-16",
        "SESS-20",
        "SESS-21",
        "SESS-12",
    ),
    v.ListSessions: ("SESS-22",),
    v.Peek: ("LIFE-07",),
    v.ListRules: ("FILTER-10", "FILTER-07", "FILTER-08", "FILTER-19"),
}
"""Rules broken by any answer to a request that nothing allowed."""

_AT_LEAST: Final[dict[type[v.Command], tuple[v.RuleId, ...]]] = {
    v.BeginTransaction: ("TXN-01",),
    v.RollBackTransaction: ("TXN-13",),
    v.UpdateQueue: ("MGMT-12",),
    v.DeleteQueue: ("MGMT-15",),
    v.RestoreQueue: ("PREM-03",),
    v.CreateTopic: ("TOPIC-01",),
    v.CreateSubscription: ("TOPIC-01",),
    v.UpdateTopic: ("MGMT-12",),
    v.DeleteTopic: ("MGMT-15",),
    v.TakePartitionDown: ("PART-02",),
    v.BringPartitionUp: ("PART-04",),
}
"""Rule broken by a request's answer if nothing more specific applies."""

_OF_DESTINATIONS: Final = (
    "FWD-01",
    "FWD-02",
    "FWD-03",
    "FWD-04",
    "FWD-05",
    "FWD-06",
    "FWD-07",
    "FWD-08",
    "FWD-11",
    "FWD-14",
    "FWD-22",
    "FWD-27",
    "FWD-30",
    "FWD-33",
    "FWD-35",
)
"""Rules that a received message may break if it was forwarded."""


def blamed(
    namespace: Namespace, event: v.Event, seen: Observation, allowed: tuple[Transition, ...]
) -> tuple[v.RuleId, ...]:
    """Return the broken rules, the most relevant first; never empty.

    If something required did not happen, they are the rules of the allowed answers; if something
    impossible was shown, the rules that make it impossible.
    """
    command, outcome = event.command, event.outcome
    queue = namespace.queues.get(v.concerned(command) or "")
    rules: tuple[v.RuleId, ...] = ()
    if is_management(command):
        rules = blamed_in_management(namespace, command, outcome, allowed)
    elif queue is not None:
        match command, outcome:
            case (v.Receive() | v.ReceiveBatch(), _) | (v.ReceiveDeferred(), v.ReceivedSeveral()):
                rules = wrongly_received(namespace, queue, event, seen)
            case v.Peek(), v.Peeked(messages=views):
                rules = _wrongly_shown(namespace, queue, command, views, seen)
            case v.Peek(), v.Refused() if is_served_in_outage(namespace, queue):
                rules = ("PART-29", "LIFE-07")
            case v.Send(), v.Done():
                rules = _wrongly_taken(namespace, queue, command, seen, allowed)
            case v.Send(), v.Refused() as refused:
                rules = _wrongly_refused(namespace, queue, command, refused, allowed)
            case v.Schedule(), v.Refused():
                rules = ("SCHED-03", "SCHED-14", "SCHED-10")
            case v.AcceptNextSession(), v.SessionAccepted(session_id=session_id):
                waits = session_id in queue.calendar.sessions
                rules = ("SCHED-13", "SESS-06") if waits else ("SESS-06",)
            case v.RenewLock(), v.Renewed() | v.Done() if _only_refusals(allowed):
                rules = ("LOCK-05", "LOCK-07")
            case v.Complete() | v.Abandon(), _:
                rules = wrongly_settled(outcome)
            case _:
                rules = _OF_REQUESTS.get(type(command), ())
        rules = (*blamed_for_age(namespace, queue, event), *rules)
        rules = (*blamed_for_limits(namespace, command, outcome), *rules)
    found = (*rules, *(rule for transition in allowed for rule in transition.rules))
    found = (*told_of_topics(queue, found), *_of_topics(namespace, queue, command, outcome))
    found = (*found, *_of_copiers(namespace, queue))
    found = (*found, *_of_forwarding(namespace, queue, outcome))
    found = (*found, *blamed_in_premium(namespace, queue, command, outcome))
    found = (*found, *blamed_for_partitions(namespace, queue, event))
    found = (*found, *blamed_for_settlements(namespace, queue, command))
    found = (*found, *blamed_for_batches(queue, command))
    found = (*found, *blamed_for_deletions(namespace, queue, command))
    found = (*found, *blamed_for_locks_together(namespace, queue, command))
    found = found or _AT_LEAST.get(type(command), ("LIFE-01",))
    return tuple(dict.fromkeys((*found, *blamed_as_added(queue, command))))


def _of_forwarding(
    namespace: Namespace, queue: Queue | None, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the broken rules about forwarding, of a source or a destination."""
    if queue is not None and isinstance(outcome, v.Refused) and queue.settings.forward_to:
        return ("FWD-34",)
    if queue is None or not isinstance(outcome, v.Received | v.Peeked):
        return ()
    if any(feeding(namespace, queue.settings.queue)):
        return ("FWD-35", "FWD-36", "FWD-14")
    if queue.settings.forward_to is not None:
        dead = v.is_dead_letter_queue(queue.settings.queue)
        return ("FWD-36", "FWD-35", "FWD-14") if dead else ("FWD-14", "FWD-04", "FWD-05")
    return (*queue.kept_away, *_OF_DESTINATIONS) if queue.fed else queue.kept_away


def _of_siblings(namespace: Namespace, role: Subscription) -> tuple[v.RuleId, ...]:
    """Return the broken rules about the topic, or about other subscriptions of it."""
    topic = namespace.queues[role.topic]
    rules: tuple[v.RuleId, ...] = ()
    if isinstance(topic.role, Topic) and topic.role.parted:
        rules = ("TOPIC-23",)
    if topic.managed.suspended:
        rules = (*rules, "TOPIC-26")
    if topic.managed.updated:
        rules = (*rules, "MGMT-12")
    return (*rules, "MGMT-15", "TOPIC-22") if role.topic in namespace.registry.tombstones else rules


def _of_topics(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the broken rules about what a subscription gives or a topic accepts."""
    if queue is not None and isinstance(queue.role, Topic):
        parted: tuple[v.RuleId, ...] = ("TOPIC-23",) if queue.role.parted else ()
        sent = not is_management(command)
        return ("TOPIC-04", *parted) if sent and isinstance(outcome, v.Refused) else ()
    if queue is None or not isinstance(queue.role, Subscription):
        return ()
    role, rules = queue.role, (*_of_siblings(namespace, queue.role), *_of_rules(queue.role))
    if queue.settings.partitioned and (role.added or role.removed):
        rules = (*rules, "FEAT-01", "FEAT-02")
    if queue.settings.partitioned:
        rules = (*rules, "FEAT-03")
    if role.asked_in_transaction:
        rules = (*rules, "FEAT-19")
    if isinstance(outcome, v.Received | v.Peeked):
        return ("TOPIC-03", "TOPIC-02", "TOPIC-01", "TOPIC-20", "TOPIC-07", *rules)
    return ("TOPIC-01", "TOPIC-02", "TOPIC-09", "TOPIC-11", "TOPIC-13", *rules)


def _of_copiers(namespace: Namespace, queue: Queue | None) -> tuple[v.RuleId, ...]:
    """FILTER-24: another subscription's action may have changed the message given here."""
    if queue is None or not isinstance(queue.role, Subscription):
        return ()
    topic = namespace.queues[queue.role.topic].role
    return ("FILTER-24",) if isinstance(topic, Topic) and topic.copiers else ()


def _of_rules(role: Subscription) -> tuple[v.RuleId, ...]:
    """Return the broken rules about subscription rules that have changed."""
    changed: tuple[v.RuleId, ...] = ("FILTER-07",) if role.added or role.removed else ()
    if role.acted:
        changed = ("FILTER-22", "FILTER-21", "FILTER-23", "FILTER-24", *changed)
    if role.removed and not role.rules:
        changed = ("FILTER-06", *changed)
    return ("FILTER-05", *changed) if len(role.rules) > 1 else changed


def _wrongly_shown(
    namespace: Namespace,
    queue: Queue,
    command: v.Peek,
    views: tuple[v.MessageView, ...],
    seen: Observation,
) -> tuple[v.RuleId, ...]:
    for view in views:
        found = list(recognised(namespace, queue, view, Observation(seen.outcome)))
        if not found:
            return (*absence(namespace, queue, view), "LIFE-07")
        if command.session_id not in (None, found[0].stored.message.session_id):
            return ("SESS-23", "LIFE-07")
        if misnumber := misnumbered(found[0]):
            return (misnumber,)
    begun = wrongly_begun(namespace, queue, command, views)
    if begun or not in_order(namespace, queue, views):
        disorder = "PART-19" not in begun and not in_order(namespace, queue, views)
        return ("LIFE-07", *begun) if disorder else begun
    told = ("DEFER-09",) if any(view.state is not None for view in views) else ()
    return (*told, "LIFE-07", "KEY-01", "LIFE-12")


def _wrongly_taken(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    seen: Observation,
    allowed: tuple[Transition, ...],
) -> tuple[v.RuleId, ...]:
    """Diagnose a send that was accepted or placed although the rules forbid it."""
    if _only_refusals(allowed):
        return ()
    if is_beyond(namespace, queue, seen):
        return ("PREM-16" if namespace.profile.is_partitioned else "SIZE-05", "KEY-01")
    key = _key(namespace, queue, command)
    if key is None:
        keyless = ("KEY-15", "KEY-14") if queue.outages.any else ("KEY-14", "KEY-12")
        return (*keyless, "KEY-01")
    rules = rule_of(queue.settings, command.message, key)
    within: tuple[v.RuleId, ...] = ()
    if command.transaction is not None:
        within = ("TXN-10", "TXN-05")
    if home_name(namespace.profile, key) not in queue.homes:
        return (*within, "KEY-20", "KEY-03", *rules)
    if home_of(namespace, queue, key) & queue.recovered:
        within = ("KEY-20", *within)
    return (*within, *rules, "KEY-02")


def _wrongly_refused(
    namespace: Namespace,
    queue: Queue,
    command: v.Send,
    outcome: v.Refused,
    allowed: tuple[Transition, ...],
) -> tuple[v.RuleId, ...]:
    """Diagnose a send that was refused, or got the wrong error, although the rules accept it."""
    if _only_refusals(allowed):
        return ()
    key = _key(namespace, queue, command)
    if is_about_room(queue, outcome):
        return room_denied(queue, key)
    if command.transaction is not None:
        return () if key is None else ("TXN-02", "TXN-01", "TXN-09", "TXN-11")
    if key is None:
        if queue.outages.any:
            return ("KEY-15", "KEY-12")
        return ("KEY-25",) if command.timeout <= REROUTING_TIMEOUT else ("KEY-12",)
    message = command.message
    both = message.session_id is not None and message.session_id == message.partition_key
    wrong_place = ("KEY-02", *rule_of(queue.settings, message, key)) if queue.outages.any else ()
    return ("KEY-09", *wrong_place) if both else wrong_place


def _only_refusals(allowed: tuple[Transition, ...]) -> bool:
    return all(isinstance(transition.outcome, v.Refused) for transition in allowed)


def _key(namespace: Namespace, queue: Queue, command: v.Send) -> Key | None:
    _, message = next(interpretations(namespace.profile, command.message))
    return effective_key(namespace, queue.settings, message)
