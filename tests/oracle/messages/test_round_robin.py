"""KEY-14: whose turn it is to take a message without a key, and when nobody knows."""

import pytest
from telling import GONE, LOST, down, telling

from busproof.vocabulary.commands import CreateQueue, Schedule, Send, SendBatch
from busproof.vocabulary.outcomes import Scheduled


def test_strict_round_robin_asks_for_the_next_partition() -> None:
    told = telling({"ROUND-ROBIN": "strict"})
    told.queue()
    assert told.send(partition=3).possible
    assert told.send(partition=1).possible == ()
    assert told.send(partition=0).possible


@pytest.mark.parametrize("told_by", ["lost send", "lost batch", "scheduled", "lost schedule"])
def test_late_arrival_leaves_strict_round_robin_unknown(told_by: str) -> None:
    told = telling({"ROUND-ROBIN": "strict"})
    told.queue()
    assert told.send(partition=0).possible
    unseen = told.message()
    later = Schedule(queue="q", message=unseen, delay=60_000_000)
    command, outcome = {
        "lost send": (Send(queue="q", message=unseen), LOST),
        "lost batch": (SendBatch(queue="q", messages=(unseen,)), LOST),
        "scheduled": (later, Scheduled(sequence_number=1)),
        "lost schedule": (later, LOST),
    }[told_by]
    told.has(command, outcome)
    for partition in (1, 3, 1):
        assert told.send(partition=partition).possible


def test_a_short_timeout_may_go_round_where_a_lost_send_may_have_taken_a_turn() -> None:
    told = telling({"SHORT-TIMEOUT": "must-fail", "ROUND-ROBIN": "strict"})
    told.queue()
    told.send(LOST)
    told.send(partition=0)
    told.has(down(1))
    assert told.send(partition=2, timeout=15_000_000).possible


def test_a_lost_send_with_a_key_takes_no_turn() -> None:
    told = telling({"ROUND-ROBIN": "strict"})
    told.queue()
    told.send(partition=0)
    told.send(LOST, partition_key="a")
    assert told.send(partition=3).possible == ()


def test_an_empty_key_that_may_be_none_may_take_a_turn() -> None:
    told = telling({"ROUND-ROBIN": "strict", "EMPTY-KEY": "either"})
    told.queue()
    told.send(partition=0)
    told.send(LOST, partition_key="")
    assert told.send(partition=3).possible


def test_forwarded_message_may_take_a_turn_at_any_time() -> None:
    told = telling({"ROUND-ROBIN": "strict"})
    told.queue()
    told.has(CreateQueue(queue="source", forward_to="q"))
    told.send(partition=0)
    told.has(Send(queue="source", message=told.message()))
    for partition in (1, 3):
        assert told.send(partition=partition).possible


def test_a_short_timeout_must_fail_where_readings_say_so() -> None:
    strict = {"SHORT-TIMEOUT": "must-fail", "ROUND-ROBIN": "strict"}
    told = telling(strict)
    told.queue()
    told.send(partition=0)
    told.has(down(1))
    assert told.send(partition=2, timeout=15_000_000).possible == ()
    assert told.send(GONE, timeout=15_000_000).possible
    assert told.send(partition=2).possible
    assert told.send(partition=3, timeout=15_000_000).possible
