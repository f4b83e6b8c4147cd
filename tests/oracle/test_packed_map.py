"""A packed map has the entries of a dictionary, whatever of it is compressed."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from busproof.oracle import packed_map
from busproof.oracle.packed_map import PackedMap

KEYS = st.integers(0, 15) | st.integers(0, 15).map(str)
STEPS = st.lists(
    st.tuples(st.just("set"), KEYS, st.integers() | st.tuples(st.integers()))
    | st.tuples(st.just("delete"), KEYS, st.none())
    | st.tuples(st.just("pack"), st.sampled_from([0, 3, 99]), st.none()),
    max_size=60,
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_map, "IN_A_BLOCK", 2)


def below(limit: int) -> Callable[[Any, object], bool]:
    return lambda key, _: int(key) < limit


@given(STEPS)
def test_entries_are_those_of_a_dictionary(steps: list[tuple[str, Any, Any]]) -> None:
    packed: PackedMap[Any, Any] = PackedMap()
    plain: dict[Any, Any] = {}
    versions = []
    for kind, key, value in steps:
        if kind == "pack":
            packed = packed.packed(below(key))
        elif kind == "set":
            packed, plain = packed.set(key, value), {**plain, key: value}
        elif key in plain:
            packed = packed.delete(key)
            plain = {other: plain[other] for other in plain if other != key}
        versions.append((packed, plain))
    for packed, plain in versions:
        assert dict(packed.items()) == plain
        assert len(list(packed.items())) == len(plain)
        assert bool(packed) is bool(plain)
        for key in (*range(16), *map(str, range(16))):
            assert packed.get(key) == plain.get(key)
            assert packed.get(key, "none") == plain.get(key, "none")
            assert (key in packed) is (key in plain)


def test_maps_are_equal_if_their_entries_are() -> None:
    one: PackedMap[int, int] = PackedMap().set(1, 2).set(3, 4)
    assert one == one.set(1, 5).set(1, 2)
    assert one == one.packed(below(2)) == one.packed(below(9))
    assert one == PackedMap().set(3, 4).packed(below(9)).set(1, 2)
    assert one != one.set(1, 5)
    assert one.packed(below(9)) != one.packed(below(9)).set(1, 5)
    assert one != {1: 2, 3: 4}


def test_keys_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_map, "_hash", lambda _: 7)
    packed: PackedMap[int, int] = PackedMap()
    for key in range(9):
        packed = packed.set(key, -key).packed(below(9))
    assert [packed.get(key) for key in range(11)] == [*(-key for key in range(9)), None, None]


def test_few_indexes_are_kept() -> None:
    packed: PackedMap[int, int] = PackedMap()
    for key in range(300):
        packed = packed.set(key, key).packed(below(300))
    assert len(packed._indexes) <= 5
    assert packed.get(0) == 0


def test_deleted_entry_stays_deleted_when_that_is_compressed() -> None:
    packed: PackedMap[int, int] = PackedMap().set(1, 1).set(2, 2).packed(below(9)).delete(1)
    for version in (packed, packed.packed(below(9))):
        assert dict(version.items()) == {2: 2}
        assert 1 not in version
