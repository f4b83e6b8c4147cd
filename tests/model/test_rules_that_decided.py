"""An answer names the rules on the branch that decided it."""

from collections.abc import Sequence

import attrs
import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v
from busproof.model import ways
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
DELETE = v.ReceiveMode.RECEIVE_AND_DELETE
DOWN = v.TakePartitionDown(queue="q", partition=2)
KEYED_SENT = v.Send(queue="q", message=KEYED)
PARTITIONED_SESSIONS = v.CreateQueue(queue="q", partitioned=True, requires_session=True)
ALIKE = v.Send(queue="q", message=v.Message(body="m", session_id="k", partition_key="k"))
NAMED = v.Send(queue="q", message=v.Message(body="m", partition_key="k", message_id="i"))
COPY_IN_BATCH = ("BATCH-01", "BATCH-09")
LATER = v.Schedule(queue="q", message=KEYED, delay=SECOND)


def batch(*messages: v.Message) -> v.SendBatch:
    return v.SendBatch(queue="q", messages=messages)


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
            ("MGMT-28", "LIFE-01"),
        ),
        ([REGULAR, SENT], LOCKED, ("LIFE-01", "LOCK-01")),
        ([REGULAR, SENT], attrs.evolve(LOCKED, mode=DELETE), ("LIFE-01",)),
        ([REGULAR], LOCKED, ()),
        (
            [SESSIONS, IN_SESSION, IN_SESSION, ACCEPTED],
            v.ReceiveBatch(queue="q", count=2, session_id="s", mode=DELETE),
            ("BATCH-12", "BATCH-13"),
        ),
        (
            [REGULAR, SENT, SENT, LOCKED, DEFERRED, LOCKED, v.Defer(queue="q", lock_token="2/1")],
            v.ReceiveDeferred(queue="q", sequence_numbers=(1, 2), mode=DELETE),
            ("DEFER-02", "DEFER-11"),
        ),
        ([PARTITIONED], LOCKED, ("LIFE-09",)),
        (
            [SESSIONS, IN_SESSION, ACCEPTED],
            HELD,
            ("LIFE-01", "LOCK-01", "KEY-06"),
        ),
        (
            [REGULAR, SENT, LOCKED, v.DeadLetter(queue="q", lock_token="1/1")],
            v.Receive(queue=f"q{v.DEAD_LETTERS}"),
            ("LIFE-01", "LOCK-01", "DLQ-07"),
        ),
        ([REGULAR, SENT, SENT], v.ReceiveBatch(queue="q", count=2), ("BATCH-12", "BATCH-14")),
        ([REGULAR, SENT], v.DeleteBatch(queue="q", count=2), ("BATCH-15", "BATCH-18")),
        ([REGULAR], v.GetQueue(queue="q"), ("MGMT-11", "MGMT-22", "SIZE-06")),
        (
            [PARTITIONED, v.TakePartitionDown(queue="q", partition=0)],
            v.GetQueue(queue="q"),
            ("MGMT-11", "MGMT-21", "MGMT-23", "MGMT-20"),
        ),
        ([REGULAR, LATER], v.GetQueue(queue="q"), ("MGMT-11", "MGMT-22", "MGMT-30", "SIZE-06")),
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
        ([PARTITIONED], LATER, ("SCHED-03", "SCHED-09", "SCHED-01", "SCHED-02")),
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
        ([PARTITIONED], attrs.evolve(SENT, timeout=SECOND), ("KEY-14", "KEY-25")),
        ([PARTITIONED, DOWN], SENT, ("KEY-14", "KEY-15")),
        ([PARTITIONED, DOWN], attrs.evolve(SENT, timeout=SECOND), ("KEY-14", "KEY-18")),
        ([PARTITIONED, DOWN], KEYED_SENT, ("KEY-07", "PART-02")),
        ([REGULAR], KEYED_SENT, ("LIFE-01",)),
        ([PARTITIONED_SESSIONS], IN_SESSION, ("KEY-04", "KEY-05")),
        ([PARTITIONED], ALIKE, ("KEY-04", "KEY-09")),
        ([UNIQUE], NAMED, ("KEY-07", "KEY-24")),
        ([PARTITIONED], DOWN, ("PART-05", "PART-02")),
        ([PARTITIONED, DOWN], v.BringPartitionUp(queue="q", partition=2), ("PART-05", "PART-04")),
        ([UNIQUE, COPY], v.SendBatch(queue="q", messages=(COPY.message,)), COPY_IN_BATCH),
        ([PARTITIONED], batch(KEYED, KEYED), ("BATCH-01", "BATCH-04")),
        ([PARTITIONED], batch(MESSAGE, MESSAGE), ("BATCH-01",)),
        ([PARTITIONED], batch(MESSAGE, KEYED), ("BATCH-01", "BATCH-05")),
        ([REGULAR], batch(MESSAGE, KEYED), ("BATCH-01", "BATCH-06")),
        ([REGULAR], batch(KEYED, KEYED), ("BATCH-01",)),
        (
            [PARTITIONED, SENT, LOCKED, v.DeadLetter(queue="q", lock_token="1/1")],
            v.Receive(queue=f"q{v.DEAD_LETTERS}", mode=DELETE),
            ("LIFE-01", "DLQ-07", "DLQ-12"),
        ),
        ([PARTITIONED, BEGUN], WITHIN, ("TXN-01", "TXN-05", "TXN-11")),
        ([PARTITIONED, BEGUN, WITHIN], WITHIN, ("TXN-02", "TXN-10", "TXN-11")),
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
            BATCH_KEYS="split",
        )
    )
    for earlier in before:
        bus.done(earlier)
    assert rules == bus.ask(command).rules


TWO_KEYS = v.Message(body="m", session_id="a", partition_key="b")
LARGE = v.Message(body="m", size=300_000)
FILLING = v.Send(queue="q", message=v.Message(body="m", size=2**30, stands_in=True))
ALL_DOWN = tuple(v.TakePartitionDown(queue="q", partition=number) for number in range(3))
IN_TOPIC = v.Send(queue="t", message=MESSAGE)
TOPIC_DOWN = v.TakePartitionDown(queue="t", partition=2)
UNIQUE_TOPIC = attrs.evolve(TOPIC, duplicate_detection=True)
COPY_IN_TOPIC = attrs.evolve(COPY, queue="t")
PLAIN_SUBSCRIPTION = v.CreateSubscription(topic="t", subscription="a")


@pytest.mark.parametrize(
    ("before", "command", "rules"),
    [
        ([REGULAR, FILLING], batch(MESSAGE), ("SIZE-10", "BATCH-10")),
        ([PARTITIONED, *ALL_DOWN], batch(KEYED), ("KEY-03", "BATCH-11")),
        ([REGULAR, SENT, LOCKED], v.DeleteBatch(queue="q", count=1), ("BATCH-18", "BATCH-16")),
        (
            [REGULAR, SENT],
            v.DeleteBatch(queue="q", count=1, age=SECOND),
            ("BATCH-18", "BATCH-17"),
        ),
        ([SESSIONS], STATE, ("SESS-12", "SESS-21")),
        ([SESSIONS], v.RenewSessionLock(queue="q", session_id="s"), ("SESS-12",)),
        ([PARTITIONED, SENT, DOWN], v.Peek(queue="q"), ("PART-19", "PART-29")),
        ([PARTITIONED, DOWN], v.Peek(queue="q"), ("LIFE-07",)),
        ([PARTITIONED], attrs.evolve(LATER, message=TWO_KEYS), ("KEY-08", "SCHED-12")),
        ([PARTITIONED], attrs.evolve(LATER, message=LARGE), ("LIMIT-02", "LIMIT-06")),
        (
            [PARTITIONED, BEGUN],
            attrs.evolve(LATER, message=LARGE, transaction="x"),
            ("LIMIT-02", "LIMIT-21"),
        ),
        ([PARTITIONED, BEGUN], attrs.evolve(WITHIN, message=LARGE), ("LIMIT-02", "LIMIT-21")),
        (
            [PARTITIONED_SESSIONS, BEGUN],
            attrs.evolve(WITHIN, message=TWO_KEYS),
            ("KEY-08", "TXN-07"),
        ),
        ([PARTITIONED, BEGUN], attrs.evolve(WITHIN, message=TWO_KEYS), ("KEY-08",)),
        ([TOPIC, BEGUN], attrs.evolve(IN_TOPIC, transaction="x"), ("TXN-03", "TOPIC-16")),
        ([UNIQUE_TOPIC, COPY_IN_TOPIC], COPY_IN_TOPIC, ("KEY-11", "KEY-10", "TOPIC-12")),
        ([TOPIC, TOPIC_DOWN], IN_TOPIC, ("TOPIC-04", "KEY-14", "KEY-15", "TOPIC-11")),
        (
            [TOPIC, PLAIN_SUBSCRIPTION],
            v.Receive(queue=v.subscription_path("t", "a")),
            ("LIFE-09", "TOPIC-09"),
        ),
    ],
)
def test_answer_names_the_rules_that_say_it_of_this_request(
    before: Sequence[v.Command], command: v.Command, rules: tuple[v.RuleId, ...]
) -> None:
    """They come last: what another rule says of other requests, they say once more of this one."""
    bus = Bus(profile(TXN_REFUSAL="at-send"))
    for earlier in before:
        bus.done(earlier)
    assert rules == bus.ask(command).rules[-len(rules) :]


def test_dead_letters_that_go_on_are_refused_by_a_rule_of_their_own() -> None:
    bus = Bus(profile())
    bus.create("end")
    bus.create("q", forward_dead_letters_to="end")
    receive = v.Receive(queue=f"q{v.DEAD_LETTERS}")
    assert ("FWD-36",) in [answer.rules for _, answer in ways(bus.namespace, receive, "c1")]


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


@pytest.mark.parametrize(
    ("source", "destination", "rule"),
    [
        (True, False, "FWD-01"),
        (False, True, "FWD-02"),
        (True, True, "FWD-03"),
        (False, False, "FWD-06"),
    ],
)
def test_send_to_a_source_names_the_rule_by_which_it_goes_on(
    bus: Bus, *, source: bool, destination: bool, rule: str
) -> None:
    bus.create("end", partitioned=destination)
    bus.create(partitioned=source, forward_to="end")
    rules = bus.ask(SENT).rules
    assert (rule, "FWD-04") == rules[-2:]
    bus.done(v.DeleteQueue(queue="end"))
    assert "FWD-20" == bus.ask(SENT).rules[-1]


@pytest.mark.parametrize(
    ("asked", "partitioned", "rules"),
    [
        ({}, False, {"SIZE-06"}),
        ({"edition": "cs-2020-12"}, True, {"SIZE-04"}),
        ({}, True, set()),
        ({"tier": "basic"}, True, set()),
        ({"tier": "premium", "edition": "cs-2020-12"}, False, {"PREM-10"}),
    ],
)
def test_description_names_the_rule_of_the_size_that_it_tells(
    asked: dict[str, str], rules: set[str], *, partitioned: bool
) -> None:
    bus = Bus(profile(**asked))
    bus.create(partitioned=partitioned)
    of_size = {"SIZE-04", "SIZE-06", "PREM-10"}
    assert rules == of_size.intersection(bus.ask(v.GetQueue(queue="q")).rules)
