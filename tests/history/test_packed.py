"""Events of long histories, compressed."""

import pytest

from busproof import vocabulary as v
from busproof.history.packed import IN_A_CHUNK, PackedEvents, Reordered, packed


def event(number: int) -> v.Event:
    message = v.Message(body=f"m{number}", properties={"number": number})
    return v.Event(command=v.Send(queue="q", message=message), outcome=v.Done(), called=number)


@pytest.fixture(scope="module")
def long() -> list[v.Event]:
    return [event(number) for number in range(2 * IN_A_CHUNK + 3)]


def test_packed_events_are_the_events(long: list[v.Event]) -> None:
    found = packed(long)
    assert isinstance(found, PackedEvents)
    assert long == list(found)
    assert found == tuple(long)
    assert len(long) == len(found)


@pytest.mark.parametrize("place", [0, IN_A_CHUNK - 1, IN_A_CHUNK, 2 * IN_A_CHUNK + 2, -1])
def test_each_event_is_found_at_its_place(long: list[v.Event], place: int) -> None:
    assert long[place] == PackedEvents(long)[place]


def test_slice_may_lie_in_two_chunks(long: list[v.Event]) -> None:
    part = slice(IN_A_CHUNK - 2, IN_A_CHUNK + 2)
    assert tuple(long[part]) == PackedEvents(long)[part]


def test_there_is_nothing_beyond_the_end(long: list[v.Event]) -> None:
    with pytest.raises(IndexError, match=f"no event {len(long)} of {len(long)}"):
        PackedEvents(long)[len(long)]


def test_view_has_some_events_in_another_order(long: list[v.Event]) -> None:
    order = (IN_A_CHUNK, 0, 2 * IN_A_CHUNK)
    view = Reordered(PackedEvents(long), order)
    assert [long[place] for place in order] == list(view)
    assert (3, long[0]) == (len(view), view[1])
    assert (long[0], long[2 * IN_A_CHUNK]) == view[1:]


def test_events_that_differ_are_not_equal(long: list[v.Event]) -> None:
    assert PackedEvents(long) != (*long[:-1], event(-1))
    assert PackedEvents(long) != tuple(long[:-1])


def test_short_history_is_a_tuple() -> None:
    assert (event(1), event(2)) == packed([event(1), event(2)])
    assert () == packed(())
