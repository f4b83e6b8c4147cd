"""The conformance report as Markdown, to be read on GitHub or as a job's summary."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from busproof import __version__
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    KnownFailure,
    RuleVerdict,
    Verdict,
)
from busproof.history.render.events import story
from busproof.history.render.phrases import one_line
from busproof.reports import overview
from busproof.reports.levels import levels_found
from busproof.spec import Catalogue

__all__ = ["page"]

_SYMBOLS: Final = {
    Verdict.SHOWN: "✅",
    Verdict.VIOLATED: "❌",
    Verdict.KNOWN_FAILURE: "🩹",
    Verdict.NOT_APPLICABLE: "⚪",
    Verdict.NOT_SHOWN: "⚠️",
    Verdict.INCONCLUSIVE: "❔",
    Verdict.ERRORED: "💥",
}

_MARKS: Final = {ExitCode.OK: "✅", ExitCode.VIOLATION: "❌"}

_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~#@])")
_BACKTICKS: Final = re.compile(r"`+")


def page(conformance: Conformance, catalogue: Catalogue) -> str:
    """Return the whole report; violations come first, each with its run."""
    parts = [
        _head(conformance, catalogue),
        _violations(conformance, catalogue),
        _levels(conformance, catalogue),
        _problems(conformance.problems),
        _unjudged_lines(conformance),
        _list_known(conformance.known_failures),
        _claims(conformance, catalogue),
        *_tables(conformance, catalogue),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, parts) if lines) + "\n"


def _head(conformance: Conformance, catalogue: Catalogue) -> Iterator[str]:
    mark = _MARKS.get(conformance.exit_code, "⚠️")
    yield f"# {mark} {overview.headline(conformance.rules)}"
    yield ""
    tallies = overview.tallies(conformance).items()
    yield " · ".join(f"{_SYMBOLS[verdict]} {count} {verdict.value}" for verdict, count in tallies)
    yield ""
    yield overview.conclusion(conformance)
    yield ""
    yield from _table(("Subject", ""), (":--", ":--"), _facts(conformance, catalogue))


def _facts(conformance: Conformance, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    subject = conformance.subject
    language = f" ({subject.language})" if subject.language else ""
    facts = {
        "implementation": f"{subject.name} {subject.version}{language}",
        "adapter": subject.adapter,
        "held to": overview.profile_words(subject),
        "readings": overview.reading_words(subject, catalogue),
        "capabilities": ", ".join(subject.capabilities) or "none",
        "judged by": f"the {conformance.oracle} oracle of busproof {__version__}",
        "rules": f"catalogue {conformance.catalogue}" if conformance.catalogue else "",
        "time": overview.clock_words(subject),
        "events": str(conformance.events),
        "scenarios": overview.scenario_words(conformance),
        "explored": overview.explored_words(conformance.explored) if conformance.explored else "",
    }
    provenance = overview.provenance(conformance)
    again = provenance.pop("again", "")
    yield from ((name, _plain(fact)) for name, fact in (facts | provenance).items() if fact.strip())
    if again:
        yield "again", _code(again).replace("|", "\\|")


def _levels(conformance: Conformance, catalogue: Catalogue) -> Iterator[str]:
    results = levels_found(conformance, catalogue)
    if results:
        yield "## Levels"
        yield ""
        rows = ((result.level.title, result.state.value, result.words) for result in results)
        yield from _table(("Level", "Claimed and shown", ""), (":--",) * 3, rows)


def _problems(problems: tuple[str, ...]) -> Iterator[str]:
    if problems:
        yield "## Problems"
        yield ""
    for problem in problems:
        yield f"- {_plain(problem)}"


def _unjudged_lines(conformance: Conformance) -> Iterator[str]:
    if conformance.unjudged:
        yield "## Not judged"
        yield ""
        rows = (
            (overview.unjudged_amount(one), one.reason, one.remedy, ", ".join(one.names))
            for one in conformance.unjudged
        )
        columns = ("What", "Why not", "Judged with", "For example")
        yield from _table(columns, (":--",) * 4, (tuple(map(_plain, row)) for row in rows))


def _list_known(entries: tuple[KnownFailure, ...]) -> Iterator[str]:
    if entries:
        yield "## Known failures"
        yield ""
        columns = ("Rule", "Found", "Reason", "Link", "Counts until")
        yield from _table(columns, (":--",) * len(columns), map(_known_row, entries))


def _known_row(known: KnownFailure) -> tuple[str, ...]:
    cells = (known.rule, known.standing.value, known.reason, known.link, known.expires)
    return tuple(map(_plain, cells))


def _claims(conformance: Conformance, catalogue: Catalogue) -> Iterator[str]:
    claims = overview.unshown_claims(conformance, catalogue)
    if claims:
        yield "## ⚠️ Claimed, but not shown"
        yield ""
    for claim in claims:
        yield f"- **{_plain(claim.capability)}**: {_plain(claim.words)}"


def _tables(conformance: Conformance, catalogue: Catalogue) -> Iterator[Iterator[str]]:
    for family in overview.families(conformance, catalogue):
        yield _family(family)


def _family(family: overview.FamilyVerdicts) -> Iterator[str]:
    yield f"## {_plain(family.id)}: {_plain(family.title)}"
    yield ""
    yield f"{overview.headline(family.rules)}."
    yield ""
    columns = ("Rule", "Title", "Verdict", "Events", "Cause")
    yield from _table(columns, (":--", ":--", ":--", "--:", ":--"), map(_row, family.rules))


def _row(rule: RuleVerdict) -> tuple[str, ...]:
    verdict = f"{_SYMBOLS[rule.verdict]}&nbsp;{rule.verdict.value.replace(' ', '&nbsp;')}"
    name = _plain(rule.id).replace("-", "&#8209;")
    return (name, _plain(rule.title), verdict, str(rule.events), _plain(rule.cause))


def _table(
    columns: Iterable[str], alignment: Iterable[str], rows: Iterable[tuple[str, ...]]
) -> Iterator[str]:
    for row in (columns, alignment, *rows):
        yield f"| {' | '.join(row)} |"


def _violations(conformance: Conformance, catalogue: Catalogue) -> Iterator[str]:
    violated = overview.violations(conformance)
    if violated:
        yield "## Violations"
    for verdict in violated:
        yield ""
        yield f"### {_plain(verdict.id)}: {_plain(verdict.title)}"
        yield from _write_statement(verdict, conformance.subject.edition, catalogue)
        if verdict.cause:
            yield ""
            yield f"Cause: {_plain(verdict.cause)}"
        if verdict.counterexample is not None:
            yield from _example(verdict.counterexample)
        if verdict.again:
            yield from ("", "Again:", "", "```console", verdict.again, "```")


def _write_statement(verdict: RuleVerdict, edition: str, catalogue: Catalogue) -> Iterator[str]:
    rule = overview.find_rule(catalogue, verdict.id)
    if rule is None:
        return
    yield ""
    yield f"> {_plain(rule.statement)}"
    yield ""
    yield f"Stated ({rule.status}) in:"
    yield ""
    for sources, places in overview.citations(catalogue, rule, edition).items():
        yield f"- {_plain(places)}: {', '.join(map(_code, sources))}"


def _example(example: Counterexample) -> Iterator[str]:
    if example.scenario:
        yield ""
        yield f"Scenario: {_plain(example.scenario)}"
    yield ""
    for number, line in enumerate(story(example.events), 1):
        who = f"{_plain(line.who)}: " if line.who else ""
        yield f"{number}. {who}{_code(line.request)} → {_code(line.answer)}"
    yield ""
    yield f"**Seen:** {_code(example.seen)}"
    yield ""
    yield f"**Allowed:** {'' if example.allowed else 'nothing comparable'}".strip()
    yield ""
    for allowed in example.allowed:
        yield f"- {_code(allowed)}"


def _plain(text: str) -> str:
    """Return a text so that no part of it is interpreted as Markdown or HTML."""
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)


def _code(text: str) -> str:
    """Return a text as inline code, even if it contains backticks."""
    text = one_line(text)
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"{fence}{text}{fence}"
