"""What a bus of the model's own decides by itself."""

from random import Random

import pytest
from telling import telling

from busproof.errors import UsageError
from busproof.oracle.choosing import Turns, at_liberty, checked_policy, decided, one_of
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import transitions
from busproof.oracle.transition import Choice, Transition
from busproof.spec import load
from busproof.vocabulary.commands import CreateQueue, Send, SendBatch, TakePartitionDown
from busproof.vocabulary.messages import Message
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Done
from busproof.vocabulary.profile import profile_for

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
    namespace = fresh_namespace(PROFILE, Observability())
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


def taken(namespace: Namespace, *commands: Send | SendBatch) -> list[int | None]:
    """The partitions that take them, one after another."""
    turns, found = Turns(), []
    for command in commands:
        answer = turns.taken(namespace, command, "c1")
        found.append(None if answer is None or answer.choice is None else answer.choice.partition)
        namespace = namespace if answer is None else answer.next
    return found


def begun() -> Namespace:
    told = telling(decides=True, partitions=4)
    told.has(CreateQueue(queue="q"), Done())
    return told.possible[0]


def test_messages_without_a_key_take_turns() -> None:
    """A batch takes one turn."""
    batch = SendBatch(queue="q", messages=(UNKEYED.message, UNKEYED.message))
    assert [0, 1, 2, 3, 0] == taken(begun(), UNKEYED, UNKEYED, batch, UNKEYED, UNKEYED)


def test_a_batch_of_nothing_takes_no_turn() -> None:
    """It goes nowhere."""
    nothing = SendBatch(queue="q", messages=())
    assert [0, None, 1] == taken(begun(), UNKEYED, nothing, UNKEYED)


def test_what_has_a_key_leaves_the_turn_of_what_has_none() -> None:
    """However often it is sent; keys that are new take turns among themselves."""
    other = Send(queue="q", message=Message(body="o", partition_key="b"))
    sent = (UNKEYED, KEYED, KEYED, UNKEYED, KEYED, other, KEYED, UNKEYED)
    assert [0, 0, 0, 1, 0, 1, 0, 2] == taken(begun(), *sent)


def test_a_partition_that_is_down_is_passed_over_and_a_key_waits_for_it() -> None:
    """Each has its turn where it may be taken."""
    down = in_outage(begun(), 1)
    assert [0, 2, 3, 0] == taken(down, *[UNKEYED] * 4)
    homed = Turns().taken(begun(), KEYED, "c1")
    assert homed is not None
    assert [None] == taken(in_outage(homed.next, 0), KEYED)


def test_nothing_but_a_send_takes_a_turn() -> None:
    """And nothing where nobody is there to take it, or where all are down."""
    assert Turns().taken(begun(), CreateQueue(queue="r"), "c1") is None
    assert [None] == taken(begun(), Send(queue="r", message=UNKEYED.message))
    down = begun()
    for partition in range(4):
        down = in_outage(down, partition)
    assert [None] == taken(down, UNKEYED)


def in_outage(namespace: Namespace, partition: int) -> Namespace:
    command = TakePartitionDown(queue="q", partition=partition)
    return next(transitions(namespace, command)).next
