"""What a failure does not need is left out, and what it needs is not."""

from collections.abc import Sequence

import attrs
import pytest
from exploring import explored
from recorded import DONE, received

from busproof import vocabulary as v
from busproof.adapters.faults import make
from busproof.history.records import Oracle
from busproof.history.replay import RecordedCommand, commands_of
from busproof.judging.compress_time import without_waiting
from busproof.judging.judge import Judge
from busproof.judging.shrinking import minimised, off_the_wire
from busproof.judging.simplifying import MOST_COPIED, Spent, simplified

PROFILE = v.Profile(edition="de-2021-04")
LOCK_LOST = v.Refused(error=v.Error.LOCK_LOST)


@pytest.mark.parametrize("needed", [(3,), (0, 99), (7, 8, 50), tuple(range(0, 100, 9))])
def test_exactly_what_is_needed_is_left(needed: tuple[int, ...]) -> None:
    """In its order, wherever it stands."""
    assert needed == minimised(range(100), lambda items: set(needed) <= set(items))


def test_few_candidates_are_tried() -> None:
    """Hundreds would be too many on a wire."""
    tried: list[int] = []

    def fails(items: Sequence[int]) -> bool:
        tried.append(len(items))
        return {10, 90} <= set(items)

    minimised(range(100), fails)
    assert len(tried) < 60


def test_best_failure_within_the_budget_is_kept() -> None:
    """Each candidate that failed is a better failure."""
    left = [4]

    def fails(items: Sequence[int]) -> bool:
        if not left[0]:
            raise Spent
        left[0] -= 1
        return 1 in items

    assert 1 in (found := minimised(range(64), fails))
    assert len(found) < 64


def asked(number: int, command: object, connection: str = "c1") -> RecordedCommand:
    return RecordedCommand(number=number, command=command, connection=connection)


def test_unneeded_parts_of_commands_become_defaults() -> None:
    """Settings, properties of messages, the second connection."""
    message = v.Message(body="m1", message_id="x", partition_key="a", session_id="a")
    commands = (
        asked(1, v.CreateQueue(queue="q", lock_duration=5, max_delivery_count=2)),
        asked(2, v.Send(queue="q", message=message, timeout=10), "c2"),
    )

    def fails(candidate: Sequence[RecordedCommand]) -> bool:
        create, send = candidate[0].command, candidate[1].command
        return create.max_delivery_count == 2 and send.message.session_id == "a"

    plain = simplified(commands, fails)
    assert plain == (
        asked(1, v.CreateQueue(queue="q", max_delivery_count=2)),
        asked(2, v.Send(queue="q", message=v.Message(body="m1", session_id="a"))),
    )


def test_events_that_the_judge_does_not_need_are_left_out() -> None:
    """With nobody asked again."""
    events = [
        v.Event(command=v.CreateQueue(queue="other"), outcome=DONE),
        v.Event(command=v.CreateQueue(queue="q"), outcome=DONE),
        v.Event(command=v.Send(queue="other", message=v.Message(body="m0")), outcome=DONE),
        v.Event(command=v.Send(queue="q", message=v.Message(body="m1")), outcome=DONE),
        v.Event(command=v.Receive(queue="other"), outcome=received("m0")),
        v.Event(command=v.Receive(queue="q"), outcome=v.Empty()),
    ]
    observability = v.Observability(partitions=False, witness=False)
    needed = off_the_wire(events, "LIFE-09", PROFILE, observability, Oracle.CLIENT)
    assert (events[1], events[3], events[5]) == needed


def test_time_that_the_judge_does_not_need_is_left_out_too() -> None:
    """What came after it is as much earlier, the ends of locks among it."""
    lock = 30 * v.MICROSECONDS
    idle = 40 * v.MICROSECONDS

    def at(moment: int, command: v.Command, outcome: v.Outcome) -> v.Event:
        return v.Event(command=command, outcome=outcome, called=moment, returned=moment)

    def story(now: int) -> list[v.Event]:
        first = received("m1", lock_token="t", locked_until=now + lock)
        seen = v.Peeked(messages=(attrs.evolve(first.message, lock_token=None, locked_until=None),))
        half = v.AdvanceClock(duration=lock // 2)
        until = now + lock // 2 + lock
        return [
            at(now, v.Send(queue="q", message=v.Message(body="m1")), DONE),
            at(now, v.Receive(queue="q"), first),
            at(now, half, DONE),
            at(
                now + lock // 2,
                v.RenewLock(queue="q", lock_token="t"),
                v.Renewed(locked_until=until),
            ),
            at(now + lock // 2, half, DONE),
            at(now + lock, v.Peek(queue="q"), seen),
            at(now + lock, v.Complete(queue="q", lock_token="t"), LOCK_LOST),
        ]

    create = at(0, v.CreateQueue(queue="q", lock_duration=lock), DONE)
    events = [create, at(0, v.AdvanceClock(duration=idle), DONE), *story(idle)]
    kept = [place for place in range(len(events)) if place != 1]
    assert (create, *story(0)) == without_waiting(events, kept)
    observability = v.Observability(partitions=False, witness=False)
    needed = off_the_wire(events, "LIFE-06", PROFILE, observability, Oracle.CLIENT)
    assert (create, *story(0)[:2], at(0, events[-1].command, LOCK_LOST)) == needed


def test_shrunk_violation_is_a_violation_of_the_same_rule() -> None:
    """Of the same rule, with everything before it allowed."""
    found = explored(make("settles-twice"), sequences=60, rules=1, dear=True).exploration.found
    assert found[0].repeats
    assert len(found[0].commands) <= 8


def test_commands_are_numbered_anew_and_still_refer_to_each_other() -> None:
    """After some were left out."""
    events = [
        v.Event(command=v.CreateQueue(queue="q"), outcome=DONE),
        v.Event(command=v.Peek(queue="q"), outcome=DONE),
        v.Event(command=v.Receive(queue="q"), outcome=received("m", lock_token="t")),
    ]
    judge = Judge(PROFILE, v.Observability())
    assert judge.saw(events[0]) is None
    assert [1, 2, 3] == [each.number for each in commands_of(events)]


def test_names_become_short_and_stay_different() -> None:
    commands = (
        asked(1, v.CreateQueue(queue="orders")),
        asked(2, v.CreateQueue(queue="parcels", forward_to="orders")),
        asked(3, v.Send(queue="orders", message=v.Message(body="first", session_id="blue"))),
        asked(4, v.Receive(queue="parcels/$deadletterqueue")),
    )

    def fails(candidate: Sequence[RecordedCommand]) -> bool:
        first, second, send, receive = (recorded.command for recorded in candidate)
        return bool(
            second.forward_to == first.queue == send.queue != second.queue
            and send.message.session_id
            and receive.queue == f"{second.queue}/$deadletterqueue"
        )

    found = [recorded.command for recorded in simplified(commands, fails)]
    assert found == [
        v.CreateQueue(queue="q"),
        v.CreateQueue(queue="q2", forward_to="q"),
        v.Send(queue="q", message=v.Message(body="m1", session_id="a")),
        v.Receive(queue="q2/$deadletterqueue"),
    ]


def test_numbers_and_texts_become_as_small_as_they_can() -> None:
    message = v.Message(body="m1", subject="a long subject", properties={"n": 5, "other": "x"})
    commands = (
        asked(1, v.Send(queue="q", message=message, timeout=90 * v.MICROSECONDS)),
        asked(2, v.AdvanceClock(duration=86_400 * v.MICROSECONDS)),
    )

    def fails(candidate: Sequence[RecordedCommand]) -> bool:
        send, wait = (recorded.command for recorded in candidate)
        return bool(
            len(send.message.subject or "") >= 4
            and "n" in send.message.properties
            and wait.duration >= 30 * v.MICROSECONDS
        )

    found = [recorded.command for recorded in simplified(commands, fails)]
    assert found == [
        v.Send(queue="q", message=v.Message(body="m1", subject="a lo", properties={"n": 0})),
        v.AdvanceClock(duration=30 * v.MICROSECONDS),
    ]


def test_simplifying_of_very_many_commands_ends_soon() -> None:
    """Each attempt copies all commands; a failure of 5,000 took minutes."""
    many = tuple(
        RecordedCommand(number=number, command=v.CreateQueue(queue=f"queue-{number}", max_size=2))
        for number in range(1, 2_001)
    )
    tried: list[int] = []

    def fails(commands: Sequence[RecordedCommand]) -> bool:
        tried.append(len(commands))
        return False

    assert many == simplified(many, fails)
    assert 0 < sum(tried) <= MOST_COPIED
