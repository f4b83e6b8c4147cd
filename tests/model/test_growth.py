"""No operation grows with the messages held: counted in function calls and lines, not in time."""

import os
import sys
from types import FrameType
from typing import Any

import pytest
from model_driver import SECOND, Bus, profile

from busproof import vocabulary as v

LITTLE = 1_000
MUCH = 300_000 if os.environ.get("BUSPROOF_SIZE") == "full" else 10_000
"""How many messages are held; `tools/benchmarks/model.py` goes on to a million."""


def filled(held: int) -> Bus:
    """A bus that holds so many messages, a quarter of them with sessions, scheduled, mortal."""
    bus = Bus(profile(partitions=4))
    bus.create("q")
    bus.create("s", requires_session=True)
    bus.create("t", time_to_live=10**12, duplicate_detection=True)
    for number in range(held):
        bus.send(f"m{number}")
    for number in range(held // 4):
        later = v.Schedule(queue="q", message=v.Message(body=f"p{number}"), delay=10**12)
        bus.done(later)
        bus.send(f"s{number}", queue="s", session_id=f"x{number}")
        bus.send(f"t{number}", queue="t", message_id=f"i{number}")
    return bus


def steps_of(bus: Bus, command: v.Command, connection: str = "c1") -> tuple[int, v.Outcome]:
    """How many lines of Python a command takes."""
    lines = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        outcome = bus.ask(command, connection).outcome
    finally:
        sys.settrace(before)
    return lines, outcome


def counted(bus: Bus) -> dict[str, int]:
    """The lines that each kind of operation takes."""
    found = {}

    def ask(name: str, command: v.Command, connection: str = "c1") -> Any:
        found[name], outcome = steps_of(bus, command, connection)
        return outcome

    ask("send", v.Send(queue="q", message=v.Message(body="n")))
    ask("keyed", v.Send(queue="q", message=v.Message(body="n", partition_key="k")))
    ask("mortal", v.Send(queue="t", message=v.Message(body="n", message_id="n")))
    ask("batch", v.SendBatch(queue="q", messages=(v.Message(body="a"), v.Message(body="b"))))
    number = ask("schedule", v.Schedule(queue="q", message=v.Message(body="n"), delay=10**11))
    ask("cancel", v.CancelScheduled(queue="q", sequence_number=number.sequence_number))
    token = ask("receive", v.Receive(queue="q")).message.lock_token
    ask("renew", v.RenewLock(queue="q", lock_token=token))
    ask("abandon", v.Abandon(queue="q", lock_token=token))
    token = ask("again", v.Receive(queue="q")).message.lock_token
    ask("complete", v.Complete(queue="q", lock_token=token))
    given = ask("third", v.Receive(queue="q")).message
    ask("defer", v.Defer(queue="q", lock_token=given.lock_token))
    ask("deferred", v.ReceiveDeferred(queue="q", sequence_numbers=(given.sequence_number,)))
    token = ask("fourth", v.Receive(queue="q")).message.lock_token
    ask("dead-letter", v.DeadLetter(queue="q", lock_token=token))
    ask("peek", v.Peek(queue="q", count=5))
    ask("peek on", v.Peek(queue="q", count=5, from_sequence_number=(1 << 48) + 99))
    ask("next session", v.AcceptNextSession(queue="s"))
    ask("get", v.GetQueue(queue="q"))
    bus.down(0)
    ask("get in an outage", v.GetQueue(queue="q"))
    ask("wait", v.AdvanceClock(duration=SECOND))
    return found


@pytest.mark.slow
def test_no_operation_grows_with_the_messages_held() -> None:
    few, many = counted(filled(LITTLE)), counted(filled(MUCH))
    assert {} == {name: (few[name], many[name]) for name in few if many[name] > 1.2 * few[name]}


@pytest.mark.parametrize("start", [None, 1 << 48])
def test_peek_does_not_pass_what_has_left(start: int | None) -> None:
    """As many as a third of all, too few for the lines to be tidied."""
    few, many = (peeked_after_leaving(count, start) for count in (300, 3_000))
    assert many <= 1.2 * few


def peeked_after_leaving(count: int, start: int | None) -> int:
    """The lines that a peek takes after a third of so many messages were received."""
    bus = Bus(profile(partitions=2))
    bus.create("q")
    for number in range(count):
        bus.send(f"m{number}")
    receive = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    for _ in range(count // 3):
        bus.done(receive)
    return steps_of(bus, v.Peek(queue="q", count=5, from_sequence_number=start))[0]
