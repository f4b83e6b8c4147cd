"""Choices of policies, changes in the journal, timers and indexes."""

from random import Random

import pytest
from model_driver import SECOND, Bus, changed, profile, state_of

from busproof import vocabulary as v
from busproof.broker.direct_actions import act
from busproof.model import HostileChoices, RandomChoices, RoundRobin, Scripted
from busproof.model.keys import Keys
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace


def test_act_does_by_rules_what_no_command_asks_for(bus: Bus) -> None:
    bus.create()
    bus.send("m0")
    token = bus.receive().lock_token
    (queued,) = bus.namespace.entities["q"].messages.values()

    def release(namespace: Namespace) -> None:
        namespace.rules.locks.release(queued, Action.ABANDON)

    changes = act(bus.namespace, bus.choices, release)
    assert [(queued, None)] == changed(changes)
    assert v.Error.LOCK_LOST is bus.refused(v.Complete(queue="q", lock_token=token or ""))
    assert "m0" == bus.receive().body


def test_timers_are_due_when_their_moment_has_come(bus: Bus) -> None:
    bus.create()
    assert not bus.namespace.timers.is_due(10**12)
    bus.done(v.Schedule(queue="q", message=v.Message(body="m"), delay=SECOND))
    assert not bus.namespace.timers.is_due(SECOND - 1)
    assert bus.namespace.timers.is_due(SECOND)


def test_answer_names_its_refusal(bus: Bus) -> None:
    refused = v.Refused(error=v.Error.NOT_FOUND)
    assert refused == bus.ask(v.Receive(queue="none")).refused
    assert bus.ask(v.CreateQueue(queue="q")).refused is None


def test_policies_choose_among_the_candidates() -> None:
    for policy in (RoundRobin(), RandomChoices(Random(1)), HostileChoices(Random(1)), Scripted()):
        assert policy.pick("KEY-16", iter("ab")) in "ab"
        assert 1 == policy.partition("KEY-14", "q", 3, lambda number: number == 1)
        assert policy.partition("KEY-14", "q", 3, lambda _: False) is None


def test_changes_leave_out_the_timers_that_ran(bus: Bus) -> None:
    bus.create(lock_duration=SECOND)
    bus.send("m")
    bus.receive()
    answer = bus.ask(v.AdvanceClock(duration=SECOND))
    queue = bus.namespace.entities["q"]
    found = changed(answer.changes)
    assert [(bus.namespace, None), (queue.messages[1], None)] == found


def test_changes_of_a_send_are_its_message_and_the_counters_of_its_partition(bus: Bus) -> None:
    bus.create()
    answer = bus.ask(v.Send(queue="q", message=v.Message(body="m")))
    queue = bus.namespace.entities["q"]
    found = changed(answer.changes)
    assert [(queue.partitions[0], None), (queue.messages, 1)] == found


def test_a_refused_command_changes_nothing() -> None:
    bus = Bus(profile(BATCH_KEYS="refused"))
    bus.create()
    bus.send("m", message_id="i")
    before = state_of(bus.namespace)
    bus.refused(v.CreateQueue(queue="q"))
    bus.refused(v.Complete(queue="q", lock_token="1/1"))
    bus.refused(
        v.SendBatch(
            queue="q",
            messages=(v.Message(body="a"), v.Message(body="b", session_id="s", partition_key="k")),
        )
    )
    assert before == state_of(bus.namespace)


def test_a_rule_can_be_replaced() -> None:
    class SecondHome(Keys):
        def home(self, *_: object) -> int:
            return 2

    faulty = Bus(keys=SecondHome)
    faulty.create()
    assert {2} == {faulty.send(f"m{number}", partition_key=f"k{number}") for number in range(5)}


def test_unknown_family_cannot_be_replaced() -> None:
    with pytest.raises(TypeError, match=r"unknown families \['key'\]; there are batches, "):
        Bus(key=Keys)


def test_stale_timers_and_lines_are_tidied_up(bus: Bus) -> None:
    bus.create(time_to_live=900 * SECOND)
    bus.create("s", requires_session=True)
    bus.create("d", duplicate_detection=True)
    for number in range(200):
        bus.send(f"m{number}")
        bus.send(f"d{number}", queue="d", message_id=f"i{number}")
        bus.done(v.Complete(queue="q", lock_token=bus.receive().lock_token or ""))
        bus.done(v.AcceptSession(queue="s", session_id="a"))
        planned = bus.done(v.Schedule(queue="q", message=v.Message(body="p"), delay=SECOND))
        bus.done(v.CancelScheduled(queue="q", sequence_number=planned.sequence_number or 0))
    bus.create("gone", time_to_live=900 * SECOND)
    for number in range(600):
        bus.send(f"g{number}", queue="gone")
    bus.done(v.DeleteQueue(queue="gone"))
    bus.wait(2)
    assert 1_100 > len(bus.namespace.timers.heap), "1,600 were set, 800 are of records there"
    assert 300 > sum(len(each.line.order) for each in bus.namespace.entities["q"].partitions)


def test_sessions_that_are_gone_are_in_no_index(bus: Bus) -> None:
    """Whether they had messages or not, although no receiver asks for the next session."""
    bus.create("s", requires_session=True)
    for number in range(20):
        name = f"x{number}"
        bus.done(v.AcceptSession(queue="s", session_id=name))
        if number % 2:
            bus.send("m", queue="s", session_id=name)
            token = bus.receive("s", session_id=name).lock_token or ""
            bus.done(v.Complete(queue="s", lock_token=token))
        bus.done(v.CloseSession(queue="s", session_id=name))
    entity = bus.namespace.entities["s"]
    assert not entity.sessions
    assert not entity.free_sessions
