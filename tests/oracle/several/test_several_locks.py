"""Several locks in one request: all of them are settled, or the request is refused."""

import pytest
from observing import (
    DONE,
    INVALID,
    LOST,
    OTHER,
    SECOND,
    Observer,
    down,
    is_allowed,
    observing,
    passes,
    received,
    refuses,
    shows,
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


def two(
    observer: Observer, partitions: tuple[int, int] = (1, 1), keys: tuple[str, str] = ("", "")
) -> Observer:
    """A queue with two locked messages, in these partitions."""
    observer.queue()
    return locked(observer, partitions, keys)


def locked(
    observer: Observer, partitions: tuple[int, int], keys: tuple[str, str] = ("", "")
) -> Observer:
    seen = dict[int, int]()
    for key, partition in zip(keys, partitions, strict=True):
        observer.send(partition=partition, partition_key=key or None)
    for number, (key, partition) in enumerate(zip(keys, partitions, strict=True), 1):
        place = seen[partition] = seen.get(partition, 0) + 1
        carried = {"partition_key": key or None, "lock_token": f"l{number}", **UNTIL}
        observer.has(RECEIVE, received(f"m{number}", partition, place, **carried))
    return observer


def test_locks_of_one_partition_are_settled_together(observer: Observer) -> None:
    two(observer)
    for refusal in (INVALID, LOCK_LOST, OTHER):
        refuses(observer, BOTH, refusal, "LOCK-14", "LOCK-16", "LOCK-17")
    shows(observer, BOTH, DONE, "LOCK-14", "LIFE-03")
    assert "LOCK-14" in observer.saw(complete("l2"), DONE).rules
    observer.has(complete("l2"), LOCK_LOST)


def test_one_key_is_in_one_partition_wherever_that_is() -> None:
    observer = two(observing(witness=False), keys=("a", "a"))
    assert not is_allowed(observer, BOTH, INVALID)
    shows(observer, BOTH, DONE, "LOCK-14")


@pytest.mark.parametrize("reading", ["either", "refused"])
def test_keys_of_a_regular_queue_may_differ(reading: str) -> None:
    observer = observing({"SETTLE-PARTITIONS": reading})
    observer.queue(partitioned=False)
    locked(observer, (0, 0), ("a", "b"))
    assert not is_allowed(observer, BOTH, INVALID)
    shows(observer, BOTH, DONE, "LOCK-14")


@pytest.mark.parametrize("refusal", [INVALID, OTHER])
def test_locks_of_several_partitions_may_be_refused_and_are_kept_then(
    observer: Observer, refusal: Outcome
) -> None:
    two(observer, (1, 2))
    shows(observer, BOTH, refusal, "LOCK-15", "LOCK-16")
    assert "LOCK-16" in observer.saw(complete("l1"), LOCK_LOST).rules
    observer.has(complete("l1"))
    observer.has(complete("l2"))


def test_locks_of_several_partitions_may_be_accepted_and_all_are_settled_then(
    observer: Observer,
) -> None:
    two(observer, (1, 2))
    shows(observer, BOTH, DONE, "LOCK-15", "LOCK-16")
    assert "LOCK-16" in observer.saw(complete("l2"), DONE).rules


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
    observer = two(observing({"SETTLE-PARTITIONS": reading}), (1, 2))
    assert allowed is is_allowed(observer, BOTH, outcome)


def test_observer_without_partitions_allows_both_answers() -> None:
    profile = Profile(edition="de-2021-04", readings={"SETTLE-PARTITIONS": "refused"}, partitions=4)
    observer = two(Observer(profile, Observability(partitions=False, witness=False)), (1, 2))
    assert is_allowed(observer, BOTH, INVALID)
    assert is_allowed(observer, BOTH, DONE)


def test_one_lost_lock_is_refused(observer: Observer) -> None:
    two(observer)
    observer.has(complete("l1"))
    refuses(observer, BOTH, DONE, "LOCK-17", "LOCK-16", "LOCK-14")
    shows(observer, BOTH, LOCK_LOST, "LOCK-17", "LIFE-06")


def test_one_lost_lock_of_a_regular_queue_has_its_error(observer: Observer) -> None:
    observer.queue(partitioned=False)
    locked(observer, (0, 0))
    observer.has(complete("l1"))
    assert not is_allowed(observer, BOTH, INVALID)
    assert is_allowed(observer, BOTH, LOCK_LOST)


@pytest.mark.parametrize(
    ("reading", "kept", "gone"),
    [("either", True, True), ("others", True, True), ("nothing", True, False)],
)
def test_reading_decides_whether_the_others_are_settled(
    reading: str, kept: bool, gone: bool
) -> None:
    observer = two(observing({"SETTLE-LOST": reading}))
    observer.has(complete("l1"))
    observer.has(BOTH, LOCK_LOST)
    assert kept is is_allowed(observer, complete("l2"), DONE)
    assert gone is is_allowed(observer, complete("l2"), LOCK_LOST)


def test_locks_that_have_expired_are_lost_together(observer: Observer) -> None:
    two(observer)
    passes(observer, 61)
    shows(observer, BOTH, LOCK_LOST, "LOCK-17")
    observer.has(RECEIVE, received("m1", 1, lock_token="l3"))


def test_locks_that_may_have_expired_may_be_lost_together() -> None:
    observer = two(observing(slack=2 * SECOND))
    passes(observer, 60)
    assert is_allowed(observer, BOTH, DONE)
    assert is_allowed(observer, BOTH, LOCK_LOST)
    observer.has(BOTH, LOCK_LOST)
    assert is_allowed(observer, complete("l1"), DONE)
    assert is_allowed(observer, complete("l1"), LOCK_LOST)


def test_an_outage_may_refuse_them(observer: Observer) -> None:
    two(observer)
    observer.has(down(1))
    assert is_allowed(observer, BOTH, OTHER)
    assert is_allowed(observer, BOTH, DONE)


def test_each_of_them_is_abandoned(observer: Observer) -> None:
    two(observer)
    observer.has(together("l1", "l2", disposition=Disposition.ABANDON))
    observer.has(RECEIVE, received("m1", 1, lock_token="l3"))
    observer.has(RECEIVE, received("m2", 1, 2, lock_token="l4"))


def test_each_of_them_is_deferred(observer: Observer) -> None:
    two(observer)
    observer.has(together("l1", "l2", disposition=Disposition.DEFER))
    observer.has(RECEIVE, Empty())
    number = (1 << 48) + 2
    again = received("m2", 1, 2, lock_token="l5").message
    by_number = ReceiveDeferred(queue="q", sequence_numbers=(number,))
    observer.has(by_number, ReceivedSeveral(messages=(again,)))


def test_each_of_them_is_dead_lettered_with_the_reason(observer: Observer) -> None:
    two(observer)
    command = SettleBatch(
        queue="q",
        lock_tokens=("l1", "l2"),
        disposition=Disposition.DEAD_LETTER,
        reason="unreadable",
    )
    observer.has(command)
    for number, body in enumerate(("m2", "m1"), 1):
        letter = received(body, 1, number, dead_letter_reason="unreadable", lock_token=body)
        observer.has(DEAD, letter)
    again = SettleBatch(
        queue=DEAD.queue, lock_tokens=("m1", "m2"), disposition=Disposition.DEAD_LETTER
    )
    assert not is_allowed(observer, again, DONE)
    observer.has(again, INVALID)


def test_a_request_without_locks_or_with_one_twice_is_answered_in_any_way(
    observer: Observer,
) -> None:
    two(observer)
    for strange in (together(), together("l1", "l1")):
        assert is_allowed(observer, strange, OTHER)
        assert is_allowed(observer, strange, DONE)


def test_every_end_of_a_lost_answer_stays_possible(observer: Observer) -> None:
    two(observer)
    observer.has(BOTH, LOST)
    for token in ("l1", "l2"):
        assert is_allowed(observer, complete(token), DONE)
        assert is_allowed(observer, complete(token), LOCK_LOST)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, received("m2", 1, 2, lock_token="l6"))
    assert is_allowed(observer, RECEIVE, Empty())


def test_locks_of_a_lost_receive_may_be_settled_together(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=1)
    observer.has(RECEIVE, LOST)
    observer.has(RECEIVE, LOST)
    assert is_allowed(observer, together("x1", "x2"), DONE)
    assert is_allowed(observer, together("x1", "x2"), LOCK_LOST)
    observer.has(together("x1", "x2"))
    observer.has(RECEIVE, received("never sent"))


def test_a_dead_letter_with_a_used_lock_is_charged_to_the_others_too(observer: Observer) -> None:
    two(observer)
    observer.has(BOTH)
    again = DeadLetter(queue="q", lock_token="l1")
    assert "LOCK-16" in observer.saw(again, DONE).rules


RENEW = RenewLocks(queue="q", lock_tokens=("l1", "l2"))


def until(*seconds: int | None) -> RenewedSeveral:
    ends = (None if each is None else each * SECOND for each in seconds)
    return RenewedSeveral(locked_until=tuple(ends))


def test_locks_of_one_partition_are_renewed_together(observer: Observer) -> None:
    two(observer)
    passes(observer, 40)
    for refusal in (INVALID, LOCK_LOST):
        refuses(observer, RENEW, refusal, "LOCK-18", "LOCK-16", "LOCK-17")
    for wrong in (until(100), until(100, 60), until(101, 100)):
        refuses(observer, RENEW, wrong, "LOCK-18", "LOCK-16", "LOCK-17")
    shows(observer, RENEW, until(100, 100), "LOCK-18", "LOCK-04")
    passes(observer, 40)
    assert "LOCK-18" in observer.saw(complete("l2"), LOCK_LOST).rules
    observer.has(complete("l2"))


@pytest.mark.parametrize("ends", [until(), until(None, None), until(None, 60)])
def test_ends_of_renewed_locks_need_not_be_in_the_answer(
    observer: Observer, ends: RenewedSeveral
) -> None:
    two(observer)
    shows(observer, RENEW, ends, "LOCK-18")


def test_what_a_renewal_of_several_may_be_answered_is_known_beforehand(observer: Observer) -> None:
    two(observer)
    assert [until(60, 60)] == [each.outcome for each in observer.step(RENEW)]


def test_locks_of_several_partitions_may_be_renewed_together(observer: Observer) -> None:
    two(observer, (1, 2))
    assert is_allowed(observer, RENEW, OTHER)
    shows(observer, RENEW, until(60, 60), "LOCK-15", "LOCK-16")


def test_one_lost_lock_refuses_the_renewal_and_leaves_the_others_in_doubt(
    observer: Observer,
) -> None:
    two(observer)
    observer.has(complete("l1"))
    assert not is_allowed(observer, RENEW, until(60, 60))
    passes(observer, 40)
    shows(observer, RENEW, LOCK_LOST, "LOCK-17", "LOCK-05")
    passes(observer, 40)
    assert is_allowed(observer, complete("l2"), DONE)
    assert is_allowed(observer, complete("l2"), LOCK_LOST)


def test_every_end_of_a_lost_renewal_of_several_stays_possible(observer: Observer) -> None:
    two(observer)
    passes(observer, 40)
    observer.has(RENEW, LOST)
    passes(observer, 40)
    for token in ("l1", "l2"):
        assert is_allowed(observer, complete(token), DONE)
        assert is_allowed(observer, complete(token), LOCK_LOST)
