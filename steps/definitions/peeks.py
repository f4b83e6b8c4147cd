"""Steps that peek: at one message, at several, or after the last one shown."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import sentence


def _peeked(
    bus: BusUnderTest, queue: str, count: int, start: int | None = None
) -> tuple[v.MessageView, ...]:
    outcome = bus.do(v.Peek(queue=queue, count=count, from_sequence_number=start))
    bus.expect(outcome, v.Peeked)
    return outcome.messages if isinstance(outcome, v.Peeked) else ()


@when(sentence("up to {number:d} {messages:Messages} {is:Tense} peeked"), target_fixture="peeked")
def peeks_several(bus: BusUnderTest, queue: str, number: int) -> tuple[v.MessageView, ...]:
    """Peek at this number of messages."""
    return _peeked(bus, queue, number)


@when(parsers.parse("one message is peeked at, {number:d} times"), target_fixture="shown")
def peeks_often(bus: BusUnderTest, queue: str, number: int) -> list[v.MessageView]:
    """Peek at the first message several times."""
    return [view for _ in range(number) for view in _peeked(bus, queue, 1)]


@when(
    parsers.parse("they are peeked at, {count:d} at a time, each time from behind the last"),
    target_fixture="peeked",
)
def peeks_on(bus: BusUnderTest, queue: str, count: int) -> tuple[v.MessageView, ...]:
    """Peek on until as many messages were shown as were sent, or none is left.

    A bus that begins again each time is asked as often as there are messages.
    """
    bus.need(v.Capability.SEQUENCE_NUMBERS)
    by_body: dict[str, v.MessageView] = {}
    start = 0
    for _ in bus.sent:
        if len(by_body) == len(bus.sent):
            break
        command = v.Peek(queue=queue, count=count, from_sequence_number=start)
        views = bus.peeked(command)
        if not views:
            break
        by_body.update({view.body: view for view in views})
        start = max([start, *(1 + (view.sequence_number or 0) for view in views)])
    return tuple(by_body.values())


@then(
    parsers.re(
        r"(?:the message shown|(?P<first>the first of them, if there is one,)) is number "
        r"(?P<place>\d+) of those that were sent"
    ),
    converters={"place": int},
)
def shows_number(
    bus: BusUnderTest, peeked: tuple[v.MessageView, ...], first: str | None, place: int
) -> None:
    """Check which message is the only one shown, or the first one of a peek that shows any."""
    shown = [view.body for view in (peeked[:1] if first else peeked)]
    assert shown == [bus.sent[place - 1].body] or (first and not shown), shown


@then("each is the oldest of its partition")
def oldest_of_theirs(bus: BusUnderTest, queue: str, shown: list[v.MessageView]) -> None:
    """Check that each message shown is the oldest in its partition."""
    places = bus.located(queue, [message.body for message in bus.sent], None)
    first: dict[int, str] = {}
    for message, place in zip(bus.sent, places, strict=True):
        first.setdefault(place, message.body)
    assert {view.body for view in shown} <= set(first.values()), shown


@then("each is one of those that were sent")
def shows_only_sent(bus: BusUnderTest, shown: list[v.MessageView]) -> None:
    """Check that each message shown was sent; the service may show any of them."""
    assert {view.body for view in shown} <= {message.body for message in bus.sent}


@then("every message that was sent was shown")
def shows_all(bus: BusUnderTest, peeked: tuple[v.MessageView, ...]) -> None:
    """Check that every message was shown."""
    assert {view.body for view in peeked} == {message.body for message in bus.sent}
