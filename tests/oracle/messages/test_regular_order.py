"""The order of a regular queue, where a run is held to it (REGULAR-ORDER)."""

import pytest
from observing import Observer, is_allowed, observing, passes, received, refuses, shows

from busproof.vocabulary.commands import Abandon, Receive

RECEIVE = Receive(queue="q")
FIRST = {"REGULAR-ORDER": "first-in-first-out"}


def regular(**settings: object) -> Observer:
    """Return a regular queue with two messages, whose order is read."""
    observer = observing(FIRST)
    observer.queue(**{"partitioned": False, **settings})
    observer.send()
    observer.send()
    return observer


def test_the_oldest_comes_first() -> None:
    observer = regular()
    refuses(observer, RECEIVE, received("m2", 0, number=2), "KEY-26")
    shows(observer, RECEIVE, received("m1", 0, number=1), "KEY-26")


@pytest.mark.parametrize("settings", [{"partitioned": True}, {"requires_session": True}])
def test_other_queues_are_not_held_to_it(settings: dict[str, bool]) -> None:
    observer = observing(FIRST)
    observer.queue(**{"partitioned": False, **settings})
    assert not observer.possible[0].queues["q"].in_order


def test_any_order_is_allowed_where_it_is_not_read() -> None:
    observer = observing()
    observer.queue(partitioned=False)
    observer.send()
    observer.send()
    assert is_allowed(observer, RECEIVE, received("m2", 0, number=2))


def test_a_message_that_was_given_before_may_come_later() -> None:
    observer = regular()
    observer.has(RECEIVE, received("m1", 0, number=1, lock_token="l"))
    observer.has(Abandon(queue="q", lock_token="l"))
    assert is_allowed(observer, RECEIVE, received("m2", 0, number=2))


def test_keys_are_no_lines_of_their_own() -> None:
    observer = regular(lock_duration=30_000_000)
    passes(observer, 1)
    observer.send(partition_key="a")
    refuses(observer, RECEIVE, received("m3", 0, number=3, partition_key="a"), "KEY-26")
