"""How long a receiver waits for what has to come: never too short a time, and not for ever."""

from typing import Any

import attrs
import pytest

from busproof import vocabulary as v
from busproof.judging.judge import Judge
from busproof.judging.liveness import FEW, PAUSE, TRIES
from busproof.judging.violation import Violation
from busproof.spec import load

GB = 2**30
LONGEST_LOCK = 300 * v.MICROSECONDS
TAKE = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


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

    def empty(self, command: v.Receive = TAKE, pause: int = PAUSE) -> Violation | None:
        """What is objected to of a row of empty answers, as long as any patience lasts."""
        for _ in range(TRIES):
            if (found := self.saw(command, v.Empty())) is not None:
                return found
            self.saw(v.AdvanceClock(duration=pause))
        return None


def queue(name: str = "end", **settings: Any) -> v.CreateQueue:
    return v.CreateQueue(queue=name, partitioned=False, **settings)


def send(to: str = "q", body: str = "m1", **properties: Any) -> v.Send:
    return v.Send(queue=to, message=v.Message(body=body, **properties))


def schedule(delay: int, body: str = "m1", **properties: Any) -> v.Schedule:
    return v.Schedule(queue="end", message=v.Message(body=body, **properties), delay=delay)


SOURCE = queue("q", forward_to="end")
PAIR = (queue(), SOURCE)
CHAIN = (queue(), queue("three", forward_to="end"), queue("two", forward_to="three"))
TOPIC = (
    v.CreateTopic(topic="n", partitioned=False),
    v.CreateSubscription(topic="n", subscription="s"),
    queue("q", forward_to="n"),
)
MORE_RULES = v.AddRule(topic="n", subscription="s", rule="more", filter=v.FalseFilter())
NO_SENDS = v.EntityStatus.SEND_DISABLED
DOWN = v.TakePartitionDown(queue="end", partition=0)
UP = v.BringPartitionUp(queue="end", partition=0)
IN_TOPIC = v.Receive(queue="n/subscriptions/s", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
SESSION = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE, session_id="a")


LETTERS = queue("q", forward_dead_letters_to="end")
LOCKED = v.Received(message=v.MessageView(body="m1", lock_token="t", sequence_number=1))
UNAVAILABLE = v.Refused(error=v.Error.UNAVAILABLE)
DEAD = v.DeadLetter(queue="q", lock_token="t", reason="r")


def dead_lettered(*created: v.Command, **properties: Any) -> Bus:
    """Return a bus where the message of a queue was dead-lettered."""
    bus = Bus(*created, send(**properties))
    sent = attrs.evolve(LOCKED.message, **properties)
    bus.saw(v.Receive(queue="q"), v.Received(message=sent))
    bus.saw(DEAD)
    return bus


@pytest.mark.parametrize(
    "bus",
    [
        dead_lettered(queue(), LETTERS),
        dead_lettered(queue(), LETTERS, time_to_live=PAUSE * 1000),
        dead_lettered(queue(time_to_live=PAUSE * 1000), LETTERS),
        dead_lettered(queue(duplicate_detection=True), LETTERS),
        dead_lettered(queue(), LETTERS, queue("p", forward_to="q")),
        dead_lettered(queue(), LETTERS, queue("p"), v.DeleteQueue(queue="p")),
        dead_lettered(queue(), LETTERS, size=GB // 2, stands_in=True),
    ],
)
def test_forwarded_dead_letter_has_to_come(bus: Bus) -> None:
    found = bus.empty()
    assert found is not None
    assert ("FWD-35",) == found.rules


def test_forwarded_dead_letter_that_has_come_is_owed_no_more() -> None:
    bus = dead_lettered(queue(), LETTERS)
    there = attrs.evolve(LOCKED.message, lock_token=None, dead_letter_reason="r")
    bus.saw(TAKE, v.Received(message=there))
    assert bus.empty() is None


@pytest.mark.parametrize(
    "bus",
    [
        dead_lettered(queue(time_to_live=PAUSE), LETTERS),
        dead_lettered(queue(), LETTERS, v.UpdateQueue(queue="end", status=NO_SENDS)),
        Bus(queue(), LETTERS, send()),
    ],
)
def test_dead_letter_that_may_be_kept_need_not_come(bus: Bus) -> None:
    assert bus.empty() is None


def test_forwarded_message_has_to_come() -> None:
    """After twenty empty answers over two minutes, and not after nineteen."""
    bus = Bus(*PAIR, send())
    for _ in range(TRIES - 1):
        assert bus.saw(TAKE, v.Empty()) is None
        bus.saw(v.AdvanceClock(duration=PAUSE))
    found = bus.saw(TAKE, v.Empty())
    assert found is not None
    assert ("FWD-06",) == found.rules
    assert "20 empty answers over 133 seconds" in found.why


@pytest.mark.parametrize(
    ("commands", "command", "rule"),
    [
        ((*CHAIN, queue("q", forward_to="two"), send()), TAKE, "FWD-16"),
        ((*TOPIC, send()), IN_TOPIC, "FWD-06"),
        ((*TOPIC, send(), MORE_RULES), IN_TOPIC, "FWD-06"),
        ((*PAIR, send(), DOWN, UP), TAKE, "FWD-06"),
        ((queue(duplicate_detection=True), SOURCE, send(message_id="x")), TAKE, "FWD-06"),
        ((*PAIR, send(session_id="a", partition_key="b", size=None)), TAKE, "FWD-06"),
        ((*PAIR, send(size=GB // 2, stands_in=True)), TAKE, "FWD-06"),
        ((queue(), schedule(PAUSE), v.AdvanceClock(duration=2 * PAUSE)), TAKE, "SCHED-02"),
        ((queue(), schedule(-PAUSE), v.AdvanceClock(duration=PAUSE)), TAKE, "SCHED-14"),
        (
            (
                queue(requires_session=True, lock_duration=LONGEST_LOCK),
                SOURCE,
                send(session_id="a"),
                v.AcceptSession(queue="end", session_id="a"),
            ),
            SESSION,
            "FWD-26",
        ),
    ],
)
def test_messages_that_arrive_by_other_ways_have_to_come(
    commands: tuple[v.Command, ...], command: v.Receive, rule: str
) -> None:
    found = Bus(*commands).empty(command)
    assert found is not None
    assert (rule,) == found.rules


@pytest.mark.parametrize(
    "commands",
    [
        PAIR,
        (*PAIR, send(), v.UpdateQueue(queue="end", status=NO_SENDS)),
        (*PAIR, v.UpdateQueue(queue="end", status=NO_SENDS), send()),
        (*PAIR, send(), v.DeleteQueue(queue="q")),
        (*PAIR, send(), v.TakePartitionDown(queue="q", partition=0)),
        (*PAIR, send(), DOWN),
        (queue(requires_session=True, lock_duration=LONGEST_LOCK), SOURCE, send()),
        (*CHAIN, queue("one", forward_to="two"), queue("q", forward_to="one"), send()),
        (*PAIR, send(time_to_live=PAUSE)),
        (queue(), schedule(60 * PAUSE)),
        (queue(), schedule(PAUSE, time_to_live=PAUSE), v.AdvanceClock(duration=2 * PAUSE)),
    ],
)
def test_message_that_may_be_kept_need_not_come(commands: tuple[v.Command, ...]) -> None:
    """By an outage, a limit, its age, its copies, or by what was changed meanwhile."""
    receive = (
        SESSION if any(getattr(each, "requires_session", False) for each in commands) else TAKE
    )
    if receive is SESSION:
        commands = (*commands, v.AcceptSession(queue="end", session_id="a"))
    assert Bus(*commands).empty(receive) is None


def test_message_that_a_changed_rule_may_exclude_need_not_come() -> None:
    """Nobody says whether what is on its way is held to the rules of before or of after."""
    change = v.RemoveRule(topic="n", subscription="s", rule=v.DEFAULT_RULE)
    assert Bus(*TOPIC, send(), change).empty(IN_TOPIC) is None


def test_a_request_without_an_answer_ends_all_patience() -> None:
    """It may have been the one who was given the message."""
    bus = Bus(*PAIR, send())
    bus.saw(TAKE, v.Indeterminate())
    assert bus.empty() is None


@pytest.mark.parametrize(
    ("ambiguity", "rule"), [("SCHEDULE-DELAY", "FWD-06"), ("FORWARD-DELAY", "SCHED-14")]
)
def test_only_what_may_not_be_late_has_to_come(ambiguity: str, rule: str) -> None:
    found = Bus(*PAIR, send(), schedule(-PAUSE, "m2"), **{ambiguity: "unbounded"}).empty()
    assert found is not None
    assert (rule,) == found.rules
    both = {"SCHEDULE-DELAY": "unbounded", "FORWARD-DELAY": "unbounded"}
    assert Bus(*PAIR, send(), schedule(-PAUSE), **both).empty() is None


def test_message_that_is_a_minute_late_is_not_overdue() -> None:
    bus = Bus(*PAIR, send())
    for _ in range(2 * TRIES):
        assert bus.saw(TAKE, v.Empty()) is None
        bus.saw(v.AdvanceClock(duration=v.MICROSECONDS + v.MICROSECONDS // 2))


def test_message_that_was_seen_and_maybe_deadlettered_is_not_owed() -> None:
    """Its only delivery has failed; whether it has to fail once more is open (MAX-DELIVERIES)."""
    bus = Bus(queue(max_delivery_count=1), SOURCE, send())
    receive = v.Receive(queue="end")
    view = v.MessageView(body="m1", sequence_number=1, lock_token="t", delivery_count=1)
    bus.saw(receive, v.Received(message=view))
    bus.saw(v.Abandon(queue="end", lock_token="t"))
    assert bus.empty(receive) is None


def test_answers_that_follow_each_other_at_once_are_not_patient() -> None:
    assert Bus(*PAIR, send()).empty(pause=1) is None


def test_other_events_restart_the_count_of_empty_answers() -> None:
    """A look, a send, or something received; not that time passes."""
    bus = Bus(*PAIR, send(), send(body="m2"))
    given = v.Received(message=v.MessageView(body="m1", sequence_number=1))
    others: list[tuple[v.Command, v.Outcome]] = [
        (v.Peek(queue="end"), v.Peeked(messages=())),
        (send(body="m3"), v.Done()),
        (TAKE, given),
    ]
    for command, outcome in others:
        for _ in range(TRIES - 1):
            assert bus.saw(TAKE, v.Empty()) is None
            bus.saw(v.AdvanceClock(duration=PAUSE))
        assert bus.saw(command, outcome) is None
    assert bus.empty() is not None


def test_a_message_that_has_come_is_owed_no_more() -> None:
    bus = Bus(*PAIR, send())
    bus.saw(TAKE, v.Received(message=v.MessageView(body="m1", sequence_number=1)))
    assert bus.empty() is None


def test_message_that_a_partly_deleted_queue_gave_is_owed_no_more() -> None:
    created = v.CreateQueue(queue="end", partitioned=True)
    bus = Bus(created, schedule(PAUSE), v.TakePartitionDown(queue="end", partition=1))
    bus.saw(v.DeleteQueue(queue="end"), UNAVAILABLE)
    bus.saw(v.BringPartitionUp(queue="end", partition=1))
    bus.saw(v.AdvanceClock(duration=2 * PAUSE))
    bus.saw(TAKE, v.Received(message=v.MessageView(body="m1")))
    assert bus.empty() is None


def test_receivers_elsewhere_have_a_row_of_their_own() -> None:
    """Of another queue, where nothing is owed."""
    bus = Bus(*PAIR, queue("other"), send())
    other = v.Receive(queue="other", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    for _ in range(TRIES - 1):
        assert bus.saw(other, v.Empty()) is None
        assert bus.saw(TAKE, v.Empty()) is None
        bus.saw(v.AdvanceClock(duration=PAUSE))
    assert bus.saw(other, v.Empty()) is None
    assert bus.saw(TAKE, v.Empty()) is not None


COPIES = queue(duplicate_detection=True)
DUE = v.AdvanceClock(duration=2 * PAUSE)
TWO = tuple(schedule(PAUSE, body, message_id="x") for body in ("m1", "m2"))
MUCH_LATER = schedule(999 * PAUSE, "m3", message_id="x")
MORE = tuple(schedule(PAUSE, body, message_id="x") for body in ("m3", "m4"))


@pytest.mark.parametrize(
    "commands",
    [(COPIES, *TWO, DUE), (COPIES, *TWO, *MORE, DUE), (COPIES, *TWO, MUCH_LATER, DUE)],
    ids=["two", "four", "one much later"],
)
def test_one_of_several_scheduled_copies_has_to_come(commands: tuple[v.Command, ...]) -> None:
    """Which of them is dropped is open, but each is dropped only for another one."""
    found = Bus(*commands).empty()
    assert found is not None
    assert ("SCHED-02",) == found.rules


@pytest.mark.parametrize("pause", [PAUSE, 20 * PAUSE])
def test_few_empty_answers_are_enough_only_over_a_long_time(pause: int) -> None:
    bus, found = Bus(queue(), schedule(PAUSE), DUE), None
    for _ in range(FEW):
        found = bus.saw(TAKE, v.Empty())
        bus.saw(v.AdvanceClock(duration=pause))
    assert (found is not None) == (pause > PAUSE)


def test_copy_need_not_come_if_another_was_seen_or_may_be_gone() -> None:
    """By a receive, a cancellation, its age or its own send, it may have been dropped for that."""
    seen = Bus(COPIES, *TWO, DUE)
    view = v.MessageView(body="m1", sequence_number=1, delivery_count=1, message_id="x")
    seen.saw(TAKE, v.Received(message=view))
    assert seen.empty() is None
    cancelled = Bus(COPIES)
    for number, each in enumerate(TWO, 1):
        cancelled.saw(each, v.Scheduled(sequence_number=number))
    cancelled.saw(v.CancelScheduled(queue="end", sequence_number=1))
    cancelled.saw(DUE)
    assert cancelled.empty() is None
    mortal = schedule(PAUSE, "m3", message_id="x", time_to_live=PAUSE)
    assert Bus(COPIES, *TWO, mortal, DUE, DUE).empty() is None
