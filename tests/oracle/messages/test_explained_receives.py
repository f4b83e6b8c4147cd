"""What receives explain that were left out is not held against the bus."""

import attrs
from observing import Observer, observing, received

from busproof.oracle.step import accept
from busproof.vocabulary.commands import AdvanceClock, Complete, CreateQueue, Receive
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Empty, Event, Indeterminate
from busproof.vocabulary.profile import Profile

RECEIVE = Receive(queue="q")
KEYED = {"partition_key": "k"}
MINUTE = 60_000_000


def over(*connections: str, clock: Observability | None = None) -> Observer:
    """A namespace with a queue; receives over these connections are not observed."""
    seen = attrs.evolve(clock or Observability(), left_out=frozenset(connections))
    observer = Observer(observing().possible[0].profile, seen)
    observer.has(CreateQueue(queue="q"))
    return observer


def test_an_empty_answer_may_be_due_to_a_cache_that_nothing_is_known_of() -> None:
    observer = over("c2")
    observer.send(partition=1)
    assert observer.saw(RECEIVE, Empty()).possible


def test_receives_over_the_same_connection_hide_nothing() -> None:
    observer = over("c1")
    observer.send(partition=1)
    assert not observer.saw(RECEIVE, Empty()).possible


def test_order_is_not_asked_where_another_cache_may_hold_the_first() -> None:
    for connections, allowed in ((("c2",), True), (("c1",), False), ((), False)):
        observer = over(*connections)
        observer.send(partition=1, **KEYED)
        observer.send(partition=1, **KEYED)
        second = received("m2", 1, partition_key="k")
        assert bool(observer.saw(RECEIVE, second).possible) is allowed


def test_a_lock_may_have_run_in_a_cache_that_nothing_is_known_of() -> None:
    """So that it may be lost at any time; without such receives it lasts."""
    for connections, allowed in ((("c1",), True), ((), False)):
        observer = over(*connections)
        observer.send(partition=1)
        observer.has(RECEIVE, received("m1", 1, lock_token="one"))
        again = received("m1", 1, lock_token="two")
        assert bool(observer.saw(RECEIVE, again).possible) is allowed


def test_trial_of_an_order_names_no_rules() -> None:
    observer = over()
    observer.send(partition=1)
    event = Event(command=Complete(queue="q", lock_token="none"), outcome=Empty())
    assert accept(observer.possible, event).rules
    tried = accept(observer.possible, event, explain=False)
    assert ((), (), ()) == (tried.possible, tried.rules, tried.allowed)
    assert isinstance(observer.possible[0].profile, Profile)


def test_deliveries_into_a_cache_that_nothing_is_known_of_may_have_counted() -> None:
    """As many as there was time for; one without an answer stands for any number."""
    for connections, lost, highest in (((), False, 1), (("c2",), False, 3), (("c2",), True, 99)):
        observer = over(*connections)
        observer.send(partition=1)
        if lost:
            observer.has(RECEIVE, Indeterminate())
        observer.has(AdvanceClock(duration=2 * MINUTE))
        for count in (highest, highest + 1):
            given = observer.possible
            first = received("m1", 1, delivery_count=count)
            assert bool(observer.saw(RECEIVE, first).possible) is (count == highest or lost)
            observer.possible = given
