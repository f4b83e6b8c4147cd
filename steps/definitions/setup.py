"""Steps that prepare a scenario: queues and transactions."""

from pytest_bdd import given, parsers, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.wording import queue_settings
from busproof.vocabulary.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    CreateTopic,
    RollBackTransaction,
)
from busproof.vocabulary.outcomes import Done, Refused
from busproof.vocabulary.values import Tier

__all__ = [
    "OTHER",
    "QUEUE",
    "basic_may_lack",
    "create",
    "refuse_missing_kind",
    "refuse_where_missing",
]

QUEUE = "orders"
OTHER_QUEUE = "invoices"
OTHER = "c2"


def create(bus: Bus, queue: CreateQueue) -> str:
    """Create a queue; this must succeed if the tier must have such queues."""
    refuse_where_missing(bus, queue)
    outcome = bus.do(queue)
    # Without PREM-07, the documents promise sizes only for Standard.
    unsaid = bus.profile.tier is Tier.BASIC or "PREM-07" in bus.profile.silent
    sized = queue.max_size is not None and bus.profile.tier is not Tier.STANDARD and unsaid
    if sized and isinstance(outcome, Refused):
        raise NotApplicable(f"tier: {bus.profile.tier.value} need not have this size")
    bus.expect(outcome, Done)
    return queue.queue


def refuse_where_missing(bus: Bus, queue: CreateQueue) -> None:
    """Check that the tier must have such queues.

    Raises:
        NotApplicable: the tier may lack them.
    """
    refuse_missing_kind(bus, queue)
    basic_may_lack(bus, queue)


def refuse_missing_kind(bus: Bus, entity: CreateQueue | CreateTopic) -> None:
    """Check that the namespace must have such entities, partitioned or not (PREM-01, PREM-15).

    Raises:
        NotApplicable: it may lack them.
    """
    if entity.partitioned and not bus.profile.may_partition:
        raise NotApplicable("tier: premium need not have partitioned entities")
    if entity.partitioned is False and bus.profile.is_partitioned:
        raise NotApplicable("tier: a partitioned namespace has no regular entities")


def basic_may_lack(bus: Bus, queue: CreateQueue) -> None:
    """Check that Basic, if it is the tier, must have such a queue (MGMT-24, BASIC-REGULAR).

    Raises:
        NotApplicable: Basic may lack it.
    """
    basic = bus.profile.tier is Tier.BASIC
    if queue.requires_session and basic:
        raise NotApplicable("tier: basic need not have sessions")
    if queue.duplicate_detection and basic:
        raise NotApplicable("tier: basic need not have duplicate detection")
    either = bus.profile.readings.get("BASIC-REGULAR") != "as-asked"
    if basic and either and queue.partitioned is False:
        raise NotApplicable("tier: basic may partition every queue")


@given(
    parsers.re(r"an? (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def created(bus: Bus, kind: str, traits: str | None) -> str:
    """Create a queue of this kind with these traits, and defaults for the other settings."""
    return create(bus, queue_settings(QUEUE, kind, traits or ""))


@given(
    parsers.re(r"another (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))?"),
    target_fixture="other_queue",
)
def created_too(bus: Bus, kind: str, traits: str | None) -> str:
    """Create a second queue of this kind with these traits."""
    return create(bus, queue_settings(OTHER_QUEUE, kind, traits or ""))


@given("a queue", target_fixture="queue")
def created_any(bus: Bus) -> str:
    """Create a queue, partitioned where the namespace may have such; the scenario fits both."""
    return create(bus, CreateQueue(queue=QUEUE, partitioned=bus.profile.may_partition))


@given("a transaction", target_fixture="transaction")
def begun(bus: Bus) -> str:
    """Begin a transaction; Basic may have none (MGMT-24)."""
    outcome = bus.do(BeginTransaction(transaction="t1"))
    if bus.profile.tier is Tier.BASIC and isinstance(outcome, Refused):
        raise NotApplicable("tier: basic need not have transactions")
    bus.expect(outcome, Done)
    return "t1"


@when("another transaction is begun", target_fixture="transaction")
def begun_too(bus: Bus) -> str:
    """Begin a second transaction."""
    bus.expect(bus.do(BeginTransaction(transaction="t2")), Done)
    return "t2"


@when(parsers.re(r"the first transaction is (?P<end>committed|rolled back)"))
def first_ends(bus: Bus, end: str) -> None:
    """End the transaction that was begun first; this must succeed."""
    kind = CommitTransaction if end == "committed" else RollBackTransaction
    bus.expect(bus.do(kind(transaction="t1")), Done)


@when("the transaction is committed")
def committed(bus: Bus, transaction: str) -> None:
    """Commit the transaction; this must succeed."""
    bus.expect(bus.do(CommitTransaction(transaction=transaction)), Done)


@when("the transaction is rolled back")
def rolled_back(bus: Bus, transaction: str) -> None:
    """Roll the transaction back; this must succeed."""
    bus.expect(bus.do(RollBackTransaction(transaction=transaction)), Done)


@when("the transaction is committed, if it can be")
def committed_perhaps(bus: Bus, transaction: str) -> None:
    """Try to commit the transaction, which an earlier refusal may have ended."""
    bus.do(CommitTransaction(transaction=transaction))


@when("the transaction is rolled back, unless it has ended")
def rolled_back_perhaps(bus: Bus, transaction: str) -> None:
    """Try to roll the transaction back, which an earlier refusal may have ended."""
    bus.do(RollBackTransaction(transaction=transaction))
