"""What a conforming bus answers where clients try everything is no violation in Spark either."""

import pytest
import recorded_cases as cases
from exploring import explored
from spark_samples import Sample

from busproof.adapters.model import ModelAdapter
from busproof.pipeline.checking import check
from busproof.pipeline.reading import read_lines
from busproof.pipeline.rules import RULES
from busproof.pipeline.terms import Held
from busproof.spec import load
from busproof.vocabulary.commands import (
    AdvanceClock,
    BeginTransaction,
    Command,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Receive,
    RollBackTransaction,
    Schedule,
    Send,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Done, Event, Outcome, Received, Refused, Witness
from busproof.vocabulary.values import MICROSECONDS, Error

pytestmark = pytest.mark.slow

INVALID = Refused(error=Error.INVALID_OPERATION)
LOCK = 5 * MICROSECONDS
GIVEN = Received(
    message=MessageView(
        body="m1", sequence_number=1, lock_token="l", locked_until=LOCK, delivery_count=1
    )
)
PENDING: list[tuple[Command, Outcome]] = [
    (CreateQueue(queue="q", lock_duration=LOCK), Done()),
    (Send(queue="q", message=Message(body="m1")), Done()),
    (Receive(queue="q"), GIVEN),
    (BeginTransaction(transaction="t"), Done()),
    (Complete(queue="q", lock_token="l", transaction="t"), Done()),
    (AdvanceClock(duration=2 * LOCK), Done()),
    (RollBackTransaction(transaction="t"), Done()),
    (Complete(queue="q", lock_token="l"), Done()),
]
ELSEWHERE: list[tuple[Command, Outcome]] = [
    (CreateTopic(topic="n"), Done()),
    (CreateSubscription(topic="n", subscription="s"), Done()),
    (Schedule(queue="n/subscriptions/s", message=Message(body="m1"), delay=-1), INVALID),
]
TOO_LONG: list[tuple[Command, Outcome]] = [
    (CreateQueue(queue="q"), Done()),
    (
        Send(
            queue="q",
            message=Message(body="m1", session_id="a" * 129, partition_key="a" * 129),
        ),
        INVALID,
    ),
]


def case(name: str, asked: list[tuple[Command, Outcome]]) -> cases.Case:
    events, now = [], 0
    for command, outcome in asked:
        now += command.duration if isinstance(command, AdvanceClock) else 0
        witness = Witness(partition=0) if isinstance(command, Send) else None
        events.append(
            Event(
                client="c1",
                connection="c1",
                called=now,
                returned=now,
                command=command,
                outcome=outcome,
                witness=witness if isinstance(outcome, Done) else None,
            )
        )
    return cases.Case(name, tuple(events))


def test_refusals_for_other_reasons_and_locks_kept_by_transactions_are_no_violations(
    spark, tmp_path
) -> None:
    histories = [case("pending", PENDING), case("elsewhere", ELSEWHERE), case("long", TOO_LONG)]
    sample = Sample(spark, tmp_path / "history.jsonl", histories, rules=RULES & CONCERNED)
    assert {} == sample.found


CONCERNED = frozenset({"KEY-09", "LIFE-06", "LOCK-05", "LOCK-06", "SCHED-14"})


def test_exploration_of_a_conforming_bus_is_accused_of_nothing(spark, tmp_path) -> None:
    history = explored(ModelAdapter(), sequences=40).history(tmp_path)
    read = read_lines(spark, [str(tmp_path / "history.jsonl")])
    checked = check(read, Held.of(load(), history.header), RULES)
    assert {} == {name: told.example for name, told in checked.rules.items() if told.violations}
