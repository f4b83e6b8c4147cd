"""Steps on queues and subscriptions that forward.

When a forwarded message arrives is not documented: what is awaited is asked for several times.
"""

from typing import Final

import attrs
from pytest_bdd import given, parsers, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.topics import TOPIC
from busproof.steps.wording import queue_settings
from busproof.vocabulary.commands import CreateQueue, CreateSubscription, UpdateQueue
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Done, Outcome
from busproof.vocabulary.values import MICROSECONDS, Tier

SOURCE: Final = "source"


def _create(bus: Bus, settings: CreateQueue) -> str:
    if settings.partitioned and bus.profile.tier is Tier.PREMIUM:
        raise NotApplicable("tier: premium need not have partitioned queues")
    bus.expect(bus.do(settings), Done)
    return settings.queue


@given(
    parsers.re(r'a (?P<kind>partitioned|regular) destination "(?P<name>[^"]+)"(?: (?P<traits>.+))?')
)
def created_destination(bus: Bus, kind: str, name: str, traits: str | None) -> None:
    """A queue that others will forward to."""
    _create(bus, queue_settings(name, kind, traits or ""))


@given(
    parsers.re(r'a (?P<kind>partitioned|regular) source of "(?P<name>[^"]+)"(?: (?P<traits>.+))?'),
    target_fixture="queue",
)
def created_source(bus: Bus, kind: str, name: str, traits: str | None) -> str:
    """A queue that forwards; what follows concerns it."""
    return _create(bus, queue_settings(SOURCE, kind, traits or "", forward_to=name))


@when(
    parsers.re(
        r'a (?P<kind>partitioned|regular) source of "(?P<name>[^"]+)" is tried(?: (?P<traits>.+))?'
    ),
    target_fixture="outcome",
)
def tries_source(bus: Bus, kind: str, name: str, traits: str | None) -> Outcome:
    """Create a queue that is to forward, whatever becomes of it."""
    return bus.do(queue_settings(SOURCE, kind, traits or "", forward_to=name))


@when(parsers.parse('the queue is changed to forward to "{name}"'), target_fixture="outcome")
@when(parsers.parse('the source is changed to forward to "{name}"'), target_fixture="outcome")
def redirects(bus: Bus, queue: str, name: str) -> Outcome:
    """Let the queue forward from now on, whatever becomes of it."""
    return bus.do(UpdateQueue(queue=queue, forward_to=name))


@when("the source is changed to forward no more", target_fixture="outcome")
def ends_forwarding(bus: Bus, queue: str) -> Outcome:
    """End the queue's forwarding, whatever becomes of it."""
    return bus.do(UpdateQueue(queue=queue, forward_to=""))


@given(
    parsers.re(r'a (?P<kind>partitioned|regular) source of dead letters for "(?P<name>[^"]+)"'),
    target_fixture="queue",
)
def created_burying(bus: Bus, kind: str, name: str) -> str:
    """A queue that forwards its dead letters; what follows concerns it."""
    settings = queue_settings(SOURCE, kind, "")
    return _create(bus, attrs.evolve(settings, forward_dead_letters_to=name))


@when(parsers.parse('a source of dead letters for "{name}" is tried'), target_fixture="outcome")
def tries_burying(bus: Bus, name: str) -> Outcome:
    """Create a queue that is to forward its dead letters, whatever becomes of it."""
    return bus.do(CreateQueue(queue=SOURCE, partitioned=True, forward_dead_letters_to=name))


@given(parsers.parse('subscription "{name}" whose dead letters go to "{destination}"'))
def subscribed_burying(bus: Bus, name: str, destination: str) -> None:
    """A subscription of the topic that forwards its dead letters."""
    settings = CreateSubscription(
        topic=TOPIC, subscription=name, forward_dead_letters_to=destination
    )
    bus.expect(bus.do(settings), Done)


@when("senders turn to the source", target_fixture="queue")
def turned_to_source() -> str:
    """What follows concerns the source."""
    return SOURCE


@given(
    parsers.parse('a chain of {hops:d} {kind} queues that ends in "{name}"'), target_fixture="queue"
)
def chained(bus: Bus, hops: int, kind: str, name: str) -> str:
    """Queues that forward one to the next; what follows concerns the first."""
    for number in range(1, hops + 1):
        queue = _create(bus, queue_settings(f"hop-{number}", kind, "", forward_to=name))
        name = queue
    return name


@given(parsers.parse('subscription "{name}" forwards to "{destination}"'))
def subscribed_for(bus: Bus, name: str, destination: str) -> None:
    """A subscription of the topic that forwards what it takes."""
    settings = CreateSubscription(topic=TOPIC, subscription=name, forward_to=destination)
    bus.expect(bus.do(settings), Done)


@when(parsers.parse('receivers turn to "{name}"'), target_fixture="queue")
def turned_to(views: list[MessageView], name: str) -> str:
    """What follows concerns this queue; what was received before is not counted on."""
    views.clear()
    return name


@when(parsers.parse("messages are awaited until there are {number:d}"))
@when(parsers.parse("a message is awaited until there is {number:d}"))
def awaits(bus: Bus, queue: str, views: list[MessageView], number: int) -> None:
    """Receive and complete, several times, until so many have come; then once more."""
    for _ in bus.tries():
        views.extend(bus.received(queue))
        if len(views) >= number:
            break
    bus.pass_time(MICROSECONDS)
    views.extend(bus.received(queue))


@when(parsers.parse('messages of session "{session_id}" are awaited until there are {number:d}'))
def awaits_session(
    bus: Bus, queue: str, views: list[MessageView], session_id: str, number: int
) -> None:
    """Receive a session's messages and complete them, several times, until so many have come."""
    views.extend(bus.awaited(queue, number - len(views), session_id=session_id))
    views.extend(bus.received(queue, session_id=session_id))
