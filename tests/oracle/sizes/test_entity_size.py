"""Sizes of queues and of their partitions, and messages without key."""

import pytest
from large_messages import FULL, LESS, MORE, fill, large
from observing import DONE, GONE, INVALID, LOST, Observer, observing, refuses, shows

from busproof import vocabulary as v


def described_size(size: int) -> v.Described:
    return v.Described(description=v.QueueDescription(queue="q", max_size=size))


class TestSizes:
    @pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
    def test_a_queue_is_as_large_as_all_its_partitions(self, observer: Observer, size: int) -> None:
        shows(observer, v.CreateQueue(queue="q", max_size=size), DONE, "SIZE-01")
        shows(observer, v.GetQueue(queue="q"), described_size(4 * size), "SIZE-04", "SIZE-01")
        refuses(observer, v.GetQueue(queue="q"), described_size(4 * size + 1), "SIZE-04")

    def test_a_queue_has_the_size_that_was_asked_for(self, observer: Observer) -> None:
        observer.queue(max_size=2)
        refuses(observer, v.GetQueue(queue="q"), described_size(12), "SIZE-01", "SIZE-04")

    def test_a_size_of_the_tier_is_not_refused(self, observer: Observer) -> None:
        refuses(observer, v.CreateQueue(queue="q", max_size=5), INVALID, "SIZE-01", "MGMT-02")

    def test_another_size_is_refused(self, observer: Observer) -> None:
        shows(observer, v.CreateQueue(queue="q", max_size=6), INVALID, "SIZE-02")

    def test_instead_of_another_size_one_of_the_tier_is_given(self, observer: Observer) -> None:
        observer.queue(max_size=6)
        refuses(observer, v.GetQueue(queue="q"), described_size(24), "SIZE-02")
        shows(observer, v.GetQueue(queue="q"), described_size(12), "SIZE-02")
        refuses(observer, v.GetQueue(queue="q"), described_size(16), "SIZE-02")

    def test_a_queue_has_1_gb_unless_it_is_given_another_size(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        refuses(observer, v.GetQueue(queue="q"), described_size(5), "SIZE-03", "SIZE-06")
        refuses(observer, v.GetQueue(queue="q"), described_size(16), "SIZE-06", "SIZE-03")
        shows(observer, v.GetQueue(queue="q"), described_size(1), "SIZE-03", "SIZE-06")

    @pytest.mark.parametrize("tier", [v.Tier.BASIC, v.Tier.PREMIUM])
    def test_of_other_tiers_no_size_is_said(self, tier: v.Tier) -> None:
        """Of Premium not by every edition."""
        silent = frozenset({"PREM-08"})
        observer = observing({"BASIC-REGULAR": "as-asked"}, tier=tier, silent=silent)
        observer.queue(partitioned=False, max_size=7)
        observer.has(v.GetQueue(queue="q"), described_size(9))
        other = observing(tier=tier, silent=silent)
        other.has(v.CreateQueue(queue="q", partitioned=False, max_size=7), INVALID)

    def test_an_edition_may_give_sizes_and_not_say_what_is_described(self) -> None:
        """The English one: a partition has the given size, and any total may be described."""
        silent = frozenset({"SIZE-04"})
        observer = observing(silent=silent)
        observer.queue(max_size=1)
        observer.has(v.GetQueue(queue="q"), described_size(1))
        other = observing(silent=silent)
        other.queue(max_size=1)
        other.has(v.GetQueue(queue="q"), described_size(4))
        fill(other, number=MORE - 1, partition=0, partition_key="a")
        shows(other, large(other, partition_key="a"), FULL, "SIZE-07")

    def test_basic_may_have_the_sizes_of_standard(self) -> None:
        """BASIC-SIZES."""
        observer = observing({"BASIC-SIZES": "like-standard"}, tier=v.Tier.BASIC)
        observer.queue(max_size=6)
        refuses(observer, v.GetQueue(queue="q"), described_size(24))
        observer.has(v.GetQueue(queue="q"), described_size(20))

    def test_basic_may_have_the_default_of_standard(self) -> None:
        observer = observing({"BASIC-SIZES": "like-standard"}, tier=v.Tier.BASIC)
        observer.queue()
        refuses(observer, v.GetQueue(queue="q"), described_size(5), "SIZE-01")
        observer.has(v.GetQueue(queue="q"), described_size(4))

    def test_a_creation_in_an_odd_size_that_was_lost_leaves_the_queue_unknown(self) -> None:
        observer = observing()
        observer.has(v.CreateQueue(queue="q", max_size=6), LOST)
        observer.has(v.GetQueue(queue="q"), described_size(8))

    def test_a_partition_that_there_is_not_takes_nothing(self, observer: Observer) -> None:
        observer.queue()
        found = observer.send(partition=4)
        assert found.rules[:1] == ("SIZE-05",)


class TestPartitions:
    def test_a_key_is_refused_once_its_messages_fill_a_partition(self, observer: Observer) -> None:
        observer.queue()
        fill(observer, partition=2, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), DONE, "SIZE-07", "SIZE-11")
        shows(observer, large(observer, partition_key="a"), FULL, "SIZE-07", "SIZE-11")

    def test_without_a_witness_a_key_alone_reveals_it(self) -> None:
        observer = observing(partitions=4, witness=False)
        observer.queue()
        fill(observer, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), DONE, "SIZE-07")
        observer.has(large(observer, partition_key="b"))

    def test_between_the_least_and_the_most_a_partition_may_be_full_or_not(
        self, observer: Observer
    ) -> None:
        observer.queue()
        fill(observer, LESS - 1, partition=0, partition_key="a")
        assert len(observer.step(large(observer, partition_key="a"))) > 0
        observer.has(large(observer, partition_key="a"), FULL)
        fill(observer, 2, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)

    def test_what_surely_fits_is_not_refused(self, observer: Observer) -> None:
        observer.queue()
        fill(observer, LESS - 2, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), FULL, "SIZE-07", "SIZE-04")

    def test_another_partition_has_room(self, observer: Observer) -> None:
        observer.queue()
        observer.send(partition=1, partition_key="b")
        fill(observer, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        refuses(observer, large(observer, partition_key="b"), FULL, "SIZE-08")
        shows(observer, large(observer, partition_key="b"), DONE, "SIZE-08")

    def test_room_is_not_denied_for_another_reason(self, observer: Observer) -> None:
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), GONE, "SIZE-07")

    def test_a_partition_holds_the_size_given(self, observer: Observer) -> None:
        observer.queue(max_size=2)
        fill(observer, 2 * LESS - 2, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), FULL, "SIZE-07")
        fill(observer, 4, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), DONE, "SIZE-07")

    def test_partitions_may_be_of_1_gb_each(self) -> None:
        """GB-PARTITIONS=per-gb: a queue of 2 GB has twice as many, of 1 GB."""
        observer = observing({"GB-PARTITIONS": "per-gb"})
        observer.queue(max_size=2)
        assert observer.send(partition=7).possible
        fill(observer, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), DONE, "SIZE-07")
        observer.has(v.GetQueue(queue="q"), described_size(8))

    def test_either_number_of_partitions_may_be_permitted(self) -> None:
        """GB-PARTITIONS=either: full from 1 GB on, and surely at 2."""
        observer = observing({"GB-PARTITIONS": "either"})
        observer.queue(max_size=2)
        assert observer.send(partition=7).possible
        fill(observer, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        fill(observer, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), DONE, "SIZE-07")

    def test_partitions_may_share_all_room(self) -> None:
        """FULL-PARTITION=pooled: nothing is full before the queue is."""
        observer = observing({"FULL-PARTITION": "pooled"}, partitions=2)
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), FULL, "SIZE-07")
        fill(observer, MORE, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="b"), DONE)
        observer.has(large(observer, partition_key="b"), FULL)

    def test_whether_they_share_it_may_be_left_open(self) -> None:
        """FULL-PARTITION=either: refused from when the partition is full until the queue is."""
        observer = observing({"FULL-PARTITION": "either"}, partitions=2)
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        fill(observer, MORE, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), DONE)

    def test_one_that_uses_the_room_of_another_leaves_it_none(self) -> None:
        observer = observing(
            {"FULL-PARTITION": "either", "FULL-UNKEYED": "goes-round"}, partitions=2
        )
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        refuses(observer, large(observer), FULL)
        fill(observer, MORE, partition=0, partition_key="a")
        observer.has(large(observer), FULL)

    def test_an_edition_may_not_say_how_large_partitions_are(self) -> None:
        observer = observing(silent=frozenset({"SIZE-02", "SIZE-07"}))
        observer.queue(max_size=4)
        fill(observer, LESS, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        fill(observer, 5 * LESS, partition=0, partition_key="a")

    def test_what_is_there_from_before_in_premium_is_not_held_to_its_size(self) -> None:
        observer = observing(tier=v.Tier.PREMIUM)
        observer.has(v.RestoreQueue(queue="q"))
        fill(observer, LESS, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        fill(observer, LESS, partition=0, partition_key="a")

    def test_in_basic_a_size_that_was_accepted_is_no_bound(self) -> None:
        observer = observing(tier=v.Tier.BASIC)
        observer.queue(max_size=2)
        fill(observer, 2 * LESS - 2, partition=0, partition_key="a")
        refuses(observer, large(observer, partition_key="a"), FULL)
        fill(observer, LESS, partition=0, partition_key="a")


class TestWithoutKey:
    def test_an_unkeyed_message_may_go_round_or_not(self, observer: Observer) -> None:
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        shows(observer, large(observer), FULL, "SIZE-09", "SIZE-11")
        shows(observer, large(observer), DONE, "SIZE-09")
        assert not observer.saw(large(observer), DONE, partition=0).possible
        observer.has(large(observer), DONE, partition=1)

    def test_keyless_message_avoids_a_full_partition(self) -> None:
        """FULL-UNKEYED=goes-round: refused only if all may be full."""
        observer = observing({"FULL-UNKEYED": "goes-round"}, partitions=2)
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        refuses(observer, large(observer), FULL, "SIZE-11", "SIZE-09")
        fill(observer, partition=1)
        shows(observer, large(observer), FULL, "SIZE-09", "SIZE-10")
        refuses(observer, large(observer), DONE, "SIZE-09", "SIZE-10")

    def test_room_for_what_has_no_key_is_not_denied(self, observer: Observer) -> None:
        observer.queue()
        refuses(observer, large(observer), FULL, "SIZE-11", "SIZE-09")
