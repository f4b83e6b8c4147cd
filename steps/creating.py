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
OTHER_QUEUE = "invoices"
OTHER = "c2"


def refuse_where_missing(bus: Bus, queue: CreateQueue) -> None:
    """Insist that the tier has such queues.

    Raises:
        NotApplicable: it need not have any.
    """
    tier = bus.profile.tier
    if queue.partitioned and tier is Tier.PREMIUM:
        raise NotApplicable("tier: premium need not have partitioned queues")
    if queue.requires_session and tier is Tier.BASIC:
        raise NotApplicable("tier: basic need not have sessions")
    if queue.duplicate_detection and tier is Tier.BASIC:
        raise NotApplicable("tier: basic need not have duplicate detection")


def create(bus: Bus, queue: CreateQueue) -> str:
    """Create a queue, which has to succeed where the tier has queues of its kind."""
    refuse_where_missing(bus, queue)
    bus.expect(bus.do(queue), Done)
    return queue.queue


@given(
    parsers.re(r"an? (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def created(bus: Bus, kind: str, traits: str | None) -> str:
    """A queue of its kind with these traits, all else left as it is by default."""
    return create(bus, queue_settings(QUEUE, kind, traits or ""))


@given(
    parsers.re(r"another (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))?"),
    target_fixture="other_queue",
)
def created_too(bus: Bus, kind: str, traits: str | None) -> str:
    """A second queue of its kind with these traits."""
    return create(bus, queue_settings(OTHER_QUEUE, kind, traits or ""))


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


@when("the transaction is committed, if it can be")
def committed_perhaps(bus: Bus, transaction: str) -> None:
    """Commit; a refusal before may have ended the transaction."""
    bus.do(CommitTransaction(transaction=transaction))


@when("the transaction is rolled back, unless it has ended")
def rolled_back_perhaps(bus: Bus, transaction: str) -> None:
    """Roll back; a refusal before may have ended the transaction."""
    bus.do(RollBackTransaction(transaction=transaction))
