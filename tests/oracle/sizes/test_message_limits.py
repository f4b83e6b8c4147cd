"""Limits of single requests: what is taken at one, and what is refused beyond it."""

from typing import Any

import attrs
import pytest
from observing import DONE, INVALID, LOST, MISSING, Observer, is_allowed, observing, refuses, shows

from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    CreateTopic,
    RollBackTransaction,
    Schedule,
    Send,
    SetSessionState,
)
from busproof.vocabulary.outcomes import Refused, Scheduled
from busproof.vocabulary.values import Error, Tier

BEGIN = BeginTransaction(transaction="t")
COMMIT = CommitTransaction(transaction="t")
ROLL_BACK = RollBackTransaction(transaction="t")
FULL = Refused(error=Error.QUOTA_EXCEEDED)
SCHEDULED = Scheduled(sequence_number=7)
TOO_LARGE = Refused(error=Error.MESSAGE_TOO_LARGE)
KEYS = [
    ("message_id", "LIMIT-07", "LIMIT-08"),
    ("session_id", "LIMIT-09", "LIMIT-10"),
    ("partition_key", "LIMIT-11", "LIMIT-12"),
]


@pytest.fixture
def held() -> Observer:
    """A bus that is held to the limits, with a queue."""
    observer = observing(limits=True)
    observer.queue()
    return observer


def premium(**observability: Any) -> Observer:
    observer = observing(tier=Tier.PREMIUM, **observability)
    observer.queue(partitioned=False)
    return observer


def sent(observer: Observer, transaction: str | None = None, **properties: Any) -> Send:
    return Send(queue="q", message=observer.message(**properties), transaction=transaction)


def scheduled(observer: Observer, transaction: str | None = None, **properties: Any) -> Schedule:
    message = observer.message(**properties)
    return Schedule(queue="q", message=message, delay=1, transaction=transaction)


class TestSizes:
    def test_what_is_no_larger_than_256_kb_is_taken(self, held: Observer) -> None:
        shows(held, sent(held, size=251_904), DONE, "LIMIT-01")
        refuses(held, sent(held, size=251_904), TOO_LARGE, "LIMIT-01")

    def test_what_is_larger_is_refused(self, held: Observer) -> None:
        refuses(held, sent(held, size=262_145), DONE, "LIMIT-02")
        refuses(held, sent(held, size=262_145), FULL, "LIMIT-02")
        shows(held, sent(held, size=262_145), TOO_LARGE, "LIMIT-02")

    def test_in_between_it_is_either(self, held: Observer) -> None:
        for size in (251_905, 262_144):
            held.has(sent(held, size=size))
            found = held.saw(sent(held, size=size), TOO_LARGE)
            assert found.possible
            assert "LIMIT-02" not in found.rules

    def test_a_small_one_shows_no_limit(self, held: Observer) -> None:
        assert "LIMIT-01" not in held.saw(sent(held, size=100_000)).rules

    def test_who_is_not_held_to_limits_may_take_anything(self) -> None:
        observer = observing()
        observer.queue()
        observer.has(sent(observer, size=262_145))
        observer.has(sent(observer, size=262_145), TOO_LARGE)

    def test_what_stands_in_for_several_may_be_larger(self, held: Observer) -> None:
        held.has(sent(held, size=10**8, stands_in=True))
        held.has(sent(held, size=10**8, stands_in=True), TOO_LARGE)

    @pytest.mark.parametrize(
        ("reading", "taken", "refused"),
        [("decimal", 251_904, 256_001), ("binary", 258_048, 262_145)],
    )
    def test_a_kb_may_be_read_as_so_many_bytes(
        self, reading: str, taken: int, refused: int
    ) -> None:
        """KB-BYTES."""
        observer = observing({"KB-BYTES": reading}, limits=True)
        observer.queue()
        refuses(observer, sent(observer, size=taken), TOO_LARGE, "LIMIT-01")
        observer.has(sent(observer, size=taken))
        refuses(observer, sent(observer, size=refused), DONE, "LIMIT-02")
        observer.has(sent(observer, size=refused - 1))

    def test_premium_takes_1_mb(self) -> None:
        observer = premium(limits=True)
        refuses(observer, sent(observer, size=995_904), TOO_LARGE, "LIMIT-03")
        shows(observer, sent(observer, size=995_904), DONE, "LIMIT-03")

    def test_premium_may_take_up_to_100_mb(self) -> None:
        observer = premium(limits=True)
        for size in (2_000_000, 104_857_600):
            shows(observer, sent(observer, size=size), DONE, "LIMIT-05")
            shows(observer, sent(observer, size=size), TOO_LARGE, "LIMIT-05")

    def test_premium_takes_no_more(self) -> None:
        observer = premium(limits=True)
        refuses(observer, sent(observer, size=104_857_601), DONE, "LIMIT-04")
        shows(observer, sent(observer, size=104_857_601), TOO_LARGE, "LIMIT-04")

    def test_message_over_the_limit_is_not_scheduled(self, held: Observer) -> None:
        refuses(held, scheduled(held, size=262_145), SCHEDULED, "LIMIT-06")
        shows(held, scheduled(held, size=262_145), TOO_LARGE, "LIMIT-06", "LIMIT-02")

    def test_message_over_the_limit_is_refused_in_a_transaction(self, held: Observer) -> None:
        held.has(BEGIN)
        large = {"size": 262_145, "partition_key": "a"}
        refuses(held, sent(held, "t", **large), DONE, "LIMIT-21")
        refuses(held, scheduled(held, "t", **large), SCHEDULED, "LIMIT-21")
        shows(held, sent(held, "t", **large), TOO_LARGE, "LIMIT-21", "LIMIT-02")
        held.has(COMMIT, INVALID)
        held.has(BeginTransaction(transaction="u"))
        shows(held, scheduled(held, "u", **large), TOO_LARGE, "LIMIT-21", "LIMIT-02")

    def test_its_transaction_may_be_refused_instead(self) -> None:
        """TXN-REFUSAL."""
        observer = observing({"TXN-REFUSAL": "at-commit"}, limits=True)
        observer.queue()
        observer.has(BEGIN)
        observer.has(sent(observer, "t", size=262_145, partition_key="a"))
        refuses(observer, COMMIT, DONE)

    def test_scheduling_at_the_limit_may_be_refused(self) -> None:
        """TXN-REFUSAL."""
        observer = observing({"TXN-REFUSAL": "either"}, limits=True)
        observer.queue()
        observer.has(BEGIN)
        observer.has(scheduled(observer, "t", size=262_145, partition_key="a"), TOO_LARGE)
        observer.has(scheduled(observer, "t", size=262_145, partition_key="a"), SCHEDULED)

    def test_of_a_queue_that_is_not_there_it_may_be_refused_for_either(
        self, held: Observer
    ) -> None:
        """The service may look at the message before it looks for the queue."""
        large = attrs.evolve(sent(held, size=2**28), queue="nowhere")
        assert is_allowed(held, large, TOO_LARGE)
        assert is_allowed(held, large, MISSING)
        assert not is_allowed(held, large, DONE)
        small = attrs.evolve(sent(held, size=2**10), queue="nowhere")
        assert not is_allowed(held, small, TOO_LARGE)

    def test_what_was_never_answered_keeps_both(self, held: Observer) -> None:
        held.has(sent(held, size=262_145), LOST)


class TestKeys:
    @pytest.mark.parametrize(("key", "taken", "refused"), KEYS)
    def test_128_characters_are_not_too_many(
        self, held: Observer, key: str, taken: str, refused: str
    ) -> None:
        assert refused
        shows(held, sent(held, **{key: "x" * 128}), DONE, taken)
        refuses(held, sent(held, **{key: "y" * 128}), INVALID, taken)
        assert taken not in held.saw(sent(held, **{key: "x" * 127})).rules

    @pytest.mark.parametrize(("key", "taken", "refused"), KEYS)
    def test_129_are(self, held: Observer, key: str, taken: str, refused: str) -> None:
        assert taken
        for send, accepted in ((sent, DONE), (scheduled, SCHEDULED)):
            refuses(held, send(held, **{key: "x" * 129}), accepted, refused)
            shows(held, send(held, **{key: "x" * 129}), INVALID, refused)
            held.has(send(held, **{key: "x" * 129}), Refused(error=Error.OTHER))

    def test_a_character_may_count_twice(self, held: Observer) -> None:
        """One beyond the first 65,536."""
        held.has(sent(held, message_id="\N{GRINNING FACE}" * 128))
        held.has(sent(held, message_id="\N{GRINNING FACE}" * 65), INVALID)
        assert not held.saw(sent(held, message_id="\N{GRINNING FACE}" * 64), INVALID).possible


class TestProperties:
    def test_one_of_more_than_32_kb_is_refused(self, held: Observer) -> None:
        large = {"p": "x" * 32_768}
        refuses(held, sent(held, properties=large), DONE, "LIMIT-13")
        shows(held, sent(held, properties=large), INVALID, "LIMIT-13")

    def test_several_of_more_than_64_kb_are_refused(self, held: Observer) -> None:
        large = {f"p{each}": "x" * 22_000 for each in range(3)}
        refuses(held, sent(held, properties=large), DONE, "LIMIT-14")
        shows(held, sent(held, properties=large), INVALID, "LIMIT-14")

    def test_small_ones_are_taken(self, held: Observer) -> None:
        small = {"p": "x" * 7_000, "number": 5}
        held.has(sent(held, properties=small))
        assert not held.saw(sent(held, properties=small), INVALID).possible


class TestTransactions:
    def full(self, **observability: Any) -> Observer:
        observer = observing(**{"limits": True, **observability})
        observer.queue()
        observer.has(BEGIN)
        for _ in range(99):
            observer.has(sent(observer, "t", partition_key="a"))
        refuses(observer, sent(observer, "t", partition_key="a"), INVALID, "LIMIT-15")
        shows(observer, sent(observer, "t", partition_key="a"), DONE, "LIMIT-15")
        return observer

    def test_100_messages_are_not_too_many(self) -> None:
        observer = self.full()
        refuses(observer, COMMIT, INVALID, "LIMIT-15")
        shows(observer, COMMIT, DONE, "LIMIT-15")

    def test_one_more_is(self) -> None:
        observer = self.full()
        refuses(observer, sent(observer, "t", partition_key="a"), DONE, "LIMIT-16")
        refuses(observer, scheduled(observer, "t", partition_key="a"), SCHEDULED, "LIMIT-16")
        shows(observer, sent(observer, "t", partition_key="a"), FULL, "LIMIT-16")
        observer.has(COMMIT, INVALID)

    def test_one_message_over_the_limit_is_not_scheduled(self) -> None:
        observer = self.full()
        shows(observer, scheduled(observer, "t", partition_key="a"), FULL, "LIMIT-16")
        observer.has(COMMIT, INVALID)

    def test_without_limits_more_may_be_refused_at_any_time(self) -> None:
        observer = self.full(limits=False)
        observer.has(sent(observer, "t", partition_key="a"))
        observer.has(COMMIT, INVALID)

    def test_without_limits_more_may_not_be_rolled_back(self) -> None:
        observer = self.full(limits=False)
        observer.has(sent(observer, "t", partition_key="a"))
        observer.has(ROLL_BACK, Refused(error=Error.NOT_FOUND))


class TestNames:
    def test_260_characters_are_not_too_many(self) -> None:
        observer = observing(limits=True)
        named = CreateQueue(queue="x" * 260)
        refuses(observer, named, INVALID, "LIMIT-17")
        shows(observer, named, DONE, "LIMIT-17")
        topic = CreateTopic(topic="y" * 260)
        refuses(observer, topic, INVALID, "LIMIT-17")
        shows(observer, topic, DONE, "LIMIT-17")

    @pytest.mark.parametrize(
        "command", [CreateQueue(queue="x" * 261), CreateTopic(topic="x" * 261)]
    )
    def test_261_are(self, command: CreateQueue | CreateTopic) -> None:
        observer = observing(limits=True)
        refuses(observer, command, DONE, "LIMIT-18")
        shows(observer, command, INVALID, "LIMIT-18")
        free = observing()
        free.has(command, INVALID)
        free.has(command)


class TestStates:
    def state(self, size: int) -> SetSessionState:
        return SetSessionState(queue="q", session_id="a", state="x" * size)

    def in_session(self, observer: Observer) -> Observer:
        observer.queue(partitioned=False, requires_session=True)
        observer.has(AcceptSession(queue="q", session_id="a"))
        return observer

    def test_a_state_may_be_as_large_as_a_message(self) -> None:
        observer = self.in_session(observing(limits=True))
        refuses(observer, self.state(62_000), INVALID, "LIMIT-19")
        shows(observer, self.state(62_000), DONE, "LIMIT-19")

    def test_larger_session_state_is_refused(self) -> None:
        observer = self.in_session(observing(limits=True))
        refuses(observer, self.state(262_145), DONE, "LIMIT-20")
        shows(observer, self.state(262_145), TOO_LARGE, "LIMIT-20")
        observer.has(self.state(262_144))
        observer.has(self.state(262_144), INVALID)

    def test_in_premium_it_may_be(self) -> None:
        observer = self.in_session(observing(tier=Tier.PREMIUM, limits=True))
        observer.has(self.state(2_000_000))
        observer.has(self.state(2_000_000), INVALID)
        assert not observer.saw(self.state(200_000), INVALID).possible
