"""Steps that set the scene: queues, sessions and transactions."""

from pytest_bdd import given, parsers, when

from busproof.model.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    RollBackTransaction,
)
from busproof.model.outcomes import Done
from busproof.model.values import Tier
from busproof.steps.harness import Bus, NotApplicable
from busproof.steps.wording import queue_settings

QUEUE = "orders"
OTHER = "c2"


def create(bus: Bus, queue: CreateQueue) -> str:
    """Create a queue, which has to succeed where the tier has queues of its kind."""
    tier = bus.profile.tier
    if queue.partitioned and tier is Tier.PREMIUM:
        raise NotApplicable("tier: premium need not have partitioned queues")
    if queue.requires_session and tier is Tier.BASIC:
        raise NotApplicable("tier: basic need not have sessions")
    if queue.duplicate_detection and tier is Tier.BASIC:
        raise NotApplicable("tier: basic need not have duplicate detection")
    bus.expect(bus.do(queue), Done)
    return queue.queue


@given(
    parsers.re(r"an? (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def created(bus: Bus, kind: str, traits: str | None) -> str:
    """A queue of its kind with these traits, all else left as it is by default."""
    return create(bus, queue_settings(QUEUE, kind, traits or ""))


@given("a transaction", target_fixture="transaction")
def begun(bus: Bus) -> str:
    """A transaction that nothing was sent in yet."""
    bus.expect(bus.do(BeginTransaction(transaction="t1")), Done)
    return "t1"


@when("the transaction is committed")
def committed(bus: Bus, transaction: str) -> None:
    """Commit, which has to succeed."""
    bus.expect(bus.do(CommitTransaction(transaction=transaction)), Done)


@when("the transaction is rolled back")
def rolled_back(bus: Bus, transaction: str) -> None:
    """Roll back, which has to succeed."""
    bus.expect(bus.do(RollBackTransaction(transaction=transaction)), Done)
