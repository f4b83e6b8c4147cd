"""Steps that fill a queue or one of its partitions, up to the storage quota.

A message declares the size of its body, and adapters that send real bytes pad it. Filling a GB
takes several thousand messages of a size that every tier accepts, but only about ten of the largest
size that any tier accepts. So the largest size is tried first, then smaller ones. Each message
stands in for several, so that a bus may accept it in spite of the limits on single messages
(LIMIT).
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs
import pytest
from pytest_bdd import given, parsers, step, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import Inconclusive, NotApplicable, NotConforming
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.descriptions import SIZES
from busproof.steps.definitions.receiving import settling
from busproof.steps.definitions.sending import READ, send_all
from busproof.steps.sentences import Fate, sentence, transaction_of
from busproof.steps.wording import Properties, properties, seconds

FILLERS: Final = (100_000_000, 900_000, 240_000)
"""Sizes of filling messages, in bytes: for some Premium, for all Premium, and for all tiers."""
GB: Final = 2**30
"""The largest meaning of a GB, in bytes."""
PAUSES: Final = (*(seconds(2**power) for power in range(6)), seconds(60), seconds(60))
"""Pauses between attempts while the bus frees space, in microseconds: as long as the judge waits
for what few attempts ask for."""
KEYS_TRIED: Final = 400
"""Maximum number of keys to try; on average as many as there are partitions suffice."""
DAY: Final = seconds(86_400)
Sending = Callable[[v.Message], v.Outcome]


@attrs.define
class Filled:
    """The messages that filled an entity, and the size of each; at first the largest."""

    taken: list[str] = attrs.field(factory=list)
    size: int = FILLERS[0]


@step(
    parsers.re(
        r"messages(?: (?P<carried>with .+?|without key))? (?:are|were) "
        r"(?P<fate>sent|scheduled|locked|abandoned|deferred|dead-lettered)"
        r"(?P<within> in the transaction)?"
        r" until (?:there (?:is|was) no room for (?P<room>more|their key)|no partition has room)"
    ),
    target_fixture="outcome",
)
def fills(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    filled: Filled,
    carried: str | None,
    fate: str,
    within: str | None,
    room: str | None,
) -> v.Outcome:
    """Send messages until one is refused, and return that answer; settle each message at once.

    If all were scheduled, which may take no room, try to send one. For no partition to have room,
    many in a row have to be refused.
    """
    if room == "their key":
        _need_full_partition(bus, within)
    queue = str(request.getfixturevalue("queue"))
    transaction = transaction_of(request, within)

    def send(message: v.Message) -> v.Outcome:
        if fate == "scheduled":
            outcome = bus.do(v.Schedule(queue=queue, message=message, delay=DAY))
            return v.Done() if isinstance(outcome, v.Scheduled) else outcome
        outcome = bus.send(v.Send(queue=queue, message=message, transaction=transaction))
        if isinstance(outcome, v.Done) and fate != "sent":
            _deal_with(bus, queue, fate)
        return outcome

    bus.need(NEEDED.get(fate, v.Capability.DISPOSABLE_NAMESPACE))
    if room is None:
        return _fill_partitions(bus, send, properties(carried or "without key"))
    outcome, latest = _fill(bus, queue, send, properties(carried or "without key"))
    filled.taken = latest.taken
    filled.size = latest.size
    if within and filled.size < FILLERS[0]:
        raise NotApplicable("sizes: no transaction takes so many messages of this size")
    if fate == "scheduled" and isinstance(outcome, v.Done):
        return bus.send(v.Send(queue=queue, message=_large(bus, Properties({}), filled.size)))
    return outcome


def _fill_partitions(bus: BusUnderTest, send: Sending, carried: Properties) -> v.Outcome:
    """Send until many in a row are refused, far beyond what fits; return the last answer.

    A full partition may be chosen and refuse a message while another one still has room.
    """
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    in_a_row = 4 * bus.profile.partitions
    for _ in range(10 * GB // FILLERS[0]):
        messages = [_large(bus, carried, FILLERS[0]) for _ in range(in_a_row)]
        outcomes = [not_too_large(send(message)) for message in messages]
        if not any(isinstance(outcome, v.Done) for outcome in outcomes):
            break
    return outcomes[-1]


NEEDED: Final = {
    "locked": v.Capability.PEEK_LOCK,
    "abandoned": v.Capability.PEEK_LOCK,
    "deferred": v.Capability.DEFERRAL,
    "dead-lettered": v.Capability.DEAD_LETTER,
}


def _need_full_partition(bus: BusUnderTest, within: str | None) -> None:
    """Require that a single partition becomes full.

    Raises:
        NotApplicable: it need not.
    """
    if bus.profile.readings.get("FULL-PARTITION", "per-partition") != "per-partition":
        raise NotApplicable("reading: a partition need not be full before its entity")
    if "SIZE-07" in bus.profile.silent and not within:
        raise NotApplicable("edition: it does not say how large a partition is")


def _deal_with(bus: BusUnderTest, queue: str, fate: str) -> None:
    """Lock the only message, and settle it if the step says so."""
    view = bus.kept(queue)
    if fate != "locked":
        bus.expect(bus.do(settling(queue, view, Fate.of(fate))), v.Done)


def _large(bus: BusUnderTest, carried: Properties, size: int) -> v.Message:
    """Return a large message, which stands in for several smaller ones."""
    return attrs.evolve(carried.message(bus), size=size, stands_in=True)


def _fill(
    bus: BusUnderTest, queue: str, send: Sending, carried: Properties
) -> tuple[v.Outcome, Filled]:
    """Send until a refusal or until surely full; return the last answer and the messages.

    A bus may notice one message late that it is full (SIZE-10).
    """
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    filled = Filled()
    outcome: v.Outcome = v.Done()
    room = GB * (bus.settings[queue].max_size or _default_size(bus))
    while (len(filled.taken) - 1) * filled.size <= room and isinstance(outcome, v.Done):
        outcome, message = _send_sized(bus, send, carried, filled.size)
        filled.size = message.size or 0
        if isinstance(outcome, v.Done):
            filled.taken.append(message.body)
    return outcome, filled


def _default_size(bus: BusUnderTest) -> int:
    """SIZE-03, PREM-09: return the greatest size in GB that an entity may have if none was asked.

    Where no document says which one it is, it may be any.
    """
    profile = bus.profile
    rule = "PREM-09" if profile.tier is v.Tier.PREMIUM else "SIZE-03"
    is_stated = rule not in profile.silent and not profile.is_partitioned
    return 1 if is_stated else SIZES[v.Tier.PREMIUM][-1]


def _send_sized(
    bus: BusUnderTest, send: Sending, carried: Properties, size: int
) -> tuple[v.Outcome, v.Message]:
    """Send a message of at most this size; return the answer, and the message if not too large."""
    for smaller in _sizes(size):
        message = attrs.evolve(carried.message(bus), size=smaller, stands_in=True)
        outcome = send(message)
        if not (isinstance(outcome, v.Refused) and outcome.error is v.Error.MESSAGE_TOO_LARGE):
            return outcome, message
    raise NotConforming(f"a message of {FILLERS[-1]} bytes is too large, and every tier takes it")


def _sizes(size: int) -> Iterator[int]:
    return (filler for filler in FILLERS if filler <= size)


@given(
    parsers.re(
        r'a key "(?P<name>[^"]+)" in (?P<where>another partition than|the same partition as) '
        r'"(?P<key>[^"]+)"'
    )
)
def find_key(bus: BusUnderTest, queue: str, name: str, where: str, key: str) -> None:
    """Find a key by sending messages, and let a name stand for it in the next steps.

    Raises:
        NotApplicable: there is none.
    """
    bus.need(v.Capability.WITNESS)
    first = _partition_of(bus, queue, key)
    candidates = (f"key-{number}" for number in range(KEYS_TRIED))
    for candidate in candidates:
        is_same = _partition_of(bus, queue, candidate) == first
        if is_same is (where == "the same partition as"):
            bus.keys[name] = candidate
            bus.received(queue)
            bus.sent.clear()
            return
    raise NotApplicable(f"partitions: no key of {KEYS_TRIED} is in {where} {key!r}")


def _partition_of(bus: BusUnderTest, queue: str, key: str) -> int:
    send_all(bus, queue, 1, Properties({"PartitionKey": key}))
    return bus.located(queue, [bus.sent[-1].body], None)[0]


@when(
    sentence("a large message {carried} is sent{within:Within?}"),
    converters=READ,
    target_fixture="outcome",
)
def sends_large(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    queue: str,
    filled: Filled,
    carried: Properties,
    within: str | None,
) -> v.Outcome:
    """Try to send a message as large as those that filled the entity."""
    message = _large(bus, carried, filled.size)
    transaction = transaction_of(request, within)
    return bus.send(v.Send(queue=queue, message=message, transaction=transaction))


@when(
    sentence("{number:d} large messages {carried} are sent{within:Within?}"),
    converters=READ,
    target_fixture="outcomes",
)
def sends_several_large(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    filled: Filled,
    number: int,
    carried: Properties,
    within: str | None,
) -> list[v.Outcome]:
    """Send several large messages; in a transaction each must be accepted."""
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    queue = str(request.getfixturevalue("queue"))
    outcomes = []
    for _ in range(number):
        outcomes.append(sends_large(request, bus, queue, filled, carried, within))
        not_too_large(outcomes[-1])
        if within:
            bus.expect(outcomes[-1], v.Done)
    return outcomes


def not_too_large(outcome: v.Outcome) -> v.Outcome:
    """Return an answer to a large message.

    Raises:
        NotApplicable: the message is too large.
    """
    if isinstance(outcome, v.Refused) and outcome.error is v.Error.MESSAGE_TOO_LARGE:
        raise NotApplicable(f"sizes: no message has {FILLERS[0]} bytes, and others are too many")
    return outcome


@then(
    sentence(
        "{patiently:InTheEnd?}{number:Number} large {messages:Messages} {carried} {has:Has} room"
    ),
    converters=READ,
)
def large_have_room(
    bus: BusUnderTest,
    queue: str,
    filled: Filled,
    patiently: str | None,
    number: int,
    carried: Properties,
) -> None:
    """Check that this number of large messages is accepted, in the end each after a delay."""
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    for _ in range(number):
        if patiently:
            _is_taken_in_the_end(bus, queue, filled, carried)
        else:
            send = v.Send(queue=queue, message=_large(bus, carried, filled.size))
            outcome = not_too_large(bus.send(send))
            assert isinstance(outcome, v.Done), outcome


def _is_taken_in_the_end(
    bus: BusUnderTest, queue: str, filled: Filled, carried: Properties
) -> None:
    """Check that there is space again, perhaps after a delay (ROOM-DELAY).

    Raises:
        Inconclusive: there is none yet, but the reading permits any delay.
    """
    for pause in (None, *PAUSES):
        if pause is not None:
            bus.wait(pause)
        outcome = bus.send(v.Send(queue=queue, message=_large(bus, carried, filled.size)))
        if isinstance(outcome, v.Done):
            return
    if bus.profile.readings.get("ROOM-DELAY") == "unbounded":
        raise Inconclusive("there is no room yet, and by ROOM-DELAY=unbounded it is never too late")
    raise AssertionError(outcome)


@then("every message that was taken was received")
def all_received(filled: Filled, views: list[v.MessageView]) -> None:
    """Check that a full queue delivers all its messages."""
    assert {view.body for view in views} == set(filled.taken), views
