"""Requests as sentences that the domain speaks."""

from typing import get_args

import pytest

from busproof import vocabulary as v
from busproof.history.render.commands import command_words

COMMANDS = [
    (v.GetTopic(topic="t"), "Get topic t"),
    (v.ListTopics(), "List topics"),
    (
        v.UpdateTopic(topic="t", partitioned=False, status=v.EntityStatus.DISABLED),
        "Update topic t: not partitioned, disabled",
    ),
    (v.UpdateTopic(topic="t"), "Update topic t: nothing"),
    (v.DeleteTopic(topic="t"), "Delete topic t"),
    (v.ListSubscriptions(topic="t"), "List the subscriptions of topic t"),
    (
        v.SendBatch(
            queue="q", messages=(v.Message(body="m1"), v.Message(body="m2", session_id="a"))
        ),
        "Send 2 messages at once to q: 'm1', 'm2' (SessionId 'a')",
    ),
    (v.ReceiveBatch(queue="q", count=3), "Receive up to 3 messages from q (peek-lock)"),
    (
        v.Schedule(
            queue="q",
            message=v.Message(body="m1", session_id="a"),
            delay=5_000_000,
            transaction="t",
        ),
        "Schedule to q: body 'm1', SessionId 'a', due in 5 s, in transaction t",
    ),
    (
        v.Schedule(queue="q", message=v.Message(body="m1"), delay=-1_000_000),
        "Schedule to q: body 'm1', due in -1 s",
    ),
    (
        v.CancelScheduled(queue="q", sequence_number=(2 << 48) + 7),
        "Cancel the scheduled message 7 of partition 2 of q",
    ),
    (v.CreateQueue(queue="q"), "Create queue q: partitioned"),
    (
        v.CreateQueue(
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
    (v.CreateQueue(queue="q", forward_to="p"), "Create queue q: partitioned, forwards to p"),
    (v.CreateTopic(topic="t"), "Create topic t: partitioned"),
    (
        v.CreateTopic(topic="t", partitioned=None, max_size=5, api_version="2013-10"),
        "Create topic t: partitioned or not, size 5 GB, api-version 2013-10",
    ),
    (
        v.CreateTopic(topic="t", partitioned=False, duplicate_detection=True),
        "Create topic t: not partitioned, duplicate detection over 600 s",
    ),
    (v.CreateSubscription(topic="t", subscription="s"), "Create subscription s of topic t"),
    (
        v.CreateSubscription(topic="t", subscription="s", requires_session=True, lock_duration=1),
        "Create subscription s of topic t: requires sessions, locks of 0.000001 s",
    ),
    (
        v.AddRule(topic="t", subscription="s", rule="$Default", filter=v.TrueFilter()),
        "Add rule $Default to subscription s of topic t: everything",
    ),
    (
        v.AddRule(topic="t", subscription="s", rule="r", filter=v.FalseFilter(), transaction="x"),
        "Add rule r to subscription s of topic t: nothing, in transaction x",
    ),
    (
        v.AddRule(topic="t", subscription="s", rule="r", filter=v.SqlFilter(expression="a = 'b'")),
        "Add rule r to subscription s of topic t: SQL \"a = 'b'\"",
    ),
    (
        v.AddRule(
            topic="t",
            subscription="s",
            rule="r",
            filter=v.CorrelationFilter(subject="x", properties={"a": "1", "b": 1, "c": True}),
        ),
        "Add rule r to subscription s of topic t: Label 'x', property a '1', property b 1, "
        "property c True",
    ),
    (
        v.AddRule(topic="t", subscription="s", rule="r", filter=v.CorrelationFilter()),
        "Add rule r to subscription s of topic t: no condition",
    ),
    (
        v.RemoveRule(topic="t", subscription="s", rule="r"),
        "Remove rule r from subscription s of topic t",
    ),
    (v.ListRules(topic="t", subscription="s"), "List the rules of subscription s of topic t"),
    (v.CreateQueue(queue="q", partitioned=None), "Create queue q: partitioned or not"),
    (
        v.CreateQueue(queue="q", max_size=5, api_version="2013-10"),
        "Create queue q: partitioned, size 5 GB, api-version 2013-10",
    ),
    (
        v.RestoreQueue(queue="q", max_size=5),
        "Begin with queue q: partitioned, size 5 GB",
    ),
    (v.GetQueue(queue="q"), "Get queue q"),
    (v.ListQueues(), "List queues"),
    (
        v.UpdateQueue(queue="q", partitioned=False, lock_duration=5_000_000, max_delivery_count=2),
        "Update queue q: not partitioned, locks of 5 s, max delivery count 2",
    ),
    (v.UpdateQueue(queue="q"), "Update queue q: nothing"),
    (v.DeleteQueue(queue="q"), "Delete queue q"),
    (
        v.Send(queue="q", message=v.Message(body="m1", size=1)),
        "Send to q: body 'm1', 1 byte",
    ),
    (v.Send(queue="q", message=v.Message(body="m1")), "Send to q: body 'm1'"),
    (
        v.Send(
            queue="q",
            message=v.Message(body="m1", message_id="x", session_id="a", partition_key="b"),
            timeout=15_000_000,
            transaction="t",
        ),
        "Send to q: body 'm1', MessageId 'x', SessionId 'a', PartitionKey 'b', timeout 15 s, "
        "in transaction t",
    ),
    (v.Receive(queue="q"), "Receive from q (peek-lock)"),
    (
        v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE, session_id="a"),
        "Receive from session 'a' of q (receive-and-delete)",
    ),
    (v.Complete(queue="q", lock_token="t1"), "Complete on q: lock t1"),
    (
        v.SettleBatch(
            queue="q",
            lock_tokens=("t1", "t2"),
            disposition=v.Disposition.DEAD_LETTER,
            reason="unreadable",
        ),
        "Dead-letter at once on q: locks t1, t2, reason 'unreadable'",
    ),
    (v.RenewLocks(queue="q", lock_tokens=("t1", "t2")), "Renew at once on q: locks t1, t2"),
    (v.DeleteBatch(queue="q", count=1), "Delete up to 1 message of q"),
    (
        v.DeleteBatch(queue="q", count=2, age=20_000_000),
        "Delete up to 2 messages at least 20 s old of q",
    ),
    (
        v.SettleBatch(queue="q", lock_tokens=(), disposition=v.Disposition.DEFER),
        "Defer at once on q: locks none",
    ),
    (v.Abandon(queue="q", lock_token="t1"), "Abandon on q: lock t1"),
    (v.DeadLetter(queue="q", lock_token="t1"), "Dead-letter on q: lock t1"),
    (
        v.DeadLetter(queue="q", lock_token="t1", reason="not JSON"),
        "Dead-letter on q: lock t1, reason 'not JSON'",
    ),
    (v.Defer(queue="q", lock_token="t1"), "Defer on q: lock t1"),
    (
        v.ReceiveDeferred(queue="q", sequence_numbers=(5, (3 << 48) + 5)),
        "Receive deferred 5, 5 of partition 3 from q (peek-lock)",
    ),
    (
        v.ReceiveDeferred(queue="q", sequence_numbers=(5,), session_id="a"),
        "Receive deferred 5 from session 'a' of q (peek-lock)",
    ),
    (v.RenewLock(queue="q", lock_token="t1"), "Renew on q: lock t1"),
    (v.Receive(queue="q/$deadletterqueue"), "Receive from q/$deadletterqueue (peek-lock)"),
    (v.Peek(queue="q"), "Peek at up to 1 message of q"),
    (v.Peek(queue="q", count=3), "Peek at up to 3 messages of q"),
    (v.AcceptSession(queue="q", session_id="a"), "Accept session 'a' of q"),
    (v.CloseSession(queue="q", session_id="a"), "Close session 'a' of q"),
    (v.AcceptNextSession(queue="q"), "Accept the next session of q"),
    (v.RenewSessionLock(queue="q", session_id="a"), "Renew the lock of session 'a' of q"),
    (
        v.SetSessionState(queue="q", session_id="a", state="s"),
        "Set the state 's' of session 'a' of q",
    ),
    (v.SetSessionState(queue="q", session_id="a"), "Remove the state of session 'a' of q"),
    (v.GetSessionState(queue="q", session_id="a"), "Get the state of session 'a' of q"),
    (v.ListSessions(queue="q"), "List the sessions of q"),
    (v.Peek(queue="q", session_id="a"), "Peek at up to 1 message of session 'a' of q"),
    (v.Peek(queue="q", from_sequence_number=7), "Peek at up to 1 message of q, from 7 on"),
    (v.BeginTransaction(transaction="t"), "Begin transaction t"),
    (v.CommitTransaction(transaction="t"), "Commit transaction t"),
    (v.RollBackTransaction(transaction="t"), "Roll back transaction t"),
    (v.TakePartitionDown(queue="q", partition=3), "Take partition 3 of q down"),
    (v.BringPartitionUp(queue="q", partition=3), "Bring partition 3 of q up"),
    (v.AdvanceClock(duration=61_500_000), "Advance the clock by 61.5 s"),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_a_command_reads_as_a_sentence(command: v.Command, words: str) -> None:
    assert words == command_words(command)


def test_every_command_is_among_the_sentences() -> None:
    assert set(get_args(v.Command)) == {type(command) for command, _ in COMMANDS}
