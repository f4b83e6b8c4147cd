"""Limits of single requests: what is taken at one, and what is refused beyond it."""

from typing import Any

import attrs
import pytest
from telling import DONE, INVALID, LOST, MISSING, Told, is_allowed, refuses, shows, telling

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
def held() -> Told:
    """A bus that is held to the limits, with a queue."""
    told = telling(limits=True)
    told.queue()
    return told


def premium(**observability: Any) -> Told:
    told = telling(tier=Tier.PREMIUM, **observability)
    told.queue(partitioned=False)
    return told


def sent(told: Told, transaction: str | None = None, **properties: Any) -> Send:
    return Send(queue="q", message=told.message(**properties), transaction=transaction)


def scheduled(told: Told, transaction: str | None = None, **properties: Any) -> Schedule:
    message = told.message(**properties)
    return Schedule(queue="q", message=message, delay=1, transaction=transaction)


class TestSizes:
    def test_what_is_no_larger_than_256_kb_is_taken(self, held: Told) -> None:
        shows(held, sent(held, size=251_904), DONE, "LIMIT-01")
        refuses(held, sent(held, size=251_904), TOO_LARGE, "LIMIT-01")

    def test_what_is_larger_is_refused(self, held: Told) -> None:
        refuses(held, sent(held, size=262_145), DONE, "LIMIT-02")
        refuses(held, sent(held, size=262_145), FULL, "LIMIT-02")
        shows(held, sent(held, size=262_145), TOO_LARGE, "LIMIT-02")

    def test_in_between_it_is_either(self, held: Told) -> None:
        for size in (251_905, 262_144):
            held.has(sent(held, size=size))
            found = held.saw(sent(held, size=size), TOO_LARGE)
            assert found.possible
            assert "LIMIT-02" not in found.rules

    def test_a_small_one_shows_no_limit(self, held: Told) -> None:
        assert "LIMIT-01" not in held.saw(sent(held, size=100_000)).rules

    def test_who_is_not_held_to_limits_may_take_anything(self) -> None:
        told = telling()
        told.queue()
        told.has(sent(told, size=262_145))
        told.has(sent(told, size=262_145), TOO_LARGE)

    def test_what_stands_in_for_several_may_be_larger(self, held: Told) -> None:
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
        told = telling({"KB-BYTES": reading}, limits=True)
        told.queue()
        refuses(told, sent(told, size=taken), TOO_LARGE, "LIMIT-01")
        told.has(sent(told, size=taken))
        refuses(told, sent(told, size=refused), DONE, "LIMIT-02")
        told.has(sent(told, size=refused - 1))

    def test_premium_takes_1_mb(self) -> None:
        told = premium(limits=True)
        refuses(told, sent(told, size=995_904), TOO_LARGE, "LIMIT-03")
        shows(told, sent(told, size=995_904), DONE, "LIMIT-03")

    def test_premium_may_take_up_to_100_mb(self) -> None:
        told = premium(limits=True)
        for size in (2_000_000, 104_857_600):
            shows(told, sent(told, size=size), DONE, "LIMIT-05")
            shows(told, sent(told, size=size), TOO_LARGE, "LIMIT-05")

    def test_premium_takes_no_more(self) -> None:
        told = premium(limits=True)
        refuses(told, sent(told, size=104_857_601), DONE, "LIMIT-04")
        shows(told, sent(told, size=104_857_601), TOO_LARGE, "LIMIT-04")

    def test_message_over_the_limit_is_not_scheduled(self, held: Told) -> None:
        refuses(held, scheduled(held, size=262_145), SCHEDULED, "LIMIT-06")
        shows(held, scheduled(held, size=262_145), TOO_LARGE, "LIMIT-06", "LIMIT-02")

    def test_message_over_the_limit_is_refused_in_a_transaction(self, held: Told) -> None:
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
        told = telling({"TXN-REFUSAL": "at-commit"}, limits=True)
        told.queue()
        told.has(BEGIN)
        told.has(sent(told, "t", size=262_145, partition_key="a"))
        refuses(told, COMMIT, DONE)

    def test_scheduling_at_the_limit_may_be_refused(self) -> None:
        """TXN-REFUSAL."""
        told = telling({"TXN-REFUSAL": "either"}, limits=True)
        told.queue()
        told.has(BEGIN)
        told.has(scheduled(told, "t", size=262_145, partition_key="a"), TOO_LARGE)
        told.has(scheduled(told, "t", size=262_145, partition_key="a"), SCHEDULED)

    def test_of_a_queue_that_is_not_there_it_may_be_refused_for_either(self, held: Told) -> None:
        """The service may look at the message before it looks for the queue."""
        large = attrs.evolve(sent(held, size=2**28), queue="nowhere")
        assert is_allowed(held, large, TOO_LARGE)
        assert is_allowed(held, large, MISSING)
        assert not is_allowed(held, large, DONE)
        small = attrs.evolve(sent(held, size=2**10), queue="nowhere")
        assert not is_allowed(held, small, TOO_LARGE)

    def test_what_was_never_answered_keeps_both(self, held: Told) -> None:
        held.has(sent(held, size=262_145), LOST)


class TestKeys:
    @pytest.mark.parametrize(("key", "taken", "refused"), KEYS)
    def test_128_characters_are_not_too_many(
        self, held: Told, key: str, taken: str, refused: str
    ) -> None:
        assert refused
        shows(held, sent(held, **{key: "x" * 128}), DONE, taken)
        refuses(held, sent(held, **{key: "y" * 128}), INVALID, taken)
        assert taken not in held.saw(sent(held, **{key: "x" * 127})).rules

    @pytest.mark.parametrize(("key", "taken", "refused"), KEYS)
    def test_129_are(self, held: Told, key: str, taken: str, refused: str) -> None:
        assert taken
        for send, accepted in ((sent, DONE), (scheduled, SCHEDULED)):
            refuses(held, send(held, **{key: "x" * 129}), accepted, refused)
            shows(held, send(held, **{key: "x" * 129}), INVALID, refused)
            held.has(send(held, **{key: "x" * 129}), Refused(error=Error.OTHER))

    def test_a_character_may_count_twice(self, held: Told) -> None:
        """One beyond the first 65,536."""
        held.has(sent(held, message_id="\N{GRINNING FACE}" * 128))
        held.has(sent(held, message_id="\N{GRINNING FACE}" * 65), INVALID)
        assert not held.saw(sent(held, message_id="\N{GRINNING FACE}" * 64), INVALID).possible


class TestProperties:
    def test_one_of_more_than_32_kb_is_refused(self, held: Told) -> None:
        large = {"p": "x" * 32_768}
        refuses(held, sent(held, properties=large), DONE, "LIMIT-13")
        shows(held, sent(held, properties=large), INVALID, "LIMIT-13")

    def test_several_of_more_than_64_kb_are_refused(self, held: Told) -> None:
        large = {f"p{each}": "x" * 22_000 for each in range(3)}
        refuses(held, sent(held, properties=large), DONE, "LIMIT-14")
        shows(held, sent(held, properties=large), INVALID, "LIMIT-14")

    def test_small_ones_are_taken(self, held: Told) -> None:
        small = {"p": "x" * 7_000, "number": 5}
        held.has(sent(held, properties=small))
        assert not held.saw(sent(held, properties=small), INVALID).possible


class TestTransactions:
    def full(self, **observability: Any) -> Told:
        told = telling(**{"limits": True, **observability})
        told.queue()
        told.has(BEGIN)
        for _ in range(99):
            told.has(sent(told, "t", partition_key="a"))
        refuses(told, sent(told, "t", partition_key="a"), INVALID, "LIMIT-15")
        shows(told, sent(told, "t", partition_key="a"), DONE, "LIMIT-15")
        return told

    def test_100_messages_are_not_too_many(self) -> None:
        told = self.full()
        refuses(told, COMMIT, INVALID, "LIMIT-15")
        shows(told, COMMIT, DONE, "LIMIT-15")

    def test_one_more_is(self) -> None:
        told = self.full()
        refuses(told, sent(told, "t", partition_key="a"), DONE, "LIMIT-16")
        refuses(told, scheduled(told, "t", partition_key="a"), SCHEDULED, "LIMIT-16")
        shows(told, sent(told, "t", partition_key="a"), FULL, "LIMIT-16")
        told.has(COMMIT, INVALID)

    def test_one_message_over_the_limit_is_not_scheduled(self) -> None:
        told = self.full()
        shows(told, scheduled(told, "t", partition_key="a"), FULL, "LIMIT-16")
        told.has(COMMIT, INVALID)

    def test_without_limits_more_may_be_refused_at_any_time(self) -> None:
        told = self.full(limits=False)
        told.has(sent(told, "t", partition_key="a"))
        told.has(COMMIT, INVALID)

    def test_without_limits_more_may_not_be_rolled_back(self) -> None:
        told = self.full(limits=False)
        told.has(sent(told, "t", partition_key="a"))
        told.has(ROLL_BACK, Refused(error=Error.NOT_FOUND))


class TestNames:
    def test_260_characters_are_not_too_many(self) -> None:
        told = telling(limits=True)
        named = CreateQueue(queue="x" * 260)
        refuses(told, named, INVALID, "LIMIT-17")
        shows(told, named, DONE, "LIMIT-17")
        topic = CreateTopic(topic="y" * 260)
        refuses(told, topic, INVALID, "LIMIT-17")
        shows(told, topic, DONE, "LIMIT-17")

    @pytest.mark.parametrize(
        "command", [CreateQueue(queue="x" * 261), CreateTopic(topic="x" * 261)]
    )
    def test_261_are(self, command: CreateQueue | CreateTopic) -> None:
        told = telling(limits=True)
        refuses(told, command, DONE, "LIMIT-18")
        shows(told, command, INVALID, "LIMIT-18")
        free = telling()
        free.has(command, INVALID)
        free.has(command)


class TestStates:
    def state(self, size: int) -> SetSessionState:
        return SetSessionState(queue="q", session_id="a", state="x" * size)

    def in_session(self, told: Told) -> Told:
        told.queue(partitioned=False, requires_session=True)
        told.has(AcceptSession(queue="q", session_id="a"))
        return told

    def test_a_state_may_be_as_large_as_a_message(self) -> None:
        told = self.in_session(telling(limits=True))
        refuses(told, self.state(62_000), INVALID, "LIMIT-19")
        shows(told, self.state(62_000), DONE, "LIMIT-19")

    def test_larger_session_state_is_refused(self) -> None:
        told = self.in_session(telling(limits=True))
        refuses(told, self.state(262_145), DONE, "LIMIT-20")
        shows(told, self.state(262_145), TOO_LARGE, "LIMIT-20")
        told.has(self.state(262_144))
        told.has(self.state(262_144), INVALID)

    def test_in_premium_it_may_be(self) -> None:
        told = self.in_session(telling(tier=Tier.PREMIUM, limits=True))
        told.has(self.state(2_000_000))
        told.has(self.state(2_000_000), INVALID)
        assert not told.saw(self.state(200_000), INVALID).possible
