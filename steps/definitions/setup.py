"""Steps that prepare a scenario: queues and transactions."""

import pytest
from pytest_bdd import given, parsers, step, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import KIND, TOPIC, entity_path
from busproof.steps.wording import queue_settings, topic_settings

__all__ = [
    "OTHER_QUEUE",
    "QUEUE",
    "basic_has_no_topics",
    "basic_may_lack",
    "create",
    "create_topic",
    "kind_of",
    "refuse_missing_kind",
    "refuse_where_missing",
]

QUEUE = "orders"
OTHER_QUEUE = "invoices"
OTHER_TOPIC = "events"


def create(bus: BusUnderTest, queue: v.CreateQueue) -> str:
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


def refuse_where_missing(bus: BusUnderTest, queue: v.CreateQueue) -> None:
    """Skip the scenario if the tier may lack such queues.

    Raises:
        NotApplicable: the tier may lack such queues.
    """
    refuse_missing_kind(bus, queue)
    basic_may_lack(bus, queue)


def refuse_missing_kind(bus: BusUnderTest, entity: v.CreateQueue | v.CreateTopic) -> None:
    """Skip the scenario if the namespace may lack such entities (PREM-01, PREM-15).

    Raises:
        NotApplicable: the namespace may lack such entities.
    """
    if entity.partitioned and not bus.profile.may_partition:
        raise NotApplicable("tier: premium need not have partitioned entities")
    if entity.partitioned is False and bus.profile.is_partitioned:
        raise NotApplicable("tier: a partitioned namespace has no regular entities")


def basic_has_no_topics(bus: BusUnderTest) -> None:
    """Skip the scenario on Basic, which may refuse topics (BASIC-FEATURES).

    Raises:
        NotApplicable: the tier is Basic.
    """
    if bus.profile.tier is v.Tier.BASIC:
        raise NotApplicable("tier: basic need not have topics")


def basic_may_lack(bus: BusUnderTest, queue: v.CreateQueue) -> None:
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
    parsers.re(rf"(?P<maybe>perhaps )?an?(?: {KIND})? (?P<what>queue|topic)(?: (?P<traits>.+))?"),
    target_fixture="queue",
)
def create_entity(
    bus: BusUnderTest, maybe: str | None, kind: str | None, what: str, traits: str | None
) -> str:
    """Create a queue or topic, with defaults for what is not said; the next steps use it.

    Without a kind it is partitioned if the namespace allows it, and the scenario fits both. With
    settings beyond their limits there is perhaps a queue, and all requests to it are refused
    otherwise.
    """
    kind = kind or kind_of(bus)
    if maybe:
        return _try_queue(bus, queue_settings(QUEUE, kind, traits or ""))
    if what == "queue":
        return create(bus, queue_settings(QUEUE, kind, traits or ""))
    return create_topic(bus, topic_settings(TOPIC, kind, traits or ""))


def _try_queue(bus: BusUnderTest, queue: v.CreateQueue) -> str:
    """Create a queue, which may be refused."""
    refuse_where_missing(bus, queue)
    outcome = bus.do(queue)
    assert isinstance(outcome, v.Done | v.Refused), outcome
    return queue.queue


@given(
    parsers.re(rf"another {KIND} (?P<what>queue|topic)(?: (?P<traits>.+))?"),
    target_fixture="other_queue",
)
def create_another(bus: BusUnderTest, kind: str, what: str, traits: str | None) -> str:
    """Create a second queue or topic; the next steps do not use it."""
    if what == "queue":
        return create(bus, queue_settings(OTHER_QUEUE, kind, traits or ""))
    return create_topic(bus, topic_settings(OTHER_TOPIC, kind, traits or ""))


def kind_of(bus: BusUnderTest) -> str:
    """Return the kind of an entity of which the step says none."""
    return "partitioned" if bus.profile.may_partition else "regular"


def create_topic(bus: BusUnderTest, topic: v.CreateTopic) -> str:
    """Create a topic, which must succeed if the tier has to have such topics."""
    basic_has_no_topics(bus)
    refuse_missing_kind(bus, topic)
    bus.expect(bus.do(topic), v.Done)
    return topic.topic


@given("an empty namespace")
def empty(bus: BusUnderTest) -> None:
    """Start with an empty namespace, as every scenario does."""
    assert isinstance(bus, BusUnderTest)


@step(parsers.re("a(?P<more>nother)? transaction(?: is begun)?"), target_fixture="transaction")
def begin_transaction(bus: BusUnderTest, more: str | None) -> str:
    """Begin a transaction; skip the scenario if Basic has none (MGMT-24)."""
    name = "t2" if more else "t1"
    outcome = bus.do(v.BeginTransaction(transaction=name))
    if bus.profile.tier is v.Tier.BASIC and isinstance(outcome, v.Refused):
        raise NotApplicable("tier: basic need not have transactions")
    bus.expect(outcome, v.Done)
    return name


@when(
    parsers.re(
        "the (?P<first>first )?transaction is (?P<end>committed|rolled back)"
        "(?P<maybe>, if it can be)?"
    )
)
def end_transaction(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    first: str | None,
    end: str,
    maybe: str | None,
) -> None:
    """End a transaction, which must succeed unless a refusal may have ended it already."""
    name = "t1" if first else str(request.getfixturevalue("transaction"))
    kind = v.CommitTransaction if end == "committed" else v.RollBackTransaction
    outcome = bus.do(kind(transaction=name))
    if not maybe:
        bus.expect(outcome, v.Done)


@when("the commit is tried", target_fixture="outcome")
def tries_commit(bus: BusUnderTest, transaction: str) -> v.Outcome:
    """Try to commit the transaction."""
    return bus.do(v.CommitTransaction(transaction=transaction))


@when(
    parsers.re(
        r'(?P<who>receivers|senders) turn to (?P<place>subscription "[^"]+"|"[^"]+"|the topic'
        r"|the source|its dead letters(?: of transfers)?)(?P<remembers> and remember what came)?"
    ),
    target_fixture="queue",
)
def turn_to(
    request: pytest.FixtureRequest,
    views: list[v.MessageView],
    who: str,
    place: str,
    remembers: str | None,
) -> str:
    """Use another entity in the next steps; receivers forget the messages that came before."""
    if who == "receivers" and not remembers:
        views.clear()
    if place.startswith("its dead letters"):
        ending = v.TRANSFERS if place.endswith("of transfers") else v.DEAD_LETTERS
        return str(request.getfixturevalue("queue")) + ending
    return entity_path(request, place)
