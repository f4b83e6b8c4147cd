"""The conformance report for a terminal, or as plain text.

Import this module late, because it imports rich, which is slow.
"""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    RuleVerdict,
    Verdict,
)
from busproof.history.render.events import story
from busproof.history.render.phrases import one_line
from busproof.reports import overview
from busproof.reports.levels import State, levels_found
from busproof.spec import Catalogue

__all__ = ["show"]

_SHORT_CAUSE: Final = 100

_ASCII_BOX: Final = box.Box("\n".join(["    ", "    ", " -- ", *["    "] * 5]), ascii=True)

_FEW: Final = 8
"""Maximum number of allowed answers to print for a violation."""

_STYLES: Final = {
    Verdict.SHOWN: "green",
    Verdict.VIOLATED: "bold red",
    Verdict.KNOWN_FAILURE: "red",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.NOT_SHOWN: "yellow",
    Verdict.INCONCLUSIVE: "cyan",
    Verdict.ERRORED: "bold magenta",
}
_LEVEL_STYLES: Final = {State.FULL: "green", State.PARTIAL: "yellow", State.NOT_CLAIMED: "dim"}
_SYMBOLS: Final = {
    Verdict.SHOWN: "✓",
    Verdict.VIOLATED: "✗",
    Verdict.KNOWN_FAILURE: "~",
    Verdict.NOT_APPLICABLE: "-",
    Verdict.NOT_SHOWN: "○",
    Verdict.INCONCLUSIVE: "?",
    Verdict.ERRORED: "!",
}
_ASCII_SYMBOLS: Final = {
    **_SYMBOLS,
    Verdict.SHOWN: "+",
    Verdict.VIOLATED: "x",
    Verdict.NOT_SHOWN: "o",
}


def show(
    conformance: Conformance,
    catalogue: Catalogue,
    console: Console,
    *,
    verbose: bool = False,
    folded: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Print families, unshown claims and each violation; the counts come last.

    Args:
        conformance: all verdicts of the run.
        catalogue: the source of the rules' statements and families.
        console: the destination; it decides on width and colours.
        verbose: whether every rule has a row, and every cause is printed in full; otherwise only
            unshown and requested rules have a row.
        folded: a context manager that folds its output below a title, if the log supports that.
    """
    screen = _Screen(conformance, catalogue, console, verbose)
    screen.print_head()
    with folded("The verdicts, family by family"):
        screen.print_matrix()
        screen.print_goals()
        screen.print_not_applicable()
    screen.print_known_failures()
    screen.print_levels()
    screen.print_claims()
    screen.print_problems()
    screen.print_unjudged()
    screen.print_violations()
    screen.print_summary()


class _Screen:
    """One report on one console."""

    def __init__(
        self, conformance: Conformance, catalogue: Catalogue, console: Console, verbose: bool
    ) -> None:
        self._conformance = conformance
        self._catalogue = catalogue
        self._console = console
        self._verbose = verbose
        self._ascii = console.options.ascii_only
        clean = conformance.exit_code is ExitCode.OK and not conformance.only
        self._brief = clean and not verbose

    def print_head(self) -> None:
        """Print the implementation and the terms of judging."""
        subject = self._conformance.subject
        language = f" ({subject.language})" if subject.language else ""
        self._print(self._text(f"{subject.name} {subject.version}{language}", "bold"))
        judged = f"{self._conformance.oracle} oracle, {overview.clock_words(subject)}"
        self._print(self._text(f"{overview.profile_words(subject)}; {judged}"))
        scenarios = overview.scenario_words(self._conformance)
        self._print(self._text(f"{self._conformance.events} events; scenarios: {scenarios}"))
        if self._conformance.only:
            self._print(self._text(f"limited to: {', '.join(self._conformance.only)}"))
        if self._conformance.explored is not None:
            words = overview.explored_words(self._conformance.explored)
            self._print(self._text(f"explored: {words}"))

    def print_matrix(self) -> None:
        """Print a row for each family, followed by one for each notable rule."""
        table = _matrix(_ASCII_BOX if self._ascii else box.SIMPLE_HEAD)
        for family in overview.families(self._conformance, self._catalogue):
            rules = self._rows(family.rules)
            if self._brief and all(rule.verdict is Verdict.NOT_APPLICABLE for rule in family.rules):
                continue
            cause = "" if self._verbose else _cause_of_all(rules)
            if rules:
                table.add_section()
            title: RenderableType = self._text(family.title, "bold")
            if cause:
                title = Group(title, Padding(self._text(cause, "dim"), (0, 0, 0, 2)))
            table.add_row(self._text(family.id, "bold"), title, self._text(family.summary, "bold"))
            for rule in () if cause else rules:
                table.add_row(*self._cells(rule))
            if rules:
                table.add_section()
        self._print()
        self._print(table)

    def print_goals(self) -> None:
        """Print how often each coverage goal was reached."""
        explored = self._conformance.explored
        if explored is None or not self._verbose:
            return
        self._heading("Sometimes", "dim")
        for name, times in explored.goals.items():
            self._indent(self._text(f"{name}: {times}"))

    def print_not_applicable(self) -> None:
        """Print the rules that do not apply and have no row, by cause."""
        hidden = [
            rule
            for rule in self._conformance.rules
            if rule.verdict is Verdict.NOT_APPLICABLE and not self._verbose
        ]
        if hidden and self._brief:
            kinds = Counter(rule.cause.partition(":")[0] for rule in hidden)
            causes = ", ".join(f"{count} by {kind}" for kind, count in kinds.most_common())
            self._print()
            self._print(self._text(f"Not applicable: {causes} (-v names them)", "dim"))
            return
        if hidden:
            self._heading(f"Not applicable ({len(hidden)})", "dim")
        for cause, rules in overview.group_by_cause(hidden).items():
            self._indent(self._text(f"{overview.id_words(rules)} ({cause})"))

    def print_known_failures(self) -> None:
        """Print the entries of the list of known failures, and their results."""
        if self._conformance.known_failures:
            self._heading("Known failures", "bold red")
        for known in self._conformance.known_failures:
            label = f"{known.rule} {known.standing.value}"
            self._indent(self._label(label, overview.known_words(known)))

    def print_claims(self) -> None:
        """Print the declared capabilities that have a rule that was not shown."""
        claims = overview.unshown_claims(self._conformance, self._catalogue)
        if claims:
            self._heading("Claimed, but not shown", "bold yellow")
        for claim in claims:
            self._indent(self._label(claim.capability, claim.words))

    def print_problems(self) -> None:
        """Print why the run was incomplete."""
        if self._conformance.problems:
            self._heading("Problems", "bold yellow")
        for problem in self._conformance.problems:
            self._indent(self._text(problem))

    def print_unjudged(self) -> None:
        """Print what was not judged, why, and what would make it judged."""
        if self._conformance.unjudged:
            self._heading("Not judged", "bold yellow")
        for unjudged in self._conformance.unjudged:
            amount = overview.unjudged_amount(unjudged)
            self._indent(self._label(amount, overview.unjudged_words(unjudged)))

    def print_violations(self) -> None:
        """Print each violation with its events, the allowed answers and the observed one."""
        for verdict in overview.violations(self._conformance):
            self._heading(f"{verdict.id} violated: {verdict.title}", "bold red")
            parts = [*self._write_statement(verdict)]
            if verdict.cause:
                parts.append(self._label("Cause", verdict.cause))
            if verdict.counterexample is not None:
                parts.extend(self._example(verdict.counterexample, verdict.id))
            self._indent(Group(*parts))
            if verdict.again:
                self._print_command(f"  Again: {verdict.again}")

    def print_levels(self) -> None:
        """Print how much of each level was claimed and shown."""
        results = levels_found(self._conformance, self._catalogue)
        if results:
            self._heading("Levels", "bold")
        for state in State:
            style = _LEVEL_STYLES[state]
            levels = [result for result in results if result.state is state]
            if levels and (self._brief or state is State.NOT_CLAIMED):
                titles = ", ".join(level.level.title for level in levels)
                self._indent(self._label(state.value, titles, style))
                continue
            for level in levels:
                text = f"{state.value}, {level.words}"
                self._indent(self._label(level.level.title, text, style))

    def print_summary(self) -> None:
        """Print the counts, and the result of the run."""
        line = Text()
        line.append(overview.headline(self._conformance.rules), "bold")
        for verdict, count in overview.tallies(self._conformance).items():
            line.append(", ")
            line.append(f"{count} {verdict.value}", _STYLES[verdict] if count else "dim")
        self._print()
        self._print(line)
        self._print(self._text(overview.conclusion(self._conformance)))

    def _rows(self, rules: Iterable[RuleVerdict]) -> list[RuleVerdict]:
        hidden = {Verdict.NOT_APPLICABLE}
        if not self._conformance.only:
            hidden.add(Verdict.SHOWN)
        return [rule for rule in rules if self._verbose or rule.verdict not in hidden]

    def _cells(self, rule: RuleVerdict) -> Iterator[RenderableType]:
        symbol = (_ASCII_SYMBOLS if self._ascii else _SYMBOLS)[rule.verdict]
        cause = self._text(self._cause(rule), "dim")
        title = self._text(rule.title)
        yield self._text(rule.id)
        yield Group(title, Padding(cause, (0, 0, 0, 2))) if cause else title
        yield self._text(f"{symbol} {rule.verdict.value}", _STYLES[rule.verdict])
        yield self._text(str(rule.events))

    def _cause(self, rule: RuleVerdict) -> str:
        cause = one_line(rule.cause)
        return cause if self._verbose else textwrap.shorten(cause, _SHORT_CAUSE, placeholder=" ...")

    def _write_statement(self, verdict: RuleVerdict) -> Iterator[RenderableType]:
        rule = overview.find_rule(self._catalogue, verdict.id)
        if rule is None:
            return
        yield self._text(rule.statement)
        edition = self._conformance.subject.edition
        places = overview.citations(self._catalogue, rule, edition)
        stated = (f"{where} ({', '.join(sources)})" for sources, where in places.items())
        yield self._label(rule.status.capitalize(), "; ".join(stated))

    def _example(self, example: Counterexample, rule: str) -> Iterator[RenderableType]:
        if example.scenario:
            yield self._label("Scenario", example.scenario)
        if example.about:
            yield self._label("About", example.about)
        steps = Table.grid(padding=(0, 1))
        steps.add_column(justify="right", no_wrap=True)
        steps.add_column(overflow="fold")
        for number, line in enumerate(story(example.events), 1):
            text = self._text(str(line))
            # If only the scenario's own check fails, no single answer is the wrong one.
            if number == len(example.events) and example.is_judged:
                text.append_text(Text(f"  <- breaks {rule}", "bold red"))
            steps.add_row(self._text(f"{number}."), text)
        yield steps
        yield self._label("Seen", example.seen, "red")
        yield self._label("Allowed", "\n".join(self._list_allowed(example)), "green")

    def _list_allowed(self, example: Counterexample) -> tuple[str, ...]:
        count = len(example.allowed)
        if count <= _FEW or self._verbose:
            return example.allowed or ("nothing comparable",)
        return (*example.allowed[:_FEW], f"{count - _FEW} other answers (see the report's files)")

    def _label(self, label: str, text: str, style: str = "") -> Table:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for number, line in enumerate(text.split("\n")):
            name = "" if number else f"{label}:"
            grid.add_row(self._text(name, "bold"), self._text(line, style))
        return grid

    def _heading(self, text: str, style: str) -> None:
        self._print()
        self._print(self._text(text, style))

    def _indent(self, part: RenderableType) -> None:
        self._print(Padding(part, (0, 0, 0, 2)))

    def _text(self, text: str, style: str = "") -> Text:
        """Return a text without markup, in characters that the console supports."""
        line = one_line(text) if text.strip() else text
        if self._ascii:
            line = line.encode("ascii", "backslashreplace").decode("ascii")
        return Text(line, style=style, overflow="fold")

    def _print_command(self, line: str) -> None:
        """Print a line for copying, without wrapping it."""
        self._console.print(self._text(line), soft_wrap=True)

    def _print(self, *parts: RenderableType) -> None:
        if self._console.is_terminal:
            self._console.print(*parts)
            return
        with self._console.capture() as captured:
            self._console.print(*parts)
        lines = captured.get().rstrip("\n").split("\n")
        self._console.out("\n".join(line.rstrip() for line in lines), highlight=False)


def _cause_of_all(rules: list[RuleVerdict]) -> str:
    """Return the cause that all of a family's rules have in common, if none was observed."""
    causes = {rule.cause for rule in rules}
    unseen = all(rule.verdict is Verdict.NOT_SHOWN and not rule.events for rule in rules)
    return causes.pop() if len(rules) > 1 and unseen and len(causes) == 1 else ""


def _matrix(edges: box.Box) -> Table:
    """Return a table in which ids, verdicts and counts are never cut."""
    table = Table(
        box=edges,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for header in ("id", "rule", "verdict", "events"):
        table.add_column(
            header,
            no_wrap=header != "rule",
            overflow="fold",
            justify="right" if header == "events" else "left",
        )
    return table
