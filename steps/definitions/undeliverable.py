"""Steps for disabled and deleted queues, and for messages that cannot be forwarded to them."""

from pytest_bdd import parsers, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.receiving import PEEKED_AT_ONCE
from busproof.steps.sentences import SOURCE
from busproof.steps.waiting import waiting


@when(parsers.parse("a message is awaited among the dead letters of the source"))
@waiting
def awaits_undeliverable(bus: Bus, views: list[v.MessageView]) -> None:
    """Receive from both dead-letter queues of the source, with retries, until a message arrives."""
    _awaited(bus, views, (SOURCE,))


@when(parsers.parse('a message is awaited among the dead letters of the source and of "{name}"'))
@waiting
def awaits_dead_lettered(bus: Bus, views: list[v.MessageView], name: str) -> None:
    """Receive from the dead-letter queues of both queues, with retries, until a message arrives."""
    _awaited(bus, views, (SOURCE, name))


@when(
    parsers.parse(
        'a message is awaited among the dead letters of the source, unless it is in "{name}"'
    )
)
@waiting
def awaits_what_is_not_there(bus: Bus, views: list[v.MessageView], name: str) -> None:
    """Await the last message among the dead letters of the source.

    Raises:
        NotApplicable: its destination had room for it, since it may be full one message later.
    """
    _awaited(bus, views, (SOURCE,))
    if views:
        return
    found = bus.awaited(name, len(bus.sent))
    if bus.sent[-1].body in {view.body for view in found}:
        raise NotApplicable(f"sizes: {name} had room for one message more")
    _awaited(bus, views, (SOURCE,))


def _awaited(bus: Bus, views: list[v.MessageView], names: tuple[str, ...]) -> None:
    bus.need(v.Capability.TRANSFER_DEAD_LETTER)
    for _ in bus.tries():
        for name in names:
            for suffix in v.DEAD_LETTER_SUFFIXES:
                views.extend(bus.received(name + suffix))
        if views:
            return


@when("a receive of dead letters of transfers is tried")
def tries_transfers(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Try to receive from the transfer dead-letter queue, and remember a message that arrives."""
    outcome = bus.do(v.Receive(queue=queue + v.TRANSFERS, mode=v.ReceiveMode.RECEIVE_AND_DELETE))
    if isinstance(outcome, v.Received):
        views.append(outcome.message)


@when("dead letters of transfers are peeked", target_fixture="peeked")
def peeks_transfers(bus: Bus, queue: str) -> tuple[v.MessageView, ...]:
    """Peek at the transfer dead letters."""
    return bus.peeked(v.Peek(queue=queue + v.TRANSFERS, count=PEEKED_AT_ONCE))
