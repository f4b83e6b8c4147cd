"""Several locks in one request: all of them are settled, or the request is refused."""

import pytest
from telling import (
    DONE,
    INVALID,
    LOST,
    OTHER,
    SECOND,
    Told,
    down,
    is_allowed,
    passes,
    received,
    refuses,
    shows,
    telling,
)

from busproof.vocabulary.commands import (
    Complete,
    DeadLetter,
    Receive,
    ReceiveDeferred,
    RenewLocks,
    SettleBatch,
)
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Empty, Outcome, ReceivedSeveral, Refused, RenewedSeveral
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Disposition, Error

RECEIVE = Receive(queue="q")
DEAD = Receive(queue="q/$deadletterqueue")
LOCK_LOST = Refused(error=Error.LOCK_LOST)


def together(
    *tokens: str, disposition: Disposition = Disposition.COMPLETE, queue: str = "q"
) -> SettleBatch:
    return SettleBatch(queue=queue, lock_tokens=tokens, disposition=disposition)


BOTH = together("l1", "l2")
UNTIL = {"locked_until": 60 * SECOND}


def complete(token: str) -> Complete:
    return Complete(queue="q", lock_token=token)


def two(told: Told, partitions: tuple[int, int] = (1, 1), keys: tuple[str, str] = ("", "")) -> Told:
    """A queue with two locked messages, in these partitions."""
    told.queue()
    return locked(told, partitions, keys)


def locked(told: Told, partitions: tuple[int, int], keys: tuple[str, str] = ("", "")) -> Told:
    seen = dict[int, int]()
    for key, partition in zip(keys, partitions, strict=True):
        told.send(partition=partition, partition_key=key or None)
    for number, (key, partition) in enumerate(zip(keys, partitions, strict=True), 1):
        place = seen[partition] = seen.get(partition, 0) + 1
        carried = {"partition_key": key or None, "lock_token": f"l{number}", **UNTIL}
        told.has(RECEIVE, received(f"m{number}", partition, place, **carried))
    return told


def test_locks_of_one_partition_are_settled_together(told: Told) -> None:
    two(told)
    for refusal in (INVALID, LOCK_LOST, OTHER):
        refuses(told, BOTH, refusal, "LOCK-14", "LOCK-16", "LOCK-17")
    shows(told, BOTH, DONE, "LOCK-14", "LIFE-03")
    assert "LOCK-14" in told.saw(complete("l2"), DONE).rules
    told.has(complete("l2"), LOCK_LOST)


def test_one_key_is_in_one_partition_wherever_that_is() -> None:
    told = two(telling(witness=False), keys=("a", "a"))
    assert not is_allowed(told, BOTH, INVALID)
    shows(told, BOTH, DONE, "LOCK-14")


@pytest.mark.parametrize("reading", ["either", "refused"])
def test_keys_of_a_regular_queue_may_differ(reading: str) -> None:
    told = telling({"SETTLE-PARTITIONS": reading})
    told.queue(partitioned=False)
    locked(told, (0, 0), ("a", "b"))
    assert not is_allowed(told, BOTH, INVALID)
    shows(told, BOTH, DONE, "LOCK-14")


@pytest.mark.parametrize("refusal", [INVALID, OTHER])
def test_locks_of_several_partitions_may_be_refused_and_are_kept_then(
    told: Told, refusal: Outcome
) -> None:
    two(told, (1, 2))
    shows(told, BOTH, refusal, "LOCK-15", "LOCK-16")
    assert "LOCK-16" in told.saw(complete("l1"), LOCK_LOST).rules
    told.has(complete("l1"))
    told.has(complete("l2"))


def test_locks_of_several_partitions_may_be_accepted_and_all_are_settled_then(told: Told) -> None:
    two(told, (1, 2))
    shows(told, BOTH, DONE, "LOCK-15", "LOCK-16")
    assert "LOCK-16" in told.saw(complete("l2"), DONE).rules


@pytest.mark.parametrize(
    ("reading", "outcome", "allowed"),
    [
        ("refused", DONE, False),
        ("refused", INVALID, True),
        ("accepted", DONE, True),
        ("accepted", INVALID, False),
        ("either", DONE, True),
        ("either", INVALID, True),
    ],
)
def test_reading_decides_whether_several_partitions_are_settled(
    reading: str, outcome: Outcome, allowed: bool
) -> None:
    told = two(telling({"SETTLE-PARTITIONS": reading}), (1, 2))
    assert allowed is is_allowed(told, BOTH, outcome)


def test_observer_without_partitions_allows_both_answers() -> None:
    profile = Profile(edition="de-2021-04", readings={"SETTLE-PARTITIONS": "refused"}, partitions=4)
    told = two(Told(profile, Observability(partitions=False, witness=False)), (1, 2))
    assert is_allowed(told, BOTH, INVALID)
    assert is_allowed(told, BOTH, DONE)


def test_one_lost_lock_is_refused(told: Told) -> None:
    two(told)
    told.has(complete("l1"))
    refuses(told, BOTH, DONE, "LOCK-14", "LOCK-16", "LOCK-17")
    shows(told, BOTH, LOCK_LOST, "LOCK-17", "LIFE-06")


def test_one_lost_lock_of_a_regular_queue_has_its_error(told: Told) -> None:
    told.queue(partitioned=False)
    locked(told, (0, 0))
    told.has(complete("l1"))
    assert not is_allowed(told, BOTH, INVALID)
    assert is_allowed(told, BOTH, LOCK_LOST)


@pytest.mark.parametrize(
    ("reading", "kept", "gone"),
    [("either", True, True), ("others", True, True), ("nothing", True, False)],
)
def test_reading_decides_whether_the_others_are_settled(
    reading: str, kept: bool, gone: bool
) -> None:
    told = two(telling({"SETTLE-LOST": reading}))
    told.has(complete("l1"))
    told.has(BOTH, LOCK_LOST)
    assert kept is is_allowed(told, complete("l2"), DONE)
    assert gone is is_allowed(told, complete("l2"), LOCK_LOST)


def test_locks_that_have_expired_are_lost_together(told: Told) -> None:
    two(told)
    passes(told, 61)
    shows(told, BOTH, LOCK_LOST, "LOCK-17")
    told.has(RECEIVE, received("m1", 1, lock_token="l3"))


def test_locks_that_may_have_expired_may_be_lost_together() -> None:
    told = two(telling(slack=2 * SECOND))
    passes(told, 60)
    assert is_allowed(told, BOTH, DONE)
    assert is_allowed(told, BOTH, LOCK_LOST)
    told.has(BOTH, LOCK_LOST)
    assert is_allowed(told, complete("l1"), DONE)
    assert is_allowed(told, complete("l1"), LOCK_LOST)


def test_an_outage_may_refuse_them(told: Told) -> None:
    two(told)
    told.has(down(1))
    assert is_allowed(told, BOTH, OTHER)
    assert is_allowed(told, BOTH, DONE)


def test_each_of_them_is_abandoned(told: Told) -> None:
    two(told)
    told.has(together("l1", "l2", disposition=Disposition.ABANDON))
    told.has(RECEIVE, received("m1", 1, lock_token="l3"))
    told.has(RECEIVE, received("m2", 1, 2, lock_token="l4"))


def test_each_of_them_is_deferred(told: Told) -> None:
    two(told)
    told.has(together("l1", "l2", disposition=Disposition.DEFER))
    told.has(RECEIVE, Empty())
    number = (1 << 48) + 2
    again = received("m2", 1, 2, lock_token="l5").message
    by_number = ReceiveDeferred(queue="q", sequence_numbers=(number,))
    told.has(by_number, ReceivedSeveral(messages=(again,)))


def test_each_of_them_is_dead_lettered_with_the_reason(told: Told) -> None:
    two(told)
    command = SettleBatch(
        queue="q",
        lock_tokens=("l1", "l2"),
        disposition=Disposition.DEAD_LETTER,
        reason="unreadable",
    )
    told.has(command)
    for number, body in enumerate(("m2", "m1"), 1):
        letter = received(body, 1, number, dead_letter_reason="unreadable", lock_token=body)
        told.has(DEAD, letter)
    again = SettleBatch(
        queue=DEAD.queue, lock_tokens=("m1", "m2"), disposition=Disposition.DEAD_LETTER
    )
    assert not is_allowed(told, again, DONE)
    told.has(again, INVALID)


def test_a_request_without_locks_or_with_one_twice_is_answered_in_any_way(told: Told) -> None:
    two(told)
    for strange in (together(), together("l1", "l1")):
        assert is_allowed(told, strange, OTHER)
        assert is_allowed(told, strange, DONE)


def test_every_end_of_a_lost_answer_stays_possible(told: Told) -> None:
    two(told)
    told.has(BOTH, LOST)
    for token in ("l1", "l2"):
        assert is_allowed(told, complete(token), DONE)
        assert is_allowed(told, complete(token), LOCK_LOST)
    passes(told, 61)
    assert is_allowed(told, RECEIVE, received("m2", 1, 2, lock_token="l6"))
    assert is_allowed(told, RECEIVE, Empty())


def test_locks_of_a_lost_receive_may_be_settled_together(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    told.has(RECEIVE, LOST)
    told.has(RECEIVE, LOST)
    assert is_allowed(told, together("x1", "x2"), DONE)
    assert is_allowed(told, together("x1", "x2"), LOCK_LOST)
    told.has(together("x1", "x2"))
    told.has(RECEIVE, received("never sent"))


def test_a_dead_letter_with_a_used_lock_is_charged_to_the_others_too(told: Told) -> None:
    two(told)
    told.has(BOTH)
    again = DeadLetter(queue="q", lock_token="l1")
    assert "LOCK-16" in told.saw(again, DONE).rules


RENEW = RenewLocks(queue="q", lock_tokens=("l1", "l2"))


def until(*seconds: int | None) -> RenewedSeveral:
    ends = (None if each is None else each * SECOND for each in seconds)
    return RenewedSeveral(locked_until=tuple(ends))


def test_locks_of_one_partition_are_renewed_together(told: Told) -> None:
    two(told)
    passes(told, 40)
    for refusal in (INVALID, LOCK_LOST):
        refuses(told, RENEW, refusal, "LOCK-18", "LOCK-16", "LOCK-17")
    for wrong in (until(100), until(100, 60), until(101, 100)):
        refuses(told, RENEW, wrong, "LOCK-18", "LOCK-16", "LOCK-17")
    shows(told, RENEW, until(100, 100), "LOCK-18", "LOCK-04")
    passes(told, 40)
    assert "LOCK-18" in told.saw(complete("l2"), LOCK_LOST).rules
    told.has(complete("l2"))


@pytest.mark.parametrize("ends", [until(), until(None, None), until(None, 60)])
def test_ends_of_renewed_locks_need_not_be_told(told: Told, ends: RenewedSeveral) -> None:
    two(told)
    shows(told, RENEW, ends, "LOCK-18")


def test_what_a_renewal_of_several_may_be_answered_is_known_beforehand(told: Told) -> None:
    two(told)
    assert [until(60, 60)] == [each.outcome for each in told.step(RENEW)]


def test_locks_of_several_partitions_may_be_renewed_together(told: Told) -> None:
    two(told, (1, 2))
    assert is_allowed(told, RENEW, OTHER)
    shows(told, RENEW, until(60, 60), "LOCK-15", "LOCK-16")


def test_one_lost_lock_refuses_the_renewal_and_leaves_the_others_in_doubt(told: Told) -> None:
    two(told)
    told.has(complete("l1"))
    assert not is_allowed(told, RENEW, until(60, 60))
    passes(told, 40)
    shows(told, RENEW, LOCK_LOST, "LOCK-17", "LOCK-05")
    passes(told, 40)
    assert is_allowed(told, complete("l2"), DONE)
    assert is_allowed(told, complete("l2"), LOCK_LOST)


def test_every_end_of_a_lost_renewal_of_several_stays_possible(told: Told) -> None:
    two(told)
    passes(told, 40)
    told.has(RENEW, LOST)
    passes(told, 40)
    for token in ("l1", "l2"):
        assert is_allowed(told, complete(token), DONE)
        assert is_allowed(told, complete(token), LOCK_LOST)
