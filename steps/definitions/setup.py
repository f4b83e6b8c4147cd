"""Steps that prepare a scenario: queues and transactions."""

from pytest_bdd import given, parsers, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.wording import queue_settings

__all__ = [
    "OTHER",
    "OTHER_QUEUE",
    "QUEUE",
    "basic_has_no_topics",
    "basic_may_lack",
    "create",
    "refuse_missing_kind",
    "refuse_where_missing",
]

QUEUE = "orders"
OTHER_QUEUE = "invoices"
OTHER = "c2"


def create(bus: Bus, queue: v.CreateQueue) -> str:
    """Create a queue, which must succeed if the tier has to have such queues."""
    refuse_where_missing(bus, queue)
    outcome = bus.do(queue)
    # Only where SIZE-01 or PREM-07 is stated, the documents promise a size.
    unsaid = {"SIZE-01", "PREM-07"} <= bus.profile.silent
    sized = queue.max_size is not None and unsaid
    if sized and isinstance(outcome, v.Refused):
        raise NotApplicable(f"tier: {bus.profile.tier.value} need not have this size")
    bus.expect(outcome, v.Done)
    return queue.queue


def refuse_where_missing(bus: Bus, queue: v.CreateQueue) -> None:
    """Skip the scenario if the tier may lack such queues.

    Raises:
        NotApplicable: the tier may lack such queues.
    """
    refuse_missing_kind(bus, queue)
    basic_may_lack(bus, queue)


def refuse_missing_kind(bus: Bus, entity: v.CreateQueue | v.CreateTopic) -> None:
    """Skip the scenario if the namespace may lack such entities (PREM-01, PREM-15).

    Raises:
        NotApplicable: the namespace may lack such entities.
    """
    if entity.partitioned and not bus.profile.may_partition:
        raise NotApplicable("tier: premium need not have partitioned entities")
    if entity.partitioned is False and bus.profile.is_partitioned:
        raise NotApplicable("tier: a partitioned namespace has no regular entities")


def basic_has_no_topics(bus: Bus) -> None:
    """Skip the scenario on Basic, which may refuse topics (BASIC-FEATURES).

    Raises:
        NotApplicable: the tier is Basic.
    """
    if bus.profile.tier is v.Tier.BASIC:
        raise NotApplicable("tier: basic need not have topics")


def basic_may_lack(bus: Bus, queue: v.CreateQueue) -> None:
    """Skip the scenario on Basic if it may lack such a queue (MGMT-24, BASIC-REGULAR).

    Raises:
        NotApplicable: Basic may lack it.
    """
    basic = bus.profile.tier is v.Tier.BASIC
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
def create_queue(bus: Bus, kind: str, traits: str | None) -> str:
    """Create a queue of this kind with these traits, and defaults for the other settings."""
    return create(bus, queue_settings(QUEUE, kind, traits or ""))


@given(
    parsers.re(r"another (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))?"),
    target_fixture="other_queue",
)
def create_another_queue(bus: Bus, kind: str, traits: str | None) -> str:
    """Create a second queue of this kind with these traits."""
    return create(bus, queue_settings(OTHER_QUEUE, kind, traits or ""))


@given("a queue", target_fixture="queue")
def create_any_queue(bus: Bus) -> str:
    """Create a queue, partitioned if the namespace allows it; the scenario fits both kinds."""
    return create(bus, v.CreateQueue(queue=QUEUE, partitioned=bus.profile.may_partition))


@given("a transaction", target_fixture="transaction")
def begin_transaction(bus: Bus) -> str:
    """Begin a transaction; skip the scenario if Basic has none (MGMT-24)."""
    outcome = bus.do(v.BeginTransaction(transaction="t1"))
    if bus.profile.tier is v.Tier.BASIC and isinstance(outcome, v.Refused):
        raise NotApplicable("tier: basic need not have transactions")
    bus.expect(outcome, v.Done)
    return "t1"


@when("another transaction is begun", target_fixture="transaction")
def begin_another(bus: Bus) -> str:
    """Begin a second transaction."""
    bus.expect(bus.do(v.BeginTransaction(transaction="t2")), v.Done)
    return "t2"


@when(parsers.re(r"the first transaction is (?P<end>committed|rolled back)"))
def first_ends(bus: Bus, end: str) -> None:
    """End the transaction that was begun first; this must succeed."""
    kind = v.CommitTransaction if end == "committed" else v.RollBackTransaction
    bus.expect(bus.do(kind(transaction="t1")), v.Done)


@when("the transaction is committed")
def commit_transaction(bus: Bus, transaction: str) -> None:
    """Commit the transaction; this must succeed."""
    bus.expect(bus.do(v.CommitTransaction(transaction=transaction)), v.Done)


@when("the transaction is rolled back")
def roll_back(bus: Bus, transaction: str) -> None:
    """Roll the transaction back; this must succeed."""
    bus.expect(bus.do(v.RollBackTransaction(transaction=transaction)), v.Done)


@when("the transaction is committed, if it can be")
def commit_if_possible(bus: Bus, transaction: str) -> None:
    """Try to commit the transaction, which a refusal may have ended already."""
    bus.do(v.CommitTransaction(transaction=transaction))


@when("the transaction is rolled back, unless it has ended")
def roll_back_unless_ended(bus: Bus, transaction: str) -> None:
    """Try to roll the transaction back, which a refusal may have ended already."""
    bus.do(v.RollBackTransaction(transaction=transaction))
