"""What a peek may show after its first message, and from where it goes on."""

import attrs
import pytest
from observing import Observer, observing, view

from busproof import vocabulary as v

from .test_peek_start import PEEK, SEVERAL, regular, shown


def test_a_peek_shows_no_more_than_it_was_asked_for(observer: Observer) -> None:
    regular(observer, 3)
    two = v.Peek(queue="q", count=2)
    assert observer.saw(two, shown("m1", "m2", "m3")).rules[0] == "PART-19"
    assert "PART-19" in observer.saw(two, shown("m1", "m2")).rules
    assert observer.saw(SEVERAL, shown("m1", "m1")).rules[0] == "PART-19"
    assert "PART-19" not in observer.saw(SEVERAL, shown("m1", "m2", "m3")).rules


@pytest.mark.parametrize(("partitioned", "allowed"), [(True, True), (False, False)])
def test_peek_of_a_regular_queue_keeps_the_order_of_numbers_that_name_no_partition(
    partitioned: bool, allowed: bool
) -> None:
    observer = observing({"SEQUENCE-EXPOSES": "opaque"})
    observer.queue(partitioned=partitioned)
    observer.send()
    observer.send()
    both = (view("m2", 0, 2), view("m1", 0, 1))
    assert allowed is bool(observer.saw(SEVERAL, v.Peeked(messages=both)).possible)


def test_peek_may_show_fewer_messages(observer: Observer) -> None:
    observer.queue()
    for partition in (1, 2, 1):
        observer.send(partition=partition, size=200_000)
    fewer = observer.saw(SEVERAL, shown("m1", partition=1)).rules
    assert {"PART-17", "PART-18"} <= set(fewer)
    assert not {"PART-17", "PART-18"} & set(observer.saw(PEEK, shown("m1", partition=1)).rules)


@pytest.mark.parametrize(
    ("readings", "partition", "allowed"),
    [
        ({}, 1, False),
        ({}, 0, True),
        ({"PEEK-CONTINUES": "by-number"}, 0, False),
        ({"SEQUENCE-EXPOSES": "opaque"}, 1, True),
    ],
)
def test_a_peek_goes_on_from_where_it_is_asked_to(
    readings: dict[str, str], partition: int, allowed: bool
) -> None:
    observer = observing(readings)
    observer.queue()
    observer.send(partition=partition)
    observer.send(partition=1)
    start = (1 << v.SEQUENCE_BITS) + 2
    on = v.Peek(queue="q", count=2, from_sequence_number=start)
    found = observer.saw(on, shown("m1", partition=partition))
    assert bool(found.possible) is allowed
    if not allowed:
        assert found.rules[0] == "PART-20"
    assert "PART-20" in observer.saw(on, shown("m2", partition=1)).rules
    assert observer.saw(on, v.Peeked()).possible


@pytest.mark.parametrize(("reading", "allowed"), [("libraries", False), ("bus", True)])
def test_readings_decide_whether_a_bus_need_offer_peeks(reading: str, allowed: bool) -> None:
    observer = regular(observing({"LIBRARIES": reading}))
    refused = v.Refused(error=v.Error.INVALID_OPERATION)
    assert bool(observer.saw(PEEK, refused).possible) is allowed


def test_numbers_that_reveal_no_partition_have_no_order() -> None:
    observer = observing({"SEQUENCE-EXPOSES": "opaque"})
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=2)
    there = (view("m1", 1, 9), view("m2", 1, 5))
    assert observer.saw(SEVERAL, v.Peeked(messages=there)).possible


@pytest.mark.parametrize(("places", "allowed"), [((1, 1), False), ((1, 2), True)])
def test_witnesses_tell_the_order_of_numbers_that_reveal_no_partition(
    places: tuple[int, int], allowed: bool
) -> None:
    observer = observing({"SEQUENCE-EXPOSES": "opaque"})
    observer.queue()
    for partition in places:
        observer.send(partition=partition)
    there = (view("m1", 0, 9), view("m2", 0, 5))
    assert allowed is bool(observer.saw(SEVERAL, v.Peeked(messages=there)).possible)
    unnumbered = (attrs.evolve(there[0], sequence_number=None), there[1])
    assert observer.saw(SEVERAL, v.Peeked(messages=unnumbered)).possible
