"""Peeks in an outage, where a run is held to what they show (PEEK-IN-OUTAGE)."""

import pytest
from telling import GONE, Told, down, is_allowed, refuses, shows, telling, up, view

from busproof.vocabulary.commands import Peek
from busproof.vocabulary.outcomes import Peeked

PEEK = Peek(queue="q", count=4)


def spread(reading: str, *, witness: bool = True) -> Told:
    """Return a queue with a message in each of two partitions, the first one down."""
    told = telling({"PEEK-IN-OUTAGE": reading}, witness=witness)
    told.queue()
    told.send(partition=0 if witness else None)
    told.send(partition=1 if witness else None)
    told.has(down(0))
    return told


def test_a_peek_is_served_by_the_partitions_that_are_up() -> None:
    told = spread("served")
    refuses(told, PEEK, GONE, "PART-29")
    refuses(told, PEEK, Peeked(messages=(view("m1", 0),)), "PART-29")
    refuses(told, PEEK, Peeked(messages=(view("m2", 1), view("m1", 0))), "PART-29")
    shows(told, PEEK, Peeked(messages=(view("m2", 1),)), "PART-29")
    assert is_allowed(told, PEEK, Peeked())


def test_without_an_outage_the_reading_demands_nothing() -> None:
    told = spread("served")
    told.has(up(0))
    assert "PART-29" not in told.saw(PEEK, Peeked(messages=(view("m1", 0),))).rules


def test_a_peek_may_be_refused_where_no_partition_is_up() -> None:
    told = telling({"PEEK-IN-OUTAGE": "served"})
    told.queue()
    for partition in range(4):
        told.has(down(partition))
    assert is_allowed(told, PEEK, GONE)


@pytest.mark.parametrize("outcome", [GONE, Peeked(messages=(view("m1", 0),)), Peeked()])
def test_any_answer_is_allowed_where_it_is_not_read(outcome: object) -> None:
    assert is_allowed(spread("either"), PEEK, outcome)


def test_without_sight_of_partitions_any_message_may_be_shown() -> None:
    told = spread("served", witness=False)
    refuses(told, PEEK, GONE, "PART-29")
    assert is_allowed(told, PEEK, Peeked(messages=(view("m1", 0),)))
