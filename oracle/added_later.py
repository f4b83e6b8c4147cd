"""What some editions list as newly working with partitioned entities, request by request (FEAT).

The list is one of what AMQP can ask. Which protocol was spoken is no part of a command: a request
does on a partitioned entity what it does on a regular one, and other rules say what that is.
"""

from typing import Final

from busproof.oracle.state import Queue
from busproof.vocabulary.commands import (
    CancelScheduled,
    Command,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    RenewLock,
    RenewSessionLock,
    Schedule,
    Send,
    SendBatch,
    SetSessionState,
)
from busproof.vocabulary.outcomes import (
    Done,
    Outcome,
    Peeked,
    Received,
    ReceivedSeveral,
    Renewed,
    Scheduled,
    SessionsListed,
    SessionState,
)
from busproof.vocabulary.values import RuleId

__all__ = ["blamed_as_added", "shown_as_added"]

_PEEK_IN_SESSION: Final = "FEAT-17"
_OF_REQUESTS: Final[dict[type[Command], RuleId]] = {
    Send: "FEAT-05",
    Receive: "FEAT-05",
    SendBatch: "FEAT-06",
    ReceiveBatch: "FEAT-07",
    ReceiveDeferred: "FEAT-08",
    Peek: "FEAT-09",
    RenewLock: "FEAT-10",
    Schedule: "FEAT-11",
    CancelScheduled: "FEAT-12",
    RenewSessionLock: "FEAT-13",
    SetSessionState: "FEAT-14",
    GetSessionState: "FEAT-15",
    ListSessions: "FEAT-16",
}
"""The request, to the rule that it works on a partitioned entity."""

_WORKED: Final = (
    Received,
    ReceivedSeveral,
    Renewed,
    Scheduled,
    SessionState,
)
"""Answers that say by themselves that a request did what it is for."""


def shown_as_added(queue: Queue | None, command: Command, outcome: Outcome) -> tuple[RuleId, ...]:
    """FEAT-05 to FEAT-17: what an answer shows of requests on partitioned entities.

    Args:
        queue: the entity that was asked, if there is one.
        command: that was asked.
        outcome: the answer.
    """
    return _rule(queue, command) if _has_worked(command, outcome) else ()


def blamed_as_added(queue: Queue | None, command: Command) -> tuple[RuleId, ...]:
    """FEAT-05 to FEAT-17: what an answer that nothing allows may break besides other rules."""
    return _rule(queue, command)


def _rule(queue: Queue | None, command: Command) -> tuple[RuleId, ...]:
    if queue is None or not queue.settings.partitioned:
        return ()
    if isinstance(command, Peek) and command.session_id is not None:
        return (_PEEK_IN_SESSION,)
    rule = _OF_REQUESTS.get(type(command))
    return () if rule is None else (rule,)


def _has_worked(command: Command, outcome: Outcome) -> bool:
    """Whether the answer tells that the request did its work; of a send only a receive does."""
    if isinstance(command, CancelScheduled | SetSessionState | SendBatch):
        return isinstance(outcome, Done)
    if isinstance(outcome, Peeked):
        return len(outcome.messages) > 0
    if isinstance(outcome, SessionsListed):
        return len(outcome.session_ids) > 0
    return isinstance(outcome, _WORKED)
