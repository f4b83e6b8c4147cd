"""What receives explain that were left out is not held against the bus."""

import attrs
from telling import Told, received, telling

from busproof.oracle.step import accept
from busproof.vocabulary.commands import AdvanceClock, Complete, CreateQueue, Receive
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Empty, Event, Indeterminate
from busproof.vocabulary.profile import Profile

RECEIVE = Receive(queue="q")
KEYED = {"partition_key": "k"}
MINUTE = 60_000_000


def over(*connections: str, clock: Observability | None = None) -> Told:
    """A namespace with a queue; receives over these connections are not observed."""
    seen = attrs.evolve(clock or Observability(), left_out=frozenset(connections))
    told = Told(telling().possible[0].profile, seen)
    told.has(CreateQueue(queue="q"))
    return told


def test_an_empty_answer_may_be_due_to_a_cache_of_which_nothing_is_told() -> None:
    told = over("c2")
    told.send(partition=1)
    assert told.saw(RECEIVE, Empty()).possible


def test_receives_over_the_same_connection_hide_nothing() -> None:
    told = over("c1")
    told.send(partition=1)
    assert not told.saw(RECEIVE, Empty()).possible


def test_order_is_not_asked_where_another_cache_may_hold_the_first() -> None:
    for connections, allowed in ((("c2",), True), (("c1",), False), ((), False)):
        told = over(*connections)
        told.send(partition=1, **KEYED)
        told.send(partition=1, **KEYED)
        second = received("m2", 1, partition_key="k")
        assert bool(told.saw(RECEIVE, second).possible) is allowed


def test_a_lock_may_have_run_in_a_cache_of_which_nothing_is_told() -> None:
    """So that it may be lost at any time; without such receives it lasts."""
    for connections, allowed in ((("c1",), True), ((), False)):
        told = over(*connections)
        told.send(partition=1)
        told.has(RECEIVE, received("m1", 1, lock_token="one"))
        again = received("m1", 1, lock_token="two")
        assert bool(told.saw(RECEIVE, again).possible) is allowed


def test_trial_of_an_order_names_no_rules() -> None:
    told = over()
    told.send(partition=1)
    event = Event(command=Complete(queue="q", lock_token="none"), outcome=Empty())
    assert accept(told.possible, event).rules
    tried = accept(told.possible, event, explain=False)
    assert ((), (), ()) == (tried.possible, tried.rules, tried.allowed)
    assert isinstance(told.possible[0].profile, Profile)


def test_deliveries_into_a_cache_of_which_nothing_is_told_may_have_counted() -> None:
    """As many as there was time for; one without an answer stands for any number."""
    for connections, lost, highest in (((), False, 1), (("c2",), False, 3), (("c2",), True, 99)):
        told = over(*connections)
        told.send(partition=1)
        if lost:
            told.has(RECEIVE, Indeterminate())
        told.has(AdvanceClock(duration=2 * MINUTE))
        for count in (highest, highest + 1):
            given = told.possible
            first = received("m1", 1, delivery_count=count)
            assert bool(told.saw(RECEIVE, first).possible) is (count == highest or lost)
            told.possible = given
