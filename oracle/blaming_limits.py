"""Which limits a request breaks that was answered as nothing allowed."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.measures import (
    held_in,
    must_refuse_beyond,
    refuses_state,
    shown_of_state,
    surely_beyond,
    within_limits,
)
from busproof.oracle.state import Namespace

__all__ = ["blamed_for_limits"]

MANY: Final = 10
"""Once a transaction holds so many messages, a refusal of one more may be for their number."""


def blamed_for_limits(
    namespace: Namespace, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """The limits beyond which something was taken, or within which it was refused."""
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
