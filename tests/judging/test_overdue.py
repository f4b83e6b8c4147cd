"""Recorded histories that only the time between allowed answers shows to be wrong."""

from collections.abc import Callable

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Header, Scenario
from busproof.judging.liveness import BOUND, PAUSE, TRIES
from busproof.judging.scenario_result import Checker, Heard
from busproof.spec import load

CATALOGUE = load()
PROFILE = v.profile_for(CATALOGUE)
QUEUE = v.CreateQueue(queue="q")
END = v.CreateQueue(queue="end", partitioned=False)
MESSAGE = v.Message(body="m", partition_key="k")
SENT = v.Send(queue="q", message=MESSAGE)
FORWARDED = (END, v.CreateQueue(queue="q", forward_to="end"), SENT)
SCHEDULED = (END, v.Schedule(queue="end", message=MESSAGE, delay=v.MICROSECONDS))
TAKE = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
GET = v.GetQueue(queue="q")
SOME_TIME = v.AdvanceClock(duration=BOUND)
WAITED = (v.AdvanceClock(duration=PAUSE), TAKE) * TRIES
DOWN = v.TakePartitionDown(queue="q", partition=3)
UP = v.BringPartitionUp(queue="q", partition=3)


DEAD = v.Receive(queue="q/$deadletterqueue", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
WAITED_FOR_DEAD = (v.AdvanceClock(duration=PAUSE), DEAD) * TRIES
ONCE = v.CreateQueue(queue="q", max_delivery_count=1)
TAKEN = v.Receive(queue="q")
DELETED = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
FIRST = v.Send(queue="q", message=v.Message(body="first", partition_key="k"))
ABANDONED = (SENT, TAKEN, SOME_TIME)
EXPIRING = v.CreateQueue(queue="q", time_to_live=v.MICROSECONDS, dead_letter_expired=True)
EXPIRED = (EXPIRING, SENT, SOME_TIME)


DECLARED = (
    *("witness", "outages", "dead-letter", "peek-lock", "time-to-live", "scheduling"),
    *("forwarding", "regular-queues", "management", "availability"),
)
"""What the rules need; a rule that does not apply is charged with nothing."""


def never(_: v.Outcome) -> v.Outcome:
    return v.Empty()


def checked(
    *commands: v.Command,
    wrong: Callable[[v.Outcome], v.Outcome] = lambda outcome: outcome,
    kind: type[v.Outcome] = v.Outcome,
    profile: v.Profile = PROFILE,
    capabilities: tuple[str, ...] = DECLARED,
    **header: object,
) -> Heard:
    """Return the verdict on what the model answers, where answers of a kind are wrong."""
    adapter, now, events = ModelAdapter(), 0, []
    adapter.start(profile)
    for command in commands:
        called = now
        now += command.duration if isinstance(command, v.AdvanceClock) else 0
        observed: v.Observed = adapter.do(command, "c1")
        outcome = observed.outcome
        events.append(
            v.Event(
                called=called,
                returned=now,
                command=command,
                outcome=wrong(outcome)
                if isinstance(outcome, kind) and command not in (TAKEN, DELETED)
                else outcome,
                witness=observed.witness,
            )
        )
    recorded = Header(profile=profile, capabilities=capabilities, **header)
    return Checker(recorded, CATALOGUE).check(Scenario(events=tuple(events)))


def described_as(**fields: object) -> Callable[[v.Outcome], v.Outcome]:
    def changed(outcome: v.Outcome) -> v.Outcome:
        return v.Described(description=attrs.evolve(outcome.description, **fields))

    return changed


@pytest.mark.parametrize(
    ("commands", "family"), [(FORWARDED, "FWD"), (SCHEDULED, "SCHED")], ids=["forwarded", "due"]
)
def test_message_that_never_arrives_breaks_its_rule(commands, family) -> None:
    heard = checked(*commands, *WAITED, wrong=never, kind=v.Received)
    assert [rule.partition("-")[0] for rule in heard.blamed] == [family]
    assert heard.counterexample.allowed[0].startswith("a message is overdue")
    assert heard.shown == tuple(range(len(heard.counterexample.events)))
    assert checked(*commands, *WAITED).blamed == ()


def test_message_may_take_as_long_as_nobody_waits_two_minutes() -> None:
    few = WAITED[: 2 * (TRIES - 1)]
    heard = checked(*FORWARDED, *few, wrong=never, kind=v.Received)
    assert heard.blamed == ()


@pytest.mark.parametrize(
    ("commands", "wrong", "rule"),
    [
        ((QUEUE, SENT), {"message_count": 0}, "MGMT-20"),
        ((QUEUE, SENT, DOWN, UP), {"message_count": 0}, "MGMT-20"),
        ((QUEUE, DOWN), {"availability": v.Availability.AVAILABLE}, "MGMT-21"),
        ((QUEUE, DOWN, UP), {"availability": v.Availability.LIMITED}, "MGMT-22"),
    ],
)
def test_description_that_is_wrong_two_minutes_later_breaks_its_rule(commands, wrong, rule) -> None:
    later = (*commands, SOME_TIME, GET)
    assert checked(*later, wrong=described_as(**wrong), kind=v.Described).blamed == (rule,)
    assert checked(*later).blamed == ()
    at_once = (*commands, GET)
    assert checked(*at_once, wrong=described_as(**wrong), kind=v.Described).blamed == ()


def test_counts_may_be_wrong_for_any_time_in_an_outage() -> None:
    later = (QUEUE, SENT, DOWN, SOME_TIME, GET)
    wrong = described_as(message_count=0)
    assert checked(*later, wrong=wrong, kind=v.Described).blamed == ()


def test_real_clock_is_not_judged_by_the_order_of_recording() -> None:
    later = (QUEUE, SENT, SOME_TIME, GET)
    wrong = described_as(message_count=0)
    heard = checked(*later, wrong=wrong, kind=v.Described, clock=v.Clock.REAL)
    assert heard.blamed == ()


def test_what_is_overdue_breaks_the_rule_by_which_it_comes() -> None:
    assert checked(*FORWARDED, *WAITED).blamed == ()
    assert checked(*FORWARDED, *WAITED, wrong=never, kind=v.Received).blamed == ("FWD-01",)


@pytest.mark.parametrize(
    ("commands", "rule"),
    [
        ((ONCE, *ABANDONED), "DLQ-02"),
        (EXPIRED, "TTL-07"),
        ((EXPIRING, *ABANDONED), "TTL-07"),
        ((ONCE, *ABANDONED, DOWN, UP), "DLQ-02"),
        ((ONCE, *ABANDONED, v.DeleteBatch(queue=DEAD.queue, count=1)), "DLQ-02"),
    ],
    ids=["deliveries", "lifetime", "lifetime in a lock", "after an outage", "nothing deleted"],
)
def test_dead_letter_that_never_arrives_breaks_its_rule(commands, rule) -> None:
    later = (*commands, *WAITED_FOR_DEAD)
    heard = checked(*later, wrong=never, kind=v.Received)
    assert heard.blamed == (rule,)
    assert checked(*later).blamed == ()
    profile = v.profile_for(CATALOGUE, readings={"DEAD-LETTER-DELAY": "unbounded"})
    assert checked(*later, wrong=never, kind=v.Received, profile=profile).blamed == ()
    none = ("witness", "outages")
    assert checked(*later, wrong=never, kind=v.Received, capabilities=none).blamed == ()


@pytest.mark.parametrize(
    "commands",
    [
        (ONCE, *ABANDONED, v.UpdateQueue(queue="q", max_delivery_count=2)),
        (END, attrs.evolve(ONCE, forward_dead_letters_to="end"), *ABANDONED),
        (attrs.evolve(ONCE, time_to_live=v.MICROSECONDS), *ABANDONED),
        (EXPIRING, FIRST, SENT, DELETED, SOME_TIME),
        (attrs.evolve(EXPIRING, dead_letter_expired=False), SENT, SOME_TIME),
        (QUEUE, SENT, SOME_TIME),
    ],
    ids=[
        *("updated", "forwarded", "may have expired"),
        *("may be cached", "dropped", "there"),
    ],
)
def test_dead_letter_may_stay_away(commands: tuple[v.Command, ...]) -> None:
    assert checked(*commands, *WAITED_FOR_DEAD, wrong=never, kind=v.Received).blamed == ()
