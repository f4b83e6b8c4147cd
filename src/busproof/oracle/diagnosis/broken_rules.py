"""Diagnosis of a violation: the rules that the event breaks, the most relevant first."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.coverage.added_later import blamed_as_added
from busproof.oracle.coverage.filters import rules_of_sql
from busproof.oracle.coverage.topics import with_topic_rules
from busproof.oracle.diagnosis.deliveries import wrongly_received
from busproof.oracle.diagnosis.expiry import blamed_for_age
from busproof.oracle.diagnosis.management import blamed_in_management, is_management
from busproof.oracle.diagnosis.partitions import blamed_for_partitions, wrongly_begun
from busproof.oracle.diagnosis.premium import blamed_in_premium
from busproof.oracle.diagnosis.sends import (
    blamed_for_limits,
    not_refused,
    wrongly_refused,
    wrongly_taken,
)
from busproof.oracle.diagnosis.sessions import blamed_in_sessions
from busproof.oracle.diagnosis.settlements import OF_DELETIONS, blamed_for_earlier_requests
from busproof.oracle.diagnosis.unknown_message import absence
from busproof.oracle.management.topics import topic_of
from busproof.oracle.messages.matching import recognised
from busproof.oracle.messages.peek_start import is_served_in_outage
from busproof.oracle.messages.peeking import in_order
from busproof.oracle.messages.scheduling import reuses_number
from busproof.oracle.messages.sequence_numbers import misnumbered
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, Topic, feeding
from busproof.oracle.transition import Observation, Transition

_WRONGLY_DONE: Final = ("LIFE-06", "LOCK-07")
_WRONGLY_NOT_DONE: Final = ("LIFE-06", "LOCK-10", "LOCK-04", "LOCK-01", "LOCK-02")
"""Rules broken by accepting a settlement under a lost lock, and by refusing a valid one."""

# A report shows the first rule as the broken one, so each list begins with the rule that a reader
# of the documents would look up.
_OF_ANSWERS: Final[dict[tuple[type[v.Command], type[v.Outcome]], tuple[v.RuleId, ...]]] = {
    (v.Schedule, v.Refused): ("SCHED-03", "SCHED-14", "SCHED-10"),
    (v.SettleBatch, v.Done): ("LOCK-17", "LOCK-16", "LOCK-14", "LIFE-06"),
    (v.Complete, v.Done): _WRONGLY_DONE,
    (v.Abandon, v.Done): _WRONGLY_DONE,
}
"""Request and answer to the rules that are broken, where the answer decides."""

_OF_REQUESTS: Final[dict[type[v.Command], tuple[v.RuleId, ...]]] = {
    v.Complete: _WRONGLY_NOT_DONE,
    v.Abandon: _WRONGLY_NOT_DONE,
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
        *("SESS-17", "SESS-18", "SESS-19", "SESS-16"),
        *("SESS-20", "SESS-21", "SESS-12"),
    ),
    v.ListSessions: ("SESS-22",),
    v.Peek: ("LIFE-07",),
    v.ListRules: ("FILTER-10", "FILTER-07", "FILTER-08", "FILTER-19"),
}
"""Request to the rules that are broken by any answer without rules of its own."""

_AT_LEAST: Final[dict[type[v.Command], tuple[v.RuleId, ...]]] = {
    v.BeginTransaction: ("TXN-01",),
    v.CommitTransaction: ("TXN-12", "TXN-13"),
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
"""Request to the rule that is broken if nothing more specific applies."""

_OF_DESTINATIONS: Final = (
    *("FWD-01", "FWD-02", "FWD-03", "FWD-04", "FWD-05", "FWD-06", "FWD-07", "FWD-08"),
    *("FWD-11", "FWD-14", "FWD-22", "FWD-27", "FWD-30", "FWD-33", "FWD-35"),
)
"""Rules that a received or peeked message may break if it was forwarded."""


def blamed(
    namespace: Namespace, event: v.Event, observed: Observation, allowed: tuple[Transition, ...]
) -> tuple[v.RuleId, ...]:
    """Return the broken rules, the most relevant first; there is at least one.

    If something required did not happen, they are the rules of the allowed answers. If something
    impossible was shown, they are the rules that make it impossible.
    """
    command, outcome = event.command, event.outcome
    queue = namespace.queues.get(v.concerned(command) or "")
    rules: tuple[v.RuleId, ...] = ()
    if is_management(command):
        rules = blamed_in_management(namespace, command, outcome, allowed)
    # A limit, an age or a session explains more than the rules about all answers of this kind.
    elif queue is not None:
        rules = (
            *blamed_for_limits(namespace, command, outcome),
            *blamed_for_age(namespace, queue, event),
            *blamed_in_sessions(namespace, queue, event),
            *_of_the_answer(namespace, queue, event, observed, allowed),
        )
    # If something demanded did not happen, only the rules of the allowed answers say what it was.
    rules = (*rules, *(rule for transition in allowed for rule in transition.rules))
    if queue is not None and not rules:
        rules = not_refused(namespace, queue, event)
    broken = (
        *with_topic_rules(queue, rules),
        *_of_topics(namespace, queue, command, outcome),
        *_of_forwarding(namespace, queue, outcome),
        *blamed_in_premium(namespace, queue, command, outcome),
        *blamed_for_partitions(namespace, queue, event),
        *blamed_for_earlier_requests(namespace, queue, command),
    ) or _AT_LEAST.get(type(command), _of_nobody(namespace, command))
    return tuple(dict.fromkeys((*broken, *blamed_as_added(queue, command))))


def _of_the_answer(
    namespace: Namespace,
    queue: Queue,
    event: v.Event,
    observed: Observation,
    allowed: tuple[Transition, ...],
) -> tuple[v.RuleId, ...]:
    """Return the rules that this answer of an existing entity breaks."""
    rules: tuple[v.RuleId, ...]
    match event.command, event.outcome:
        case (v.Receive() | v.ReceiveBatch(), _) | (v.ReceiveDeferred(), v.ReceivedSeveral()):
            rules = wrongly_received(namespace, queue, event, observed)
        case v.Peek() as command, v.Peeked(messages=views):
            rules = _wrongly_shown(namespace, queue, command, views, observed)
        # Only one reading of PEEK-IN-OUTAGE demands an answer in an outage; under the other one a
        # refusal breaks nothing.
        case v.Peek(), v.Refused() if is_served_in_outage(namespace, queue):
            rules = ("PART-29", "LIFE-07")
        # A queue that is disabled for senders serves everybody else.
        case v.Peek(), v.Refused() if queue.managed.status is v.EntityStatus.SEND_DISABLED:
            rules = ("MGMT-28", "LIFE-07")
        # Where only refusals are allowed, their own rules already say why the send had to be
        # refused.
        case v.Send() as command, v.Done() if not _only_refusals(allowed):
            rules = wrongly_taken(namespace, queue, command, observed)
        case v.Send() as command, v.Refused() as refused if not _only_refusals(allowed):
            rules = wrongly_refused(namespace, queue, command, refused)
        case v.AcceptNextSession(), v.SessionAccepted(session_id=session_id):
            # Such a session must be free (SESS-07), and a scheduled message does not count as one
            # of its messages before it is due (SCHED-13).
            lock = queue.sessions.get(session_id)
            taken = lock is not None and lock.connection != event.connection
            waits = session_id in queue.calendar.sessions
            rules = rules_if((waits, "SCHED-13"), (taken, "SESS-07"), (True, "SESS-06"))
        case v.Schedule(), v.Scheduled() if reuses_number(namespace, queue, event.outcome):
            rules = ("SEQ-03", "SCHED-03")
        case v.RenewLock(), v.Renewed() | v.Done() if _only_refusals(allowed):
            rules = ("LOCK-05", "LOCK-07")
        # A dead-letter queue has no dead-letter queue of its own to which the message could go.
        case v.DeadLetter(), v.Done() if v.is_dead_letter_queue(queue.settings.queue):
            rules = ("DLQ-10", *_OF_REQUESTS[v.DeadLetter])
        case (v.AddRule() | v.RemoveRule()) as command, v.Refused():
            rules = _wrongly_kept_rules(queue, command)
        case _:
            kinds = (type(event.command), type(event.outcome))
            rules = _OF_ANSWERS.get(kinds) or _OF_REQUESTS.get(type(event.command), ())
    return rules


def _of_nobody(namespace: Namespace, command: v.Command) -> tuple[v.RuleId, ...]:
    """MGMT-10: return the rules that are broken if nothing more specific applies."""
    name = v.concerned(command)
    missing = name is not None and name not in namespace.queues
    return rules_if((missing, "MGMT-10"), (True, "LIFE-01"))


def _wrongly_kept_rules(queue: Queue, command: v.AddRule | v.RemoveRule) -> tuple[v.RuleId, ...]:
    """FEAT-01, FEAT-02, FILTER-07, FILTER-32: return the rules broken by not changing a rule.

    A filter in SQL, or an action, says more than that a rule can be added.
    """
    if isinstance(command, v.RemoveRule):
        return rules_if((queue.settings.partitioned, "FEAT-02"), (True, "FILTER-07"))
    of_sql: tuple[v.RuleId, ...] = ()
    if isinstance(command.filter, v.SqlFilter):
        of_sql = ("FILTER-32", *rules_of_sql(command.filter.expression))
    return of_sql + rules_if(
        (command.action is not None, "FILTER-21"),
        (queue.settings.partitioned, "FEAT-01"),
        (True, "FILTER-07"),
    )


def _of_forwarding(
    namespace: Namespace, queue: Queue | None, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the broken rules on forwarding, for a source or a destination."""
    # A refusal by a source may come from its destination's settings, which a transaction on the
    # source must not depend on (FWD-34).
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


def _of_topics(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the broken rules on the messages that a subscription gives or a topic accepts."""
    role = None if queue is None else queue.role
    if queue is None or role is None:
        return ()
    # A topic gives no messages itself, so its only wrong answer is a refusal. What it distributes
    # wrongly shows in its subscriptions.
    if isinstance(role, Topic):
        refused = isinstance(outcome, v.Refused) and not is_management(command)
        return rules_if((refused, "TOPIC-04"), (refused and role.parted, "TOPIC-23"))
    topic, of_topic = topic_of(namespace, role)
    gives = isinstance(outcome, v.Received | v.Peeked)
    changed = role.added or role.removed
    partitioned = queue.settings.partitioned
    return rules_if(
        (gives, "TOPIC-03", "TOPIC-02", "TOPIC-01", "TOPIC-20", "TOPIC-07"),
        (not gives, "TOPIC-01", "TOPIC-02", "TOPIC-09", "TOPIC-11", "TOPIC-13"),
        (of_topic.parted, "TOPIC-23"),
        (topic.managed.suspended, "TOPIC-26"),
        (topic.managed.updated, "MGMT-12"),
        (role.topic in namespace.registry.tombstones, "MGMT-15", "TOPIC-22"),
        (len(role.rules) > 1, "FILTER-05"),
        (role.removed and not role.rules, "FILTER-06"),
        (role.acted, "FILTER-22", "FILTER-21", "FILTER-23", "FILTER-24"),
        (changed, "FILTER-07"),
        (changed and partitioned, "FEAT-01", "FEAT-02"),
        (partitioned, "FEAT-03"),
        (role.asked_in_transaction, "FEAT-19"),
        # The action of another subscription's rule may have changed this message.
        (of_topic.copiers, "FILTER-24"),
    )


def _wrongly_shown(
    namespace: Namespace,
    queue: Queue,
    command: v.Peek,
    views: tuple[v.MessageView, ...],
    observed: Observation,
) -> tuple[v.RuleId, ...]:
    for view in views:
        # Later views in the same answer are judged by themselves: the first one that is wrong
        # decides.
        candidates = list(recognised(namespace, queue, view, Observation(observed.outcome)))
        if not candidates:
            return (*absence(namespace, queue, view), "LIFE-07")
        if command.session_id not in (None, candidates[0].stored.message.session_id):
            return ("SESS-23", "LIFE-07")
        if misnumber := misnumbered(candidates[0]):
            return (misnumber,)
    begun = wrongly_begun(namespace, queue, command, views)
    if begun or not in_order(namespace, queue, views):
        disorder = "PART-19" not in begun and not in_order(namespace, queue, views)
        return ("LIFE-07", *begun) if disorder else begun
    state_rules = ("DEFER-09",) if any(view.state is not None for view in views) else ()
    return (*state_rules, "LIFE-07", "KEY-01", "LIFE-12")


def _only_refusals(allowed: tuple[Transition, ...]) -> bool:
    return all(isinstance(transition.outcome, v.Refused) for transition in allowed)
