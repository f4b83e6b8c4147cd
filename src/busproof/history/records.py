"""Records of a history file: a header, then scenarios, each with its events."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, cast

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import PROTOCOL, TaggedUnion, declare_union, reader_of
from busproof.history.converters import ALWAYS, freeze_map

__all__ = [
    "AGAIN",
    "EXPLORATION",
    "METAMORPHIC",
    "REPEATED",
    "SENTENCE",
    "Began",
    "Ended",
    "Header",
    "History",
    "Oracle",
    "Record",
    "Scenario",
    "ScenarioVerdict",
    "Started",
    "StepResult",
    "read_record",
]


EXPLORATION: Final = "exploration"
"""Feature of a sequence that the exploration generated."""

METAMORPHIC: Final = "exploration, metamorphic"
"""Feature of a scenario's sequence with other entities or in other circumstances."""

AGAIN: Final = "exploration, once more"
"""Feature of a replay that confirms a failure, after the failure was shrunk."""

REPEATED: Final = "repeated"
"""Feature of another attempt at a scenario that missed an answer, or showed nothing."""


class Oracle(StrEnum):
    """Kind of oracle that judges: strict (sees partitions) or client (does not)."""

    STRICT = "strict"
    CLIENT = "client"


class ScenarioVerdict(StrEnum):
    """End of a scenario, such as `passed`."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    ERRORED = "errored"
    NOT_APPLICABLE = "not-applicable"


@attrs.frozen(kw_only=True)
class Began:
    """What was there before a history that begins in the middle.

    The contents of its entities are unknown then: messages, locks, sessions and copies. The history
    must have every request that was answered after it began, or that was never answered.

    Attributes:
        names: the queues and topics that existed before; empty for all that are used before
            they are created.
        settings: for entities with known settings, the commands that would create them.
    """

    names: tuple[str, ...] = ()
    settings: tuple[v.Command, ...] = ()


@attrs.frozen(kw_only=True)
class Header:
    """The first record: the implementation, its profile, and what an observer sees of it.

    Attributes:
        protocol: the version of the wire format.
        busproof: the version of busproof that wrote the history; empty if another program did.
        adapter: the name of the adapter, as `--adapter` takes it.
        oracle: the oracle that judged the run, if one did.
        implementation: name, version and other facts about the implementation.
        capabilities: the adapter's declared capabilities.
        clock: whether time was virtual or real.
        slack: how much earlier or later than announced a timer may have fired, in microseconds.
        profile: the profile of the namespace.
        seed: the seed of the run's random choices, if there were any.
        planned: how many scenarios the run was to record, if known.
        rules: the rules and families that the run was limited to; empty if it was not limited.
        began: what was there before; `None` if the history creates every entity that it uses.
    """

    protocol: int = attrs.field(default=PROTOCOL, metadata=ALWAYS, validator=attrs.validators.ge(1))
    busproof: str = ""
    adapter: str = ""
    oracle: Oracle | None = None
    implementation: Map[str, str] = attrs.field(factory=Map, converter=freeze_map)
    capabilities: tuple[str, ...] = ()
    clock: v.Clock = v.Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    profile: v.Profile
    seed: int | None = None
    planned: int | None = None
    rules: tuple[str, ...] = ()
    began: Began | None = None


@attrs.frozen(kw_only=True)
class Started:
    """The start of a scenario, in an empty namespace and at virtual time 0."""

    scenario: str
    rules: tuple[str, ...] = ()
    feature: str = ""


SENTENCE: Final = "*"
"""Keyword of the first step of a distilled sequence, which has its name and what is wrong."""


@attrs.frozen(kw_only=True)
class StepResult:
    """One step of a scenario, in the words of its feature, and its result."""

    keyword: str
    text: str
    result: str


@attrs.frozen(kw_only=True)
class Ended:
    """The end of a scenario; `cause` is the reason in one word, `detail` in a sentence."""

    verdict: ScenarioVerdict
    cause: str = ""
    detail: str = ""
    steps: tuple[StepResult, ...] = ()


Record = Header | Started | v.Event | Ended

_NAMES: Final = {"header": Header, "started": Started, "event": v.Event, "ended": Ended}

declare_union(Record, TaggedUnion("Record", "record", _NAMES))
_RECORDS: Final = reader_of(Record, "the record")


def read_record(value: object) -> Record:
    """Return the record that `value` describes.

    Raises:
        HistoryError: it does not describe a record, or describes an event that returned before it
            was called. If a judge believed such times, a wrong clock of the recorder would make it
            accuse the bus.
    """
    record = cast(Record, _RECORDS(value))
    if (
        isinstance(record, v.Event)
        and record.returned is not None
        and record.returned < record.called
    ):
        raise HistoryError(
            f"returned is {record.returned}, and must not be before called, {record.called}: take "
            "both from one clock that never goes backwards"
        )
    return record


@attrs.frozen(kw_only=True)
class Scenario:
    """The recording of a scenario in a new namespace.

    Attributes:
        name: the scenario's name; empty if the history has only events.
        rules: the ids of the rules that it is about.
        feature: its feature; empty if it has none.
        events: its events, in the order of recording.
        ended: how it ended; `None` if the recording stopped before its end.
    """

    name: str = ""
    rules: tuple[str, ...] = ()
    feature: str = ""
    events: Sequence[v.Event] = ()
    ended: Ended | None = None


@attrs.frozen(kw_only=True)
class History:
    """A whole history file; `cut` is true if its last line was incomplete and left out."""

    header: Header
    scenarios: tuple[Scenario, ...] = ()
    cut: bool = False
