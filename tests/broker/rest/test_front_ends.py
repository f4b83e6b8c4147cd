"""An HTTP connection has one front end for as long as it is kept (LIFE-08, PART-11, PART-25)."""

from collections.abc import Iterator

import pytest

from busproof.vocabulary.commands import CreateQueue

from ..inside import Inside, inside
from .speaking import address_of, speaker

pytestmark = pytest.mark.slow

MESSAGES = 4


@pytest.fixture
def hostile() -> Iterator[Inside]:
    """A broker whose front ends cache all that they can."""
    with inside(CreateQueue(queue="q", partitioned=True), policy="hostile") as broker:
        with speaker(address_of(broker)) as http:
            for number in range(MESSAGES):
                assert 201 == http.send("q", str(number), {"PartitionKey": "k"}).status
        yield broker


def test_a_connection_that_is_kept_profits_from_the_cache(hostile: Inside) -> None:
    with speaker(address_of(hostile)) as kept:
        came = [kept.lock("q") for _ in range(MESSAGES)]
    assert [str(number).encode() for number in range(MESSAGES)] == [each.body for each in came]


def test_another_connection_may_miss_what_is_cached(hostile: Inside) -> None:
    with speaker(address_of(hostile)) as first, speaker(address_of(hostile)) as second:
        assert b"0" == first.lock("q").body
        assert 204 == second.lock("q").status
        assert b"1" == first.lock("q").body
        first.connection.close()
        assert 204 == first.lock("q").status
