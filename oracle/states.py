"""The states of messages, sessions and transactions in a bus that decides, as tables.

A test holds them to what an exploration of the model's own bus does, and docs/states.md draws them.
The model knows no such states: it derives them from what happened and when.
"""

from typing import Final, NamedTuple

from busproof.vocabulary.values import RuleId

__all__ = ["MESSAGES", "SESSIONS", "TIME", "TRANSACTIONS", "Change"]

TIME: Final = "time"
"""What passes, beside commands: locks end, messages are due or die."""


class Change(NamedTuple):
    """From one state to another, by a command or by time, and a rule that says so."""

    before: str
    by: str
    after: str
    rule: RuleId


MESSAGES: Final = (
    Change("absent", "Send", "active", "LIFE-01"),
    Change("absent", "SendBatch", "active", "BATCH-01"),
    Change("absent", "CommitTransaction", "active", "TXN-12"),
    Change("absent", TIME, "active", "FWD-01"),
    Change("absent", "Schedule", "scheduled", "SCHED-01"),
    Change("absent", "CommitTransaction", "scheduled", "SCHED-15"),
    Change("scheduled", "CancelScheduled", "absent", "SCHED-04"),
    Change("scheduled", TIME, "active", "SCHED-02"),
    Change("scheduled", TIME, "absent", "FWD-01"),
    Change("active", "Receive", "locked", "LIFE-02"),
    Change("active", "Receive", "absent", "LIFE-03"),
    Change("active", "ReceiveBatch", "locked", "BATCH-14"),
    Change("active", "ReceiveBatch", "absent", "BATCH-12"),
    Change("active", TIME, "absent", "FWD-35"),
    Change("locked", "Complete", "absent", "LIFE-03"),
    Change("locked", "DeadLetter", "absent", "DLQ-05"),
    Change("locked", "Abandon", "active", "LIFE-04"),
    Change("locked", "Abandon", "absent", "DLQ-02"),
    Change("locked", "CommitTransaction", "absent", "LOCK-11"),
    Change("locked", "CommitTransaction", "active", "LOCK-11"),
    Change("locked", "CommitTransaction", "deferred", "LOCK-11"),
    Change("locked", "CloseSession", "active", "SESS-08"),
    Change("locked", "AcceptSession", "active", "SESS-11"),
    Change("locked", "AcceptNextSession", "active", "SESS-11"),
    Change("locked", TIME, "active", "LIFE-05"),
    Change("locked", TIME, "absent", "DLQ-02"),
    Change("locked", "Defer", "deferred", "DEFER-01"),
    Change("deferred", "ReceiveDeferred", "deferred and locked", "DEFER-02"),
    Change("deferred", "ReceiveDeferred", "absent", "DEFER-02"),
    Change("deferred and locked", "Abandon", "deferred", "DEFER-06"),
    Change("deferred and locked", "Defer", "deferred", "DEFER-01"),
    Change("deferred and locked", "CommitTransaction", "absent", "LOCK-11"),
    Change("deferred and locked", "CommitTransaction", "deferred", "LOCK-11"),
    Change("deferred and locked", "CloseSession", "deferred", "SESS-08"),
    Change("deferred and locked", "AcceptSession", "deferred", "SESS-11"),
    Change("deferred and locked", "AcceptNextSession", "deferred", "SESS-11"),
    Change("deferred and locked", TIME, "deferred", "DEFER-06"),
    Change("deferred and locked", "Complete", "absent", "DEFER-07"),
    Change("deferred and locked", "DeadLetter", "absent", "DEFER-07"),
)
"""A message in one queue, subscription or dead-letter queue; a dead letter is active in the latter.

What has outlived its time is gone for whoever asks, and found to be so when somebody receives. At
the very end of its lock a session may be accepted, and what was received of it comes back.
"""

SESSIONS: Final = (
    Change("free", "AcceptSession", "held", "SESS-03"),
    Change("free", "AcceptNextSession", "held", "SESS-06"),
    Change("held", "CloseSession", "free", "SESS-08"),
    Change("held", TIME, "free", "SESS-11"),
)
"""A session of one entity, and whether a connection holds it."""

TRANSACTIONS: Final = (
    Change("absent", "BeginTransaction", "empty", "TXN-02"),
    Change("empty", "Send", "begun", "TXN-02"),
    Change("empty", "SendBatch", "begun", "BATCH-08"),
    Change("empty", "Schedule", "begun", "SCHED-15"),
    Change("empty", "Complete", "begun", "LOCK-11"),
    Change("empty", "Abandon", "begun", "LOCK-11"),
    Change("empty", "DeadLetter", "begun", "LOCK-11"),
    Change("empty", "Defer", "begun", "LOCK-11"),
    Change("empty", "CommitTransaction", "over", "TXN-12"),
    Change("empty", "RollBackTransaction", "over", "TXN-13"),
    Change("begun", "CommitTransaction", "over", "TXN-12"),
    Change("begun", "RollBackTransaction", "over", "TXN-13"),
)
"""A transaction of the namespace."""
