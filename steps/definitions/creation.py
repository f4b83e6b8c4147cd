"""Steps that ask for queues, topics and subscriptions; refusals are for later steps to check."""

from typing import Final

import pytest
from pytest_bdd import parsers, step, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import (
    QUEUE,
    basic_has_no_topics,
    basic_may_lack,
    create,
    create_topic,
    kind_of,
    refuse_where_missing,
)
from busproof.steps.sentences import ENTITY, KIND, TOPIC, entity_path, name_in
from busproof.steps.wording import queue_settings, subscription_settings, topic_settings

ONE_MORE: Final = "one-more"
MUCH: Final = 100
"""Length of names that scenarios give for their length only."""


@when(
    parsers.re(
        rf'(?P<which>an?|another)(?: {KIND})? (?P<what>queue|topic)(?: (?P<named>named "[^"]+"'
        r"|with a name of \d+ characters))?(?: (?P<traits>(?:with|without|that|of) .+?))?"
        r" is (?P<how>created|requested)"
    ),
    target_fixture="outcome",
)
def creates(
    bus: BusUnderTest,
    which: str,
    kind: str | None,
    what: str,
    named: str | None,
    traits: str | None,
    how: str,
) -> v.Outcome:
    """Try to create a queue or topic.

    A request may be about any; what is created ends the scenario as not applicable if Basic may
    lack such queues, or the namespace such a name.
    """
    default = ONE_MORE if which == "another" else {"queue": QUEUE, "topic": TOPIC}[what]
    name = name_in(named) if named else default
    kind = kind or kind_of(bus)
    if what == "topic":
        topic = topic_settings(name, kind, traits or "")
        if len(name) > MUCH:
            basic_has_no_topics(bus)
            refuse_where_missing(bus, v.CreateQueue(queue=name, partitioned=topic.partitioned))
        return bus.do(topic)
    queue = queue_settings(name, kind, traits or "")
    if len(name) > MUCH:
        refuse_where_missing(bus, queue)
    elif how == "created":
        basic_may_lack(bus, queue)
    return bus.do(queue)


@when(
    parsers.re(
        r"a partitioned (?P<what>queue|topic) is created "
        r"by a request of api-version (?P<version>\S+)"
    ),
    target_fixture="outcome",
)
def creates_by_version(bus: BusUnderTest, what: str, version: str) -> v.Outcome:
    """Try to create a queue or topic with a given api-version."""
    version = "" if version == "none" else version
    bus.need(v.Capability.API_VERSIONS)
    if what == "queue":
        return bus.do(v.CreateQueue(queue=QUEUE, api_version=version))
    basic_has_no_topics(bus)
    return bus.do(v.CreateTopic(topic=TOPIC, api_version=version))


@step(
    parsers.re(
        rf"(?P<count>\d+)(?: {KIND})? (?P<what>queue|topic)s(?P<each> for each messaging unit)? "
        r"(?P<tense>are|were) created"
    ),
    converters={"count": int},
    target_fixture="outcomes",
)
def creates_many(
    bus: BusUnderTest, count: int, kind: str | None, what: str, each: str | None, tense: str
) -> list[v.Outcome]:
    """Create this number of entities; those that were created must have been accepted."""
    kind = kind or kind_of(bus)
    _need_room(bus, kind, what)
    number = count * bus.profile.messaging_units if each else count
    outcomes = list(bus.do_all(_asked(number, kind, what)))
    if tense == "were":
        for outcome in outcomes:
            bus.expect(outcome, v.Done)
    return outcomes


def _asked(count: int, kind: str, what: str) -> list[v.CreateQueue | v.CreateTopic]:
    """Return the requests for this number of queues or topics."""
    partitioned = kind == "partitioned"
    names = [f"{kind}-{what}-{number}" for number in range(count)]
    if what == "queue":
        return [v.CreateQueue(queue=name, partitioned=partitioned) for name in names]
    return [v.CreateTopic(topic=name, partitioned=partitioned) for name in names]


def _need_room(bus: BusUnderTest, kind: str, what: str) -> None:
    """Require that the namespace may be filled, and that the tier has such entities.

    Raises:
        NotApplicable: the namespace may not be filled, or the tier has no such entities.
    """
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    refuse_where_missing(bus, v.CreateQueue(queue=QUEUE, partitioned=kind == "partitioned"))
    if what == "topic":
        bus.need(v.Capability.TOPICS)
        basic_has_no_topics(bus)


@when(
    parsers.re(
        r'(?P<name>subscription "[^"]+"|a subscription with a name of \d+ characters)'
        r'(?: of topic "(?P<topic>[^"]+)")?(?: (?P<traits>(?:with|that) .+))? is created'
    ),
    target_fixture="outcome",
)
def creates_subscription(
    bus: BusUnderTest, name: str, topic: str | None, traits: str | None
) -> v.Outcome:
    """Try to create a subscription."""
    return bus.do(subscription_settings(topic or TOPIC, name_in(name), traits or ""))


@when(
    parsers.re(
        rf"(?P<entity>{ENTITY}) is created again"
        rf"(?: as an? {KIND} (?P<what>queue|topic)(?: (?P<traits>.+))?)?"
    )
)
def creates_again(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    entity: str,
    kind: str | None,
    what: str | None,
    traits: str | None,
) -> None:
    """Create an entity with the same name; this must succeed if the tier has such entities."""
    path = entity_path(request, entity)
    if what == "queue":
        create(bus, queue_settings(path, kind or "", traits or ""))
    elif what == "topic":
        create_topic(bus, topic_settings(path, kind or "", traits or ""))
    else:
        topic, _, name = path.split("/")
        bus.expect(bus.do(v.CreateSubscription(topic=topic, subscription=name)), v.Done)
