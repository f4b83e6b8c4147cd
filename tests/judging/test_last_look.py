"""What a last look asks for, and the faults that only it shows."""

from collections.abc import Callable, Sequence

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import CAPABILITIES, ModelAdapter
from busproof.history.records import Oracle, StepResult
from busproof.judging.driver import Recording
from busproof.judging.last_look import look_at_everything
from busproof.judging.scenario_outcome import NotConforming
from busproof.model.rules import RULES, Rules
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.spec import load
from busproof.steps.bus import Bus
from busproof.steps.last_looks import MOST_FAILED, LastLooks, look_at

PROFILE = v.profile_for(load())
MINUTE = 60 * v.MICROSECONDS
QUEUE = v.CreateQueue(queue="q", max_delivery_count=3)
SENT = v.Send(queue="q", message=v.Message(body="m", partition_key="a"))
FORGOTTEN_COUNT = v.UpdateQueue(queue="q", lock_duration=MINUTE)


def bus_after(commands: Sequence[v.Command], adapter: ModelAdapter) -> Bus:
    """Return the bus of a scenario that has asked these commands."""
    adapter.start(PROFILE)
    recording = Recording(record=lambda _: None, sentence=str)
    bus = Bus(adapter, PROFILE, Oracle.STRICT, recording)
    for command in commands:
        bus.do(command)
    return bus


def with_fault(**families: dict[str, Callable[..., object]]) -> Rules:
    """Return the model's rules with these functions replaced."""
    replaced = {name: attrs.evolve(getattr(RULES, name), **of) for name, of in families.items()}
    return attrs.evolve(RULES, **replaced)


def takes_any_token(namespace: Namespace, entity: Entity, token: str) -> QueuedMessage:
    """Take a token of whichever delivery, where the message is locked."""
    queued = entity.messages.get(int(token.partition("/")[0]))
    if queued is not None and queued.token is not None:
        return queued
    return RULES.locks.locked_under(namespace, entity, token)


def forgets_the_delivery_count(
    namespace: Namespace, entity: Entity, command: v.UpdateQueue
) -> None:
    RULES.management.apply_update(namespace, entity, command)
    entity.settings = attrs.evolve(entity.settings, max_delivery_count=10)


FAULTS = {
    "an old token": (with_fault(locks={"locked_under": takes_any_token}), "deferred", "LIFE-06"),
    "an update": (
        with_fault(management={"apply_update": forgets_the_delivery_count}),
        "updated",
        "MGMT-1",
    ),
}


def asked(kind: str, adapter: ModelAdapter) -> Bus:
    """Return a bus on which a message was deferred, or a queue was updated."""
    if kind == "updated":
        return bus_after((QUEUE, FORGOTTEN_COUNT), adapter)
    bus = bus_after((QUEUE, SENT), adapter)
    view = bus.kept("q")
    bus.do(v.Defer(queue="q", lock_token=view.lock_token or ""))
    return bus


@pytest.mark.parametrize("fault", FAULTS)
def test_last_look_shows_what_no_command_before_it_shows(fault: str):
    rules, kind, rule = FAULTS[fault]
    bus = asked(kind, ModelAdapter(rules=rules))
    with pytest.raises(NotConforming, match=rule):
        look_at(bus)


@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("kind", ["deferred", "updated"])
def test_last_look_accuses_no_conforming_bus(kind: str, policy: str):
    look_at(asked(kind, ModelAdapter(policy=policy, seed=4)))


def test_last_look_leaves_no_message_behind():
    """Deferred messages are received by their numbers, and all are removed."""
    bus = asked("deferred", ModelAdapter())
    look_at(bus)
    outcome = bus.do(v.GetQueue(queue="q"))
    assert isinstance(outcome, v.Described)
    assert 0 == outcome.description.message_count


def test_last_look_asks_nothing_that_is_not_declared():
    asked_for: list[v.Command] = []

    def ask(command: v.Command, _: str) -> v.Event:
        asked_for.append(command)
        return v.Event(command=command, outcome=v.Empty())

    event = v.Event(command=QUEUE, outcome=v.Done())
    look_at_everything((event,), frozenset({v.Capability.PEEK_LOCK}), ask)
    assert {v.Receive, v.AdvanceClock} == {type(command) for command in asked_for}


def test_last_look_ends_where_the_judge_gives_up():
    asked_for: list[v.Command] = []
    event = v.Event(command=QUEUE, outcome=v.Done())

    def ask(command: v.Command, _: str) -> None:
        asked_for.append(command)

    look_at_everything((event,), CAPABILITIES, ask)
    assert 1 == len(asked_for)


def test_real_clock_gets_no_last_look():
    """It would wait until locks end."""
    bus = bus_after((QUEUE,), ModelAdapter(clock=v.Clock.REAL))
    look_at(bus)
    assert isinstance(bus.do(v.GetQueue(queue="q")), v.Described)
    assert 2 == len(bus.events)


def test_run_has_no_more_last_looks_after_some_that_failed():
    """The others would repeat the same; steps and scenarios go on."""
    adapter = ModelAdapter(rules=FAULTS["an update"][0])
    looks = LastLooks(adapter, explores=True)
    for _ in range(MOST_FAILED):
        steps: list[StepResult] = []
        with pytest.raises(NotConforming):
            looks.look(asked("updated", adapter), steps)
        assert ["failed"] == [step.result for step in steps]
    looks.look(asked("updated", adapter), [])


@pytest.mark.parametrize(
    ("explores", "commands", "result"),
    [
        (False, (QUEUE, FORGOTTEN_COUNT), "passed"),
        (True, (QUEUE, SENT), "passed"),
        (True, (QUEUE, FORGOTTEN_COUNT), "failed"),
    ],
    ids=["a run that does not explore", "nothing was updated", "a step has failed"],
)
def test_scenario_without_a_last_look(explores: bool, commands: tuple[v.Command, ...], result: str):
    adapter = ModelAdapter(rules=FAULTS["an update"][0])
    bus = bus_after(commands, adapter)
    before = len(bus.events)
    step = StepResult(keyword="When", text="the last one", result=result)
    LastLooks(adapter, explores=explores).look(bus, [step])
    assert before == len(bus.events)
