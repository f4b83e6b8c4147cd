"""Transactions with a request that was never answered."""

import pytest
from in_transactions import BEGIN, COMMIT, RECEIVE, ROLL_BACK, UNKNOWN, begun
from observing import DONE, LOST, Observer, received

from busproof.vocabulary.commands import (
    BeginTransaction,
    CommitTransaction,
    RollBackTransaction,
)
from busproof.vocabulary.outcomes import Empty, Outcome


def test_every_end_of_a_lost_begin_stays_possible(observer: Observer) -> None:
    observer.queue()
    observer.has(BEGIN, LOST)
    assert observer.send(UNKNOWN, transaction="t", partition_key="a").possible
    assert observer.send(transaction="t", partition_key="a").possible


def test_every_end_of_a_lost_send_stays_possible(observer: Observer) -> None:
    begun(observer)
    observer.send(LOST, transaction="t", partition_key="a")
    observer.has(COMMIT)
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible
    assert observer.send(LOST, transaction="nothing", partition_key="a").possible


def test_every_end_of_a_lost_commit_stays_possible(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.has(COMMIT, LOST)
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible
    assert observer.saw(COMMIT, UNKNOWN).possible
    assert observer.saw(CommitTransaction(transaction="nothing"), LOST).possible


def test_every_end_of_a_lost_rollback_stays_possible(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.has(ROLL_BACK, LOST)
    assert observer.saw(COMMIT, UNKNOWN).possible
    assert observer.saw(RollBackTransaction(transaction="nothing"), LOST).possible


@pytest.mark.parametrize(
    ("end", "given"), [(CommitTransaction, True), (RollBackTransaction, False)]
)
@pytest.mark.parametrize("begin", [DONE, LOST])
def test_an_end_that_was_lost_may_come_once_it_has_begun(
    observer: Observer, end: type, given: bool, begin: Outcome
) -> None:
    """It was asked for before; a transaction of another name is none of its business."""
    observer.queue()
    observer.has(end(transaction="t"), LOST)
    observer.has(RollBackTransaction(transaction="t"), LOST)
    observer.has(BeginTransaction(transaction="t"), begin)
    observer.has(BeginTransaction(transaction="other"))
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.send(transaction="other", partition=1, partition_key="a")
    assert observer.saw(COMMIT, UNKNOWN).possible
    early = received("m1", 1, partition_key="a", lock_token="l")
    assert bool(observer.saw(RECEIVE, early).possible) is given


def test_that_it_comes_is_no_excuse_for_another(observer: Observer) -> None:
    observer.queue()
    observer.has(COMMIT, LOST)
    observer.has(BeginTransaction(transaction="other"))
    observer.send(transaction="other", partition=1, partition_key="a")
    assert not observer.saw(CommitTransaction(transaction="other"), UNKNOWN).possible
    early = received("m1", 1, partition_key="a", lock_token="l")
    assert not observer.saw(RECEIVE, early).possible
