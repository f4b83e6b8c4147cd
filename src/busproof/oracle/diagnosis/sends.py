"""Diagnosis of sends, and of requests that break rules on sizes and limits (SIZE, LIMIT)."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.messages.keys import effective_key, home_name, interpretations, rule_of
from busproof.oracle.messages.partitioning import REROUTING_TIMEOUT, home_of
from busproof.oracle.queued_messages import Key
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.message_limits import (
    held_in,
    must_refuse_beyond,
    refuses_state,
    shown_of_state,
    surely_beyond,
    within_limits,
)
from busproof.oracle.state import Namespace, Queue, Topic, everywhere
from busproof.oracle.transition import Observation

MANY: Final = 10
"""Least number of messages in a transaction for a refusal to be charged to the limit."""


def wrongly_taken(
    namespace: Namespace, queue: Queue, command: v.Send, observed: Observation
) -> tuple[v.RuleId, ...]:
    """Return the rules broken by accepting a send, or by the partition that it went to."""
    partitions = everywhere(namespace, queue.settings)
    if observed.witness is not None and not partitions >> observed.witness.partition & 1:
        # A partition of this number does not exist in the entity.
        return ("PREM-16" if namespace.profile.is_partitioned else "SIZE-05", "KEY-01")
    key = _key(namespace, queue, command)
    if key is None:
        keyless = ("KEY-15", "KEY-14") if queue.outages.any else ("KEY-14", "KEY-12")
        return (*keyless, "KEY-01")
    # A key that has been placed before must not be placed elsewhere, in an outage or after it.
    placed = home_name(namespace.profile, key) in queue.homes
    back = placed and home_of(namespace, queue, key) & queue.recovered
    within = command.transaction is not None
    return (
        *rules_if((back, "KEY-20"), (within, "TXN-10", "TXN-05")),
        *rules_if((not placed, "KEY-20", "KEY-03")),
        *rule_of(queue.settings, command.message, key),
        *rules_if((placed, "KEY-02")),
    )


def wrongly_refused(
    namespace: Namespace, queue: Queue, command: v.Send, outcome: v.Refused
) -> tuple[v.RuleId, ...]:
    """Return the rules broken by refusing a send, or by refusing it with the wrong error."""
    key, message = _key(namespace, queue, command), command.message
    # The entity was never disabled for senders, so the error that says so is wrong whatever the
    # message.
    disabled = outcome.error is v.Error.ENTITY_DISABLED and not queue.managed.suspended
    keyless = key is None and not queue.outages.any
    both = message.session_id is not None and message.session_id == message.partition_key
    return (
        *rules_if((disabled, "MGMT-28", "MGMT-26")),
        *rules_if((both and command.transaction is None, "KEY-09")),
        *rules_if((keyless and isinstance(queue.role, Topic), "TOPIC-04")),
        *_by_key(queue, command, key, outcome),
    )


def _by_key(
    queue: Queue, command: v.Send, key: Key | None, outcome: v.Refused
) -> tuple[v.RuleId, ...]:
    # Once a send was refused for lack of room, a later refusal with any error may have this reason.
    if outcome.error is v.Error.QUOTA_EXCEEDED or len(queue.room.refused):
        return _room_denied(queue, key)
    if command.transaction is not None:
        return () if key is None else ("TXN-02", "TXN-01", "TXN-09", "TXN-11")
    if key is None:
        if queue.outages.any:
            # Without an outage a short timeout must not matter (KEY-25).
            return ("KEY-15", "KEY-12")
        return ("KEY-25",) if command.timeout <= REROUTING_TIMEOUT else ("KEY-12",)
    wrong_place = ("KEY-02", *rule_of(queue.settings, command.message, key))
    return rules_if((queue.outages.any, *wrong_place))


def not_refused(namespace: Namespace, queue: Queue, event: v.Event) -> tuple[v.RuleId, ...]:
    """Return the rules broken by success in a transaction that is over, or must fail."""
    command = event.command
    transaction = getattr(command, "transaction", None)
    if transaction is None or isinstance(event.outcome, v.Refused):
        return ()
    # A transaction that is over has neither messages nor settlements to add to.
    if namespace.transactions.get(transaction) is None:
        return ("TXN-12", "TXN-13")
    keyless = isinstance(command, v.Send) and _key(namespace, queue, command) is None
    return ("TXN-03",) if keyless else ("TXN-04",)


def _key(namespace: Namespace, queue: Queue, command: v.Send) -> Key | None:
    _, message = interpretations(namespace.profile, command.message)[0]
    return effective_key(namespace, queue.settings, message)


def _room_denied(queue: Queue, key: Key | None) -> tuple[v.RuleId, ...]:
    """Return the rules broken by refusing a send for lack of room, or for another reason later."""
    # A regular entity has one store, so the rules on other partitions (SIZE-08, SIZE-09) do not
    # apply.
    if not queue.settings.partitioned:
        return ("SIZE-11", "SIZE-12", "SIZE-10", "SIZE-06")
    if key is None:
        return ("SIZE-11", "SIZE-09", "SIZE-04")
    if not len(queue.room.refused):
        return ("SIZE-07", "SIZE-04", "SIZE-11")
    return ("SIZE-08", "SIZE-11", "SIZE-12", "SIZE-07", "SIZE-04")


def blamed_for_limits(
    namespace: Namespace, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the rules on limits that were ignored, or enforced too early."""
    refused = isinstance(outcome, v.Refused)
    match command:
        # The error of a refusal tells little, so a transaction with many messages may have hit the
        # limit of 100 too early.
        case v.Send() | v.Schedule() if refused:
            many = held_in(namespace, command) >= MANY
            return (*within_limits(namespace, command), *rules_if((many, "LIMIT-15")))
        case v.Send() | v.Schedule() if must_refuse_beyond(namespace):
            return surely_beyond(namespace, command)
        case v.SetSessionState() if refused:
            return shown_of_state(namespace, command.state)
        case v.SetSessionState():
            return rules_if((refuses_state(namespace, command.state)[1], "LIMIT-20"))
        case _:
            return ()
