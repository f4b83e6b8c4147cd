"""How long a receiver waits for what has to come: never too short a time, and not for ever.

Each line of `patience.jsonl` has requests, those with an answer that is not the usual one with it,
and the rule by which something is overdue after a row of empty answers, if anything is.
"""

from typing import Any

import pytest
from rows import command_of, exchange_of, rows_of

from busproof import vocabulary as v
from busproof.judging.judge import Judge
from busproof.judging.liveness import FEW, PAUSE, TRIES
from busproof.judging.violation import Violation
from busproof.spec import load

ROWS = rows_of(__file__, "patience")
TAKE = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
FORWARDED = (
    v.CreateQueue(queue="end", partitioned=False),
    v.CreateQueue(queue="q", partitioned=False, forward_to="end"),
    v.Send(queue="q", message=v.Message(body="m1")),
)


class Bus:
    """What was seen of a bus whose clock is virtual."""

    def __init__(self, *commands: v.Command, **readings: str) -> None:
        self._judge = Judge(v.profile_for(load(), readings=readings), v.Observability())
        self._now = 0
        for command in commands:
            self.saw(command)

    def saw(self, command: v.Command, outcome: v.Outcome | None = None) -> Violation | None:
        """What is objected to; that nothing but the patience objects is insisted on."""
        if outcome is None:
            outcome = v.Scheduled() if isinstance(command, v.Schedule) else v.Done()
        if isinstance(command, v.AdvanceClock):
            self._now += command.duration
        lost = isinstance(outcome, v.Indeterminate)
        event = v.Event(
            client="c1",
            connection="c1",
            called=self._now,
            returned=None if lost else self._now,
            command=command,
            outcome=outcome,
        )
        assert self._judge.saw(event) is None
        return self._judge.overdue

    def empty(
        self, command: v.Command = TAKE, pause: int = PAUSE, times: int = TRIES
    ) -> Violation | None:
        """What is objected to of a row of empty answers, as long as any patience lasts."""
        for _ in range(times):
            if (found := self.saw(command, v.Empty())) is not None:
                return found
            self.saw(v.AdvanceClock(duration=pause))
        return None


@pytest.mark.parametrize("row", ROWS, ids=[row["about"] for row in ROWS])
def test_only_what_has_to_come_is_overdue(row: dict[str, Any]) -> None:
    bus = Bus(**row.get("readings", {}))
    for command, *outcome in row["events"]:
        exchange = exchange_of(command, *outcome) if outcome else (command_of(command),)
        assert bus.saw(*exchange) is None
    receive = command_of(row["receive"]) if "receive" in row else TAKE
    found = bus.empty(receive, row.get("pause", PAUSE))
    assert row["overdue"] == (found and found.rules[0])


def test_forwarded_message_has_to_come_within_two_minutes() -> None:
    """After twenty empty answers, and not after nineteen."""
    bus = Bus(*FORWARDED)
    assert bus.empty(times=TRIES - 1) is None
    found = bus.saw(TAKE, v.Empty())
    assert ("FWD-06",) == found.rules
    assert "20 empty answers over 133 seconds" in found.why


def test_message_that_is_a_minute_late_is_not_overdue() -> None:
    assert Bus(*FORWARDED).empty(pause=3 * v.MICROSECONDS // 2, times=2 * TRIES) is None


def test_receivers_elsewhere_have_a_row_of_their_own() -> None:
    """Of another queue, where nothing is owed."""
    bus = Bus(v.CreateQueue(queue="other", partitioned=False), *FORWARDED)
    other = v.Receive(queue="other", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    for _ in range(TRIES - 1):
        assert bus.saw(other, v.Empty()) is None
        assert bus.saw(TAKE, v.Empty()) is None
        bus.saw(v.AdvanceClock(duration=PAUSE))
    assert bus.saw(other, v.Empty()) is None
    assert bus.saw(TAKE, v.Empty()) is not None


@pytest.mark.parametrize("pause", [PAUSE, 20 * PAUSE])
def test_few_empty_answers_are_enough_only_over_a_long_time(pause: int) -> None:
    schedule = v.Schedule(queue="end", message=v.Message(body="m1"), delay=PAUSE)
    bus = Bus(FORWARDED[0], schedule, v.AdvanceClock(duration=2 * PAUSE))
    assert (bus.empty(pause=pause, times=FEW) is not None) == (pause > PAUSE)
