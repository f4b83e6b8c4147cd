"""What has to come in the end: what is forwarded or scheduled, and nothing may keep."""

import attrs
import pytest
from observing import Observer, locked, observing, received

from busproof.oracle.messages.liveness import AMPLE, owed
from busproof.vocabulary.commands import (
    Abandon,
    AdvanceClock,
    Command,
    CreateQueue,
    DeadLetter,
    Defer,
    Receive,
    Schedule,
    Send,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Scheduled
from busproof.vocabulary.values import ReceiveMode

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
        ((END, SOURCE, send(time_to_live=SECOND)), "FWD-06"),
        ((END, SOURCE, send(time_to_live=SECOND), AdvanceClock(duration=SECOND)), None),
        ((END, SOURCE, send(session_id="a", partition_key="b")), None),
        ((END, SOURCE, send(), TakePartitionDown(queue="q", partition=0)), None),
        ((END, SOURCE, send(), UpdateQueue(queue="end", status=EntityStatus.DISABLED)), None),
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


def test_one_of_several_copies_is_due_if_all_that_were_sent_are() -> None:
    """Each may be dropped, but only for another one."""
    copies = attrs.evolve(END, duplicate_detection=True)
    one = Schedule(queue="end", message=Message(body="m1", message_id="x"), delay=SECOND)
    found = observer(
        copies,
        one,
        one,
        attrs.evolve(one, message=Message(body="m2", message_id="y"), delay=9 * SECOND),
    )
    found.saw(AdvanceClock(duration=2 * SECOND))
    found.saw(Receive(queue="end"), Empty())
    (state,) = found.possible
    assert owed(state, "end", None, 3, {"x": 2}) is None
    assert "SCHED-02" == owed(state, "end", None, 0, {"x": 2})
    (alone,) = observer(copies).possible
    assert owed(alone, "end", None, 0, {"x": 2}) is None
    sessions = attrs.evolve(copies, requires_session=True)
    (state,) = observer(sessions).possible
    assert owed(state, "end", "a", 0, {"x": 2}) is None


DEAD = "q/$deadletterqueue"
EXPIRING = CreateQueue(queue="q", time_to_live=SECOND, dead_letter_expired=True)
LATER = AdvanceClock(duration=100 * SECOND)
FROM_DEAD = Receive(queue=DEAD)


def spent(found: Observer) -> Observer:
    """Return the observer after a message has reached its delivery limit."""
    locked(found, max_delivery_count=1)
    found.has(Abandon(queue="q", lock_token="l"))
    found.has(FROM_DEAD, Empty())
    return found


def expired(queue: CreateQueue = EXPIRING) -> Observer:
    found = observer(queue, send(), LATER)
    found.has(FROM_DEAD, Empty())
    return found


def owed_dead_letters(found: Observer) -> set[str | None]:
    return {owed(state, DEAD, None, 0) for state in found.possible}


def test_dead_letter_is_due() -> None:
    assert {"DLQ-02"} == owed_dead_letters(spent(observing()))
    assert {"TTL-07"} == owed_dead_letters(expired())


@pytest.mark.parametrize(
    "readings", [{"DEAD-LETTER-DELAY": "unbounded"}, {"MESSAGES-EXPIRE": "message"}]
)
def test_dead_letter_is_not_due_without_a_deadline_or_if_a_cache_may_lose_it(
    readings: dict[str, str],
) -> None:
    assert {None} == owed_dead_letters(spent(observing(readings)))


def test_no_dead_letter_is_due_that_may_not_become_one() -> None:
    assert {None} == owed_dead_letters(expired(attrs.evolve(EXPIRING, dead_letter_expired=False)))
    updated = spent(observing())
    updated.has(UpdateQueue(queue="q", max_delivery_count=2))
    assert {None} == owed_dead_letters(updated)


def test_nothing_is_due_that_the_front_end_of_another_connection_may_have() -> None:
    found = spent(observing())
    delete = attrs.evolve(FROM_DEAD, mode=ReceiveMode.RECEIVE_AND_DELETE)
    found.has(delete, Empty(), connection="c2")
    found.has(FROM_DEAD, Empty())
    assert {None} == owed_dead_letters(found)


def buried(source: dict[str, object], *beside: Command, **end: object) -> Observer:
    """Return an observer of a queue whose dead letter is forwarded to the queue `end`."""
    found = observer(attrs.evolve(END, **end))
    locked(found, forward_dead_letters_to="end", **source)
    for command in (*beside, DeadLetter(queue="q", lock_token="l", reason="bad")):
        found.has(command)
    return found


def owed_at_the_end(found: Observer, *, calm: bool = True) -> set[str | None]:
    return {owed(state, "end", None, 0, calm=calm) for state in found.possible}


def test_forwarded_dead_letter_is_due_if_nothing_was_disturbed() -> None:
    found = buried({})
    assert {"FWD-35"} == owed_at_the_end(found)
    assert {None} == owed_at_the_end(found, calm=False)


@pytest.mark.parametrize(
    "found",
    [
        buried({}, duplicate_detection=True),
        buried({}, time_to_live=100 * SECOND),
        buried({"time_to_live": 100 * SECOND}),
        buried({}, CreateQueue(queue="p", forward_to="q")),
        buried({}, Send(queue="q", message=Message(body="big", size=AMPLE, stands_in=True))),
    ],
)
def test_forwarded_dead_letter_that_may_be_kept_is_not_due(found: Observer) -> None:
    assert {None} == owed_at_the_end(found)


def copy_later(body: str) -> Schedule:
    return Schedule(queue="q", message=Message(body=body, message_id="x"), delay=60 * SECOND)


@pytest.mark.parametrize(("sent", "rule"), [(2, "SCHED-02"), (3, None)])
def test_one_of_the_scheduled_copies_is_due_beside_other_messages(
    sent: int, rule: str | None
) -> None:
    """One copy more that nobody knows of may have come instead."""
    detecting = CreateQueue(
        queue="q", partitioned=False, duplicate_detection=True, duplicate_window=20 * SECOND
    )
    seen = observer(detecting, send())
    seen.has(Receive(queue="q"), received("m1", lock_token="l"))
    seen.has(Defer(queue="q", lock_token="l"))
    for each in ("m2", "m3"):
        seen.has(copy_later(each), Scheduled())
    seen.has(AdvanceClock(duration=400 * SECOND))
    seen.has(Receive(queue="q"), Empty())
    (state, *_) = seen.possible
    assert owed(state, "q", None, 0, {"x": sent}) == rule
