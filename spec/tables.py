"""The catalogue as tables for a terminal.

This module imports rich, which is slow, so import it only in order to print a table.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table

from busproof.spec.catalogue import Catalogue
from busproof.spec.namespaces import Answer, NamespaceDiff
from busproof.spec.observed import observed_about
from busproof.spec.values import Ambiguity, Change, Citation, Diff, Rule

__all__ = [
    "print_ambiguities",
    "print_changes",
    "print_diff",
    "print_namespace_diff",
    "print_rule",
    "print_rules",
]

_WIDTH_WITHOUT_TERMINAL: Final = 160
_NARROW: Final = 100
"""Width in characters below which a rule's needs are printed under its title."""


def print_rules(catalogue: Catalogue, rules: Sequence[Rule]) -> None:
    """Print a line for each rule, under the headings of families."""
    console = _console()
    narrow = console.width < _NARROW
    columns = ("id", "title", "modality", "shown by", "editions", "needs")
    table = _table(*columns[: 5 if narrow else 6], whole=("id", "modality", "shown by", "editions"))
    for family in catalogue.families:
        members = [rule for rule in rules if rule.family == family.id]
        if members:
            table.add_section()
            table.add_row(family.id, f"{family.title} ({len(members)})", style="bold")
        for rule in members:
            table.add_row(*_cells(catalogue, rule, narrow=narrow))
    console.print(table)
    console.print()
    marks = ", ".join(f"{edition.mark} {edition.id}" for edition in catalogue.editions)
    console.print(f"Editions: {marks}; outside: stated by none of them, in force in all.")
    console.print(f"A run that names no edition is held to {catalogue.default_edition}.")
    newest = catalogue.releases[0]
    hint = "busproof rules --changes has details."
    console.print(f"Catalogue {newest.version} of {newest.dated}; {hint}")


def _cells(catalogue: Catalogue, rule: Rule, *, narrow: bool) -> tuple[str, ...]:
    cells = (rule.id, rule.title, rule.modality, rule.shown_by, _marks(catalogue, rule))
    needs = _needs(rule)
    if not narrow:
        return (*cells, needs)
    title = f"{rule.title}\n  needs {needs}" if needs else rule.title
    return (rule.id, title, *cells[2:])


def _needs(rule: Rule) -> str:
    return ", ".join(need.replace("|", " or ") for need in rule.needs)


def _marks(catalogue: Catalogue, rule: Rule) -> str:
    if rule.outside:
        return "outside"
    return "".join(
        edition.mark if edition.id in rule.editions else "-" for edition in catalogue.editions
    )


def print_ambiguities(ambiguities: Iterable[Ambiguity]) -> None:
    """Print each question with its readings and what they mean; the default is marked."""
    table = _table("id", "question, readings, rules", whole=("id",))
    for ambiguity in ambiguities:
        readings = (
            f"  {name}{'*' if name == ambiguity.default else ''}: {meaning}"
            for name, meaning in ambiguity.readings.items()
        )
        beyond = (f"on record only: {ambiguity.out_of_reach}",) * bool(ambiguity.out_of_reach)
        touched = f"touches {', '.join(ambiguity.rules)}"
        table.add_row(ambiguity.id, "\n".join((ambiguity.question, *readings, *beyond, touched)))
        table.add_section()
    console = _console()
    console.print(table)
    console.print("* the reading that is taken where a profile names none")


def print_diff(catalogue: Catalogue, diff: Diff) -> None:
    """Print the differences between two editions."""
    console = _console()
    for edition, made in ((diff.a, diff.gone), (diff.b, diff.new)):
        console.print(f"Said only in {edition}: {_count_of(len(made), 'statement')}", style="bold")
        statements = _table("id", "statement", whole=("id",), headed=False)
        for statement in made:
            statements.add_row(statement.id, statement.says)
        if made:
            console.print(statements)
        console.print()
    for edition, only in ((diff.a, diff.only_in_a), (diff.b, diff.only_in_b)):
        console.print(f"Only in {edition}: {_count_of(len(only), 'rule')}", style="bold")
        rules = _table("id", "title", whole=("id",), headed=False)
        for rule in only:
            rules.add_row(rule, catalogue.rule(rule).title)
        if only:
            console.print(rules)
        console.print()
    _print_changed(console, diff.a, diff.b, diff.changed)


def _print_changed(console: Console, a: str, b: str, changed: Sequence[Change]) -> None:
    """Print the rules of two editions that are cited differently."""
    console.print(f"In both, differing: {_count_of(len(changed), 'rule')}", style="bold")
    table = _table("id", a, b, whole=("id",))
    for change in changed:
        table.add_row(change.rule, _places(change.in_a), _places(change.in_b))
        table.add_section()
    if changed:
        console.print(table)


def print_namespace_diff(diff: NamespaceDiff) -> None:
    """Print the differences between two kinds of namespaces: rules, limits and quotas."""
    console = _console()
    for kind, only in ((diff.a, diff.only_in_a), (diff.b, diff.only_in_b)):
        console.print(f"Holds only in {kind.name}: {_count_of(len(only), 'rule')}", style="bold")
        rules = _table("id", "modality", "title", whole=("id", "modality"), headed=False)
        for rule in only:
            rules.add_row(rule.id, rule.modality, rule.title)
        if only:
            console.print(rules)
        console.print()
    subjects = _count_of(len(diff.subjects), "subject")
    console.print(f"Answered differently: {subjects}", style="bold")
    table = _table("subject", diff.a.name, diff.b.name, whole=())
    for subject, a, b in diff.subjects:
        table.add_row(subject, _answer_of(a), _answer_of(b))
        table.add_section()
    if diff.subjects:
        console.print(table)
    console.print()
    if diff.a.edition != diff.b.edition:
        _print_changed(console, diff.a.edition, diff.b.edition, diff.changed)
        console.print()
    console.print(f"{_count_of(diff.in_both, 'rule')} in both. busproof rules ID shows one.")


def _answer_of(answer: Answer | None) -> str:
    return "no rule" if answer is None else f"{answer.answer} [{', '.join(answer.rules)}]"


def print_changes(catalogue: Catalogue) -> None:
    """Print the versions of the catalogue, newest first."""
    table = _table("version", "dated", "changes", whole=("version", "dated"))
    for release in catalogue.releases:
        table.add_row(release.version, release.dated, "\n".join(release.changes))
        table.add_section()
    _console().print(table)


def _count_of(number: int, what: str) -> str:
    return {0: "nothing", 1: f"1 {what}"}.get(number, f"{number} {what}s")


def _places(citations: Iterable[Citation]) -> str:
    return "\n".join(
        f"{citation.anchor}: {citation.remark}" if citation.remark else str(citation.anchor)
        for citation in citations
    )


def print_rule(catalogue: Catalogue, rule: Rule, evidence: Mapping[str, Any]) -> None:
    """Print one rule with its citations, ambiguities and evidence.

    Keys of `evidence`:
        scenarios, distilled: scenarios and sequences, with `file` and `name`.
        faults: mutants, with `id` and `summary`.
        generated: how many generated faults were tried (`of`), and how many of them were noticed.
        tla: `operators` and `properties` with `module` and `name`, `edges` with `graph` and
            `edges`, `mutants` with `name`, `module` and `killed_by`.
    """
    console = _console()
    console.print(f"{rule.id}  {rule.title}", style="bold")
    console.print(rule.statement)
    _print_part(console, "", _facts(rule))
    if rule.covers:
        _print_part(console, "The documents say, in our words", _said(catalogue, rule))
    _print_part(console, "Stated in", _citations(catalogue, rule))
    _print_addresses(console, catalogue, rule)
    open_questions = _table("id", "question", "default reading", whole=("id", "default reading"))
    for ambiguity in catalogue.concerning({rule.id}):
        open_questions.add_row(ambiguity.id, ambiguity.question, ambiguity.default)
    _print_part(console, "Left open by the documents", open_questions)
    _print_observed(console, catalogue, rule)
    _print_part(console, "Shown by", _evidence(evidence))
    _print_part(console, "Shown by the TLA+ specs", _table_of(evidence["tla"]))


def _print_addresses(console: Console, catalogue: Catalogue, rule: Rule) -> None:
    """Print an address for each citation on one line, so that a terminal makes it a link."""
    read = {citation: catalogue.english(citation) for citation in rule.citations}
    width = max((len(citation.source) for citation in read), default=0)
    console.print()
    console.print("Read it in English", style="bold")
    for citation, address in read.items():
        if address is not None:
            console.print(f"{citation.source:{width}}  {address}", soft_wrap=True)


def _print_observed(console: Console, catalogue: Catalogue, rule: Rule) -> None:
    """Print what the real service was seen to do, with a link to each source on its own line."""
    console.print()
    console.print("Observed of the real service", style="bold")
    observations = observed_about(catalogue, rule.id)
    for observation in observations:
        about = ", ".join(name for name in observation.about if name != rule.id)
        on = f" [{about}]" if about else ""
        console.print(f"{observation.id}  {observation.tier}: {observation.summary}{on}")
        for source in observation.sources:
            console.print(f"      {source.link}", soft_wrap=True)
    if not observations:
        console.print("nothing")


def _print_part(console: Console, heading: str, table: Table) -> None:
    console.print()
    if heading:
        console.print(heading, style="bold")
    console.print(table if table.row_count else "nothing")


def _facts(rule: Rule) -> Table:
    facts = {
        "modality": rule.modality,
        "shown by": rule.shown_by,
        "why never": rule.why_never,
        "status": rule.status,
        "tiers": ", ".join(rule.tiers),
        "error": "of a kind that is not named" if rule.error == "any" else rule.error,
        "needs": _needs(rule),
        "oracles": ", ".join(rule.oracles),
        "covers": ", ".join(rule.covers),
    }
    table = _table("fact", "", whole=("fact",), headed=False)
    for name, fact in facts.items():
        if fact:
            table.add_row(name, fact)
    return table


def _citations(catalogue: Catalogue, rule: Rule) -> Table:
    titles = {source.id: f"{source.title} ({source.as_of})" for source in catalogue.sources}
    table = _table("source", "section or title", "remark", whole=("source",))
    for citation in rule.citations:
        section = citation.anchor or titles[citation.source]
        table.add_row(citation.source, section, citation.remark or "")
    return table


def _said(catalogue: Catalogue, rule: Rule) -> Table:
    table = _table("statement", "", whole=("statement",), headed=False)
    for statement in catalogue.says(rule):
        table.add_row(statement.id, statement.says)
    return table


def _evidence(evidence: Mapping[str, Any]) -> Table:
    table = _table("kind", "where", "", whole=("kind", "where"), headed=False)
    for scenario in evidence["scenarios"]:
        table.add_row("scenario", scenario["file"], scenario["name"])
    files = Counter(sequence["file"] for sequence in evidence["distilled"])
    for file, number in files.items():
        table.add_row("distilled", file, _count_of(number, "sequence"))
    for fault in evidence["faults"]:
        table.add_row("seeded fault", fault["id"], fault["summary"])
    generated = evidence["generated"]
    if generated["of"]:
        noticed = f"would have noticed {generated['noticed']} of {generated['of']} that break it"
        table.add_row("generated faults", "of a sample", noticed)
    return table


def _table_of(specs: Mapping[str, Iterable[Mapping[str, Any]]]) -> Table:
    table = _table("kind", "where", "", whole=("kind", "where"), headed=False)
    for kind, title in (("operators", "operator"), ("properties", "property")):
        for entry in specs.get(kind, ()):
            table.add_row(title, entry["module"], entry["name"])
    for entry in specs.get("edges", ()):
        table.add_row("edges", entry["graph"], f"{entry['edges']:,} compared with the model")
    for entry in specs.get("mutants", ()):
        killer = entry["killed_by"]
        fate = f"killed by {killer}" if killer else "not recorded as killed"
        table.add_row("mutant", entry["name"], fate)
    return table


def _console() -> Console:
    """Return a console that prints texts as they are, and is wide if it is not a terminal."""
    screen = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if screen else _WIDTH_WITHOUT_TERMINAL
    return Console(highlight=False, markup=False, emoji=False, width=width)


def _table(*headers: str, whole: Sequence[str], headed: bool = True) -> Table:
    """Return a table; columns named in `whole` are neither wrapped nor cut."""
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        show_header=headed,
        header_style="bold",
    )
    for header in headers:
        table.add_column(header, no_wrap=header in whole, overflow="fold")
    return table
