"""Events of long histories, compressed."""

import zlib

import pytest

from busproof import vocabulary as v
from busproof.history.packed import CHUNKS, IN_A_CHUNK, PackedEvents, Reordered, packed

FIRST = CHUNKS * IN_A_CHUNK
"""Number of events at which the first ones are compressed."""


def event(number: int) -> v.Event:
    message = v.Message(body=f"m{number}", properties={"number": number})
    return v.Event(command=v.Send(queue="q", message=message), outcome=v.Done(), called=number)


@pytest.fixture(scope="module")
def long() -> list[v.Event]:
    return [event(number) for number in range(2 * FIRST + 3)]


def test_packed_events_are_the_events(long: list[v.Event]) -> None:
    found = packed(long)
    assert isinstance(found, PackedEvents)
    assert long == list(found)
    assert found == tuple(long)
    assert len(long) == len(found)


@pytest.mark.parametrize(
    "place", [0, IN_A_CHUNK - 1, IN_A_CHUNK, 2 * FIRST - 1, 2 * FIRST, 2 * FIRST + 2, -1]
)
def test_each_event_is_found_at_its_place(long: list[v.Event], place: int) -> None:
    assert long[place] == PackedEvents(long)[place]


def test_slice_may_lie_in_two_chunks(long: list[v.Event]) -> None:
    part = slice(IN_A_CHUNK - 2, IN_A_CHUNK + 2)
    assert tuple(long[part]) == PackedEvents(long)[part]


def test_there_is_nothing_beyond_the_end(long: list[v.Event]) -> None:
    with pytest.raises(IndexError, match=f"no item {len(long)} of {len(long)}"):
        PackedEvents(long)[len(long)]


def test_view_has_some_events_in_another_order(long: list[v.Event]) -> None:
    order = (IN_A_CHUNK, 0, 2 * FIRST)
    view = Reordered(PackedEvents(long), order)
    assert [long[place] for place in order] == list(view)
    assert (3, long[0]) == (len(view), view[1])
    assert (long[0], long[2 * FIRST]) == view[1:]


def test_events_that_differ_are_not_equal(long: list[v.Event]) -> None:
    assert PackedEvents(long) != (*long[:-1], event(-1))
    assert PackedEvents(long) != tuple(long[:-1])


def test_short_history_is_a_tuple() -> None:
    assert (event(1), event(2)) == packed([event(1), event(2)])
    assert () == packed(())


def test_history_recorded_client_after_client_is_unpacked_once(long, monkeypatch) -> None:
    """Read in the order of time, it is read in as many places by turns as there are clients."""
    events = PackedEvents(long)
    unpacked = []
    decompress = zlib.decompress
    monkeypatch.setattr(
        zlib, "decompress", lambda chunk: unpacked.append(chunk) or decompress(chunk)
    )
    clients = 20
    each = 2 * FIRST // clients
    order = [client * each + turn for turn in range(each) for client in range(clients)]
    assert [long[place] for place in order] == list(Reordered(events, order))
    assert len(unpacked) == len(set(unpacked)) == 2 * CHUNKS
