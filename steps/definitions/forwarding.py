"""Steps for queues and subscriptions that forward.

The documents do not say when a forwarded message arrives, so receives are repeated.
"""

from typing import Final

import attrs
from pytest_bdd import given, parsers, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import refuse_missing_kind
from busproof.steps.definitions.topics import TOPIC
from busproof.steps.waiting import waiting
from busproof.steps.wording import queue_settings

SOURCE: Final = "source"


def _create(bus: Bus, settings: v.CreateQueue) -> str:
    refuse_missing_kind(bus, settings)
    bus.expect(bus.do(settings), v.Done)
    return settings.queue


@given(
    parsers.re(r'a (?P<kind>partitioned|regular) destination "(?P<name>[^"]+)"(?: (?P<traits>.+))?')
)
def create_destination(bus: Bus, kind: str, name: str, traits: str | None) -> None:
    """Create a queue that others will forward to."""
    _create(bus, queue_settings(name, kind, traits or ""))


@given(
    parsers.re(r'a (?P<kind>partitioned|regular) source of "(?P<name>[^"]+)"(?: (?P<traits>.+))?'),
    target_fixture="queue",
)
def create_source(bus: Bus, kind: str, name: str, traits: str | None) -> str:
    """Create a queue that forwards; the next steps use it."""
    return _create(bus, queue_settings(SOURCE, kind, traits or "", forward_to=name))


@when(
    parsers.re(
        r'a (?P<kind>partitioned|regular) source of "(?P<name>[^"]+)" is tried(?: (?P<traits>.+))?'
    ),
    target_fixture="outcome",
)
def tries_source(bus: Bus, kind: str, name: str, traits: str | None) -> v.Outcome:
    """Try to create a queue that forwards."""
    return bus.do(queue_settings(SOURCE, kind, traits or "", forward_to=name))


@when(parsers.parse('the queue is changed to forward to "{name}"'), target_fixture="outcome")
@when(parsers.parse('the source is changed to forward to "{name}"'), target_fixture="outcome")
def redirects(bus: Bus, queue: str, name: str) -> v.Outcome:
    """Try to make the queue forward."""
    return bus.do(v.UpdateQueue(queue=queue, forward_to=name))


@when("the source is changed to forward no more", target_fixture="outcome")
def ends_forwarding(bus: Bus, queue: str) -> v.Outcome:
    """Try to stop the queue's forwarding."""
    return bus.do(v.UpdateQueue(queue=queue, forward_to=""))


@given(
    parsers.re(
        r'a (?P<kind>partitioned|regular) source of dead letters for "(?P<name>[^"]+)"'
        r"(?: (?P<traits>.+))?"
    ),
    target_fixture="queue",
)
def create_burying(bus: Bus, kind: str, name: str, traits: str | None) -> str:
    """Create a queue that forwards its dead letters; the next steps use it."""
    settings = queue_settings(SOURCE, kind, traits or "")
    return _create(bus, attrs.evolve(settings, forward_dead_letters_to=name))


@when(parsers.parse('a source of dead letters for "{name}" is tried'), target_fixture="outcome")
def tries_burying(bus: Bus, name: str) -> v.Outcome:
    """Try to create a queue that forwards its dead letters."""
    return bus.do(v.CreateQueue(queue=SOURCE, partitioned=True, forward_dead_letters_to=name))


@given(parsers.parse('subscription "{name}" whose dead letters go to "{destination}"'))
def subscribe_burying(bus: Bus, name: str, destination: str) -> None:
    """Create a subscription that forwards its dead letters."""
    settings = v.CreateSubscription(
        topic=TOPIC, subscription=name, forward_dead_letters_to=destination
    )
    bus.expect(bus.do(settings), v.Done)


@when("senders turn to the source", target_fixture="queue")
def turn_to_source() -> str:
    """Use the source in the next steps."""
    return SOURCE


@given(
    parsers.parse('a chain of {hops:d} {kind} queues that ends in "{name}"'), target_fixture="queue"
)
def create_chain(bus: Bus, hops: int, kind: str, name: str) -> str:
    """Create queues that forward one to the next; the next steps use the first."""
    for number in range(1, hops + 1):
        queue = _create(bus, queue_settings(f"hop-{number}", kind, "", forward_to=name))
        name = queue
    return name


@given(parsers.parse('subscription "{name}" forwards to "{destination}"'))
def subscribe_forwarding(bus: Bus, name: str, destination: str) -> None:
    """Create a subscription that forwards its messages."""
    settings = v.CreateSubscription(topic=TOPIC, subscription=name, forward_to=destination)
    bus.expect(bus.do(settings), v.Done)


@when(parsers.parse('receivers turn to "{name}"'), target_fixture="queue")
def turn_to(views: list[v.MessageView], name: str) -> str:
    """Use this queue in the next steps, and forget the messages received before."""
    views.clear()
    return name


@when(parsers.parse("messages are awaited until there are {number:d}"))
@when(parsers.parse("a message is awaited until there is {number:d}"))
@waiting
def awaits(bus: Bus, queue: str, views: list[v.MessageView], number: int) -> None:
    """Receive and complete until this many messages have arrived, then once more for any excess."""
    for _ in bus.tries():
        views.extend(bus.received(queue))
        if len(views) >= number:
            break
    bus.pass_time(v.MICROSECONDS)
    views.extend(bus.received(queue))


@when(parsers.parse('messages of session "{session_id}" are awaited until there are {number:d}'))
@waiting
def awaits_session(
    bus: Bus, queue: str, views: list[v.MessageView], session_id: str, number: int
) -> None:
    """Receive and complete in a session until this many have arrived, then once more."""
    views.extend(bus.awaited(queue, number - len(views), session_id=session_id))
    views.extend(bus.received(queue, session_id=session_id))
