"""Results of model checking on a terminal, as tables and counterexamples; it imports rich."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from rich import box
from rich.console import Console
from rich.table import Table

from busproof.tla.graphs.comparison import Disagreement, Edge
from busproof.tla.graphs.replies import Reply
from busproof.tla.manifest import SUCCESS, Configuration
from busproof.tla.mutants import Fate
from busproof.tla.render import Exchange, exchanges_in, gherkin, story
from busproof.tla.running import Ran

__all__ = ["print_configurations", "print_fates", "print_list", "print_ran"]

_WIDTH_WITHOUT_TERMINAL: Final = 160
_NARROW: Final = 110
"""Width in characters below which tables leave out the columns that the manifest pins."""

_COLUMNS: Final = (
    "configuration", "kind", "result", "distinct", "generated", "depth", "s", "states/s", "",
)  # fmt: skip
_NARROW_COLUMNS: Final = ("configuration", "result", "distinct", "s", "states/s", "")
_SHOWN: Final = 3
"""Number of disagreements that are printed; further ones are usually similar."""


def _console() -> Console:
    screen = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if screen else _WIDTH_WITHOUT_TERMINAL
    return Console(highlight=False, markup=False, emoji=False, width=width)


def _table(*headers: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for header in headers:
        number = header in right
        justify: Literal["left", "right"] = "right" if number else "left"
        table.add_column(header, justify=justify, overflow="fold", no_wrap=number)
    return table


def print_list(configurations: Iterable[Configuration]) -> None:
    """Print the configurations with their expected results."""
    table = _table(
        "configuration", "size", "kind", "expected", "distinct", "s", "what it asks",
        right=("distinct", "s"),
    )  # fmt: skip
    for configuration in configurations:
        expected = "holds" if configuration.expect == SUCCESS else f"{configuration.expect} fails"
        distinct = f"{configuration.distinct:,}" if configuration.distinct else ""
        seconds = f"{configuration.seconds:.0f}" if configuration.seconds else ""
        table.add_row(
            configuration.name,
            configuration.size.value,
            configuration.kind.value,
            expected,
            distinct,
            seconds,
            configuration.title,
        )
    _console().print(table)


def print_configurations(runs: Sequence[Ran]) -> None:
    """Print one line for each configuration that ran."""
    console = _console()
    columns = _COLUMNS if console.width >= _NARROW else _NARROW_COLUMNS
    table = _table(*columns, right=("distinct", "generated", "depth", "s", "states/s"))
    for ran in runs:
        cells = dict(zip(_COLUMNS, _cells(ran), strict=True))
        table.add_row(*(cells[column] for column in columns))
    console.print(table)
    states = sum(ran.checked.distinct for ran in runs if ran.checked is not None)
    edges = sum(ran.comparison.edges for ran in runs if ran.comparison is not None)
    passed = sum(ran.passed for ran in runs)
    console.print()
    console.print(f"{passed} of {len(runs)} as expected; {states:,} distinct states" + (
        f"; {edges:,} edges compared with the model" if edges else ""
    ))  # fmt: skip


def _cells(ran: Ran) -> tuple[str, ...]:
    name, kind = ran.configuration.name, ran.configuration.kind.value
    if ran.checked is None:
        return (name, kind, "no verdict", "", "", "", "", "", "ERROR")
    checked = ran.checked
    result = "holds" if checked.result == SUCCESS else f"{checked.violated or checked.result} fails"
    return (
        name,
        kind,
        result,
        f"{checked.distinct:,}",
        f"{checked.generated:,}",
        str(checked.depth),
        f"{checked.seconds:.1f}",
        f"{checked.rate:,.0f}",
        "ok" if ran.passed else "DEVIATES",
    )


def print_ran(ran: Ran, *, trace: bool) -> None:
    """Print the details of a configuration's result, if it has any.

    Args:
        ran: the result.
        trace: whether to print a counterexample that was expected, too.
    """
    console = _console()
    if ran.error:
        console.print(f"\n{ran.configuration.name}: {ran.error}", soft_wrap=True)
    for deviation in ran.deviations:
        console.print(f"\n{ran.configuration.name}: {deviation}", soft_wrap=True)
    if ran.checked is not None and ran.checked.trace and (trace or not ran.passed):
        name = ran.checked.violated or ran.checked.result
        print_steps(console, f"{name} fails", exchanges_in(ran.checked.trace), ran)
    if ran.comparison is not None:
        for disagreement in ran.comparison.disagreements[:_SHOWN]:
            _print_disagreement(console, disagreement, ran.configuration)


def print_steps(console: Console, name: str, steps: Sequence[Exchange], ran: Ran) -> None:
    """Print the steps of a counterexample, as commands and as a scenario."""
    if not steps:
        return
    console.print(f"\n{name} in {ran.configuration.name}:")
    for number, line in enumerate(story(steps, ran.setting), start=1):
        console.print(f"  {number}. {line}", soft_wrap=True)
    console.print()
    console.print(gherkin(name, steps, ran.setting), soft_wrap=True)


def _print_disagreement(
    console: Console, disagreement: Disagreement, configuration: Configuration
) -> None:
    console.print(f"\nThe spec and the model differ in {configuration.name}:")
    steps = [Exchange(dict(command), _reply(reply)) for command, reply in disagreement.way]
    unanswered = Exchange(dict(disagreement.command), _reply(("…",)))
    for number, line in enumerate(story([*steps, unanswered], configuration.graph), start=1):
        console.print(f"  {number}. {line}", soft_wrap=True)
    for state in disagreement.states[:_SHOWN]:
        console.print(f"  state: {state}")
    console.print(f"  only the spec answers:  {_edges(disagreement.spec_only)}")
    console.print(f"  only the model answers: {_edges(disagreement.model_only)}")
    console.print(f"  the model goes by: {', '.join(disagreement.rules) or 'no rule'}")


def _reply(reply: Reply) -> dict[str, object]:
    kind, *rest = reply
    fields = {"Done": "partition", "Refused": "error", "Received": "message", "Peeked": "messages"}
    if kind in fields and rest and rest[0] is not None:
        return {"type": kind, fields[kind]: rest[0]}
    return {"type": kind}


def _edges(edges: Iterable[Edge]) -> str:
    parts = []
    for edge in edges:
        reply = " ".join(str(part) for part in edge.reply if part is not None)
        parts.append(f"{reply}, and goes to {edge.onto}" if edge.onto else reply)
    return "; ".join(parts) or "-"


def print_fates(fates: Sequence[Fate]) -> None:
    """Print one line for each mutant."""
    table = _table("mutant", "rule", "module", "killed by", "s", "", right=("s",))
    for fate in fates:
        mutant = fate.mutant
        table.add_row(
            mutant.name,
            mutant.rule,
            mutant.module,
            fate.killer,
            f"{fate.seconds:.1f}",
            "killed" if fate.killed else "ALIVE",
        )
    console = _console()
    console.print(table)
    console.print()
    console.print(f"{sum(fate.killed for fate in fates)} of {len(fates)} mutants killed")
