"""Steps that peek: at one message, at several, or after the last one shown."""

from typing import Final

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import sentence

PEEKED_AT_ONCE: Final = 64


@when(
    sentence(
        "{limit:UpTo?}{messages:Messages}{session_id:Session?}{below:DeadLetters?} {is:Tense} "
        "peeked{times:Often?}"
    ),
    target_fixture="peeked",
)
def peeks(
    bus: BusUnderTest,
    queue: str,
    limit: int | None,
    session_id: str | None,
    below: str | None,
    times: int | None,
) -> tuple[v.MessageView, ...]:
    """Peek at the messages until some are shown; or this often at so many, which may show none."""
    command = v.Peek(
        queue=queue + (below or ""), count=limit or PEEKED_AT_ONCE, session_id=session_id
    )
    if limit is None:
        return bus.peeked(command)
    views: list[v.MessageView] = []
    for _ in range(times or 1):
        outcome = bus.do(command)
        bus.expect(outcome, v.Peeked)
        assert isinstance(outcome, v.Peeked)
        views.extend(outcome.messages)
    return tuple(views)


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


@then(
    parsers.re(
        "each message shown is (?P<what>one of those that were sent|the oldest of its partition)"
    )
)
def shows_only(bus: BusUnderTest, queue: str, peeked: tuple[v.MessageView, ...], what: str) -> None:
    """Check each message shown; the service may show any one, or the oldest of any partition."""
    bodies = [message.body for message in bus.sent]
    if what == "the oldest of its partition":
        first: dict[int, str] = {}
        for body, place in zip(bodies, bus.located(queue, bodies, None), strict=True):
            first.setdefault(place, body)
        bodies = [*first.values()]
    assert {view.body for view in peeked} <= {*bodies}, peeked


@then("every message that was sent was shown")
def shows_all(bus: BusUnderTest, peeked: tuple[v.MessageView, ...]) -> None:
    """Check that every message was shown."""
    assert {view.body for view in peeked} == {message.body for message in bus.sent}
