"""`busproof doctor`: report what busproof can use on this machine, and what is missing."""

import json
from typing import TYPE_CHECKING, Final

from busproof.cli import values
from busproof.cli.console import say_next
from busproof.cli.environment import NEEDS, findings
from busproof.cli.frame import FORMAT, Command, Options, argument
from busproof.errors import UsageError

if TYPE_CHECKING:
    from busproof.cli.environment import Finding

__all__ = ["COMMAND", "run"]

INCOMPLETE = 3


def run(args: Options) -> int:
    """Print the findings; return 3 if something necessary is missing, else 0.

    Raises:
        UsageError: a name is not one of the findings.
    """
    unknown = [need for need in args.needs if need not in NEEDS]
    if unknown:
        raise UsageError(f"doctor knows nothing called {unknown[0]!r}; name {', '.join(NEEDS)}")
    diagnosis = list(findings())
    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(finding) for finding in diagnosis], indent=2))
    else:
        _print(diagnosis)
    needed = {"", *args.needs}
    return (
        INCOMPLETE
        if any(finding.need in needed and not finding.there for finding in diagnosis)
        else 0
    )


def _print(diagnosis: "list[Finding]") -> None:
    from rich import box  # slow to import
    from rich.console import Console
    from rich.table import Table

    table = Table("", "what", "for", "found", box=box.SIMPLE_HEAD, pad_edge=False)
    for finding in diagnosis:
        table.add_row(
            _mark(finding),
            finding.name,
            finding.purpose,
            finding.told if finding.there else "missing",
        )
    console = Console()
    console.print(table)
    missing = [finding for finding in diagnosis if not finding.there]
    for finding in missing:
        # Do not wrap lines, nor let rich take `busproof[amqp]` for markup.
        line = f"{finding.name}, for {finding.purpose}: {finding.told}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if not missing:
        console.print("Nothing is missing.")
    if any(not finding.need for finding in missing):
        say_next("repair what is marked ✗, and repeat busproof doctor")
    else:
        say_next("busproof run tests the reference model, for which nothing is missing")


def _mark(finding: "Finding") -> str:
    if finding.there:
        return "[green]✓[/]"
    return "[yellow]-[/]" if finding.need else "[red]✗[/]"


COMMAND: Final = Command(
    "doctor",
    run,
    description="Report what busproof can use on this machine, and how to get what is missing. "
    "Exit code 3 if something is missing that every command needs, or that is named.",
    parameters=[
        argument(
            "needs",
            "NEED",
            f"what must be there, too: {', '.join(NEEDS)}",
            nargs=-1,
            shell_complete=values.one_of(*NEEDS),
        ),
        FORMAT,
    ],
    examples=[
        ("busproof doctor", "All that can be used:"),
        ("busproof doctor amqp node", "Fail where these are missing, for a script:"),
    ],
)
