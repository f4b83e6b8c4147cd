"""The order of a regular queue, where a run is held to it (REGULAR-ORDER)."""

import pytest
from telling import Told, is_allowed, passes, received, refuses, shows, telling

from busproof.vocabulary.commands import Abandon, Receive

RECEIVE = Receive(queue="q")
FIRST = {"REGULAR-ORDER": "first-in-first-out"}


def regular(**settings: object) -> Told:
    """Return a regular queue with two messages, whose order is read."""
    told = telling(FIRST)
    told.queue(**{"partitioned": False, **settings})
    told.send()
    told.send()
    return told


def test_the_oldest_comes_first() -> None:
    told = regular()
    refuses(told, RECEIVE, received("m2", 0, number=2), "KEY-26")
    shows(told, RECEIVE, received("m1", 0, number=1), "KEY-26")


@pytest.mark.parametrize("settings", [{"partitioned": True}, {"requires_session": True}])
def test_other_queues_are_not_held_to_it(settings: dict[str, bool]) -> None:
    told = telling(FIRST)
    told.queue(**{"partitioned": False, **settings})
    assert not told.possible[0].queues["q"].in_order


def test_any_order_is_allowed_where_it_is_not_read() -> None:
    told = telling()
    told.queue(partitioned=False)
    told.send()
    told.send()
    assert is_allowed(told, RECEIVE, received("m2", 0, number=2))


def test_a_message_that_was_given_before_may_come_later() -> None:
    told = regular()
    told.has(RECEIVE, received("m1", 0, number=1, lock_token="l"))
    told.has(Abandon(queue="q", lock_token="l"))
    assert is_allowed(told, RECEIVE, received("m2", 0, number=2))


def test_keys_are_no_lines_of_their_own() -> None:
    told = regular(lock_duration=30_000_000)
    passes(told, 1)
    told.send(partition_key="a")
    refuses(told, RECEIVE, received("m3", 0, number=3, partition_key="a"), "KEY-26")
