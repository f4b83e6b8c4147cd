"""KEY-14: whose turn it is to take a message without a key, and when nobody knows."""

import pytest
from observing import GONE, LOST, down, observing

from busproof.vocabulary.commands import CreateQueue, Schedule, Send, SendBatch
from busproof.vocabulary.outcomes import Scheduled


def test_strict_round_robin_asks_for_the_next_partition() -> None:
    observer = observing({"ROUND-ROBIN": "strict"})
    observer.queue()
    assert observer.send(partition=3).possible
    assert observer.send(partition=1).possible == ()
    assert observer.send(partition=0).possible


@pytest.mark.parametrize("revealed_by", ["lost send", "lost batch", "scheduled", "lost schedule"])
def test_late_arrival_leaves_strict_round_robin_unknown(revealed_by: str) -> None:
    observer = observing({"ROUND-ROBIN": "strict"})
    observer.queue()
    assert observer.send(partition=0).possible
    unseen = observer.message()
    later = Schedule(queue="q", message=unseen, delay=60_000_000)
    command, outcome = {
        "lost send": (Send(queue="q", message=unseen), LOST),
        "lost batch": (SendBatch(queue="q", messages=(unseen,)), LOST),
        "scheduled": (later, Scheduled(sequence_number=1)),
        "lost schedule": (later, LOST),
    }[revealed_by]
    observer.has(command, outcome)
    for partition in (1, 3, 1):
        assert observer.send(partition=partition).possible


def test_a_short_timeout_may_go_round_where_a_lost_send_may_have_taken_a_turn() -> None:
    observer = observing({"SHORT-TIMEOUT": "must-fail", "ROUND-ROBIN": "strict"})
    observer.queue()
    observer.send(LOST)
    observer.send(partition=0)
    observer.has(down(1))
    assert observer.send(partition=2, timeout=15_000_000).possible


def test_a_lost_send_with_a_key_takes_no_turn() -> None:
    observer = observing({"ROUND-ROBIN": "strict"})
    observer.queue()
    observer.send(partition=0)
    observer.send(LOST, partition_key="a")
    assert observer.send(partition=3).possible == ()


def test_an_empty_key_that_may_be_none_may_take_a_turn() -> None:
    observer = observing({"ROUND-ROBIN": "strict", "EMPTY-KEY": "either"})
    observer.queue()
    observer.send(partition=0)
    observer.send(LOST, partition_key="")
    assert observer.send(partition=3).possible


def test_forwarded_message_may_take_a_turn_at_any_time() -> None:
    observer = observing({"ROUND-ROBIN": "strict"})
    observer.queue()
    observer.has(CreateQueue(queue="source", forward_to="q"))
    observer.send(partition=0)
    observer.has(Send(queue="source", message=observer.message()))
    for partition in (1, 3):
        assert observer.send(partition=partition).possible


def test_a_short_timeout_must_fail_where_readings_say_so() -> None:
    strict = {"SHORT-TIMEOUT": "must-fail", "ROUND-ROBIN": "strict"}
    observer = observing(strict)
    observer.queue()
    observer.send(partition=0)
    observer.has(down(1))
    assert observer.send(partition=2, timeout=15_000_000).possible == ()
    assert observer.send(GONE, timeout=15_000_000).possible
    assert observer.send(partition=2).possible
    assert observer.send(partition=3, timeout=15_000_000).possible
