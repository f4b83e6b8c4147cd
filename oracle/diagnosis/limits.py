"""Diagnosis of requests that break rules on sizes and limits."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.queued_messages import Key
from busproof.oracle.sizes.message_limits import (
    held_in,
    must_refuse_beyond,
    refuses_state,
    shown_of_state,
    surely_beyond,
    within_limits,
)
from busproof.oracle.state import Namespace, Queue, everywhere
from busproof.oracle.transition import Observation


def is_beyond(namespace: Namespace, queue: Queue, seen: Observation) -> bool:
    """Return whether a message went to a partition that the queue cannot have (SIZE-05)."""
    partitions = everywhere(namespace, queue.settings)
    return seen.witness is not None and not partitions >> seen.witness.partition & 1


def is_about_room(queue: Queue, outcome: v.Refused) -> bool:
    """Return whether a refusal is about the quota, or concerns an entity that was full lately."""
    return outcome.error is v.Error.QUOTA_EXCEEDED or len(queue.room.refused) > 0


def room_denied(queue: Queue, key: Key | None) -> tuple[v.RuleId, ...]:
    """Return the rules broken by refusing for the quota, or for another reason than the quota."""
    if not queue.settings.partitioned:
        return ("SIZE-11", "SIZE-12", "SIZE-10", "SIZE-06")
    if key is None:
        return ("SIZE-11", "SIZE-09", "SIZE-04")
    if not len(queue.room.refused):
        return ("SIZE-07", "SIZE-04", "SIZE-11")
    return ("SIZE-08", "SIZE-11", "SIZE-12", "SIZE-07", "SIZE-04")


MANY: Final = 10
"""Least number of messages in a transaction for a refusal to be for the limit."""


def blamed_for_limits(
    namespace: Namespace, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the limits that were ignored, or enforced too early."""
    refused = isinstance(outcome, v.Refused)
    match command:
        case v.Send() | v.Schedule() if refused:
            many = held_in(namespace, command) >= MANY
            return (*within_limits(namespace, command), *(("LIMIT-15",) if many else ()))
        case v.Send() | v.Schedule() if must_refuse_beyond(namespace):
            return surely_beyond(namespace, command)
        case v.SetSessionState() if refused:
            return shown_of_state(namespace, command.state)
        case v.SetSessionState():
            return ("LIMIT-20",) if refuses_state(namespace, command.state)[1] else ()
        case _:
            return ()
