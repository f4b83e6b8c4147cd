"""What a bus of the model's own decides by itself."""

from random import Random

import pytest
from telling import telling

from busproof.errors import UsageError
from busproof.model.choosing import at_liberty, checked_policy, decided, in_turn, one_of
from busproof.model.commands import CreateQueue, Send, TakePartitionDown
from busproof.model.outcomes import Done
from busproof.model.profiles import profile_for
from busproof.model.state import Namespace, fresh_namespace
from busproof.model.step import transitions
from busproof.model.transition import Choice, Transition
from busproof.model.values import Message, Vantage
from busproof.spec import load

PROFILE = profile_for(load())


def test_a_bus_decides_what_is_left_open_and_nothing_else() -> None:
    """What was read one way stays so."""
    assert "at-once" == decided(PROFILE).readings["SCHEDULE-DELAY"]
    read = profile_for(load(), readings={"CACHE-EXPIRY": "handed-out"})
    assert "handed-out" == decided(read).readings["CACHE-EXPIRY"]
    assert "handed-out" == at_liberty(read, Random(1)).readings["CACHE-EXPIRY"]


def test_what_is_free_is_chosen_one_way_and_the_other() -> None:
    """By the seed."""
    found = {at_liberty(PROFILE, Random(seed)).readings["CACHE-EXPIRY"] for seed in range(9)}
    assert {"handed-out", "not-handed-out"} == found


def test_an_unknown_policy_is_named_with_those_that_there_are() -> None:
    """And a known one is taken."""
    assert "hostile" == checked_policy("hostile")
    with pytest.raises(UsageError, match="'kind'; choose one of round-robin, random, hostile"):
        checked_policy("kind")


def test_a_hostile_bus_prefers_the_last_partition() -> None:
    """Another one takes any."""
    namespace = fresh_namespace(PROFILE, Vantage())
    allowed = [
        Transition(outcome=Done(), next=namespace, choice=choice)
        for choice in (Choice(0), Choice(1), None)
    ]
    taken = {
        policy: [one_of(allowed, policy, Random(seed)).choice for seed in range(60)]
        for policy in ("random", "hostile")
    }
    assert set(taken["random"]) == {Choice(0), Choice(1), None} == set(taken["hostile"])
    assert taken["random"].count(Choice(1)) < 30 < taken["hostile"].count(Choice(1))


KEYED = Send(queue="q", message=Message(body="k", partition_key="a"))
UNKEYED = Send(queue="q", message=Message(body="u"))


def taken(namespace: Namespace, command: Send, turn: int) -> int | None:
    """The partition that takes it."""
    found = in_turn(namespace, command, "c1", turn, 4)
    return None if found is None or found.choice is None else found.choice.partition


def test_partitions_take_turns_and_a_key_keeps_its_own() -> None:
    """One that is down is passed over; a key waits for it."""
    told = telling(decides=True, partitions=4)
    told.has(CreateQueue(queue="q"), Done())
    begun = told.possible[0]
    assert [0, 1, 2, 3] == [taken(begun, UNKEYED, turn) for turn in range(4)]
    found = in_turn(begun, KEYED, "c1", 2, 4)
    assert found is not None
    assert Choice(2) == found.choice
    assert [2] * 4 == [taken(found.next, KEYED, turn) for turn in range(4)]
    down = in_outage(found.next, 2)
    assert [0, 1, 3, 3] == [taken(down, UNKEYED, turn) for turn in range(4)]
    assert [None] * 4 == [taken(down, KEYED, turn) for turn in range(4)]
    assert 0 == taken(in_outage(down, 3), UNKEYED, 2)


def in_outage(namespace: Namespace, partition: int) -> Namespace:
    command = TakePartitionDown(queue="q", partition=partition)
    return next(transitions(namespace, command)).next
