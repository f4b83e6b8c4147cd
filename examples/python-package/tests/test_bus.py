"""The bus by itself."""

import pytest
from shelfbus.bus import Bus, BusError, Letter, Queue


@pytest.fixture
def queue() -> Queue:
    bus = Bus(shelves=4)
    bus.create("q", lock_duration=10, max_deliveries=2, duplicate_window=100)
    return bus.queue("q")


def test_letters_with_one_key_stay_together_and_in_order(queue: Queue) -> None:
    places = {queue.put(Letter(body, partition_key="k"), now=0) for body in "abc"}
    assert 1 == len(places)
    assert list("abc") == [queue.take(0, keep=False).letter.body for _ in "abc"]


def test_letters_without_a_key_go_round(queue: Queue) -> None:
    assert [0, 1, 2, 3] == [queue.put(Letter(body), now=0) for body in "abcd"]


def test_what_is_held_is_given_to_nobody_else_until_its_lock_ends(queue: Queue) -> None:
    queue.put(Letter("a"), now=0)
    queue.take(0, keep=True)
    assert queue.take(9, keep=True) is None
    assert queue.take(10, keep=True) is not None


def test_a_repeated_id_is_dropped_within_the_window(queue: Queue) -> None:
    for now in (0, 99, 100):
        queue.put(Letter(str(now), message_id="x"), now)
    assert ["0", "100"] == [queue.take(100, keep=False).letter.body for _ in range(2)]


def test_a_key_whose_shelf_is_down_goes_nowhere_else(queue: Queue) -> None:
    place = queue.put(Letter("a", partition_key="k"), now=0)
    queue.shelves[place].is_up = False
    with pytest.raises(BusError, match="shelf down"):
        queue.put(Letter("b", partition_key="k"), now=0)


def test_a_lock_lasts_for_five_minutes_at_most() -> None:
    with pytest.raises(BusError, match="lock too long"):
        Bus(shelves=4).create("q", 300_000_001, max_deliveries=2, duplicate_window=None)
