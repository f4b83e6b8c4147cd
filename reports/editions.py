"""Runs of one implementation side by side on a terminal: one column per edition."""

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from busproof import vocabulary as v
from busproof.history.conformance import Conformance, RuleVerdict, Verdict
from busproof.reports import overview
from busproof.spec import Catalogue

__all__ = ["show"]

WIDE: Final = 110
"""Minimum number of columns for the titles of families to be shown, too."""

FINE: Final = frozenset({Verdict.SHOWN, Verdict.NOT_APPLICABLE})
UNSEEN: Final = frozenset({Verdict.NOT_SHOWN, Verdict.NOT_APPLICABLE})
STYLES: Final = {Verdict.VIOLATED: "red", Verdict.SHOWN: "green", Verdict.NOT_APPLICABLE: "dim"}


def show(runs: Sequence[Conformance], catalogue: Catalogue, console: Console) -> None:
    """Print the number of rules shown, by family and edition; list those that an edition misses.

    Args:
        runs: verdicts on one implementation, each under one edition.
        catalogue: the source of the families.
        console: the destination; it decides on width and colours.
    """
    subject = runs[0].subject
    console.print(Text(f"{subject.name} {subject.version}", "bold"))
    edges = box.ASCII if console.options.ascii_only else box.SIMPLE_HEAD
    table = Table(box=edges, padding=(0, 1), show_edge=False)
    table.add_column("family", overflow="fold")
    for run in runs:
        table.add_column(run.subject.edition, justify="right", overflow="fold")
    for family in overview.families(runs[0], catalogue):
        of_each = [_select_family(run, family.id) for run in runs]
        named = f"{family.id} {family.title}" if console.width >= WIDE else family.id
        table.add_row(named, *map(_count, of_each))
    table.add_section()
    table.add_row(Text("all", "bold"), *(_count(run.rules) for run in runs))
    console.print(table)
    _show_unshown(runs, console, edges)
    for run in runs:
        counts = f"{overview.headline(run.rules)}, {len(overview.violations(run))} violated"
        console.print(Text(f"{run.subject.edition}: {counts}. {overview.conclusion(run)}"))


def _select_family(run: Conformance, family: str) -> tuple[RuleVerdict, ...]:
    return tuple(rule for rule in run.rules if rule.id.partition("-")[0] == family)


def _count(rules: Sequence[RuleVerdict]) -> Text:
    applicable = overview.applicable(rules)
    if not applicable:
        return Text("-", "dim")
    shown = sum(rule.verdict is Verdict.SHOWN for rule in rules)
    violated = any(rule.verdict is Verdict.VIOLATED for rule in rules)
    style = "red" if violated else "green" if shown == applicable else "yellow"
    return Text(f"{shown} of {applicable}", style)


def _show_unshown(runs: Sequence[Conformance], console: Console, edges: box.Box) -> None:
    """Print the rules that were not shown: first those that differ or broke, then the others."""
    verdicts: dict[v.RuleId, list[Verdict]] = {}
    for run in runs:
        for judged in run.rules:
            verdicts.setdefault(judged.id, []).append(judged.verdict)
    unshown = {rule: reached for rule, reached in verdicts.items() if not FINE.issuperset(reached)}
    nowhere = [rule for rule, reached in unshown.items() if UNSEEN.issuperset(reached)]
    if len(nowhere) < len(unshown):
        table = Table(box=edges, padding=(0, 1), show_edge=False)
        table.add_column("rule", no_wrap=True)
        for run in runs:
            table.add_column(run.subject.edition, overflow="fold")
        for rule, of_editions in unshown.items():
            if rule not in nowhere:
                words = (
                    Text(of_edition.value, STYLES.get(of_edition, "yellow"))
                    for of_edition in of_editions
                )
                table.add_row(rule, *words)
        console.print()
        console.print(table)
    if nowhere:
        console.print()
        console.print(Text(f"Shown in no edition: {overview.id_words(nowhere)}"))
    console.print()
