"""What has to come in the end: what is forwarded or scheduled, and nothing may keep."""

import pytest
from observing import Observer, observing

from busproof.oracle.messages.liveness import owed
from busproof.vocabulary.commands import (
    AdvanceClock,
    Command,
    CreateQueue,
    Receive,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Scheduled

SECOND = 1_000_000
END = CreateQueue(queue="end", partitioned=False)
SOURCE = CreateQueue(queue="q", partitioned=False, forward_to="end")


def observer(*commands: Command, readings: dict[str, str] | None = None) -> Observer:
    found = observing(readings or {})
    for each in commands:
        found.saw(each, *((Scheduled(),) if isinstance(each, Schedule) else ()))
    return found


def send(**properties: object) -> Send:
    return Send(queue="q", message=Message(body="m1", **properties))


@pytest.mark.parametrize(
    ("commands", "rule"),
    [
        ((END, SOURCE), None),
        ((END, SOURCE, send()), "FWD-06"),
        ((END, SOURCE, send(time_to_live=SECOND)), None),
        ((END, SOURCE, send(session_id="a", partition_key="b")), None),
        ((END, SOURCE, send(), TakePartitionDown(queue="q", partition=0)), None),
        ((), None),
    ],
)
def test_forwarded_message_is_due_unless_it_may_be_kept(
    commands: tuple[Command, ...], rule: str | None
) -> None:
    (state,) = observer(*commands).possible
    assert rule == owed(state, "end", None, 0)


@pytest.mark.parametrize("delay", ["SCHEDULE-DELAY", "FORWARD-DELAY"])
def test_nothing_is_due_without_a_deadline(delay: str) -> None:
    (state,) = observer(END, SOURCE, send(), readings={delay: "unbounded"}).possible
    assert owed(state, "end", None, 0) is None


def test_arrivals_before_a_disturbance_are_not_due() -> None:
    """Arrivals are counted from 0; whoever asks says from which one on."""
    (state,) = observer(END, SOURCE, send()).possible
    assert owed(state, "end", None, 1) is None


def test_each_session_is_due_its_own_messages() -> None:
    sessions = CreateQueue(queue="end", partitioned=False, requires_session=True)
    (state,) = observer(sessions, SOURCE, send(session_id="a")).possible
    assert "FWD-26" == owed(state, "end", "a", 0)
    assert owed(state, "end", "b", 0) is None


def test_scheduled_message_is_due_at_its_time() -> None:
    later = Schedule(queue="end", message=Message(body="m1"), delay=SECOND)
    found = observer(END, later)
    assert owed(found.possible[0], "end", None, 0) is None
    found.saw(AdvanceClock(duration=2 * SECOND))
    found.saw(Receive(queue="end"), Empty())
    assert "SCHED-02" == owed(found.possible[0], "end", None, 0)
