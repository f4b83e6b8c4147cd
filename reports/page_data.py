"""The data of the page, as plain values for JSON; `web/*.js` reads these keys."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from busproof import __version__
from busproof import vocabulary as v
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    KnownFailure,
    RuleVerdict,
    Verdict,
)
from busproof.history.render.events import story
from busproof.history.render.gherkin import scenario_of
from busproof.history.replay import commands_of
from busproof.reports import overview
from busproof.reports.columns import labels
from busproof.reports.consequences import consequence
from busproof.reports.levels import levels_found
from busproof.reports.printed import Fate
from busproof.reports.trends import Entry, find_moved, series
from busproof.spec import Ambiguity, Catalogue, Rule

__all__ = ["Comparison", "page_data"]

VERDICTS: Final = tuple(Verdict)
"""Verdicts, in the order of the indexes that the page uses."""

RUNS_TOLD: Final = 40
"""Maximum number of an implementation's runs in the chart, the latest ones."""

Evidence = Mapping[v.RuleId, Mapping[str, Any]]
"""Evidence by rule: its `scenarios`, `faults`, `generated` faults and `tla` specs."""


@attrs.frozen(kw_only=True)
class Comparison:
    """The input of a page.

    Attributes:
        runs: the verdicts on each implementation.
        catalogue: the source of the rules.
        evidence: the evidence for each rule.
        fates: the results of mutants, by id; empty without an audit.
        entries: the history of runs; empty without one.
    """

    runs: tuple[Conformance, ...]
    catalogue: Catalogue
    evidence: Evidence = attrs.field(factory=dict)
    fates: Mapping[str, Fate] = attrs.field(factory=dict)
    entries: tuple[Entry, ...] = ()


def page_data(comparison: Comparison) -> dict[str, Any]:
    """Return the values of the page; repeated texts are stored once, under `texts`."""
    catalogue, texts = comparison.catalogue, _Texts()
    names = labels(comparison.runs)
    runs = [
        _run(name, run, comparison, texts) for name, run in zip(names, comparison.runs, strict=True)
    ]
    return {
        "busproof": __version__,
        "verdicts": [verdict.value for verdict in VERDICTS],
        "editions": [edition.id for edition in catalogue.editions],
        "families": [[family.id, family.title] for family in catalogue.families],
        "sources": {source.id: f"{source.title} ({source.as_of})" for source in catalogue.sources},
        "links": {edition.id: edition.link for edition in catalogue.editions if edition.link}
        | {source.id: source.link for source in catalogue.sources if source.link},
        "english": {
            name: catalogue.english_text(name)
            for name in [edition.id for edition in catalogue.editions]
            + [source.id for source in catalogue.sources]
        },
        "anchored": [edition.id for edition in catalogue.editions if edition.has_named_sections],
        "ambiguities": {ambiguity.id: _ambiguity(ambiguity) for ambiguity in catalogue.ambiguities},
        "rules": [*_rules(comparison), *_unknown(comparison)],
        "audited": bool(comparison.fates),
        "runs": runs,
        "texts": texts.all,
    }


class _Texts:
    """A table that numbers distinct texts."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    @property
    def all(self) -> list[str]:
        return list(self._places)


def _ambiguity(ambiguity: Ambiguity) -> dict[str, Any]:
    return {
        "question": ambiguity.question,
        "readings": dict(ambiguity.readings),
        "default": ambiguity.default,
        "why": ambiguity.why,
    }


def _rules(comparison: Comparison) -> Iterator[dict[str, Any]]:
    readings: dict[v.RuleId, list[str]] = {}
    for ambiguity in comparison.catalogue.ambiguities:
        for rule in ambiguity.rules:
            readings.setdefault(rule, []).append(ambiguity.id)
    for listed in comparison.catalogue.rules:
        shown = comparison.evidence.get(listed.id, {})
        stated = _view_statement(listed, comparison.catalogue, readings.get(listed.id, []))
        yield stated | _view_shown(shown, comparison.fates)


def _view_statement(rule: Rule, catalogue: Catalogue, readings: Sequence[str]) -> dict[str, Any]:
    editions = enumerate(edition.id for edition in catalogue.editions)
    fields = {
        "id": rule.id,
        "title": rule.title,
        "statement": rule.statement,
        "modality": rule.modality,
        "status": rule.status,
        "outside": rule.outside,
        "tiers": list(rule.tiers),
        "editions": [place for place, edition in editions if edition in rule.editions],
        "needs": list(rule.needs),
        "unless": list(rule.unless),
        "never": rule.why_never,
        "citations": [
            [citation.source, citation.anchor, citation.remark] for citation in rule.citations
        ],
        "readings": list(readings),
    }
    return {key: value for key, value in fields.items() if value not in (None, [], False)}


def _view_shown(shown: Mapping[str, Any], fates: Mapping[str, Fate]) -> dict[str, Any]:
    specs: Mapping[str, Any] = shown.get("tla", {})
    fields = {
        "scenarios": [[entry["file"], entry["name"]] for entry in shown.get("scenarios", ())],
        "operators": _list_names(specs, "operators"),
        "properties": _list_names(specs, "properties"),
        "edges": [[entry["graph"], entry["edges"]] for entry in specs.get("edges", ())],
        "mutants": [[entry["name"], entry["killed_by"]] for entry in specs.get("mutants", ())],
        "faults": [_fault(entry, fates.get(entry["id"])) for entry in shown.get("faults", ())],
        "generated": _count_generated(shown.get("generated", {})),
    }
    return {key: value for key, value in fields.items() if value}


def _list_names(specs: Mapping[str, Any], kind: str) -> list[str]:
    return [f"{entry['module']}!{entry['name']}" for entry in specs.get(kind, ())]


def _count_generated(numbers: Mapping[str, int]) -> list[int]:
    """Return how many generated faults were noticed, out of how many; empty if there are none."""
    return [numbers["noticed"], numbers["of"]] if numbers.get("of") else []


def _fault(fault: Mapping[str, str], fate: Fate | None) -> list[str]:
    cells = [fault["id"], fault["summary"]]
    return cells if fate is None else [*cells, fate.result, fate.why]


def _unknown(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the rules in a run that the catalogue does not have."""
    known = {rule.id for rule in comparison.catalogue.rules}
    for run in comparison.runs:
        for rule in run.rules:
            if rule.id not in known:
                known.add(rule.id)
                yield {"id": rule.id, "title": rule.title, "statement": "", "unknown": True}


def _run(name: str, run: Conformance, comparison: Comparison, texts: _Texts) -> dict[str, Any]:
    subject, catalogue = run.subject, comparison.catalogue
    return {
        "label": name,
        "language": subject.language,
        "adapter": subject.adapter,
        "edition": subject.edition,
        "tier": subject.tier,
        "oracle": run.oracle,
        "catalogue": run.catalogue,
        "terms": overview.terms_words(run, catalogue),
        "capabilities": list(subject.capabilities),
        "readings": {
            ambiguity.id: subject.readings[ambiguity.id]
            for ambiguity in catalogue.ambiguities
            if subject.readings.get(ambiguity.id, ambiguity.default) != ambiguity.default
        },
        "scenarios": overview.scenario_words(run),
        "explored": overview.explored_words(run.explored) if run.explored else "",
        "events": run.events,
        "provenance": list(overview.provenance(run).items()),
        "exit": int(run.exit_code),
        "conclusion": overview.conclusion(run),
        "problems": list(run.problems),
        "unjudged": [
            [overview.unjudged_amount(one), overview.unjudged_words(one)] for one in run.unjudged
        ],
        "claims": [
            [claim.capability, claim.words, [rule.id for rule in claim.rules]]
            for claim in overview.unshown_claims(run, catalogue)
        ],
        "levels": [
            [result.level.title, result.state.value, result.words, result.level.summary]
            for result in levels_found(run, catalogue)
        ],
        "known": [_list_known(known_failure) for known_failure in run.known_failures],
        "verdicts": {rule.id: _verdict(rule, texts) for rule in run.rules},
        "examples": {
            rule.id: _example(rule.id, rule.counterexample, subject.clock, texts) | _again(rule)
            for rule in run.rules
            if rule.counterexample is not None
        },
        "trend": _trend(series(comparison.entries, run, catalogue)[-RUNS_TOLD:]),
    }


def _list_known(known: KnownFailure) -> list[str]:
    return [known.rule, known.standing.value, overview.known_words(known), known.link]


def _verdict(rule: RuleVerdict, texts: _Texts) -> list[Any]:
    """Return verdict, events, cause and scenarios, without trailing empty values."""
    cells: list[Any] = [
        VERDICTS.index(rule.verdict),
        rule.events,
        texts.place(rule.cause) if rule.cause else -1,
        [texts.place(scenario) for scenario in rule.scenarios],
    ]
    return cells if rule.scenarios else cells[:3] if rule.cause else cells[:2]


def _example(rule: v.RuleId, example: Counterexample, clock: str, texts: _Texts) -> dict[str, Any]:
    commands = commands_of(example.events, v.Clock(clock))
    return {
        "scenario": example.scenario,
        "about": example.about,
        "gherkin": scenario_of(rule, commands, f"What broke {rule}") if commands else "",
        "why": texts.place(consequence(rule)),
        "seen": example.seen,
        "allowed": list(example.allowed),
        "story": [[line.who, line.request, line.answer] for line in story(example.events)],
    }


def _again(rule: RuleVerdict) -> dict[str, str]:
    return {"again": rule.again} if rule.again else {}


def _trend(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    before = (None, *entries)
    return [
        {
            "at": entry.at,
            "label": entry.label,
            "version": entry.version,
            "counts": [entry.counted(verdict) for verdict in VERDICTS],
            "moved": [] if last is None else [list(change) for change in find_moved(last, entry)],
        }
        for last, entry in zip(before, entries, strict=False)
    ]
