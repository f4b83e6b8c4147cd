"""Verdicts, mutants and checked specs as Allure results, in addition to the scenarios' results.

The result of a scenario is only how it ended. These results add the verdict on each rule, from any
source: a run, an exploration, a recorded history, a check on Spark.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.extras import need
from busproof.history.codec import unstructure
from busproof.history.conformance import Conformance, Counterexample, RuleVerdict, Verdict
from busproof.history.lines import encode_line
from busproof.history.records import Scenario, ScenarioVerdict
from busproof.history.render.events import story
from busproof.history.render.gherkin import scenario_of
from busproof.history.replay import commands_of
from busproof.reports import overview
from busproof.reports.printed import Checked, Fate
from busproof.reports.redaction import redact_text
from busproof.spec import Catalogue

__all__ = [
    "Case",
    "fault_cases",
    "scenario_cases",
    "severity",
    "spec_cases",
    "verdict_cases",
    "write_cases",
]

_STATUS: Final = {
    Verdict.SHOWN: "passed",
    Verdict.VIOLATED: "failed",
    Verdict.KNOWN_FAILURE: "skipped",
    Verdict.NOT_APPLICABLE: "skipped",
    Verdict.NOT_SHOWN: "unknown",
    Verdict.INCONCLUSIVE: "unknown",
    Verdict.ERRORED: "broken",
}
"""Allure's status by verdict; known failures and rules that do not apply are skipped."""

_ENDINGS: Final = {
    ScenarioVerdict.PASSED: "passed",
    ScenarioVerdict.FAILED: "failed",
    ScenarioVerdict.ERRORED: "broken",
    ScenarioVerdict.INCONCLUSIVE: "skipped",
    ScenarioVerdict.NOT_APPLICABLE: "skipped",
}
"""Allure's status by the end of a scenario, as allure-pytest reports them."""

_FATES: Final = {"killed": "passed", "silent": "failed", "equivalent": "skipped"}

_SEVERITY: Final = {
    "must": "critical",
    "must-not": "critical",
    "should": "normal",
    "may": "minor",
    "informative": "trivial",
}
_TEXT: Final = ("text/plain", "txt")
_JSON: Final = ("application/json", "json")
_LINES: Final = ("application/x-ndjson", "jsonl")


@attrs.frozen(kw_only=True)
class Case:
    """The content of one Allure result.

    Attributes:
        name: the title of the result.
        full_name: the identity of the result across runs, apart from the parameters.
        status: `passed`, `failed`, `broken`, `skipped` or `unknown`.
        message: the reason why it did not pass.
        description: the rule's statement, or the subject of the case.
        links: names and addresses of its sources.
        labels: `epic`, `feature`, `story`, `severity` and others, by name.
        parameters: values that distinguish the same case for different implementations.
        steps: sentences, each with whether it passed.
        attachments: name, media type, extension and text of each.
    """

    name: str
    full_name: str
    status: str
    message: str = ""
    description: str = ""
    links: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    steps: tuple[tuple[str, bool], ...] = ()
    attachments: tuple[tuple[str, tuple[str, str], str], ...] = ()


def severity(catalogue: Catalogue, rules: Iterable[v.RuleId]) -> str:
    """Return the severity of the most important of these rules, by modality."""
    order = tuple(dict.fromkeys(_SEVERITY.values()))
    known = (overview.find_rule(catalogue, rule) for rule in rules)
    severities = [_SEVERITY[rule.modality] for rule in known if rule is not None]
    return min(severities, key=order.index, default="normal")


def verdict_cases(label: str, run: Conformance, catalogue: Catalogue) -> Iterator[Case]:
    """Yield a case for each rule of a redacted run."""
    subject = run.subject
    for rule in run.rules:
        example = rule.counterexample
        words = f"{rule.verdict.value}: {rule.cause}" if rule.cause else rule.verdict.value
        yield Case(
            name=f"{rule.id} {rule.title} ({label})",
            full_name=f"busproof.verdicts.{rule.id}",
            status=_STATUS[rule.verdict],
            message="" if rule.verdict is Verdict.SHOWN else words,
            description=_describe(rule, subject.edition, catalogue),
            links=tuple(overview.links(catalogue, rule.id, subject.edition).items()),
            labels=(*_labels(rule.id, "The verdict", catalogue), ("verdict", rule.verdict.value)),
            parameters=_parameters(label, run),
            steps=() if example is None else tuple(_steps(example)),
            attachments=tuple(_list_attachments(rule, v.Clock(subject.clock))),
        )


def scenario_cases(
    label: str, run: Conformance, scenarios: Iterable[Scenario], catalogue: Catalogue
) -> Iterator[Case]:
    """Yield a case for each scenario of a recorded run, with its steps; explorations are left out.

    Args:
        label: a name for the implementation.
        run: the verdicts of the run, redacted.
        scenarios: the recorded scenarios.
        catalogue: the catalogue of rules.
    """
    for scenario in scenarios:
        ended = scenario.ended
        if ended is None or scenario.feature:
            continue
        families = dict.fromkeys(rule.partition("-")[0] for rule in scenario.rules)
        yield Case(
            name=scenario.name,
            full_name=f"busproof.scenarios.{scenario.name}",
            status=_ENDINGS[ended.verdict],
            message=redact_text(ended.detail),
            labels=(
                *(("epic", family) for family in families),
                *(("feature", rule) for rule in scenario.rules),
                *(("rule", rule) for rule in scenario.rules),
                ("story", scenario.name),
                ("severity", severity(catalogue, scenario.rules)),
            ),
            parameters=_parameters(label, run),
            steps=tuple(
                (f"{step.keyword} {step.text}", step.result == "passed") for step in ended.steps
            ),
        )


def _parameters(label: str, run: Conformance) -> tuple[tuple[str, str], ...]:
    subject = run.subject
    return (
        ("implementation", label),
        ("adapter", subject.adapter),
        ("edition", subject.edition),
        ("tier", str(subject.tier)),
        ("oracle", str(run.oracle)),
    )


def fault_cases(fates: Iterable[Fate], catalogue: Catalogue) -> Iterator[Case]:
    """Yield a case for each mutant; it passes if the tests of its rule killed the mutant."""
    for fate in fates:
        by = "".join(f"\nnoticed by: {name}" for name in fate.killed_by)
        yield Case(
            name=f"{fate.rule} {fate.id}",
            full_name=f"busproof.audit.{fate.id}",
            status=_FATES[fate.result],
            message=f"{fate.result}: {fate.why}" if fate.why else "",
            description=f"A seeded fault of {fate.rule}.{by}",
            labels=_labels(fate.rule, "Would its tests notice?", catalogue),
        )


def spec_cases(checked: Iterable[Checked]) -> Iterator[Case]:
    """Yield a case for each configuration of the specs; it passes if the result was as expected."""
    for result in checked:
        failed = "broken" if result.error else "failed"
        texts = (("TLC's trace", "\n".join(result.trace)), ("scenario.feature", result.scenario))
        yield Case(
            name=result.name,
            full_name=f"busproof.modelcheck.{result.name}",
            status="passed" if result.passed else failed,
            message="; ".join(filter(None, (result.error, *result.deviations))),
            labels=(("epic", "TLA+ specs"), ("feature", result.kind), ("severity", "normal")),
            attachments=tuple((name, _TEXT, text) for name, text in texts if text),
        )


def write_cases(cases: Iterable[Case], folder: Path) -> None:
    """Write each case as an Allure result; the folder is created if it is missing.

    Raises:
        UsageError: the package that writes them is not installed.
        HistoryError: a result cannot be written.
    """
    need("report", "the form of Allure")
    from allure_commons.logger import AllureFileLogger  # an extra

    try:
        logger: Any = AllureFileLogger(str(folder))  # type: ignore[no-untyped-call]  # allure has no types
        for case in cases:
            logger.report_result(_result(case, logger))
    except OSError as error:
        raise HistoryError(
            f"cannot write Allure results into {folder}: {error.strerror or error}"
        ) from None


def _result(case: Case, logger: Any) -> Any:
    from allure_commons.model2 import (  # an extra
        Label,
        Link,
        Parameter,
        StatusDetails,
        TestResult,
        TestStepResult,
    )

    now = int(time.time() * 1000)
    about = json.dumps([case.full_name, case.parameters])
    return TestResult(
        uuid=str(uuid.uuid4()),
        name=case.name,
        fullName=case.full_name,
        testCaseId=_digest(case.full_name),
        historyId=_digest(about),
        status=case.status,
        statusDetails=StatusDetails(message=case.message) if case.message else None,
        description=case.description,
        links=[Link(type="link", name=name, url=url) for name, url in case.links],
        labels=[Label(name=name, value=value) for name, value in case.labels],
        parameters=[Parameter(name=name, value=value) for name, value in case.parameters],
        steps=[
            TestStepResult(name=name, status="passed" if ok else "failed", start=now, stop=now)
            for name, ok in case.steps
        ],
        attachments=[_attach(attachment, logger) for attachment in case.attachments],
        start=now,
        stop=now,
    )


def _attach(attachment: tuple[str, tuple[str, str], str], logger: Any) -> Any:
    from allure_commons.model2 import Attachment  # an extra

    name, (kind, extension), text = attachment
    source = f"{uuid.uuid4()}-attachment.{extension}"
    logger.report_attached_data(text.encode("utf-8", "backslashreplace"), source)
    return Attachment(name=name, source=source, type=kind)


def _digest(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()


def _labels(rule: v.RuleId, title: str, catalogue: Catalogue) -> tuple[tuple[str, str], ...]:
    return (
        ("epic", rule.rpartition("-")[0]),
        ("feature", rule),
        ("story", title),
        ("rule", rule),
        ("severity", severity(catalogue, [rule])),
    )


def _write_statement(rule: v.RuleId, edition: str, catalogue: Catalogue) -> str:
    """Return a rule's statement and its sources, in Allure's Markdown."""
    known = overview.find_rule(catalogue, rule)
    if known is None:
        return ""
    cited = [
        f"- {places} ({', '.join(sources)})"
        for sources, places in overview.citations(catalogue, known, edition).items()
    ]
    return "\n".join([known.statement, "", "Stated in:", "", *cited])


def _describe(rule: RuleVerdict, edition: str, catalogue: Catalogue) -> str:
    again = f"Again:\n\n    {rule.again}" if rule.again else ""
    return "\n\n".join(filter(None, (_write_statement(rule.id, edition, catalogue), again)))


def _steps(example: Counterexample) -> Iterator[tuple[str, bool]]:
    lines = story(example.events)
    for place, line in enumerate(lines, 1):
        yield str(line), place < len(lines)


def _list_attachments(
    rule: RuleVerdict, clock: v.Clock
) -> Iterator[tuple[str, tuple[str, str], str]]:
    example = rule.counterexample
    if example is None or not example.events:
        return
    commands = commands_of(example.events, clock)
    yield "scenario.feature", _TEXT, scenario_of(rule.id, commands, f"What broke {rule.id}")
    encoded = [unstructure(command, full=False) for command in commands]
    yield "commands", _JSON, json.dumps(encoded, indent=2)
    lines = (encode_line(unstructure(event)).decode() for event in example.events)
    yield "history excerpt", _LINES, "".join(lines)
