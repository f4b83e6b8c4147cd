"""Diagnosis of a received or peeked message that matches no message of the queue."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.coverage.topics import why_absent
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.keys import ASSIGNED, home_name, rule_of
from busproof.oracle.messages.matching import is_unchanged, is_wrongly_dead
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, Subscription

_BESIDES: Final[dict[v.RuleId, tuple[v.RuleId, ...]]] = {
    "KEY-11": ("DUP-04", "DUP-07", "DUP-02", "DUP-05", "DUP-09", "DUP-11", "DUP-03"),
    "PART-03": ("KEY-03",),
    "SCHED-10": ("LIFE-01",),
}
"""Rule that kept a message out, to further rules that are broken by showing the message."""


def absence(namespace: Namespace, queue: Queue, view: v.MessageView) -> tuple[v.RuleId, ...]:
    """Return the rules that are broken by showing this message, the most relevant first."""
    if v.is_dead_letter_queue(queue.settings.queue):
        return _from_dead_letters(namespace, queue, view)
    known = queue.bodies.get(view.body)
    if known is None or isinstance(known, str):
        return _kept_out(namespace, queue, view, known)
    # Messages with this body were here, but none of them is any more, so it was given once too
    # often.
    there = list(queue.with_body(view.body))
    if not there:
        return _gone(namespace, queue, view)
    unchanged = [stored for stored in there if is_unchanged(namespace, stored, view)]
    if not unchanged:
        # Everything except its number is as it was sent, so SEQ-04 says more than LIFE-01.
        if renumbered := _renumbered(namespace, there, view):
            return (*renumbered, "LIFE-01")
        # A client library that assigns MessageIds shows a message without one only if the bus lost
        # it.
        unassigned = namespace.observability.assigns_message_ids and view.message_id is None
        acted = isinstance(queue.role, Subscription) and queue.role.acted
        by_action = rules_if((acted, "FILTER-21", "FILTER-22", "FILTER-24"))
        return ("KEY-13",) if unassigned else (*by_action, "LIFE-01", "LIFE-12")
    return _misplaced(namespace, queue, unchanged[0], view)


def _kept_out(
    namespace: Namespace, queue: Queue, view: v.MessageView, rule: v.RuleId | None
) -> tuple[v.RuleId, ...]:
    """Return the rules broken by showing a message that never arrived.

    `rule` is the rule that kept it out, if one is known.
    """
    if rule is not None:
        return (*_hidden(queue, view, rule), *_beside((rule,)))
    rules = _never_here(namespace, queue, view.body)
    return (*rules, *_beside(rules), "LIFE-01")


def _never_here(namespace: Namespace, queue: Queue, body: str) -> tuple[v.RuleId, ...]:
    """Return the rules broken by showing a message that the entity never had."""
    # The bodies of a deleted entity are kept because a message of it may turn up in the next one of
    # this name.
    if body in queue.managed.before:
        return ("MGMT-15", "MGMT-17")
    if body in queue.passed:
        return ("FWD-14", "FWD-15")
    excluded = why_absent(namespace, queue, body)
    late = isinstance(queue.role, Subscription) and queue.role.late
    return excluded or rules_if((late, "TOPIC-03"))


def _renumbered(
    namespace: Namespace, there: list[Stored], view: v.MessageView
) -> tuple[v.RuleId, ...]:
    """SEQ-04, LIFE-12: return the rules broken if only the message's number has changed."""
    number, unnumbered = view.sequence_number, evolve(view, sequence_number=None)
    for stored in there:
        known = stored.sequence_number
        if None in (known, number) or not is_unchanged(namespace, stored, unnumbered):
            continue
        return ("SEQ-04", "LIFE-12")
    return ()


def _beside(rules: tuple[v.RuleId, ...]) -> Iterator[v.RuleId]:
    """Yield further rules that are broken if these rules kept a message out."""
    for rule in rules:
        yield from _BESIDES.get(rule, ())


def _hidden(queue: Queue, view: v.MessageView, rule: v.RuleId) -> tuple[v.RuleId, ...]:
    """Return the rules broken by showing a message that never arrives, or has not arrived yet."""
    if rule != "SCHED-01":
        return (rule,)
    rules = ("SCHED-08", rule) if view.state is not None else (rule,)
    return (*rules, "SCHED-13") if queue.settings.requires_session else rules


def _gone(namespace: Namespace, queue: Queue, view: v.MessageView) -> tuple[v.RuleId, ...]:
    """LIFE-03, DLQ-14: return the rules broken by showing a settled or dead-lettered message."""
    dead = namespace.queues.get(queue.settings.queue + v.DEAD_LETTERS)
    # It is in the dead-letter queue, so the same message is in two places.
    if dead is not None and view.body in dead.bodies:
        return ("DLQ-14", "DLQ-05", "DLQ-02", "LIFE-03", "KEY-01")
    return ("LIFE-03", "LOCK-08", "KEY-01")


def _from_dead_letters(
    namespace: Namespace, dead: Queue, view: v.MessageView
) -> tuple[v.RuleId, ...]:
    """DLQ-03, DLQ-05, DLQ-06, DLQ-13: return the rules broken by showing this dead letter."""
    known = dead.bodies.get(view.body)
    if not (isinstance(known, tuple) and known):
        # Only messages that could not be forwarded belong in this dead-letter queue.
        if dead.settings.queue.endswith(v.TRANSFERS):
            return ("FWD-32", "FWD-14", "DLQ-14", "LIFE-01")
        owner = namespace.queues[v.owner_of(dead.settings.queue)]
        spent = any(stored.spent for stored in owner.with_body(view.body))
        return rules_if((spent, "DLQ-02"), (True, "DLQ-03", "DLQ-14", "DLQ-08", "LIFE-01"))
    there = list(dead.with_body(view.body))
    if not there:
        return ("LIFE-03", "DLQ-07")
    # The reason for dead-lettering is compared last: if all else is right, only the reason is
    # wrong.
    reasonless = [stored for stored in there if is_unchanged(namespace, stored, view, reason=False)]
    if not reasonless:
        return (*_renumbered(namespace, there, view), "DLQ-06", "LIFE-12")
    if not any(is_unchanged(namespace, stored, view) for stored in reasonless):
        return ("DLQ-05", "DLQ-02")
    return ("DLQ-13", "LIFE-01")


def _misplaced(
    namespace: Namespace, queue: Queue, stored: Stored, view: v.MessageView
) -> tuple[v.RuleId, ...]:
    if is_wrongly_dead(namespace, queue, view):
        return ("LIFE-01", "DLQ-05")
    key = stored.key
    again = ("SCHED-09",) if stored.came else ()
    # Any partition may take a message without a key of its sender, so only its number can
    # contradict its partition.
    if key is None or key.taken_from == ASSIGNED:
        return ("KEY-01", "LIFE-12")
    known = home_name(namespace.profile, key) in queue.homes
    at_home = stored.where.bit_count() == 1 or not known
    rules = rule_of(queue.settings, stored.message, key)
    placed = ("KEY-01", "LIFE-12", *rules) if at_home else (*rules, "KEY-02", "KEY-01")
    return (*again, *placed)
