"""What a last look asks for, and the faults that only it shows."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from busproof import vocabulary as v
from busproof.adapters.model import CAPABILITIES, ModelAdapter
from busproof.history.records import Oracle, StepResult
from busproof.judging.driver import Recording
from busproof.judging.last_look import look_at_everything
from busproof.judging.linearization.overlap import judged
from busproof.judging.scenario_outcome import NotConforming
from busproof.model.answers import Answer
from busproof.model.keys import Keys
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, Session, Transaction
from busproof.model.transactions import Transactions
from busproof.model.values import Key
from busproof.spec import load
from busproof.steps.bus import BusUnderTest
from busproof.steps.last_looks import MOST_FAILED, LastLooks, look_at

PROFILE = v.profile_for(load())
MINUTE = 60 * v.MICROSECONDS
QUEUE = v.CreateQueue(queue="q", max_delivery_count=3)
SENT = v.Send(queue="q", message=v.Message(body="m", partition_key="a"))
FORGOTTEN_COUNT = v.UpdateQueue(queue="q", lock_duration=MINUTE)


def sent(body: str, **properties: Any) -> v.Send:
    return v.Send(queue="q", message=v.Message(body=body, **properties))


def bus_after(commands: Sequence[v.Command], adapter: ModelAdapter) -> BusUnderTest:
    """Return the bus of a scenario that has asked these commands."""
    adapter.start(PROFILE)
    recording = Recording(record=lambda _: None, sentence=str)
    bus = BusUnderTest(adapter, PROFILE, Oracle.STRICT, recording)
    for command in commands:
        bus.do(command)
    return bus


class TakesAnyToken(Locks):
    """Take a token of whichever delivery, where the message is locked."""

    def locked_under(self, entity: Entity, token: str, *rest: Action) -> QueuedMessage:
        queued = entity.messages.get(int(token.partition("/")[0]))
        if queued is not None and queued.token is not None:
            return queued
        return super().locked_under(entity, token, *rest)


class ForgetsTheDeliveryCount(Management):
    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        super().apply_update(entity, command)
        entity.settings = attrs.evolve(entity.settings, max_delivery_count=10)


class RollbackReleases(Transactions):
    """Release the messages that were settled, if they are several."""

    def roll_back(self, command: v.RollBackTransaction, connection: str) -> Answer:
        transaction = self.namespace.transactions[command.transaction]
        answer = super().roll_back(command, connection)
        for enlisted in transaction.settlements[1:]:
            queued = self.rules.locks.locked_under(enlisted.entity, enlisted.token)
            self.rules.locks.release(queued, Action.LOCK_ENDS)
        return answer


class CommitForgetsTheSecond(Transactions):
    def apply(self, transaction: Transaction) -> None:
        self.namespace.journal.touch(transaction)
        transaction.settlements = transaction.settlements[:1]
        super().apply(transaction)


class UpdateForgetsCopies(Management):
    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        super().apply_update(entity, command)
        entity.duplicates.clear()


class KeysMove(Keys):
    """Return another partition after an update."""

    def home(self, entity: Entity, key: Key) -> int:
        moved = entity.settings.lock_duration == FORGOTTEN_COUNT.lock_duration
        return (super().home(entity, key) + moved) % len(entity.partitions)


class DefersAny(Locks):
    """Accept each deferral, even with an old token."""

    def settle(self, command: v.Settlement, connection: str) -> Answer:
        if isinstance(command, v.Defer):
            return Answer(v.Done())
        return super().settle(command, connection)


class UpdateDropsWhatIsScheduled(Management):
    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        super().apply_update(entity, command)
        for scheduled in list(entity.scheduled.values()):
            self.rules.scheduling.drop(scheduled, Action.CANCEL)


class OffersNoSessionAgain(Sessions):
    """Yield no session with a message that was delivered twice."""

    def free(self, entity: Entity) -> Iterator[Session]:
        for session in super().free(entity):
            first = session.line.first(entity.messages)
            if first is not None and first.deliveries < 2:
                yield session


FAULTS = {
    "an old token": ({"locks": TakesAnyToken}, "deferred", "LIFE-06"),
    "an update": (
        {"management": ForgetsTheDeliveryCount},
        "updated",
        "MGMT-1",
    ),
    "a rollback": (
        {"transactions": RollbackReleases},
        "several",
        "LIFE-06|LOCK-12",
    ),
    "a commit": (
        {"transactions": CommitForgetsTheSecond},
        "several",
        "LIFE|LOCK|MGMT|TXN",
    ),
    "a copy": (
        {"management": UpdateForgetsCopies},
        "copied",
        "MGMT-20",
    ),
    "a key": ({"keys": KeysMove}, "keyed", "KEY-07"),
    "an old token of a deferral": (
        {"locks": DefersAny},
        "settled",
        "LOCK-06",
    ),
    "a session": (
        {"sessions": OffersNoSessionAgain},
        "in a session",
        "SESS-06",
    ),
}


SEQUENCES = {
    "updated": (QUEUE, FORGOTTEN_COUNT),
    "several": (QUEUE, *(sent(f"m{number}") for number in range(7)), FORGOTTEN_COUNT),
    "keyed": (
        attrs.evolve(QUEUE, lock_duration=MINUTE // 2),
        sent("m", partition_key="a"),
        FORGOTTEN_COUNT,
    ),
    "copied": (
        attrs.evolve(QUEUE, duplicate_detection=True),
        sent("m", message_id="i"),
        FORGOTTEN_COUNT,
    ),
    "in a session": (attrs.evolve(QUEUE, requires_session=True), FORGOTTEN_COUNT),
    "scheduled": (
        QUEUE,
        v.Schedule(queue="q", message=v.Message(body="m"), delay=MINUTE),
        FORGOTTEN_COUNT,
    ),
}


def bus_asked_for(kind: str, adapter: ModelAdapter) -> BusUnderTest:
    """Return a bus that has executed a sequence, or that has settled a message."""
    if kind in SEQUENCES:
        return bus_after(SEQUENCES[kind], adapter)
    bus = bus_after((QUEUE, SENT), adapter)
    view = bus.kept("q")
    settlement = v.Complete if kind == "settled" else v.Defer
    bus.do(settlement(queue="q", lock_token=view.lock_token or ""))
    return bus


@pytest.mark.parametrize("fault", FAULTS)
def test_last_look_shows_what_no_command_before_it_shows(fault: str):
    families, kind, rule = FAULTS[fault]
    bus = bus_asked_for(kind, ModelAdapter(families=families))
    with pytest.raises(NotConforming, match=rule):
        look_at(bus)


@pytest.mark.parametrize("policy", ["round-robin", "random", "hostile"])
@pytest.mark.parametrize("kind", ["deferred", "settled", *SEQUENCES])
def test_last_look_accuses_no_conforming_bus(kind: str, policy: str):
    look_at(bus_asked_for(kind, ModelAdapter(policy=policy, seed=4)))


def test_last_look_waits_for_a_scheduled_message_that_does_not_come():
    families = {"management": UpdateDropsWhatIsScheduled}
    for adapter, rule in ((ModelAdapter(), None), (ModelAdapter(families=families), "SCHED-02")):
        bus = bus_asked_for("scheduled", adapter)
        look_at(bus)
        overdue = judged(bus.events, PROFILE, adapter.declaration.observability).overdue
        assert rule == (overdue and overdue.rules[0])


def test_last_look_leaves_no_message_behind():
    """Deferred messages are received by their numbers, and all are removed."""
    bus = bus_asked_for("deferred", ModelAdapter())
    look_at(bus)
    outcome = bus.do(v.GetQueue(queue="q"))
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
    adapter = ModelAdapter(families=FAULTS["an update"][0])
    looks = LastLooks(adapter, explores=True)
    for _ in range(MOST_FAILED):
        steps: list[StepResult] = []
        with pytest.raises(NotConforming):
            looks.look(bus_asked_for("updated", adapter), steps)
        assert ["failed"] == [step.result for step in steps]
    looks.look(bus_asked_for("updated", adapter), [])


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
    adapter = ModelAdapter(families=FAULTS["an update"][0])
    bus = bus_after(commands, adapter)
    before = len(bus.events)
    step = StepResult(keyword="When", text="the last one", result=result)
    LastLooks(adapter, explores=explores).look(bus, [step])
    assert before == len(bus.events)
