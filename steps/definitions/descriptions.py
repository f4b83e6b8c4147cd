"""Steps that check the descriptions and lists of queues, topics and subscriptions."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from pytest_bdd import parsers, then

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import QUEUE
from busproof.steps.patience import until, until_topic
from busproof.steps.sentences import ENTITY, KIND, TOPIC, entity_path
from busproof.steps.wording import queue_settings, seconds

SETTINGS: Final = (
    "partitioned",
    "requires_session",
    "duplicate_detection",
    "lock_duration",
    "max_delivery_count",
    "time_to_live",
)
"""Settings that are given at creation and appear in a description."""
SIZES: Final = {
    v.Tier.STANDARD: (1, 2, 3, 4, 5),
    v.Tier.PREMIUM: (1, 2, 3, 4, 5, 10, 20, 40, 80),
}
"""Sizes that an entity can have, in GB, by tier."""
WORDED: Final[dict[str, Callable[[list[int]], dict[str, object]]]] = {
    "partitioned": lambda _: {"partitioned": True},
    "regular": lambda _: {"partitioned": False},
    "requiring sessions": lambda _: {"requires_session": True},
    "requiring no sessions": lambda _: {"requires_session": False},
    "detecting duplicates": lambda _: {"duplicate_detection": True},
    "detecting no duplicates": lambda _: {"duplicate_detection": False},
    "detecting duplicates over # seconds": lambda numbers: {
        "duplicate_window": seconds(numbers[0]),
        "duplicate_detection": True,
    },
    "locks of # seconds": lambda numbers: {"lock_duration": seconds(numbers[0])},
    "a time to live of # seconds": lambda numbers: {"time_to_live": seconds(numbers[0])},
    "# GB": lambda numbers: {"max_size": numbers[0]},
    "# messages": lambda numbers: {"message_count": numbers[0]},
    "# dead letters of transfers": lambda numbers: {"transfer_dead_letters": numbers[0]},
    "# subscriptions": lambda numbers: {"subscription_count": numbers[0]},
    "available": lambda _: {"availability": v.Availability.AVAILABLE},
    "limited": lambda _: {"availability": v.Availability.LIMITED},
}
"""What a description may say, with `#` for numbers; the first field is one that must be there."""


def _fields(what: str) -> dict[str, object]:
    """Return the fields of a description that a text is about, with their values."""
    wording = re.sub(r"\d+", "#", re.sub("message$", "messages", what))
    if wording not in WORDED:
        raise ValueError(f"{what!r} is nothing that is described: {', '.join(WORDED)}")
    return WORDED[wording]([int(number) for number in re.findall(r"\d+", what)])


@then(
    parsers.re(
        rf"(?P<eventually>in the end )?(?P<entity>{ENTITY}) is described (?:as|with) "
        r"(?P<what>[^,]+?)(?: (?P<each>for each partition)|, or (?P<other>[^,]+))?"
    )
)
def describes(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    eventually: str | None,
    entity: str,
    what: str,
    each: str | None,
    other: str | None,
) -> None:
    """Check what the description says, in the end possibly after a delay (GET-LAG)."""
    permitted = [_fields(what)]
    if each:
        permitted = [_in_all_partitions(bus, permitted[0])]
    elif other == "that of all partitions":
        # Only where SIZE-04 is stated, the documents say which one is told.
        told = permitted if "SIZE-04" in bus.profile.silent else []
        permitted = [*told, _in_all_partitions(bus, permitted[0])]
    elif other and other.endswith(" if it was refused"):
        if isinstance(request.getfixturevalue("outcome"), v.Refused):
            permitted = [_fields(other.removesuffix(" if it was refused"))]
    elif other:
        permitted.append(_fields(other))

    def holds(description: Any) -> bool:
        return any(
            all(getattr(description, name) == value for name, value in fields.items())
            for fields in permitted
        )

    field = next(iter(permitted[0]))
    if field == "availability":
        bus.need(v.Capability.AVAILABILITY)
    description = _description(
        bus, entity, entity_path(request, entity), field, holds if eventually else _always
    )
    assert holds(description), description


def _in_all_partitions(bus: BusUnderTest, fields: dict[str, Any]) -> dict[str, object]:
    """Return a size that is described as the sum over all partitions."""
    return {name: value * bus.profile.partitions for name, value in fields.items()}


def _always(_: object) -> bool:
    return True


def _description(
    bus: BusUnderTest, entity: str, path: str, field: str, holds: Callable[[Any], bool]
) -> v.QueueDescription | v.TopicDescription:
    """Return the description of an entity once it holds, or after the last attempt."""
    if entity == "the topic":
        return until_topic(bus, path, field, holds)
    return until(bus, path, field, holds)


@then(parsers.re(rf"it is described as {KIND}, (?P<traits>(?:with|that) .+)"))
def describes_all(bus: BusUnderTest, queue: str, kind: str, traits: str) -> None:
    """Check these settings in the queue's description, and the defaults of the others."""
    wanted = queue_settings(queue, kind, traits)

    def holds(description: v.QueueDescription) -> bool:
        return all(getattr(description, name) in (None, getattr(wanted, name)) for name in SETTINGS)

    description = until(bus, queue, "lock_duration", holds)
    assert holds(description), description


@then(parsers.re(rf"it is refused, or (?P<entity>the queue|the topic) is described as {KIND}"))
def is_of_kind(bus: BusUnderTest, outcome: v.Outcome, entity: str, kind: str) -> None:
    """Check that the entity was refused, or that its description says whether it is partitioned."""
    assert isinstance(outcome, v.Done | v.Refused), outcome
    if isinstance(outcome, v.Done):
        path = TOPIC if entity == "the topic" else QUEUE
        description = _description(bus, entity, path, "partitioned", _always)
        assert description.partitioned is (kind == "partitioned"), description


@then(parsers.re(rf"it is refused, or the {KIND} (?P<entity>queue|topic) has a size of the tier"))
def has_lawful_size(bus: BusUnderTest, outcome: v.Outcome, entity: str, kind: str) -> None:
    """Check that an entity has a size of its tier, as a whole or per partition, or was refused."""
    if isinstance(outcome, v.Refused):
        return
    assert isinstance(outcome, v.Done), outcome
    path = TOPIC if entity == "topic" else QUEUE
    whole_size = _description(bus, f"the {entity}", path, "max_size", _always).max_size or 0
    parts = bus.profile.partitions if kind == "partitioned" else 1
    # Not each edition says whether the size of a partitioned entity is told as a whole (SIZE-04).
    told = (parts, 1) if "SIZE-04" in bus.profile.silent else (parts,)
    assert whole_size in {part * size for size in SIZES[bus.profile.tier] for part in told}


@then(parsers.parse("at most {number:d} messages are counted, or it is refused"))
def counts_at_most(bus: BusUnderTest, queue: str, number: int) -> None:
    """Check the maximum message count; messages in partitions that are down may be missing."""
    outcome = bus.do(v.GetQueue(queue=queue))
    assert isinstance(outcome, v.Described | v.Refused), outcome
    count = outcome.description.message_count if isinstance(outcome, v.Described) else None
    assert count is None or count <= number, outcome


@then(parsers.re(r"the list of (?P<what>queues|topics|subscriptions) names (?P<names>.+)"))
def lists(bus: BusUnderTest, what: str, names: str) -> None:
    """Check that the list contains exactly these queues, topics or subscriptions, each once."""
    commands: dict[str, v.Command] = {
        "queues": v.ListQueues(),
        "topics": v.ListTopics(),
        "subscriptions": v.ListSubscriptions(topic=TOPIC),
    }
    outcome = bus.do(commands[what])
    assert isinstance(outcome, v.Listed), outcome
    assert sorted(outcome.names) == ([] if names == "none" else sorted(names.split(" and ")))
