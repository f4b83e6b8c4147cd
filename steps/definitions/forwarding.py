"""Steps for queues and subscriptions that forward.

The documents do not say when a forwarded message arrives, so receives are repeated.
"""

from typing import Final

import attrs
from pytest_bdd import given, parsers, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import refuse_missing_kind
from busproof.steps.sentences import KIND, SOURCE, sentence
from busproof.steps.waiting import waiting
from busproof.steps.wording import queue_settings

_SOURCE: Final = rf'a {KIND} source of (?P<dead>dead letters for )?"(?P<name>[^"]+)"'


def _create(bus: BusUnderTest, settings: v.CreateQueue) -> str:
    refuse_missing_kind(bus, settings)
    bus.expect(bus.do(settings), v.Done)
    return settings.queue


@given(
    parsers.re(r'a (?P<kind>partitioned|regular) destination "(?P<name>[^"]+)"(?: (?P<traits>.+))?')
)
def create_destination(bus: BusUnderTest, kind: str, name: str, traits: str | None) -> None:
    """Create a queue that others will forward to."""
    _create(bus, queue_settings(name, kind, traits or ""))


@given(parsers.re(rf"{_SOURCE}(?: (?P<traits>.+))?"), target_fixture="queue")
def create_source(
    bus: BusUnderTest, kind: str, dead: str | None, name: str, traits: str | None
) -> str:
    """Create a queue that forwards its messages or dead letters; the next steps use it."""
    return _create(bus, _source(kind, dead, name, traits))


def _source(kind: str, dead: str | None, name: str, traits: str | None) -> v.CreateQueue:
    """Return the settings of a queue that forwards to this one."""
    if dead is None:
        return queue_settings(SOURCE, kind, traits or "", forward_to=name)
    settings = queue_settings(SOURCE, kind, traits or "")
    return attrs.evolve(settings, forward_dead_letters_to=name)


@given(
    parsers.parse('a chain of {hops:d} {kind} queues that ends in "{name}"'), target_fixture="queue"
)
def create_chain(bus: BusUnderTest, hops: int, kind: str, name: str) -> str:
    """Create queues that forward one to the next; the next steps use the first."""
    for number in range(1, hops + 1):
        queue = _create(bus, queue_settings(f"hop-{number}", kind, "", forward_to=name))
        name = queue
    return name


@when(sentence("messages are awaited until there {is:Tense} {number:d}"))
@waiting
def awaits(bus: BusUnderTest, queue: str, views: list[v.MessageView], number: int) -> None:
    """Receive and complete until this many messages have arrived, then once more for any excess."""
    for _ in bus.tries():
        views.extend(bus.received(queue))
        if len(views) >= number:
            break
    bus.pass_time(v.MICROSECONDS)
    views.extend(bus.received(queue))
