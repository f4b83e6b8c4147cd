"""FEAT: what some editions list as new on partitioned entities.

The list is about AMQP, and a command does not say which protocol carried it. A request does the
same on a partitioned entity as on a regular one, so other rules define what it does.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage
from busproof.model.state import Entity

__all__ = ["OF_REQUESTS", "PEEK_IN_SESSION", "of_answer"]

PEEK_IN_SESSION: Final = "FEAT-17"
"""The rule that promises a peek in a session on a partitioned entity."""
OF_REQUESTS: Final[dict[type[v.Command], v.RuleId]] = {
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

WORKED: Final = (v.Received, v.ReceivedSeveral, v.Renewed, v.Scheduled, v.SessionState)
"""Answers that prove by themselves that the request succeeded."""

DONE: Final = (v.CancelScheduled, v.SetSessionState, v.SendBatch)
"""Requests that have succeeded if the answer is `Done`."""


def of_answer(coverage: Coverage, entity: Entity, command: v.Command, outcome: v.Outcome) -> None:
    """FEAT-05 to FEAT-17: show that a request works on a partitioned entity."""
    if not entity.settings.partitioned or not _has_worked(command, outcome):
        return
    in_session = isinstance(command, v.Peek) and command.session_id is not None
    rule = PEEK_IN_SESSION if in_session else OF_REQUESTS.get(type(command))
    if rule is not None:
        coverage.show(rule)


def _has_worked(command: v.Command, outcome: v.Outcome) -> bool:
    """Return whether the answer proves success; an accepted send does not, but a receive does."""
    if isinstance(outcome, v.Done):
        return type(command) in DONE
    if isinstance(outcome, v.Peeked):
        return bool(outcome.messages)
    if isinstance(outcome, v.SessionsListed):
        return bool(outcome.session_ids)
    return isinstance(outcome, WORKED)
