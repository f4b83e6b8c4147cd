"""Verdicts on one implementation, rule by rule: what judging finds and reports show."""

from enum import IntEnum, StrEnum

import attrs

from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.values import RuleId

__all__ = [
    "Conformance",
    "Counterexample",
    "ExitCode",
    "Explored",
    "KnownFailure",
    "RuleVerdict",
    "Standing",
    "Subject",
    "Verdict",
    "is_asked_for",
]


class Verdict(StrEnum):
    """What a run says of a rule; only `SHOWN` is a pass, and none is ever merged with another."""

    SHOWN = "shown"
    VIOLATED = "violated"
    KNOWN_FAILURE = "known failure"
    NOT_APPLICABLE = "not applicable"
    NOT_SHOWN = "not shown"
    INCONCLUSIVE = "inconclusive"
    ERRORED = "errored"


class ExitCode(IntEnum):
    """What a command ends with; where several apply: 2, 4, 1, 3, 0."""

    OK = 0
    VIOLATION = 1
    USAGE = 2
    INCOMPLETE = 3
    STALE = 4


class Standing(StrEnum):
    """What a run makes of an entry in a list of known failures; only `FAILED` is as it must be."""

    FAILED = "failed"
    PASSED = "passed"
    UNKNOWN = "unknown rule"
    EXPIRED = "expired"
    NOT_TRIED = "not tried"
    NOT_ASKED_FOR = "not asked for"


@attrs.frozen(kw_only=True)
class KnownFailure:
    """A rule that an implementation is known to break, and what a run made of that.

    Attributes:
        rule: its id.
        reason: why it fails, in the words of whoever listed it.
        link: where more is told, such as an issue's address; empty if nowhere.
        expires: the last day on which the entry counts, as `2027-01-31`; empty if it has none.
        standing: what the run made of it.
    """

    rule: RuleId
    reason: str
    link: str = ""
    expires: str = ""
    standing: Standing = Standing.NOT_TRIED


@attrs.frozen(kw_only=True)
class Counterexample:
    """Events after which nothing was allowed that was seen.

    Attributes:
        scenario: where it happened.
        events: from an empty namespace to the violation, which is the last.
        seen: what came, in words.
        allowed: what would have been allowed, or what the scenario's text demands, in words.
    """

    scenario: str
    events: tuple[Event, ...]
    seen: str
    allowed: tuple[str, ...]


@attrs.frozen(kw_only=True)
class RuleVerdict:
    """The verdict on one rule.

    Attributes:
        id: of the rule.
        title: of the rule.
        verdict: what the run says.
        cause: why it is not simply shown; empty for `shown`.
        oracle: which oracle judged, `strict` or `client`.
        events: how many events the rule decided.
        scenarios: the scenarios in which it did; of a violation, those that broke it.
        counterexample: of a violation, the shortest one.
        again: of a violation, the command that asks for it once more.
    """

    id: RuleId
    title: str
    verdict: Verdict
    cause: str = ""
    oracle: str = ""
    events: int = 0
    scenarios: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    again: str = ""


@attrs.frozen(kw_only=True)
class Subject:
    """Who was judged, and held to what. No host, no user, no address of the service.

    Attributes:
        commit: of the implementation's source, where it is known.
        url: where more is told of the implementation.
        contact: whom to write to about it.
    """

    name: str
    version: str = ""
    language: str = ""
    adapter: str = ""
    capabilities: tuple[str, ...] = ()
    clock: str = "virtual"
    slack: int = 0
    edition: str
    tier: str
    partitions: int
    readings: dict[str, str] = attrs.field(factory=dict)
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class Explored:
    """What was explored, beside the scenarios.

    Attributes:
        seed: what the random choices began from.
        sequences: how many sequences of commands were made up.
        events: how many events they had.
        goals: how often each situation arose that must arise at some time, in the whole run.
    """

    seed: int | None = None
    sequences: int
    events: int
    goals: dict[str, int] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Conformance:
    """All verdicts of one run.

    Attributes:
        catalogue: the version of the rules that were judged by; empty in reports of before 2026-11.
        subject: who was judged.
        oracle: the oracle that judged.
        rules: one verdict for each rule that can be shown.
        scenarios: how many scenarios ended how.
        events: how many events were judged.
        exit_code: what the run ends with.
        problems: sentences on what kept the run from being complete.
        known_failures: the entries of the list that the run was given, if it was given one.
        explored: what was explored; `None` if nothing was.
        only: the rules and families that the run was limited to; empty if it was of all.
        at: when the run began, UTC, such as `2026-11-22T05:50:07Z`; empty if that is not known.
        seconds: how long it took, with its judging; `None` if that is not known.
        again: the command that runs all of it once more; empty if it was no run of ours.
    """

    catalogue: str = ""
    subject: Subject
    oracle: str
    rules: tuple[RuleVerdict, ...]
    scenarios: dict[str, int] = attrs.field(factory=dict)
    events: int = 0
    exit_code: ExitCode = ExitCode.OK
    problems: tuple[str, ...] = ()
    known_failures: tuple[KnownFailure, ...] = ()
    explored: Explored | None = None
    only: tuple[str, ...] = ()
    at: str = ""
    seconds: int | None = None
    again: str = ""

    def counted(self, verdict: Verdict) -> int:
        """Return how many rules have this verdict."""
        return sum(rule.verdict is verdict for rule in self.rules)


def is_asked_for(rule: RuleId, only: tuple[str, ...]) -> bool:
    """Return whether a run that is limited to these rules and families is about this rule."""
    return not only or rule in only or rule.partition("-")[0] in only
