"""The report as plain values for JSON, and its parser; the keys are a public interface."""

from typing import Any, Final

import attrs
from immutables import Map

from busproof import __version__
from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import structure, unstructure
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    Explored,
    KnownFailure,
    RuleVerdict,
    Subject,
    Unjudged,
    Verdict,
)
from busproof.history.lines import excerpt
from busproof.history.records import Oracle
from busproof.reports import levels, overview
from busproof.spec import load

__all__ = ["SCHEMA", "conformance_of", "view"]

SCHEMA: Final = 5
"""Version of the report's format.

Version 4 lacked levels, version 3 the time and commit of a run and the command that repeats it,
version 2 the version of the catalogue, version 1 known failures. All of them can still be read.
"""


@attrs.frozen(kw_only=True)
class _Implementation:
    name: str
    version: str
    language: str
    commit: str = ""
    url: str = ""
    contact: str = ""


@attrs.frozen(kw_only=True)
class _Profile:
    edition: str
    tier: v.Tier
    partitions: int
    readings: Map[str, str]
    namespace_partitions: int = 1
    messaging_units: int = 1


@attrs.frozen(kw_only=True)
class _Explored:
    seed: int | None
    sequences: int
    events: int
    goals: Map[str, int]
    metamorphic: int = 0


@attrs.frozen(kw_only=True)
class _Level:
    id: str
    title: str
    state: levels.State
    shown: int
    applicable: int
    undeclared: tuple[str, ...]
    not_shown: tuple[v.RuleId, ...]


@attrs.frozen(kw_only=True)
class _Document:
    schema: int
    busproof: str
    catalogue: str = ""
    implementation: _Implementation
    adapter: str
    capabilities: tuple[str, ...]
    clock: v.Clock
    slack: int
    profile: _Profile
    oracle: Oracle
    events: int
    scenarios: Map[str, int]
    summary: Map[str, int]
    exit_code: int
    problems: tuple[str, ...]
    rules: tuple[RuleVerdict, ...]
    explored: _Explored | None = None
    unjudged: tuple[Unjudged, ...] = ()
    known_failures: tuple[KnownFailure, ...] = ()
    only: tuple[str, ...] = ()
    at: str = ""
    seconds: int | None = None
    again: str = ""
    levels: tuple[_Level, ...] = ()
    """Results by level, computed from the verdicts whenever a report is read."""


def view(conformance: Conformance) -> dict[str, Any]:
    """Return the report as plain JSON values, with every key."""
    return {
        "schema": SCHEMA,
        "busproof": __version__,
        "catalogue": conformance.catalogue,
        "at": conformance.at,
        "seconds": conformance.seconds,
        "again": conformance.again,
        "only": list(conformance.only),
        **_subject_view(conformance.subject),
        "oracle": str(conformance.oracle),
        "events": conformance.events,
        "scenarios": {str(ended): count for ended, count in conformance.scenarios.items()},
        "summary": _summary(conformance),
        "exit_code": int(conformance.exit_code),
        "levels": [levels.view(level) for level in levels.levels_found(conformance, load())],
        "problems": list(conformance.problems),
        "known_failures": [_known_view(known) for known in conformance.known_failures],
        "explored": _explored_view(conformance.explored),
        "unjudged": [_unjudged_view(one) for one in conformance.unjudged],
        "rules": [_rule_view(rule) for rule in conformance.rules],
    }


def _unjudged_view(unjudged: Unjudged) -> dict[str, Any]:
    return {**attrs.asdict(unjudged), "names": list(unjudged.names)}


def conformance_of(value: object) -> Conformance:
    """Return the verdicts in a report's plain values.

    Raises:
        HistoryError: the values are not a report, have a newer format, or are inconsistent.
    """
    _check_schema(value)
    document = structure(value, _Document, "the report")
    conformance = Conformance(
        catalogue=document.catalogue,
        subject=_subject(document),
        oracle=document.oracle.value,
        rules=document.rules,
        scenarios=dict(document.scenarios),
        events=document.events,
        exit_code=_exit_code(document.exit_code),
        problems=document.problems,
        known_failures=document.known_failures,
        explored=_read_explored(document.explored),
        unjudged=document.unjudged,
        only=document.only,
        at=document.at,
        seconds=document.seconds,
        again=document.again,
    )
    _check_summary({Verdict.KNOWN_FAILURE.value: 0, **document.summary}, _summary(conformance))
    return conformance


def _subject_view(subject: Subject) -> dict[str, Any]:
    return {
        "implementation": {
            "name": subject.name,
            "version": subject.version,
            "language": subject.language,
            "commit": subject.commit,
            "url": subject.url,
            "contact": subject.contact,
        },
        "adapter": subject.adapter,
        "capabilities": [str(capability) for capability in subject.capabilities],
        "clock": str(subject.clock),
        "slack": subject.slack,
        "profile": {
            "edition": subject.edition,
            "tier": str(subject.tier),
            "partitions": subject.partitions,
            **_view_premium(subject),
            "readings": dict(sorted(subject.readings.items())),
        },
    }


def _view_premium(subject: Subject) -> dict[str, int]:
    """Return the namespace's partitions and messaging units, each only if it is more than one."""
    options = {
        "namespace_partitions": subject.namespace_partitions,
        "messaging_units": subject.messaging_units,
    }
    return {name: number for name, number in options.items() if number > 1}


def _summary(conformance: Conformance) -> dict[str, int]:
    counts = {verdict.value: conformance.counted(verdict) for verdict in Verdict}
    return {**counts, "applicable": overview.applicable(conformance.rules)}


def _rule_view(rule: RuleVerdict) -> dict[str, Any]:
    return {
        "id": rule.id,
        "title": rule.title,
        "verdict": rule.verdict.value,
        "cause": rule.cause,
        "oracle": str(rule.oracle),
        "events": rule.events,
        "scenarios": list(rule.scenarios),
        "counterexample": _example_view(rule.counterexample),
        "again": rule.again,
    }


def _known_view(known: KnownFailure) -> dict[str, Any]:
    return {
        "rule": known.rule,
        "reason": known.reason,
        "link": known.link,
        "expires": known.expires,
        "standing": known.standing.value,
    }


def _example_view(example: Counterexample | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "scenario": example.scenario,
        "about": example.about,
        "seen": example.seen,
        "allowed": list(example.allowed),
        "events": [unstructure(event) for event in example.events],
    }


def _explored_view(explored: Explored | None) -> dict[str, Any] | None:
    return None if explored is None else attrs.asdict(explored)


def _read_explored(explored: _Explored | None) -> Explored | None:
    if explored is None:
        return None
    return Explored(
        seed=explored.seed,
        sequences=explored.sequences,
        events=explored.events,
        metamorphic=explored.metamorphic,
        goals=dict(explored.goals),
    )


def _subject(document: _Document) -> Subject:
    return Subject(
        **attrs.asdict(document.implementation),
        adapter=document.adapter,
        capabilities=document.capabilities,
        clock=document.clock.value,
        slack=document.slack,
        edition=document.profile.edition,
        tier=document.profile.tier.value,
        partitions=document.profile.partitions,
        namespace_partitions=document.profile.namespace_partitions,
        messaging_units=document.profile.messaging_units,
        readings=dict(document.profile.readings),
    )


def _check_schema(value: object) -> None:
    schema = value.get("schema") if isinstance(value, dict) else None
    if type(schema) is int and schema > SCHEMA:
        raise HistoryError(
            f"schema is {excerpt(schema)}, and this busproof reads up to {SCHEMA}: upgrade busproof"
        )
    if isinstance(value, dict) and (type(schema) is not int or schema < 1):
        raise HistoryError(f"schema is {excerpt(schema)}, and must be {SCHEMA}")


def _exit_code(code: int) -> ExitCode:
    try:
        return ExitCode(code)
    except ValueError:
        allowed = ", ".join(str(known.value) for known in ExitCode)
        raise HistoryError(f"exit_code is {code}, and must be one of {allowed}") from None


def _check_summary(written: dict[str, int], counted: dict[str, int]) -> None:
    if written != counted:
        raise HistoryError(
            f"summary is {excerpt(written)}, and by the rules must be {excerpt(counted)}"
        )
