"""A scenario needs no second run on a bus that answers it as the recorded one did."""

import attrs

from busproof import vocabulary as v
from busproof.adapters.faults import make
from busproof.adapters.model import ModelAdapter
from busproof.history.records import Scenario
from busproof.judging.replay_check import answers_alike
from busproof.spec import load

PROFILE = v.profile_for(load())

MISMATCH = v.Send(queue="q", message=v.Message(body="m1", session_id="a", partition_key="b"))
ASKED = (v.CreateQueue(queue="q"), MISMATCH, v.Receive(queue="q"))


def recorded(adapter: v.Adapter, *commands: v.Command) -> Scenario:
    adapter.start(PROFILE)
    events = []
    for command in commands:
        came = adapter.do(command, "c1")
        events.append(v.Event(command=command, outcome=came.outcome, witness=came.witness))
    return Scenario(events=tuple(events))


def test_a_bus_answers_as_itself_whatever_it_held_before():
    scenario = recorded(ModelAdapter(), *ASKED)
    bus = ModelAdapter()
    assert answers_alike(bus, PROFILE, scenario)
    assert answers_alike(bus, PROFILE, scenario)


def test_one_other_outcome_is_a_difference():
    scenario = recorded(ModelAdapter(), *ASKED)
    assert not answers_alike(make("mismatch-accepted"), PROFILE, scenario)


def test_a_fault_that_is_not_come_to_makes_no_difference():
    scenario = recorded(ModelAdapter(), ASKED[0], v.Peek(queue="q"))
    assert answers_alike(make("mismatch-accepted"), PROFILE, scenario)


def test_another_partition_alone_is_a_difference():
    scenario = recorded(
        ModelAdapter(), v.CreateQueue(queue="q"), v.Send(queue="q", message=v.Message(body="m1"))
    )
    *first, last = scenario.events
    other = attrs.evolve(
        last, witness=attrs.evolve(last.witness, partition=last.witness.partition + 1)
    )
    assert not answers_alike(
        ModelAdapter(), PROFILE, attrs.evolve(scenario, events=(*first, other))
    )


def test_a_value_of_another_type_is_a_difference():
    """For Python, true equals 1."""
    typed = v.Message(body="m1", properties={"flag": True})
    scenario = recorded(ModelAdapter(), ASKED[0], v.Send(queue="q", message=typed), ASKED[2])
    assert answers_alike(ModelAdapter(), PROFILE, scenario)
    assert not answers_alike(make("truth-becomes-a-number"), PROFILE, scenario)


def test_nothing_is_asked_where_nothing_was_recorded():
    class Unasked(ModelAdapter):
        def start(self, profile):
            raise AssertionError(f"nothing has to begin with {profile}")

    assert answers_alike(Unasked(), PROFILE, Scenario())


def test_a_bus_that_breaks_does_not_answer():
    class Broken(ModelAdapter):
        def do(self, command, connection):
            raise KeyError(command, connection)

    assert not answers_alike(Broken(), PROFILE, recorded(ModelAdapter(), *ASKED))
