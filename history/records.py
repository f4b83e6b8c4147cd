"""The records of a history file: a header, then scenarios, each a run of events."""

from enum import StrEnum
from typing import Final

import attrs
from immutables import Map

from busproof.history.codec import PROTOCOL, TaggedUnion, declare_union
from busproof.history.converters import ALWAYS, frozen_map
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Clock

__all__ = [
    "AGAIN",
    "EXPLORATION",
    "REPEATED",
    "Ended",
    "Header",
    "History",
    "Oracle",
    "Record",
    "Scenario",
    "ScenarioVerdict",
    "Started",
    "StepResult",
]


EXPLORATION: Final = "exploration"
"""The feature of a sequence that the exploration made up."""

AGAIN: Final = "exploration, once more"
"""The feature of a small failure that is asked again, to see whether it repeats."""

REPEATED: Final = "repeated"
"""The feature of one more try at a scenario that missed an answer, or showed nothing, before."""


class Oracle(StrEnum):
    """Which oracle judged, or is to judge: with partitions, or as a client sees it."""

    STRICT = "strict"
    CLIENT = "client"


class ScenarioVerdict(StrEnum):
    """How a scenario ended."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    ERRORED = "errored"
    NOT_APPLICABLE = "not-applicable"


@attrs.frozen(kw_only=True)
class Header:
    """The first record: who was recorded, under which profile, and what a client could see.

    Attributes:
        protocol: the version of the wire format.
        busproof: the version of busproof that wrote the history; empty if another program did.
        adapter: the adapter's name as `--adapter` takes it.
        oracle: the oracle the run was judged by, if it was.
        implementation: name, version and whatever else tells who was recorded.
        capabilities: what the adapter declared.
        clock: whether time was virtual.
        slack: how much earlier or later than announced a timer may have fired, in microseconds.
        profile: what the namespace was held to.
        seed: what the run's random choices began from, if there were any.
        planned: how many scenarios the run set out to record, if it was known.
        rules: the rules and families that the run was limited to; empty if it was of all.
    """

    protocol: int = attrs.field(default=PROTOCOL, metadata=ALWAYS, validator=attrs.validators.ge(1))
    busproof: str = ""
    adapter: str = ""
    oracle: Oracle | None = None
    implementation: Map[str, str] = attrs.field(factory=Map, converter=frozen_map)
    capabilities: tuple[str, ...] = ()
    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    profile: Profile
    seed: int | None = None
    planned: int | None = None
    rules: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Started:
    """A scenario begins, with an empty namespace and virtual time 0."""

    scenario: str
    rules: tuple[str, ...] = ()
    feature: str = ""


@attrs.frozen(kw_only=True)
class StepResult:
    """One step of a scenario, as its feature words it, and how it went."""

    keyword: str
    text: str
    result: str


@attrs.frozen(kw_only=True)
class Ended:
    """A scenario ends; `cause` names a verdict's reason in a word, `detail` tells it."""

    verdict: ScenarioVerdict
    cause: str = ""
    detail: str = ""
    steps: tuple[StepResult, ...] = ()


Record = Header | Started | Event | Ended

_NAMES: Final = {"header": Header, "started": Started, "event": Event, "ended": Ended}

declare_union(Record, TaggedUnion("Record", "record", _NAMES))


@attrs.frozen(kw_only=True)
class Scenario:
    """What was recorded between one fresh namespace and the next.

    Attributes:
        name: the scenario's name; empty where the history has events only.
        rules: ids of the rules it is about.
        feature: the feature it is from, if it is from one.
        events: what happened, in the order of recording.
        ended: how it ended; `None` if the recording stops before that.
    """

    name: str = ""
    rules: tuple[str, ...] = ()
    feature: str = ""
    events: tuple[Event, ...] = ()
    ended: Ended | None = None


@attrs.frozen(kw_only=True)
class History:
    """A whole history file; `cut` tells that its last line was cut off and left out."""

    header: Header
    scenarios: tuple[Scenario, ...] = ()
    cut: bool = False
