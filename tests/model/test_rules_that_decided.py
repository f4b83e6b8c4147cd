"""An answer names the rules on the branch that decided it."""

from collections.abc import Sequence

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model.life_cycle import Action

MESSAGE = v.Message(body="m")
KEYED = v.Message(body="m", partition_key="k")
TOPIC = v.CreateTopic(topic="t", partitioned=True)
SUBSCRIPTION = v.CreateSubscription(topic="t", subscription="a", requires_session=True)
PARTITIONED = v.CreateQueue(queue="q", partitioned=True)
REGULAR = v.CreateQueue(queue="q", partitioned=False)
SESSIONS = v.CreateQueue(queue="q", partitioned=False, requires_session=True)
ACCEPTED = v.AcceptSession(queue="q", session_id="s")
IN_SESSION = v.Send(queue="q", message=v.Message(body="m", session_id="s"))
HELD = v.Receive(queue="q", session_id="s")
STATE = v.SetSessionState(queue="q", session_id="s", state="x")
UNIQUE = v.CreateQueue(queue="q", partitioned=True, duplicate_detection=True)
COPY = v.Send(queue="q", message=v.Message(body="m", message_id="i"))
SENT = v.Send(queue="q", message=MESSAGE)
WITHIN = v.Send(queue="q", message=KEYED, transaction="x")
BEGUN = v.BeginTransaction(transaction="x")
LOCKED = v.Receive(queue="q")
DEFERRED = v.Defer(queue="q", lock_token="1/1")
LATER = v.Schedule(queue="q", message=KEYED, delay=SECOND)


@pytest.mark.parametrize(
    ("before", "command", "rules"),
    [
        ([], PARTITIONED, ("MGMT-01",)),
        ([], REGULAR, ("MGMT-03",)),
        ([], TOPIC, ("MGMT-02",)),
        ([TOPIC], v.Send(queue="t", message=MESSAGE), ("TOPIC-04", "KEY-14")),
        ([TOPIC, SUBSCRIPTION], v.Send(queue="t", message=MESSAGE), ("TOPIC-01", "KEY-14")),
        (
            [TOPIC, *(v.TakePartitionDown(queue="t", partition=number) for number in range(3))],
            v.Send(queue="t", message=KEYED),
            ("KEY-03", "TOPIC-10"),
        ),
        ([UNIQUE, COPY], COPY, ("KEY-11", "KEY-10")),
        (
            [REGULAR, v.UpdateQueue(queue="q", status=v.EntityStatus.RECEIVE_DISABLED)],
            SENT,
            ("MGMT-28", "KEY-14"),
        ),
        ([REGULAR, SENT], LOCKED, ("LIFE-01",)),
        ([REGULAR], LOCKED, ()),
        ([PARTITIONED], LOCKED, ("LIFE-09",)),
        (
            [SESSIONS, IN_SESSION, ACCEPTED],
            HELD,
            ("LIFE-01", "KEY-06"),
        ),
        (
            [REGULAR, SENT, LOCKED, v.DeadLetter(queue="q", lock_token="1/1")],
            v.Receive(queue=f"q{v.DEAD_LETTERS}"),
            ("LIFE-01", "DLQ-07"),
        ),
        ([REGULAR, SENT, SENT], v.ReceiveBatch(queue="q", count=2), ("BATCH-12", "BATCH-14")),
        ([REGULAR, SENT], v.DeleteBatch(queue="q", count=2), ("BATCH-15", "BATCH-18")),
        ([REGULAR], v.GetQueue(queue="q"), ("MGMT-11", "MGMT-22")),
        (
            [PARTITIONED, v.TakePartitionDown(queue="q", partition=0)],
            v.GetQueue(queue="q"),
            ("MGMT-11", "MGMT-21", "MGMT-23", "MGMT-20"),
        ),
        ([REGULAR, LATER], v.GetQueue(queue="q"), ("MGMT-11", "MGMT-22", "MGMT-30")),
        ([TOPIC], v.GetTopic(topic="t"), ("MGMT-11", "TOPIC-24", "MGMT-22")),
        ([PARTITIONED], v.UpdateQueue(queue="q"), ("MGMT-12", "MGMT-17")),
        ([REGULAR], v.UpdateQueue(queue="q", forward_to=""), ("MGMT-12", "FWD-05")),
        ([REGULAR, SENT], v.ReceiveDeferred(queue="q", sequence_numbers=(7,)), ("DEFER-03",)),
        (
            [REGULAR, SENT],
            v.ReceiveDeferred(queue="q", sequence_numbers=(1,)),
            ("DEFER-03", "DEFER-04"),
        ),
        (
            [REGULAR, SENT, LOCKED, DEFERRED, v.ReceiveDeferred(queue="q", sequence_numbers=(1,))],
            v.ReceiveDeferred(queue="q", sequence_numbers=(1,)),
            ("DEFER-05",),
        ),
        (
            [SESSIONS, IN_SESSION, ACCEPTED, HELD, DEFERRED],
            v.ReceiveDeferred(queue="q", sequence_numbers=(1,), session_id="s"),
            ("DEFER-02", "DEFER-12"),
        ),
        (
            [
                *(SESSIONS, IN_SESSION, ACCEPTED, HELD, DEFERRED),
                v.AcceptSession(queue="q", session_id="r"),
            ],
            v.ReceiveDeferred(queue="q", sequence_numbers=(1,), session_id="r"),
            ("DEFER-12",),
        ),
        ([REGULAR, SENT, LOCKED, DEFERRED], v.Peek(queue="q", count=9), ("LIFE-07", "DEFER-09")),
        ([REGULAR, LATER], v.Peek(queue="q", count=1), ("LIFE-07", "PART-19", "SCHED-08")),
        ([REGULAR], v.Peek(queue="q", session_id="s"), ("LIFE-07", "SESS-23")),
        ([PARTITIONED], LATER, ("SCHED-03", "SCHED-09")),
        ([REGULAR], v.Schedule(queue="q", message=MESSAGE, delay=0), ("SCHED-03", "SCHED-14")),
        ([SESSIONS, ACCEPTED], v.GetSessionState(queue="q", session_id="s"), ("SESS-16",)),
        ([SESSIONS, ACCEPTED, STATE], v.GetSessionState(queue="q", session_id="s"), ("SESS-17",)),
        (
            [SESSIONS, ACCEPTED],
            v.SetSessionState(queue="q", session_id="s", state=None),
            ("SESS-18",),
        ),
        (
            [TOPIC, SUBSCRIPTION],
            v.AcceptSession(queue=v.subscription_path("t", "a"), session_id="s"),
            ("SESS-03", "TOPIC-13"),
        ),
        ([PARTITIONED, BEGUN], WITHIN, ("TXN-01", "TXN-05")),
        ([PARTITIONED, BEGUN, WITHIN], WITHIN, ("TXN-02", "TXN-10")),
        ([REGULAR, BEGUN], WITHIN, ("TXN-01", "TXN-14")),
        (
            [REGULAR, BEGUN],
            v.SendBatch(queue="q", messages=(MESSAGE,), transaction="x"),
            ("BATCH-08", "TXN-01", "TXN-14"),
        ),
        (
            [
                *(REGULAR, SENT, LOCKED, BEGUN),
                v.Complete(queue="q", lock_token="1/1", transaction="x"),
            ],
            v.RollBackTransaction(transaction="x"),
            ("TXN-13", "LOCK-12"),
        ),
        (
            [
                *(REGULAR, SENT, LOCKED, BEGUN),
                v.Complete(queue="q", lock_token="1/1", transaction="x"),
                v.AdvanceClock(duration=61 * SECOND),
            ],
            v.CommitTransaction(transaction="x"),
            ("LOCK-13", "LIFE-06"),
        ),
    ],
)
def test_answer_names_the_rules_that_decided_it(
    before: Sequence[v.Command], command: v.Command, rules: tuple[v.RuleId, ...]
) -> None:
    bus = Bus(
        profile(
            LOCK_IN_TRANSACTION="ends",
            SCHEDULED_COUNT="left-out",
            TXN_REFUSAL="at-send",
            COUNTS_IN_OUTAGE="left-out",
        )
    )
    for earlier in before:
        bus.done(earlier)
    assert rules == bus.ask(command).rules


def test_receive_finds_nothing_because_another_front_end_has_it() -> None:
    """LIFE-08."""
    bus = Bus(profile())
    bus.create("q", partitioned=True)
    bus.send("m1", partition_key="k")
    bus.send("m2", partition_key="k")
    entity = bus.namespace.entities["q"]
    first, second = entity.messages.values()
    bus.namespace.rules.locks.lock(first, Action.RECEIVE)
    bus.namespace.rules.partitions.cache(second, "c2", v.ReceiveMode.PEEK_LOCK)
    answer = bus.ask(v.Receive(queue="q"))
    assert (v.Empty(), ("LIFE-08",)) == (answer.outcome, answer.rules)
