"""Verdicts on one implementation, rule by rule: the result of judging, and what reports show."""

from enum import IntEnum, StrEnum

import attrs

from busproof import vocabulary as v

__all__ = [
    "Conformance",
    "Counterexample",
    "ExitCode",
    "Explored",
    "KnownFailure",
    "RuleVerdict",
    "Standing",
    "Subject",
    "Unjudged",
    "Verdict",
    "is_asked_for",
]


class Verdict(StrEnum):
    """Verdict of a run on a rule; only `SHOWN` is a pass, and verdicts are never merged."""

    SHOWN = "shown"
    VIOLATED = "violated"
    KNOWN_FAILURE = "known failure"
    NOT_APPLICABLE = "not applicable"
    NOT_SHOWN = "not shown"
    INCONCLUSIVE = "inconclusive"
    ERRORED = "errored"


class ExitCode(IntEnum):
    """Exit code of a command; if several apply, the first of 2, 4, 1, 3 and 0 counts."""

    OK = 0
    VIOLATION = 1
    USAGE = 2
    INCOMPLETE = 3
    STALE = 4


class Standing(StrEnum):
    """State of a known failure after a run; only `FAILED` is as it has to be."""

    FAILED = "failed"
    PASSED = "passed"
    UNKNOWN = "unknown rule"
    EXPIRED = "expired"
    NOT_TRIED = "not tried"
    NOT_ASKED_FOR = "not asked for"


@attrs.frozen(kw_only=True)
class KnownFailure:
    """A rule that an implementation is known to break, and what the run showed of it.

    Attributes:
        rule: the id of the rule.
        reason: why it fails, as the list's author wrote it.
        link: the address of more information, such as an issue; empty if there is none.
        expires: the last day of the entry, as `2027-01-31`; empty if it has none.
        standing: the state after the run.
    """

    rule: v.RuleId
    reason: str
    link: str = ""
    expires: str = ""
    standing: Standing = Standing.NOT_TRIED


@attrs.frozen(kw_only=True)
class Counterexample:
    """Events that end with one that the documents do not allow.

    Attributes:
        scenario: the name of the scenario.
        about: if a machine found it, a sentence with the fault and the rule that it breaks.
        is_judged: whether the judge refuses the last answer; otherwise only the scenario's own
            check fails.
        events: the events from an empty namespace up to the violation, which is the last one.
        seen: the answer that came, in words.
        allowed: the answers that would have been allowed, or the scenario's requirement, in words.
    """

    scenario: str
    events: tuple[v.Event, ...]
    seen: str
    allowed: tuple[str, ...]
    about: str = ""
    is_judged: bool = True


@attrs.frozen(kw_only=True)
class RuleVerdict:
    """The verdict on one rule.

    Attributes:
        id: the id of the rule.
        title: the title of the rule.
        verdict: the verdict.
        cause: why the verdict is not `shown`; empty if it is.
        oracle: the oracle that judged, `strict` or `client`.
        events: how many events the rule decided.
        scenarios: the scenarios with such events; for a violation, those that broke it.
        counterexample: for a violation, the shortest counterexample.
        again: for a violation, the command line that repeats it.
    """

    id: v.RuleId
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
    """The implementation that was judged, and its terms; no host, user or service address.

    Attributes:
        namespace_partitions: the number of partitions of the Premium namespace; 1 if it is not
            partitioned.
        messaging_units: the number of messaging units of the Premium namespace.
        commit: the commit of the implementation's source, if known.
        url: the address of more information about the implementation.
        contact: the address to write to about it.
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
    namespace_partitions: int = 1
    messaging_units: int = 1
    readings: dict[str, str] = attrs.field(factory=dict)
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class Explored:
    """Exploration of a run, besides its scenarios.

    Attributes:
        seed: the seed of the random choices.
        sequences: how many sequences of commands were generated.
        events: how many events they had.
        metamorphic: how many sequences of scenarios were transformed and sent once more.
        goals: the name of each coverage goal to how often the whole run reached it.
    """

    seed: int | None = None
    sequences: int
    events: int
    metamorphic: int = 0
    goals: dict[str, int] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Unjudged:
    """Events that were not judged, for one reason.

    Attributes:
        reason: the reason, in words.
        remedy: what would make them judged, in words.
        events: how many events there are.
        entities: how many entities they concern.
        names: the paths of some of these entities, the one with the most events first.
        rules: for a reason that concerns rules as a whole, how many of them it leaves not shown.
    """

    reason: str
    remedy: str
    events: int
    entities: int
    names: tuple[str, ...] = ()
    rules: int = 0


@attrs.frozen(kw_only=True)
class Conformance:
    """All verdicts of one run.

    Attributes:
        catalogue: the version of the catalogue; empty in reports from before 2026-11.
        subject: the implementation.
        oracle: the oracle that judged.
        rules: one verdict for each rule that can be shown.
        scenarios: each kind of ending to the number of scenarios that had it.
        events: how many events were judged.
        exit_code: the exit code of the run.
        problems: sentences on why the run is incomplete.
        known_failures: the entries of the run's list, if it had one.
        explored: what the run explored; `None` if it did not explore.
        unjudged: what was not judged, by reason; empty if everything was.
        only: the rules and families that the run was limited to; empty if it was not limited.
        at: when the run began, in UTC, such as `2026-11-22T05:50:07Z`; empty if unknown.
        seconds: how long the run took, with judging; `None` if unknown.
        again: the command line that repeats the run; empty if busproof did not run it.
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
    unjudged: tuple[Unjudged, ...] = ()
    only: tuple[str, ...] = ()
    at: str = ""
    seconds: int | None = None
    again: str = ""

    def counted(self, verdict: Verdict) -> int:
        """Return how many rules have this verdict."""
        return sum(rule.verdict is verdict for rule in self.rules)


def is_asked_for(rule: v.RuleId, only: tuple[str, ...]) -> bool:
    """Return whether a run that is limited to these rules and families includes this rule."""
    return not only or rule in only or rule.partition("-")[0] in only
