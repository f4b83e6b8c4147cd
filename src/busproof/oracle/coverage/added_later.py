"""Features that some editions list as new on partitioned entities (FEAT).

The list is about AMQP, and a command does not say which protocol carried it. A request does the
same on a partitioned entity as on a regular one, so other rules define what it does.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.state import Queue

_PEEK_IN_SESSION: Final = "FEAT-17"
_OF_REQUESTS: Final[dict[type[v.Command], v.RuleId]] = {
    v.Send: "FEAT-05",
    v.Receive: "FEAT-05",
    v.SendBatch: "FEAT-06",
    v.ReceiveBatch: "FEAT-07",
    v.ReceiveDeferred: "FEAT-08",
    v.Peek: "FEAT-09",
    v.RenewLock: "FEAT-10",
    v.Schedule: "FEAT-11",
    v.CancelScheduled: "FEAT-12",
    v.RenewSessionLock: "FEAT-13",
    v.SetSessionState: "FEAT-14",
    v.GetSessionState: "FEAT-15",
    v.ListSessions: "FEAT-16",
}
"""Request to the rule that promises it on a partitioned entity."""

_WORKED: Final = (v.Received, v.ReceivedSeveral, v.Renewed, v.Scheduled, v.SessionState)
"""Answers that prove by themselves that the request succeeded."""

_DONE: Final = (v.CancelScheduled, v.SetSessionState, v.SendBatch)
"""Requests that have succeeded if the answer is `Done`."""


def shown_as_added(
    queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """FEAT-05 to FEAT-17: return the rules that an answer of a partitioned entity exercises.

    Args:
        queue: the addressed entity, if there is one.
        command: the request.
        outcome: the answer.
    """
    return blamed_as_added(queue, command) if _has_worked(command, outcome) else ()


def blamed_as_added(queue: Queue | None, command: v.Command) -> tuple[v.RuleId, ...]:
    """FEAT-05 to FEAT-17: return the rules that a violation by this request breaks as well."""
    if queue is None or not queue.settings.partitioned:
        return ()
    if isinstance(command, v.Peek) and command.session_id is not None:
        return (_PEEK_IN_SESSION,)
    rule = _OF_REQUESTS.get(type(command))
    return () if rule is None else (rule,)


def _has_worked(command: v.Command, outcome: v.Outcome) -> bool:
    """Return whether the answer proves success; an accepted send does not, but a receive does."""
    # A send that is done may have gone nowhere, so only a receive proves it.
    if isinstance(outcome, v.Done):
        return type(command) in _DONE
    if isinstance(outcome, v.Peeked):
        return len(outcome.messages) > 0
    if isinstance(outcome, v.SessionsListed):
        return len(outcome.session_ids) > 0
    return isinstance(outcome, _WORKED)
