"""The bus that the model makes, beyond what every adapter is held to."""

import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.spec import load


@pytest.mark.parametrize("policy", ["round-robin", "random"])
def test_the_next_session_may_be_one_whose_scheduled_message_has_become_due(policy: str) -> None:
    """No request has come since, with which the queue would have noticed the message."""
    bus = ModelAdapter(policy=policy, seed=1)
    bus.start(v.profile_for(load(), readings={"SCHEDULE-DELAY": "at-once"}))
    assert isinstance(bus.do(v.CreateQueue(queue="q", requires_session=True), "c1").outcome, v.Done)
    message = v.Message(body="later", session_id="a")
    scheduled = v.Schedule(queue="q", message=message, delay=60 * v.MICROSECONDS)
    assert isinstance(bus.do(scheduled, "c1").outcome, v.Scheduled)
    bus.do(v.AdvanceClock(duration=61 * v.MICROSECONDS), "c1")
    found = bus.do(v.AcceptNextSession(queue="q"), "c1").outcome
    assert found == v.SessionAccepted(session_id="a")


def test_the_longest_lock_and_window_can_be_had_of_a_bus_whose_timers_go_wrong() -> None:
    """LOCK-03 and DUP-03 speak of what is asked for; what cannot be had stays refused."""
    minute = 60 * v.MICROSECONDS
    day = 86_400 * v.MICROSECONDS
    longest = v.CreateQueue(
        queue="q", lock_duration=5 * minute, duplicate_detection=True, duplicate_window=7 * day
    )
    beyond = v.CreateQueue(queue="r", lock_duration=5 * minute + 1)
    for seed in range(20):
        bus = ModelAdapter(policy="hostile", seed=seed)
        bus.start(v.profile_for(load()))
        assert not isinstance(bus.do(longest, "c1").outcome, v.Refused)
        assert not isinstance(bus.do(beyond, "c1").outcome, v.Done)


@pytest.mark.parametrize("policy", ["random", "hostile"])
def test_answers_depend_on_the_seed_and_the_commands_since_the_start(policy: str) -> None:
    """Whatever the bus was asked before: a scenario is repeated by any worker."""
    profile = v.profile_for(load())
    commands = (
        v.CreateQueue(queue="q"),
        *(v.Send(queue="q", message=v.Message(body=f"m{number}")) for number in range(9)),
        *(v.Receive(queue="q") for _ in range(9)),
    )

    def answers(bus: ModelAdapter) -> list[str]:
        bus.start(profile)
        return [repr(bus.do(command, "c1")) for command in commands]

    used = ModelAdapter(policy=policy, seed=1)
    first = answers(used)
    assert first == answers(used)
    assert first != answers(ModelAdapter(policy=policy, seed=2))
