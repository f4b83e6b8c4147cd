"""The report on a client: JSON, and a page that needs nothing else."""

import json
import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.clients.verdicts import (
    LEVEL,
    Result,
    RuleVerdict,
    Verdict,
    exit_code,
    level_status,
)
from busproof.errors import HistoryError

__all__ = ["JSON_NAME", "PAGE_NAME", "ClientReport", "view_report", "write_report"]

JSON_NAME: Final = "client.json"
PAGE_NAME: Final = "client.html"
FORMAT: Final = "busproof-client/1"
COLOURS: Final = {
    Verdict.SHOWN: "#2e7d32",
    Verdict.VIOLATED: "#b3261e",
    Verdict.NOT_FOLLOWED: "#8a5a00",
    Verdict.NOT_APPLICABLE: "#616161",
    Verdict.NOT_SHOWN: "#8a5a00",
    Verdict.INCONCLUSIVE: "#00657f",
    Verdict.ERRORED: "#6a1b9a",
}
STYLE: Final = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem;
  color: #1a202c; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid #e2e8f0; overflow-wrap: anywhere; }
code { background: #edf2f7; padding: 0 .2rem; }
"""


@attrs.frozen(kw_only=True)
class ClientReport:
    """All that a run of `busproof client` found.

    Attributes:
        command: the words that start the program.
        verdicts: the verdicts, in the order of the rules.
        results: the results of the scenarios.
    """

    command: tuple[str, ...]
    verdicts: Sequence[RuleVerdict]
    results: Sequence[Result]

    @property
    def counts(self) -> dict[str, int]:
        """Number of rules with each verdict that occurs."""
        every = [one.verdict for one in self.verdicts]
        return {kind.value: every.count(kind) for kind in Verdict if kind in every}


def view_report(report: ClientReport) -> dict[str, Any]:
    """Return the report as JSON has it."""
    return {
        "format": FORMAT,
        "command": list(report.command),
        "level": {"id": LEVEL, "state": level_status(report.verdicts)},
        "exit_code": exit_code(report.verdicts),
        "counts": report.counts,
        "rules": [
            {
                "rule": one.rule.id,
                "title": one.rule.title,
                "modality": one.rule.modality,
                "verdict": one.verdict.value,
                "said": one.said,
                "scenarios": list(one.scenarios),
            }
            for one in report.verdicts
        ],
        "scenarios": [
            {
                "scenario": result.scenario.name,
                "about": result.scenario.about,
                "task": result.scenario.task,
                "parameters": dict(result.scenario.parameters),
                "seconds": round(result.seconds, 1),
                "unsupported": result.unsupported,
                "gave_up": result.gave_up,
                "errored": result.errored,
                "findings": [attrs.asdict(finding) for finding in result.findings],
            }
            for result in report.results
        ],
    }


def write_report(report: ClientReport, folder: str | os.PathLike[str]) -> None:
    """Write the report as JSON and as a page.

    Raises:
        HistoryError: a file cannot be written.
    """
    texts = {
        JSON_NAME: json.dumps(view_report(report), indent=2) + "\n",
        PAGE_NAME: "\n".join(_page(report)) + "\n",
    }
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise HistoryError(
            f"cannot write the report in {folder}: {error.strerror or error}"
        ) from None


def _page(report: ClientReport) -> Iterator[str]:
    title = f"Client: {' '.join(report.command)}"
    counts = ", ".join(f"{number} {name}" for name, number in report.counts.items())
    yield "<!doctype html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{STYLE}</style></head><body><main>"
    yield f"<h1>Client</h1><p><code>{escape(' '.join(report.command))}</code></p>"
    yield f"<p>Level {LEVEL}: {level_status(report.verdicts)}. {escape(counts)}.</p>"
    yield "<h2>Rules</h2><table><thead><tr><th>rule</th><th>verdict</th><th>what was seen</th>"
    yield "</tr></thead><tbody>"
    for one in report.verdicts:
        colour = COLOURS[one.verdict]
        yield (
            f'<tr id="{one.rule.id}"><td>{one.rule.id}<br>{escape(one.rule.title)}</td>'
            f'<td style="color: {colour}"><strong>{one.verdict.value}</strong></td>'
            f"<td>{escape(one.said)}</td></tr>"
        )
    yield "</tbody></table>"
    yield "<h2>Scenarios</h2><table><thead><tr><th>scenario</th><th>task</th><th>seconds</th>"
    yield "</tr></thead><tbody>"
    for result in report.results:
        scenario = result.scenario
        task = f"{scenario.task} {json.dumps(scenario.parameters)}"
        yield (
            f"<tr><td>{escape(scenario.name)}<br>{escape(scenario.about)}</td>"
            f"<td><code>{escape(task)}</code></td><td>{result.seconds:.1f}</td></tr>"
        )
    yield "</tbody></table></main></body></html>"
