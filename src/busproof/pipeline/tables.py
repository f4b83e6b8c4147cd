"""Tables of verdicts: as HTML for a notebook, and as rows for a data frame."""

from collections.abc import Iterator
from html import escape
from typing import Final

from busproof.history.conformance import Conformance, RuleVerdict, Verdict

__all__ = ["VERDICTS", "headline", "html_table", "rows"]

VERDICTS: Final = (
    "rule STRING, family STRING, title STRING, verdict STRING, cause STRING, events BIGINT"
)

_WORST_FIRST: Final = (
    Verdict.VIOLATED,
    Verdict.ERRORED,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_SHOWN,
    Verdict.KNOWN_FAILURE,
)
"""Verdicts whose rules have a row in a notebook; of the others there are many."""


def headline(conformance: Conformance) -> str:
    """Return a sentence: how many rules have each verdict, and how many events were judged."""
    counted = {verdict: conformance.counted(verdict) for verdict in Verdict}
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in counted.items() if count)
    return f"{conformance.events:,} events judged; rules: {counts}"


def rows(conformance: Conformance) -> Iterator[tuple[str, str, str, str, str, int]]:
    """Yield a row for each rule in the schema `VERDICTS`."""
    for rule in conformance.rules:
        family = rule.id.partition("-")[0]
        yield rule.id, family, rule.title, rule.verdict.value, rule.cause, rule.events


def html_table(conformance: Conformance, problems: tuple[str, ...] = ()) -> str:
    """Return the headline, and a table of the rules that were neither shown nor inapplicable."""
    notable = [
        rule for verdict in _WORST_FIRST for rule in conformance.rules if rule.verdict is verdict
    ]
    parts = [f"<p><b>{escape(headline(conformance))}</b></p>"]
    parts += [f"<p>{escape(problem)}</p>" for problem in problems]
    if notable:
        head = "".join(f"<th>{title}</th>" for title in ("rule", "title", "verdict", "why"))
        body = "".join(f"<tr>{_cells(rule)}</tr>" for rule in notable)
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    return "".join(parts)


def _cells(rule: RuleVerdict) -> str:
    why = rule.cause
    if rule.counterexample is not None:
        allowed = " or ".join(rule.counterexample.allowed[:3])
        why = f"seen: {rule.counterexample.seen}; allowed: {allowed or 'nothing comparable'}"
    texts = (rule.id, rule.title, rule.verdict.value, why)
    return "".join(f"<td>{escape(text)}</td>" for text in texts)
