"""Requests as sentences that the domain speaks."""

from typing import get_args

import pytest

from busproof.history.render.commands import command_words
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AddRule,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteBatch,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetSessionState,
    GetTopic,
    ListQueues,
    ListRules,
    ListSessions,
    ListSubscriptions,
    ListTopics,
    Peek,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewLocks,
    RenewSessionLock,
    RestoreQueue,
    RollBackTransaction,
    Schedule,
    Send,
    SendBatch,
    SetSessionState,
    SettleBatch,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import (
    CorrelationFilter,
    FalseFilter,
    SqlFilter,
    TrueFilter,
)
from busproof.vocabulary.values import Disposition, ReceiveMode

COMMANDS = [
    (GetTopic(topic="t"), "Get topic t"),
    (ListTopics(), "List topics"),
    (
        UpdateTopic(topic="t", partitioned=False, status=EntityStatus.DISABLED),
        "Update topic t: not partitioned, disabled",
    ),
    (UpdateTopic(topic="t"), "Update topic t: nothing"),
    (DeleteTopic(topic="t"), "Delete topic t"),
    (ListSubscriptions(topic="t"), "List the subscriptions of topic t"),
    (
        SendBatch(queue="q", messages=(Message(body="m1"), Message(body="m2", session_id="a"))),
        "Send 2 messages at once to q: 'm1', 'm2' (SessionId 'a')",
    ),
    (ReceiveBatch(queue="q", count=3), "Receive up to 3 messages from q (peek-lock)"),
    (
        Schedule(
            queue="q", message=Message(body="m1", session_id="a"), delay=5_000_000, transaction="t"
        ),
        "Schedule to q: body 'm1', SessionId 'a', due in 5 s, in transaction t",
    ),
    (
        Schedule(queue="q", message=Message(body="m1"), delay=-1_000_000),
        "Schedule to q: body 'm1', due in -1 s",
    ),
    (
        CancelScheduled(queue="q", sequence_number=(2 << 48) + 7),
        "Cancel the scheduled message 7 of partition 2 of q",
    ),
    (CreateQueue(queue="q"), "Create queue q: partitioned"),
    (
        CreateQueue(
            queue="q",
            partitioned=False,
            requires_session=True,
            duplicate_detection=True,
            lock_duration=500_000,
            max_delivery_count=1,
        ),
        "Create queue q: not partitioned, requires sessions, duplicate detection over 600 s, "
        "locks of 0.5 s, max delivery count 1",
    ),
    (CreateQueue(queue="q", forward_to="p"), "Create queue q: partitioned, forwards to p"),
    (CreateTopic(topic="t"), "Create topic t: partitioned"),
    (
        CreateTopic(topic="t", partitioned=None, max_size=5, api_version="2013-10"),
        "Create topic t: partitioned or not, size 5 GB, api-version 2013-10",
    ),
    (
        CreateTopic(topic="t", partitioned=False, duplicate_detection=True),
        "Create topic t: not partitioned, duplicate detection over 600 s",
    ),
    (CreateSubscription(topic="t", subscription="s"), "Create subscription s of topic t"),
    (
        CreateSubscription(topic="t", subscription="s", requires_session=True, lock_duration=1),
        "Create subscription s of topic t: requires sessions, locks of 0.000001 s",
    ),
    (
        AddRule(topic="t", subscription="s", rule="$Default", filter=TrueFilter()),
        "Add rule $Default to subscription s of topic t: everything",
    ),
    (
        AddRule(topic="t", subscription="s", rule="r", filter=FalseFilter(), transaction="x"),
        "Add rule r to subscription s of topic t: nothing, in transaction x",
    ),
    (
        AddRule(topic="t", subscription="s", rule="r", filter=SqlFilter(expression="a = 'b'")),
        "Add rule r to subscription s of topic t: SQL \"a = 'b'\"",
    ),
    (
        AddRule(
            topic="t",
            subscription="s",
            rule="r",
            filter=CorrelationFilter(subject="x", properties={"a": "1", "b": 1, "c": True}),
        ),
        "Add rule r to subscription s of topic t: Label 'x', property a '1', property b 1, "
        "property c True",
    ),
    (
        AddRule(topic="t", subscription="s", rule="r", filter=CorrelationFilter()),
        "Add rule r to subscription s of topic t: no condition",
    ),
    (
        RemoveRule(topic="t", subscription="s", rule="r"),
        "Remove rule r from subscription s of topic t",
    ),
    (ListRules(topic="t", subscription="s"), "List the rules of subscription s of topic t"),
    (CreateQueue(queue="q", partitioned=None), "Create queue q: partitioned or not"),
    (
        CreateQueue(queue="q", max_size=5, api_version="2013-10"),
        "Create queue q: partitioned, size 5 GB, api-version 2013-10",
    ),
    (
        RestoreQueue(queue="q", max_size=5),
        "Begin with queue q: partitioned, size 5 GB",
    ),
    (GetQueue(queue="q"), "Get queue q"),
    (ListQueues(), "List queues"),
    (
        UpdateQueue(queue="q", partitioned=False, lock_duration=5_000_000, max_delivery_count=2),
        "Update queue q: not partitioned, locks of 5 s, max delivery count 2",
    ),
    (UpdateQueue(queue="q"), "Update queue q: nothing"),
    (DeleteQueue(queue="q"), "Delete queue q"),
    (
        Send(queue="q", message=Message(body="m1", size=1)),
        "Send to q: body 'm1', 1 byte",
    ),
    (Send(queue="q", message=Message(body="m1")), "Send to q: body 'm1'"),
    (
        Send(
            queue="q",
            message=Message(body="m1", message_id="x", session_id="a", partition_key="b"),
            timeout=15_000_000,
            transaction="t",
        ),
        "Send to q: body 'm1', MessageId 'x', SessionId 'a', PartitionKey 'b', timeout 15 s, "
        "in transaction t",
    ),
    (Receive(queue="q"), "Receive from q (peek-lock)"),
    (
        Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE, session_id="a"),
        "Receive from session 'a' of q (receive-and-delete)",
    ),
    (Complete(queue="q", lock_token="t1"), "Complete on q: lock t1"),
    (
        SettleBatch(
            queue="q",
            lock_tokens=("t1", "t2"),
            disposition=Disposition.DEAD_LETTER,
            reason="unreadable",
        ),
        "Dead-letter at once on q: locks t1, t2, reason 'unreadable'",
    ),
    (RenewLocks(queue="q", lock_tokens=("t1", "t2")), "Renew at once on q: locks t1, t2"),
    (DeleteBatch(queue="q", count=1), "Delete up to 1 message of q"),
    (
        DeleteBatch(queue="q", count=2, age=20_000_000),
        "Delete up to 2 messages at least 20 s old of q",
    ),
    (
        SettleBatch(queue="q", lock_tokens=(), disposition=Disposition.DEFER),
        "Defer at once on q: locks none",
    ),
    (Abandon(queue="q", lock_token="t1"), "Abandon on q: lock t1"),
    (DeadLetter(queue="q", lock_token="t1"), "Dead-letter on q: lock t1"),
    (
        DeadLetter(queue="q", lock_token="t1", reason="not JSON"),
        "Dead-letter on q: lock t1, reason 'not JSON'",
    ),
    (Defer(queue="q", lock_token="t1"), "Defer on q: lock t1"),
    (
        ReceiveDeferred(queue="q", sequence_numbers=(5, (3 << 48) + 5)),
        "Receive deferred 5, 5 of partition 3 from q (peek-lock)",
    ),
    (
        ReceiveDeferred(queue="q", sequence_numbers=(5,), session_id="a"),
        "Receive deferred 5 from session 'a' of q (peek-lock)",
    ),
    (RenewLock(queue="q", lock_token="t1"), "Renew on q: lock t1"),
    (Receive(queue="q/$deadletterqueue"), "Receive from q/$deadletterqueue (peek-lock)"),
    (Peek(queue="q"), "Peek at up to 1 message of q"),
    (Peek(queue="q", count=3), "Peek at up to 3 messages of q"),
    (AcceptSession(queue="q", session_id="a"), "Accept session 'a' of q"),
    (CloseSession(queue="q", session_id="a"), "Close session 'a' of q"),
    (AcceptNextSession(queue="q"), "Accept the next session of q"),
    (RenewSessionLock(queue="q", session_id="a"), "Renew the lock of session 'a' of q"),
    (
        SetSessionState(queue="q", session_id="a", state="s"),
        "Set the state 's' of session 'a' of q",
    ),
    (SetSessionState(queue="q", session_id="a"), "Remove the state of session 'a' of q"),
    (GetSessionState(queue="q", session_id="a"), "Get the state of session 'a' of q"),
    (ListSessions(queue="q"), "List the sessions of q"),
    (Peek(queue="q", session_id="a"), "Peek at up to 1 message of session 'a' of q"),
    (Peek(queue="q", from_sequence_number=7), "Peek at up to 1 message of q, from 7 on"),
    (BeginTransaction(transaction="t"), "Begin transaction t"),
    (CommitTransaction(transaction="t"), "Commit transaction t"),
    (RollBackTransaction(transaction="t"), "Roll back transaction t"),
    (TakePartitionDown(queue="q", partition=3), "Take partition 3 of q down"),
    (BringPartitionUp(queue="q", partition=3), "Bring partition 3 of q up"),
    (AdvanceClock(duration=61_500_000), "Advance the clock by 61.5 s"),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_a_command_reads_as_a_sentence(command: Command, words: str) -> None:
    assert words == command_words(command)


def test_every_command_is_among_the_sentences() -> None:
    assert set(get_args(Command)) == {type(command) for command, _ in COMMANDS}
