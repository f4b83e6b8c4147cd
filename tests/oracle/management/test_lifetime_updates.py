"""Updates of how long messages live in a queue: what they change, and what they leave as it was."""

import pytest
from managed_queues import RECEIVE
from observing import LOST, SECOND, Observer, observing, passes, received, view

from busproof.adapters.model import ModelAdapter
from busproof.spec import load
from busproof.vocabulary.commands import (
    AdvanceClock,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    GetQueue,
    Peek,
    Receive,
    RenewLock,
    Schedule,
    Send,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Described,
    Done,
    Empty,
    Peeked,
    QueueDescription,
    Received,
    Refused,
    Renewed,
    Scheduled,
)
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.values import Error, ReceiveMode

SHORT, LONG = 10 * SECOND, 60 * SECOND
DEAD = Receive(queue="q/$deadletterqueue")
TAKE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
RENEW = RenewLock(queue="q", lock_token="l")
LOCK_LOST = Refused(error=Error.LOCK_LOST)
LETTER = received("m1", dead_letter_reason="TTLExpiredException")


def update(life: int | None = SHORT, queue: str = "q") -> UpdateQueue:
    return UpdateQueue(queue=queue, time_to_live=life)


def answers(observer: Observer, command: object, *outcomes: object) -> list[bool]:
    """Which of these answers are allowed; they are forgotten."""
    before, found = observer.possible, []
    for outcome in outcomes:
        found.append(bool(observer.saw(command, outcome).possible))
        observer.possible = before
    return found


def described_life(life: int | None) -> Described:
    return Described(description=QueueDescription(queue="q", time_to_live=life))


def test_message_sent_after_an_update_has_the_new_lifetime(observer: Observer) -> None:
    observer.queue(time_to_live=LONG)
    observer.has(update())
    observer.send(partition=0)
    passes(observer, 11)
    assert observer.saw(TAKE, received("m1")).rules[:2] == ("MGMT-12", "TTL-03")
    assert "MGMT-12" in observer.saw(TAKE, Empty()).rules


def test_message_sent_before_an_update_keeps_its_lifetime(observer: Observer) -> None:
    observer.queue(time_to_live=LONG)
    observer.send(partition=0)
    observer.has(update())
    passes(observer, 40)
    assert observer.saw(TAKE, Empty()).rules[0] == "MGMT-12"
    assert "MGMT-12" in observer.saw(TAKE, received("m1")).rules


def test_a_short_while_after_an_update_shows_nothing_of_it(observer: Observer) -> None:
    """The message would live as well if the update were in force for it too."""
    observer.queue(time_to_live=18 * SECOND)
    observer.send(partition=0)
    observer.has(update())
    passes(observer, 9)
    found = observer.saw(TAKE, received("m1"))
    assert "TTL-02" in found.rules
    assert "MGMT-12" not in found.rules


def test_a_longer_time_is_given_to_what_comes_after_it(observer: Observer) -> None:
    observer.queue(time_to_live=SHORT)
    observer.send(partition=0)
    observer.has(update(LONG))
    passes(observer, 1)
    observer.send(partition=1)
    passes(observer, 20)
    observer.has(TAKE, received("m2", partition=1))
    assert answers(observer, TAKE, received("m1"), Empty()) == [False, True]


def test_a_message_with_a_shorter_time_shows_nothing_of_an_update(observer: Observer) -> None:
    observer.queue()
    observer.has(update(LONG))
    passes(observer, 1)
    observer.send(partition=0, time_to_live=SHORT)
    passes(observer, 20)
    found = observer.saw(TAKE, Empty())
    assert "TTL-01" in found.rules
    assert "MGMT-12" not in found.rules


@pytest.mark.parametrize("lost", [True, False])
def test_an_update_that_may_not_be_in_force_leaves_both_open(
    observer: Observer, lost: bool
) -> None:
    observer.queue(time_to_live=SHORT)
    if lost:
        observer.has(update(LONG), LOST)
    else:
        observer.has(TakePartitionDown(queue="q", partition=3))
        observer.has(update(LONG), Refused(error=Error.UNAVAILABLE))
    observer.send(partition=0)
    passes(observer, 20)
    assert answers(observer, TAKE, received("m1"), Empty()) == [True, True]
    assert answers(
        observer, GetQueue(queue="q"), *map(described_life, (SHORT, LONG, 61 * SECOND))
    ) == [
        True,
        True,
        False,
    ]


def test_a_refusal_that_did_nothing_leaves_it_as_it_was() -> None:
    observer = observing(readings={"MANAGEMENT-IN-OUTAGE": "fails"})
    observer.queue(time_to_live=LONG)
    observer.has(TakePartitionDown(queue="q", partition=3))
    observer.has(update(), Refused(error=Error.UNAVAILABLE))
    assert answers(observer, GetQueue(queue="q"), described_life(LONG), described_life(SHORT)) == [
        True,
        False,
    ]


def test_after_an_update_that_may_come_later_the_next_one_leaves_both_open(
    observer: Observer,
) -> None:
    observer.queue(time_to_live=LONG)
    observer.has(update(), LOST)
    observer.has(update(30 * SECOND))
    passes(observer, 1)
    observer.send(partition=0)
    passes(observer, 20)
    assert answers(observer, TAKE, received("m1"), Empty()) == [True, True]


def test_unanswered_send_may_arrive_after_an_update() -> None:
    """A send that was never answered may take effect only after it."""
    observer = observing()
    observer.queue(dead_letter_expired=True)
    observer.send(LOST)
    observer.send(LOST, time_to_live=5 * SECOND)
    observer.send(partition=0)
    observer.has(update())
    passes(observer, 11)
    letters = [
        received(body, dead_letter_reason="TTLExpiredException") for body in ("m1", "m2", "m3")
    ]
    assert answers(observer, DEAD, *letters) == [True, True, False]


def test_late_message_seen_before_an_update_keeps_its_lifetime() -> None:
    observer = observing()
    observer.queue(dead_letter_expired=True)
    observer.send(LOST)
    observer.has(RECEIVE, received("m1", lock_token="l"))
    observer.has(update())
    passes(observer, 70)
    assert answers(observer, DEAD, LETTER) == [False]
    assert answers(observer, RECEIVE, received("m1", delivery_count=2)) == [True]


def test_message_due_before_an_update_may_arrive_after_it(observer: Observer) -> None:
    observer.queue(time_to_live=LONG)
    schedule = Schedule(queue="q", message=Message(body="m1"), delay=SECOND)
    observer.has(schedule, Scheduled(sequence_number=1))
    passes(observer, 1)
    observer.has(update())
    passes(observer, 12)
    found = observer.saw(Peek(queue="q"), Peeked(messages=(view("m1"),)))
    (stored,) = found.possible[0].queues["q"].messages.values()
    assert stored.dies is not None
    assert stored.dies.earliest == 11 * SECOND


def test_lifetime_update_of_a_forwarding_queue_stops_the_judging() -> None:
    """What is on its way may die by the old time or by the new one, wherever it goes."""
    observer = observing()
    observer.queue()
    observer.has(CreateQueue(queue="f", forward_to="q"))
    observer.has(Send(queue="f", message=Message(body="m1")))
    observer.has(update(queue="f"))
    assert {"f", "q"} == set(observer.possible[0].registry.unjudged)


def test_an_update_of_another_setting_leaves_it_as_it_was(observer: Observer) -> None:
    observer.queue(time_to_live=LONG)
    observer.has(UpdateQueue(queue="q", max_delivery_count=3))
    assert observer.possible[0].queues["q"].managed.lifetimes_changed_at == -1


def test_the_time_to_live_is_described(observer: Observer) -> None:
    observer.queue(time_to_live=LONG)
    assert answers(observer, GetQueue(queue="q"), *map(described_life, (LONG, None, SHORT))) == [
        True,
        True,
        False,
    ]
    assert observer.saw(GetQueue(queue="q"), described_life(SHORT)).rules[0] == "MGMT-11"
    observer.has(update())
    assert observer.saw(GetQueue(queue="q"), described_life(LONG)).rules[0] == "MGMT-12"


def test_any_lifetime_may_be_described_for_unlimited_messages(observer: Observer) -> None:
    observer.queue()
    assert answers(observer, GetQueue(queue="q"), described_life(10**15)) == [True]


@pytest.mark.parametrize("policy", ["round-robin", "hostile"])
def test_the_own_bus_describes_what_was_asked_for(policy: str) -> None:
    adapter = ModelAdapter(policy=policy, seed=4)
    adapter.start(profile_for(load(), partitions=2))
    observer: object = None
    while not isinstance(observer, Described):
        # A hostile bus may leave any of these unanswered.
        adapter.do(CreateQueue(queue="q", time_to_live=LONG), "c1")
        observer = adapter.do(GetQueue(queue="q"), "c1").outcome
    assert observer.description.time_to_live == LONG


def test_the_own_bus_lets_an_update_be_in_force_from_then_on() -> None:
    adapter = ModelAdapter()
    adapter.start(profile_for(load(), partitions=2))
    asked = [
        CreateQueue(queue="q", time_to_live=LONG),
        Send(queue="q", message=Message(body="m1")),
        update(),
        AdvanceClock(duration=SECOND),
        Send(queue="q", message=Message(body="m2")),
        AdvanceClock(duration=20 * SECOND),
    ]
    assert all(adapter.do(each, "c1").outcome == Done() for each in asked)
    first, second = (adapter.do(TAKE, "c1").outcome for _ in range(2))
    assert isinstance(first, Received)
    assert first.message.body == "m1"
    assert isinstance(second, Empty)


@pytest.mark.parametrize(
    ("reading", "expected"),
    [("either", [True, True]), ("accepted", [True, False]), ("refused", [False, True])],
)
def test_renewing_the_lock_of_an_expired_message_follows_the_reading(
    reading: str, expected: list[bool]
) -> None:
    observer = observing(readings={"RENEW-EXPIRED": reading})
    observer.queue()
    observer.send(partition=0, time_to_live=SHORT)
    observer.has(RECEIVE, received("m1", lock_token="l"))
    assert answers(observer, RENEW, Renewed(), LOCK_LOST) == [True, False]
    passes(observer, 11)
    assert answers(observer, RENEW, Renewed(), LOCK_LOST) == expected


@pytest.mark.parametrize(("reading", "gone"), [("lock", False), ("message", True)])
def test_cached_message_may_be_gone_with_its_cache(reading: str, gone: bool) -> None:
    readings = {"MESSAGES-EXPIRE": reading, "GET-LAG": "at-once", "CACHE-DELETE": "kept"}
    observer = observing(readings=readings)
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1)
    observer.has(TAKE, received("m1"))
    passes(observer, 61)
    assert observer.saw(TAKE, Empty()).possible == ()
    other = observer.saw(TAKE, Empty(), connection="c2").possible
    assert bool(other) is gone
    none = Described(description=QueueDescription(queue="q", message_count=0))
    assert answers(observer, GetQueue(queue="q"), none) == [gone]


def test_double_delivery_is_not_blamed_on_expiry(observer: Observer) -> None:
    observer.queue(time_to_live=LONG)
    observer.send(partition=0)
    observer.has(RECEIVE, received("m1", lock_token="l"))
    found = observer.saw(RECEIVE, received("m1", lock_token="k"))
    assert found.possible == ()
    assert "LIFE-02" in found.rules
    assert "TTL-01" not in found.rules


def test_locked_message_is_not_withheld(observer: Observer) -> None:
    """Of two messages the one that is free is to blame for an empty answer."""
    observer.queue()
    observer.has(update())
    observer.send(partition=0, time_to_live=SHORT)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", lock_token="l"))
    assert observer.saw(RECEIVE, Empty()).rules[:3] == ("MGMT-12", "TTL-02", "TTL-03")


def test_shorter_lifetime_of_topic_and_message_counts(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t", time_to_live=SHORT))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    message = Message(body="m1", time_to_live=LONG)
    observer.has(Send(queue="t", message=message), partition=0)
    passes(observer, 11)
    assert answers(observer, Receive(queue="t/subscriptions/s"), received("m1")) == [False]
