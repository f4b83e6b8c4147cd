"""Peeks in an outage, where a run is held to what they show (PEEK-IN-OUTAGE)."""

import pytest
from observing import GONE, Observer, down, is_allowed, observing, refuses, shows, up, view

from busproof.vocabulary.commands import Peek
from busproof.vocabulary.outcomes import Peeked

PEEK = Peek(queue="q", count=4)


def spread(reading: str, *, witness: bool = True) -> Observer:
    """Return a queue with a message in each of two partitions, the first one down."""
    observer = observing({"PEEK-IN-OUTAGE": reading}, witness=witness)
    observer.queue()
    observer.send(partition=0 if witness else None)
    observer.send(partition=1 if witness else None)
    observer.has(down(0))
    return observer


def test_a_peek_is_served_by_the_partitions_that_are_up() -> None:
    observer = spread("served")
    refuses(observer, PEEK, GONE, "PART-29")
    refuses(observer, PEEK, Peeked(messages=(view("m1", 0),)), "PART-29")
    refuses(observer, PEEK, Peeked(messages=(view("m2", 1), view("m1", 0))), "PART-29")
    shows(observer, PEEK, Peeked(messages=(view("m2", 1),)), "PART-29")
    assert is_allowed(observer, PEEK, Peeked())


def test_without_an_outage_the_reading_demands_nothing() -> None:
    observer = spread("served")
    observer.has(up(0))
    assert "PART-29" not in observer.saw(PEEK, Peeked(messages=(view("m1", 0),))).rules


def test_a_peek_may_be_refused_where_no_partition_is_up() -> None:
    observer = observing({"PEEK-IN-OUTAGE": "served"})
    observer.queue()
    for partition in range(4):
        observer.has(down(partition))
    assert is_allowed(observer, PEEK, GONE)


@pytest.mark.parametrize("outcome", [GONE, Peeked(messages=(view("m1", 0),)), Peeked()])
def test_any_answer_is_allowed_where_it_is_not_read(outcome: object) -> None:
    assert is_allowed(spread("either"), PEEK, outcome)


def test_without_sight_of_partitions_any_message_may_be_shown() -> None:
    observer = spread("served", witness=False)
    refuses(observer, PEEK, GONE, "PART-29")
    assert is_allowed(observer, PEEK, Peeked(messages=(view("m1", 0),)))
