"""Steps for requests at the limits of lengths and sizes, and beyond."""

from typing import Final

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import basic_has_no_topics, refuse_where_missing
from busproof.steps.waiting import waiting
from busproof.steps.wording import seconds

TOO_LARGE: Final = {
    v.Tier.BASIC: 256 * 1024 + 1,
    v.Tier.STANDARD: 256 * 1024 + 1,
    v.Tier.PREMIUM: 100 * 1024 * 1024 + 1,
}
"""LIMIT-02, LIMIT-04: size of a body that each tier refuses, in bytes."""

KEYS: Final = {
    "MessageId": "message_id",
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
}
LETTER: Final = "x"


def _long(bus: Bus, name: str, number: int) -> v.Message:
    """Return a message with a key of this length."""
    return bus.message(**{KEYS[name]: LETTER * number})


@when(
    parsers.parse("{number:d} characters are sent as the {name} of a message"),
    target_fixture="outcome",
)
def sends_long(bus: Bus, queue: str, name: str, number: int) -> v.Outcome:
    """Try to send one message with a key of this length."""
    return bus.send(v.Send(queue=queue, message=_long(bus, name, number)))


@when(
    parsers.parse("{number:d} characters are scheduled as the {name} of a message"),
    target_fixture="outcome",
)
def schedules_long(bus: Bus, queue: str, name: str, number: int) -> v.Outcome:
    """Try to schedule one message with a key of this length."""
    return bus.do(v.Schedule(queue=queue, message=_long(bus, name, number), delay=seconds(1)))


@when(parsers.parse("a body of {number:d} bytes is sent"), target_fixture="outcome")
def sends_sized(bus: Bus, queue: str, number: int) -> v.Outcome:
    """Try to send one message with a body of this size."""
    return bus.send(v.Send(queue=queue, message=bus.message(size=number)))


@when(
    parsers.parse(
        'a body larger than the tier takes is sent in the transaction with PartitionKey "{key}"'
    ),
    target_fixture="outcome",
)
def sends_too_large_in_transaction(bus: Bus, queue: str, key: str, transaction: str) -> v.Outcome:
    """Try to send one message with a body that is too large in the transaction."""
    message = bus.message(size=TOO_LARGE[bus.profile.tier], partition_key=key)
    return bus.send(v.Send(queue=queue, message=message, transaction=transaction))


@when("a body larger than the tier takes is scheduled", target_fixture="outcome")
def schedules_too_large(bus: Bus, queue: str) -> v.Outcome:
    """Try to schedule one message with a body that is too large."""
    message = bus.message(size=TOO_LARGE[bus.profile.tier])
    return bus.do(v.Schedule(queue=queue, message=message, delay=seconds(1)))


@when(
    parsers.parse("{number:d} properties of {size:d} bytes each are sent with a message"),
    target_fixture="outcome",
)
@when(
    parsers.parse("{number:d} property of {size:d} bytes is sent with a message"),
    target_fixture="outcome",
)
def sends_with_properties(bus: Bus, queue: str, number: int, size: int) -> v.Outcome:
    """Try to send one message with this number of application properties of this size."""
    properties = {f"p{place}": LETTER * size for place in range(number)}
    return bus.send(v.Send(queue=queue, message=bus.message(properties=properties)))


@when(
    parsers.re(
        r"a name of (?P<number>\d+) characters is given to a (?P<kind>partitioned|regular) queue"
    ),
    target_fixture="outcome",
)
def creates_long(bus: Bus, kind: str, number: str) -> v.Outcome:
    """Try to create a queue with a name of this length."""
    queue = v.CreateQueue(queue=LETTER * int(number), partitioned=kind == "partitioned")
    refuse_where_missing(bus, queue)
    return bus.do(queue)


@when(
    parsers.re(
        r"a name of (?P<number>\d+) characters is given to a (?P<kind>partitioned|regular) topic"
    ),
    target_fixture="outcome",
)
def creates_long_topic(bus: Bus, kind: str, number: str) -> v.Outcome:
    """Try to create a topic with a name of this length."""
    bus.need(v.Capability.TOPICS)
    basic_has_no_topics(bus)
    topic = v.CreateTopic(topic=LETTER * int(number), partitioned=kind == "partitioned")
    refuse_where_missing(bus, v.CreateQueue(queue=topic.topic, partitioned=topic.partitioned))
    return bus.do(topic)


@when(
    parsers.parse("a message is sent to the name of {number:d} characters nevertheless"),
    target_fixture="outcome",
)
def sends_to_long(bus: Bus, number: int) -> v.Outcome:
    """Try to send one message to a queue with a name of this length, which may not exist."""
    return bus.send(v.Send(queue=LETTER * number, message=bus.message()))


@when(
    parsers.parse('session "{session_id}" is given a state of {number:d} characters'),
    target_fixture="outcome",
)
def gives_large_state(bus: Bus, queue: str, session_id: str, number: int) -> v.Outcome:
    """Try to set a session state of this length."""
    state = LETTER * number
    return bus.do(v.SetSessionState(queue=queue, session_id=session_id, state=state))


@then(parsers.parse('the state of session "{session_id}" has {number:d} characters'))
def has_large_state(bus: Bus, queue: str, session_id: str, number: int) -> None:
    """Check the length of the session state."""
    outcome = bus.do(v.GetSessionState(queue=queue, session_id=session_id))
    assert isinstance(outcome, v.SessionState), outcome
    assert len(outcome.state or "") == number


@when(
    parsers.parse(
        "a message and, when only {gap:d} of {window:d} seconds are over, its copy are sent, "
        "if there is a queue"
    ),
    target_fixture="taken",
)
@waiting
def sends_copy_within(bus: Bus, maybe: str | None, gap: int, window: int) -> int:
    """Send a MessageId twice within the window; return the number of messages received."""
    if maybe is None:
        return 0
    _send_copy(bus, maybe)
    bus.pass_only(seconds(gap), seconds(window))
    _send_copy(bus, maybe)
    return len(bus.received(maybe))


@when(
    parsers.parse(
        "a message and, when {gap:d} seconds are over, its copy are sent, if there is a queue"
    ),
    target_fixture="taken",
)
@waiting
def sends_copy_after(bus: Bus, maybe: str | None, gap: int) -> int:
    """Send a MessageId twice with a gap in between; return the number of messages received.

    Raises:
        NotApplicable: the clock is real, and the gap may be days.
    """
    if bus.clock is v.Clock.REAL:
        raise NotApplicable("clock: nobody waits for days")
    if maybe is None:
        return 0
    _send_copy(bus, maybe)
    bus.pass_time(seconds(gap))
    _send_copy(bus, maybe)
    return len(bus.received(maybe))


def _send_copy(bus: Bus, queue: str) -> None:
    bus.expect(bus.send(v.Send(queue=queue, message=bus.message(message_id="x"))), v.Done)


@then(parsers.parse("{number:d} of the two is received, if there is a queue"))
@then(parsers.parse("{number:d} of the two are received, if there is a queue"))
def so_many_of_two(maybe: str | None, taken: int, number: int) -> None:
    """Check the number of messages received, if the queue exists."""
    assert maybe is None or taken == number
