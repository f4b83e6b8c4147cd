"""`busproof check-adapter`: check an adapter's use of the protocol, for its author."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from busproof.cli import github, values
from busproof.cli.console import progress
from busproof.cli.frame import FORMAT, Command, Options, argument, option
from busproof.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from busproof.adapters.checking.findings import Finding

__all__ = ["COMMAND", "run"]

_STYLES: Final = {
    "passed": "green",
    "failed": "bold red",
    "inconclusive": "cyan",
    "not tried": "yellow",
    "not applicable": "dim",
}

_EXCHANGES: Final = 6
"""Maximum number of exchanges to print for a failed check; `--format json` has all."""


def run(args: Options) -> int:
    """Check, print, and return the exit code.

    Raises:
        UsageError: there is no such adapter, or the timeout is invalid.
    """
    from rich.console import Console

    from busproof.adapters.checking.checking import check_adapter, lessons
    from busproof.adapters.finding import check_name
    from busproof.spec import load
    from busproof.vocabulary.profile import profile_for

    if not 0 < args.timeout <= 86400:
        raise UsageError(f"the timeout is {args.timeout} s; give more than 0, and a day at most")
    check_name(args.adapter)
    profile = profile_for(load())
    findings: list[Finding] = []
    with progress("Checking", len(lessons(args.adapter)), transient=True) as advance:
        for finding in check_adapter(args.adapter, profile, args.timeout):
            findings.append(finding)
            advance()
    findings = _write_tracebacks(findings)
    if args.format == "json":
        print(json.dumps({"checks": [_view(finding) for finding in findings]}, indent=2))
    else:
        _print(findings, Console())
    github.annotate_failures(
        (f"{finding.lesson.id} failed", f"{finding.lesson.title}: {finding.detail}")
        for finding in findings
        if finding.result.value == "failed"
    )
    return _exit_code(findings)


def _write_tracebacks(findings: "list[Finding]") -> "list[Finding]":
    """Write the tracebacks of the adapter's exceptions to a file, and name it in the findings."""
    import attrs  # the help does not need it

    from busproof.cli.running.child_run import ADAPTER_ERROR

    raised = [finding for finding in findings if finding.traceback]
    kept = Path("reports") / ADAPTER_ERROR
    try:
        if raised:
            kept.parent.mkdir(exist_ok=True)
            text = "\n".join(f"{finding.lesson.id}:\n{finding.traceback}" for finding in raised)
            kept.write_text(text, encoding="utf-8")
    except OSError:
        return findings
    return [
        attrs.evolve(finding, detail=f"{finding.detail}; {kept} has its traceback")
        if finding.traceback
        else finding
        for finding in findings
    ]


def _exit_code(findings: "list[Finding]") -> int:
    results = {finding.result.value for finding in findings}
    if "failed" in results:
        return 1
    return 3 if results & {"inconclusive", "not tried"} else 0


def _view(finding: "Finding") -> dict[str, object]:
    lesson = finding.lesson
    return {
        "check": lesson.id,
        "title": lesson.title,
        "result": finding.result.value,
        "said": finding.detail,
        "protocol": lesson.protocol,
        "advice": lesson.advice,
        "exchanges": [
            {"sent": exchange.sent, "came": exchange.came} for exchange in finding.exchanges
        ],
    }


def _print(findings: "list[Finding]", console: "Console") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("check", no_wrap=True)
    table.add_column("an adapter")
    table.add_column("result", no_wrap=True)
    undeclared = [finding for finding in findings if finding.result.value == "not applicable"]
    for finding in findings:
        if finding not in undeclared:
            result = Text(finding.result.value, style=_STYLES[finding.result.value])
            table.add_row(finding.lesson.id, finding.lesson.title, result)
    console.print(table)
    if undeclared:
        names = ", ".join(finding.lesson.id for finding in undeclared)
        reason = f"Not applicable, because a capability is not declared: {names}"
        console.print(Text(reason, style=_STYLES["not applicable"]))
    for finding in findings:
        if finding.result.value in ("failed", "inconclusive", "not tried"):
            _tell(finding, console)
    counted = {kind: sum(finding.result.value == kind for finding in findings) for kind in _STYLES}
    counts = ", ".join(f"{count} {kind}" for kind, count in counted.items() if count)
    console.print(f"\n{counts}", highlight=False)


def _tell(finding: "Finding", console: "Console") -> None:
    """Print a failure with the protocol's requirement and the advice."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    style = _STYLES[finding.result.value]
    if finding.result.value == "not tried":
        console.print(Text(f"{finding.lesson.id} not tried: {finding.detail}", style=style))
        return
    console.print(Text(f"\n{finding.lesson.id} {finding.result.value}", style=style))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    rows = (
        [("wrong", finding.detail)] if finding.result.value == "failed" else [("", finding.detail)]
    )
    left_out = len(finding.exchanges) - _EXCHANGES
    if left_out > 0:
        rows.append(("", f"{left_out} earlier exchanges are left out"))
    for exchange in finding.exchanges[-_EXCHANGES:]:
        rows += [("sent", exchange.sent), ("came", exchange.came or "nothing")]
    rows += [("protocol", finding.lesson.protocol), ("do", finding.lesson.advice)]
    for label, text in rows:
        grid.add_row(Text(label, style="bold"), Text(_printable(text), overflow="fold"))
    console.print(Padding(grid, (0, 0, 0, 2)))


def _printable(text: str) -> str:
    """Return a text without control characters except line ends."""
    return "".join(
        character if character.isprintable() or character == "\n" else repr(character)[1:-1]
        for character in text
    )


COMMAND: Final = Command(
    "check-adapter",
    run,
    description="Check an adapter of any kind, one feature at a time. For a failed "
    "check, print what was sent, what came back, what the protocol says and "
    "what to do. Exit codes: 0 all passed, 1 a check failed, 3 some could "
    "not run.",
    parameters=[
        argument(
            "adapter",
            "A",
            "as for busproof run --adapter; see busproof adapters",
            required=True,
            shell_complete=values.adapters,
        ),
        option(
            "--timeout",
            type=float,
            default=10.0,
            metavar="SECONDS",
            help="limit for each answer of a process",
        ),
        FORMAT,
    ],
    examples=[
        ("busproof check-adapter mybus:make", "An adapter in Python:"),
        (
            "busproof check-adapter 'exec:node adapter.js' --timeout 30",
            "A program that starts slowly:",
        ),
    ],
)
