"""While judging, garbage is collected less often, unless somebody has set that already."""

import gc
from collections.abc import Iterator

import pytest

from busproof.judging.garbage import seldom_collected


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_collections_are_fewer_within_and_as_before_afterwards() -> None:
    gc.set_threshold(700, 10, 10)
    with seldom_collected():
        assert gc.get_threshold()[0] > 10_000
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [0, 1_000_000])
def test_no_or_fewer_collections_stay_as_they_were_set(own: int) -> None:
    gc.set_threshold(own, 10, 10)
    with seldom_collected():
        assert gc.get_threshold()[0] == own
