"""Steps that ask for what is as long or as large as a limit allows, or more."""

from typing import Final

from pytest_bdd import parsers, then, when

from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import refuse_where_missing
from busproof.steps.wording import seconds
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    CreateQueue,
    CreateTopic,
    GetSessionState,
    Schedule,
    Send,
    SetSessionState,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Outcome, Refused, Scheduled, SessionState
from busproof.vocabulary.values import Clock, Error, Tier

KEYS: Final = {
    "MessageId": "message_id",
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
}
LETTER: Final = "x"


def _long(bus: Bus, name: str, number: int) -> Message:
    """A message with so many characters in one of its keys."""
    return bus.message(**{KEYS[name]: LETTER * number})


@when(
    parsers.parse("{number:d} characters are sent as the {name} of a message"),
    target_fixture="outcome",
)
def sends_long(bus: Bus, queue: str, name: str, number: int) -> Outcome:
    """Send one message with a key of this length, whatever becomes of it."""
    return bus.send(Send(queue=queue, message=_long(bus, name, number)))


@when(
    parsers.parse("{number:d} characters are scheduled as the {name} of a message"),
    target_fixture="outcome",
)
def schedules_long(bus: Bus, queue: str, name: str, number: int) -> Outcome:
    """Schedule one message with a key of this length, whatever becomes of it."""
    return bus.do(Schedule(queue=queue, message=_long(bus, name, number), delay=seconds(1)))


@when(parsers.parse("a body of {number:d} bytes is sent"), target_fixture="outcome")
def sends_sized(bus: Bus, queue: str, number: int) -> Outcome:
    """Send one message with a body of this size, whatever becomes of it."""
    return bus.send(Send(queue=queue, message=bus.message(size=number)))


@when(
    parsers.parse(
        'a body of {number:d} bytes is sent in the transaction with PartitionKey "{key}"'
    ),
    target_fixture="outcome",
)
def sends_sized_in_transaction(
    bus: Bus, queue: str, number: int, key: str, transaction: str
) -> Outcome:
    """The same in the transaction."""
    message = bus.message(size=number, partition_key=key)
    return bus.send(Send(queue=queue, message=message, transaction=transaction))


@when(parsers.parse("a body of {number:d} bytes is scheduled"), target_fixture="outcome")
def schedules_sized(bus: Bus, queue: str, number: int) -> Outcome:
    """Schedule one message with a body of this size, whatever becomes of it."""
    return bus.do(Schedule(queue=queue, message=bus.message(size=number), delay=seconds(1)))


@when(
    parsers.parse("{number:d} properties of {size:d} bytes each are sent with a message"),
    target_fixture="outcome",
)
@when(
    parsers.parse("{number:d} property of {size:d} bytes is sent with a message"),
    target_fixture="outcome",
)
def sends_with_properties(bus: Bus, queue: str, number: int, size: int) -> Outcome:
    """Send one message with so many texts among its properties, whatever becomes of it."""
    properties = {f"p{place}": LETTER * size for place in range(number)}
    return bus.send(Send(queue=queue, message=bus.message(properties=properties)))


@when(
    parsers.re(
        r"a name of (?P<number>\d+) characters is given to a (?P<kind>partitioned|regular) queue"
    ),
    target_fixture="outcome",
)
def creates_long(bus: Bus, kind: str, number: str) -> Outcome:
    """Create a queue with a name of this length, whatever becomes of it."""
    queue = CreateQueue(queue=LETTER * int(number), partitioned=kind == "partitioned")
    refuse_where_missing(bus, queue)
    return bus.do(queue)


@when(
    parsers.re(
        r"a name of (?P<number>\d+) characters is given to a (?P<kind>partitioned|regular) topic"
    ),
    target_fixture="outcome",
)
def creates_long_topic(bus: Bus, kind: str, number: str) -> Outcome:
    """Create a topic with a name of this length, whatever becomes of it."""
    bus.need(Capability.TOPICS)
    if bus.profile.tier is Tier.BASIC:
        raise NotApplicable("tier: basic has no topics")
    topic = CreateTopic(topic=LETTER * int(number), partitioned=kind == "partitioned")
    refuse_where_missing(bus, CreateQueue(queue=topic.topic, partitioned=topic.partitioned))
    return bus.do(topic)


@when(
    parsers.parse("a message is sent to the name of {number:d} characters nevertheless"),
    target_fixture="outcome",
)
def sends_to_long(bus: Bus, number: int) -> Outcome:
    """Send one message to a queue with a name of this length, whether there is one or not."""
    return bus.send(Send(queue=LETTER * number, message=bus.message()))


@when(
    parsers.parse('session "{session_id}" is given a state of {number:d} characters'),
    target_fixture="outcome",
)
def gives_large_state(bus: Bus, queue: str, session_id: str, number: int) -> Outcome:
    """Store so much with a session, whatever becomes of it."""
    state = LETTER * number
    return bus.do(SetSessionState(queue=queue, session_id=session_id, state=state))


@then(parsers.parse('the state of session "{session_id}" has {number:d} characters'))
def has_large_state(bus: Bus, queue: str, session_id: str, number: int) -> None:
    """As much as this is stored with the session."""
    outcome = bus.do(GetSessionState(queue=queue, session_id=session_id))
    assert isinstance(outcome, SessionState), outcome
    assert len(outcome.state or "") == number


@then("it is refused because it is too large")
def is_too_large(outcome: Outcome) -> None:
    """The request was refused, for no message may be so large."""
    assert isinstance(outcome, Refused), outcome
    assert outcome.error is Error.MESSAGE_TOO_LARGE, outcome


@then("it is accepted, or refused because it is too large")
def is_taken_or_too_large(outcome: Outcome) -> None:
    """The entity takes such messages, or none so large."""
    if not isinstance(outcome, Done | Scheduled):
        is_too_large(outcome)


@when(
    parsers.parse(
        "a message and, when only {gap:d} of {window:d} seconds are over, its copy are sent, "
        "if there is a queue"
    ),
    target_fixture="taken",
)
def sends_copy_within(bus: Bus, maybe: str | None, gap: int, window: int) -> int:
    """Send a MessageId twice, well within the window; how many messages then come."""
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
def sends_copy_after(bus: Bus, maybe: str | None, gap: int) -> int:
    """Send a MessageId twice, so long apart; how many messages then come.

    Raises:
        NotApplicable: time passes by itself.
    """
    if bus.clock is Clock.REAL:
        raise NotApplicable("clock: nobody waits for days")
    if maybe is None:
        return 0
    _send_copy(bus, maybe)
    bus.pass_time(seconds(gap))
    _send_copy(bus, maybe)
    return len(bus.received(maybe))


def _send_copy(bus: Bus, queue: str) -> None:
    bus.expect(bus.send(Send(queue=queue, message=bus.message(message_id="x"))), Done)


@then(parsers.parse("{number:d} of the two is received, if there is a queue"))
@then(parsers.parse("{number:d} of the two are received, if there is a queue"))
def so_many_of_two(maybe: str | None, taken: int, number: int) -> None:
    """So many came, or there is no queue."""
    assert maybe is None or taken == number
