#!/usr/bin/env python3
"""Print docs/editions.md with its section on changes generated from the catalogue."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from busproof import spec

PAGE: Final = Path(__file__).parent.parent / "docs" / "editions.md"
HEADING: Final = "## What changed from edition to edition"
LANGUAGES: Final = {
    "cs": "Czech",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "pt": "Portuguese",
}
INTRODUCTION: Final = """
`make diagrams` writes this section from the catalogue.
The statements are in our words, each with its number in `spec/statements.yaml`.
A rule stands beside the statement that moved it; a page beside an edition moves rules too, and so does a change in a part of a statement.
"""  # noqa: E501 - one sentence a line


def page(catalogue: spec.Catalogue, text: str) -> str:
    """Return the page's text with its section on changes generated anew.

    Raises:
        ValueError: the text has no such section.
    """
    section = re.compile(rf"^{HEADING}\n.*?(?=^## )", re.DOTALL | re.MULTILINE)
    if not section.search(text):
        raise ValueError(f"docs/editions.md has no section {HEADING!r}; put the heading back.")
    lines = [HEADING, INTRODUCTION, *_editions(catalogue), *_changes(catalogue)]
    written = "\n".join(lines) + "\n\n"
    return section.sub(lambda _: written, text)


def _editions(catalogue: spec.Catalogue) -> Iterator[str]:
    yield "| edition | dated | language | rules | in English |"
    yield "| --- | --- | --- | ---: | --- |"
    for edition in catalogue.editions:
        rules = sum(edition.id in rule.editions for rule in catalogue.rules)
        link = f"[{_dated(edition)}]({catalogue.english_text(edition.id)})"
        dated = edition.dated or "no date"
        language = LANGUAGES[edition.language]
        yield f"| `{edition.id}` | {dated} | {language} | {rules} | {link} |"


def _dated(edition: spec.Edition) -> str:
    if edition.snapshot is None:
        return "the article of today"
    return f"text of {edition.snapshot.dated or edition.dated}"


def _changes(catalogue: spec.Catalogue) -> Iterator[str]:
    for one, other in pairwise(catalogue.editions):
        diff = catalogue.diff(one.id, other.id)
        yield f"\n### From `{one.id}` to `{other.id}`\n"
        yield "| | statement | rules |"
        yield "| --- | --- | --- |"
        yield from _rows(catalogue, "gone", diff.gone, diff.only_in_a)
        yield from _rows(catalogue, "new", diff.new, diff.only_in_b)


def _rows(
    catalogue: spec.Catalogue, what: str, statements: Iterable[spec.Statement], rules: Iterable[str]
) -> Iterator[str]:
    """Yield a row for each statement with the rules it moved, and one for the remaining rules."""
    left = list(rules)
    for statement in statements:
        moved = [rule for rule in left if statement.id in catalogue.rule(rule).covers]
        left = [rule for rule in left if rule not in moved]
        yield f"| {what} | {statement.says} ({statement.id}) | {', '.join(moved)} |"
    if left:
        yield f"| {what} | by a part of a statement, or a page beside it | {', '.join(left)} |"


if __name__ == "__main__":
    print(page(spec.load(), PAGE.read_text(encoding="utf-8")), end="")
