"""Records of a history file: a header, then scenarios, each with its events."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, cast

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import PROTOCOL, TaggedUnion, declare_union, structure_union
from busproof.history.converters import ALWAYS, frozen_map

__all__ = [
    "AGAIN",
    "ELSEWHERE",
    "EXPLORATION",
    "REPEATED",
    "SENTENCE",
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

ELSEWHERE: Final = "exploration, elsewhere"
"""Feature of a scenario's sequence in another place or manner."""

AGAIN: Final = "exploration, once more"
"""Feature of a shrunk failure that is repeated to confirm it."""

REPEATED: Final = "repeated"
"""Feature of a repeated scenario that missed an answer, or showed nothing, before."""


class Oracle(StrEnum):
    """The oracle that judges: strict (with partitions), or client."""

    STRICT = "strict"
    CLIENT = "client"


class ScenarioVerdict(StrEnum):
    """Ending of a scenario."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    ERRORED = "errored"
    NOT_APPLICABLE = "not-applicable"


@attrs.frozen(kw_only=True)
class Header:
    """The first record: the implementation, its profile, and its observability.

    Attributes:
        protocol: the version of the wire format.
        busproof: the version of busproof that wrote the history; empty for other programs.
        adapter: the adapter's name as `--adapter` takes it.
        oracle: the oracle that judged the run, if one did.
        implementation: name, version and other details of the implementation.
        capabilities: the adapter's declared capabilities.
        clock: whether time was virtual.
        slack: how much earlier or later than announced a timer may have fired, in microseconds.
        profile: the profile of the namespace.
        seed: the seed of the run's random choices, if there were any.
        planned: how many scenarios the run was to record, if known.
        rules: the rules and families that the run was limited to; empty if all.
    """

    protocol: int = attrs.field(default=PROTOCOL, metadata=ALWAYS, validator=attrs.validators.ge(1))
    busproof: str = ""
    adapter: str = ""
    oracle: Oracle | None = None
    implementation: Map[str, str] = attrs.field(factory=Map, converter=frozen_map)
    capabilities: tuple[str, ...] = ()
    clock: v.Clock = v.Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    profile: v.Profile
    seed: int | None = None
    planned: int | None = None
    rules: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Started:
    """The start of a scenario, with an empty namespace and virtual time 0."""

    scenario: str
    rules: tuple[str, ...] = ()
    feature: str = ""


SENTENCE: Final = "*"
"""Keyword of the first step of a distilled sequence: its name, then what is wrong."""


@attrs.frozen(kw_only=True)
class StepResult:
    """One step of a scenario, as its feature words it, and its result."""

    keyword: str
    text: str
    result: str


@attrs.frozen(kw_only=True)
class Ended:
    """The end of a scenario; `cause` is the reason in a word, `detail` in a sentence."""

    verdict: ScenarioVerdict
    cause: str = ""
    detail: str = ""
    steps: tuple[StepResult, ...] = ()


Record = Header | Started | v.Event | Ended

_NAMES: Final = {"header": Header, "started": Started, "event": v.Event, "ended": Ended}

declare_union(Record, TaggedUnion("Record", "record", _NAMES))


def read_record(value: object) -> Record:
    """Return the record that `value` describes.

    Raises:
        HistoryError: it is not a record, or an event that ended before it began. A judge that
            believed such times would accuse a bus of what its recorder's clock did.
    """
    record = cast(Record, structure_union(value, Record, "the record"))
    if isinstance(record, v.Event) and _is_backwards(record):
        raise HistoryError(
            f"returned is {record.returned}, and must not be before called, {record.called}: take "
            "both from one clock that never goes backwards"
        )
    return record


def _is_backwards(event: v.Event) -> bool:
    return event.returned is not None and event.returned < event.called


@attrs.frozen(kw_only=True)
class Scenario:
    """The recording of a scenario in a new namespace.

    Attributes:
        name: the scenario's name; empty if the history has events only.
        rules: ids of the rules it is about.
        feature: its feature, if it has one.
        events: its events, in the order of recording.
        ended: how it ended; `None` if the recording stops before that.
    """

    name: str = ""
    rules: tuple[str, ...] = ()
    feature: str = ""
    events: Sequence[v.Event] = ()
    ended: Ended | None = None


@attrs.frozen(kw_only=True)
class History:
    """A whole history file; `cut` means that its last line was cut off and left out."""

    header: Header
    scenarios: tuple[Scenario, ...] = ()
    cut: bool = False
