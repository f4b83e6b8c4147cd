"""Steps for messages that cannot be forwarded to queues that are disabled, deleted or full."""

from pytest_bdd import parsers, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import SOURCE
from busproof.steps.waiting import waiting


@when(
    parsers.re(
        "a message is awaited among the dead letters of the source"
        '(?: and of "(?P<name>[^"]+)"|, unless it is in "(?P<full>[^"]+)")?'
    )
)
@waiting
def awaits_undeliverable(
    bus: BusUnderTest, views: list[v.MessageView], name: str | None, full: str | None
) -> None:
    """Receive from all dead-letter queues of the source, and of another one, until one arrives.

    Raises:
        NotApplicable: a full destination had room for it, since it may be full one message later.
    """
    _await_messages(bus, views, (SOURCE, name) if name else (SOURCE,))
    if views or full is None:
        return
    found = bus.awaited(full, len(bus.sent))
    if bus.sent[-1].body in {view.body for view in found}:
        raise NotApplicable(f"sizes: {full} had room for one message more")
    _await_messages(bus, views, (SOURCE,))


def _await_messages(bus: BusUnderTest, views: list[v.MessageView], names: tuple[str, ...]) -> None:
    bus.need(v.Capability.TRANSFER_DEAD_LETTER)
    for _ in bus.tries():
        for name in names:
            for suffix in v.DEAD_LETTER_SUFFIXES:
                views.extend(bus.received(name + suffix))
        if views:
            return
