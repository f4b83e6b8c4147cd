"""Write docs/results.md: the verdicts of runs of several implementations, side by side.

`make results` makes the runs and then this page. The plots use tools/benchmarks/figures.yaml, so
that each figure is in one place only.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

import attrs

from busproof import spec
from busproof.cli.mutation.score import ALL, score_families
from busproof.errors import ConformanceError
from busproof.history.conformance import Conformance, Verdict
from busproof.mutants.by_machine.record import Fate, Result, Sample, load_sample
from busproof.reports import conformance, overview

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks_page import load, number

CLIENTS: Final = "<!-- clients judged -->"
"""Where the section on clients begins, which `tools/clients_judged.py` writes last on the page."""
PAGE: Final = Path(__file__).parent.parent / "docs" / "results.md"
ALWAYS_TOLD: Final = (Verdict.SHOWN, Verdict.VIOLATED, Verdict.NOT_APPLICABLE)
OPEN: Final = (Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE, Verdict.ERRORED)
"""Verdicts that leave open whether a rule holds."""

INTRODUCTION: Final = """\
# Results

The verdicts on implementations that anybody can run.
`make results` runs the suite on the model, on `busproof serve` over AMQP and over HTTP, on Spark, on the bus in JavaScript and on RabbitMQ, and writes this page.
That takes some forty minutes on two cores (RabbitMQ's run waits for locks most of that time); an implementation that was not run is not listed.
[How to read a report](how-to/read-a-report.md) explains the words; the site shows the model and the bus in JavaScript rule by rule.
"""  # noqa: E501 - one sentence a line

POWER: Final = Path(__file__).parent / "benchmarks" / "power.json"
"""What tools/benchmarks/power.py --record has measured."""
PLOTTED: Final = {
    "whole run": "a whole run (green)",
    "ci": "exploration (orange)",
    "random commands": "random commands (grey)",
}
COLOURS: Final = (
    '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#009485, #b45309, #6b7280"}}}}%%'
)
COLOUR: Final = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#009485"}}}}%%'
GENERATED: Final = "## Generated faults\n"
SPEED: Final = "## Speed\n\nAs [measured](benchmarks.md), with the bounds and the commands.\n"


@attrs.frozen
class Plot:
    """A plot of the figures of a section of docs/benchmarks.md that have a label for it."""

    section: str
    unit: str
    title: str


PLOTS: Final = (
    Plot(
        "What a namespace remembers",
        "µs a round",
        "A judged round, by what a namespace remembers 10,000 of",
    ),
    Plot(
        "A history of clients that work at once",
        "µs an operation",
        "An operation judged, by clients / operations",
    ),
    Plot(
        "The broker beside RabbitMQ",
        "µs",
        "A send, µs of processor time, by messages held / connections",
    ),
)


def main() -> int:
    """Write the page; return 1 if a run cannot be read."""
    options = argparse.ArgumentParser(description=__doc__)
    help_text = (
        "folders of runs, a line each; none: only generated faults and plots are written anew"
    )
    options.add_argument("runs", nargs="*", type=Path, help=help_text)
    options.add_argument("--audit", type=Path, help="what busproof audit --format json printed")
    options.add_argument("--output", type=Path, default=PAGE)
    args = options.parse_args()
    try:
        if args.runs:
            runs = [conformance.read(run) for run in args.runs]
            parts = verdicts(runs, args.audit)
        else:
            kept = args.output.read_text(encoding="utf-8").partition(SPEED)[0]
            parts = [kept.partition(GENERATED)[0].rstrip() + "\n"]
        parts += [*generated_faults(load_sample()), *what_seconds_buy()]
    except ConformanceError as error:
        print(f"tools/results_page.py: {error}", file=sys.stderr)
        return 1
    page = "\n".join([*parts, SPEED, *map(draw, PLOTS)])
    args.output.write_text(page + judged_clients(args.output), encoding="utf-8")
    return 0


def judged_clients(page: Path) -> str:
    """Return the section on clients that a page has, which another program writes."""
    if not page.exists():
        return ""
    _, begin, rest = page.read_text(encoding="utf-8").partition(CLIENTS)
    return f"\n{begin}{rest}" if begin else ""


def verdicts(runs: list[Conformance], audit: Path | None) -> list[str]:
    """Return the verdicts of the runs, ordered by applicable rules, and of the audit."""
    runs.sort(key=lambda run: -overview.applicable(run.rules))
    parts = [INTRODUCTION, table_of(runs), *families(runs), *violations(runs)]
    if audit is not None:
        parts.append(audited(json.loads(audit.read_text(encoding="utf-8"))["faults"]))
    return parts


def rows(lines: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a Markdown table; its first line is the head, its first column is text."""
    for place, line in enumerate(lines):
        yield f"| {' | '.join(map(str, line))} |\n"
        if place == 0:
            yield f"| {' | '.join([':--', *['--:'] * (len(line) - 1)])} |\n"


def name_of(run: Conformance) -> str:
    """Return an implementation's name, with its language or else its version."""
    name, language = run.subject.name, run.subject.language
    return f"{name} ({language})" if language else f"{name} {run.subject.version}".strip()


def table_of(runs: Sequence[Conformance]) -> str:
    """Return a table of the number of rules per verdict, with a line per implementation."""
    verdicts = [
        verdict
        for verdict in Verdict
        if verdict in ALWAYS_TOLD or any(r.counted(verdict) for r in runs)
    ]
    head = ("implementation", "oracle", "applicable", *(verdict.value for verdict in verdicts))
    lines = [
        (
            name_of(run),
            run.oracle,
            overview.applicable(run.rules),
            *(run.counted(verdict) for verdict in verdicts),
        )
        for run in runs
    ]
    terms = "; ".join(dict.fromkeys(overview.profile_words(run.subject) for run in runs))
    return "".join(rows([head, *lines])) + f"\nOf {date.today()}, held to {terms}.\n"


def families(runs: Sequence[Conformance]) -> Iterator[str]:
    """Yield a table of the share of applicable rules that are shown, by family."""
    yield "## By family\n\nRules shown of the applicable ones, and in brackets those violated.\n"
    catalogue = spec.load()
    runs_shown = [
        {family.id: tuple(family.rules) for family in overview.families(run, catalogue)}
        for run in runs
    ]
    head = ("family", *map(name_of, runs))
    lines = []
    for family in catalogue.families:
        verdicts = [
            Counter(rule.verdict for rule in shown.get(family.id, ())) for shown in runs_shown
        ]
        applicable = [overview.applicable(shown.get(family.id, ())) for shown in runs_shown]
        lines.append((f"{family.id}: {family.title}", *map(share, verdicts, applicable)))
    yield "".join(rows([head, *lines]))


def share(verdicts: Counter[Verdict], applicable: int) -> str:
    """Return how many of the applicable rules are shown; a dash if none applies."""
    if not applicable:
        return "-"
    broken = verdicts[Verdict.VIOLATED] + verdicts[Verdict.KNOWN_FAILURE]
    return f"{verdicts[Verdict.SHOWN]}/{applicable}" + (f" ({broken})" if broken else "")


def violations(runs: Sequence[Conformance]) -> Iterator[str]:
    """Yield the violated rules of each implementation, and those without a conclusive verdict."""
    for run in runs:
        broken = overview.violations(run)
        left = [rule for rule in run.rules if rule.verdict in OPEN]
        if not broken and not left:
            continue
        yield f"## {name_of(run)}\n"
        if broken:
            yield "Violated:\n\n" + "".join(f"- {rule.id}: {rule.title}\n" for rule in broken)
        if left:
            yield "Open, with the reason:\n\n" + "".join(
                f"- {overview.id_words(ids)}: {cause}\n"
                for cause, ids in overview.group_by_cause(left).items()
            )


def audited(faults: Sequence[dict[str, object]]) -> str:
    """Return how many of the seeded faults the scenarios notice."""
    results = Counter(str(fault["result"]) for fault in faults)
    counts = ", ".join(f"{number} {result}" for result, number in results.most_common())
    return (
        "## What the scenarios catch\n\n"
        f"Of {len(faults)} buses with one fault each, by the scenarios of the fault's own rule: "
        f"{counts}.\n"
        "The [benchmarks](benchmarks.md#sequences-found-by-machine) show how many pairs of a rule "
        "and a context the scenarios and the sequences found by machine reach.\n"
    )


def generated_faults(sample: Sample) -> Iterator[str]:
    """Yield the scores of a sample of generated mutants, its survivors, and the undecided ones."""
    *families, every = score_families(sample.made, sample.fates)
    low, high = every["interval"] or (0, 0)
    yield (
        f"{GENERATED}\n"
        f"A machine changed one place of the model's rules at a time, {every['made']:,} in all; "
        f"{every['tried']} of these mutants were drawn (seed {sample.seed}) and audited on "
        f"{sample.on}.\n"
        f"Of the {every['killed'] + every['found']} that a judge can distinguish from the model, "
        f"scenarios and distilled sequences noticed {every['killed']}: {every['score']} %, each "
        f"family weighed by its size, and between {low} and {high} % of all mutants with a "
        "confidence of 95 %.\n"
    )
    head = (
        *("family", "mutants", "drawn", "distinguished", "scenarios", "and distilled"),
        *("95 % confidence", "and exploration", "equivalent", "undecided", "not run"),
    )
    yield "".join(rows([head, *map(scores_of, [*families, every])]))
    yield from survivors(sample)
    yield from undecided(sample)


def what_seconds_buy() -> Iterator[str]:
    """Yield the share of mutants that each part of the suite notices, by processor seconds."""
    measured = json.loads(POWER.read_text(encoding="utf-8"))
    shares: dict[str, dict[str, float]] = measured["shares"]
    moments = list(dict.fromkeys(at for way in shares.values() for at in way))
    yield (
        "## What a second buys\n\n"
        f"Of {measured['mutants']} of those mutants, drawn, the share that is noticed within so "
        "many processor seconds, from the first scenario on; a dash where no longer was waited "
        f"(`python tools/benchmarks/power.py`, {measured['on']}).\n"
        "Random commands have no aim, and Hypothesis alone has the commands of the exploration "
        "without its themes and prologues. `quick`, `ci` and `thorough` are explorations alone; "
        "a whole run has the distilled sequences, the scenarios, and then a thorough exploration."
        "\n"
    )
    head = ("way", *(f"{at} s" for at in moments))
    lines = [
        (way, *(f"{100 * by[at]:.0f} %" if at in by else "-" for at in moments))
        for way, by in shares.items()
    ]
    yield "".join(rows([head, *lines]))
    drawn = {way: [100 * by[at] for at in moments if at in by] for way, by in shares.items()}
    common = min(map(len, drawn.values()))
    labels = ", ".join(f'"{at}"' for at in moments[:common])
    plotted = "\n".join(
        f"    line [{', '.join(f'{value:.0f}' for value in drawn[way][:common])}]"
        for way in PLOTTED
    )
    title = "% noticed: " + ", ".join(PLOTTED.values())
    yield (
        f'```mermaid\n{COLOURS}\nxychart-beta\n    title "{title}"\n    x-axis [{labels}]\n'
        f'    y-axis "%" 0 --> 100\n{plotted}\n```\n'
    )


def scores_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the cells of a family; a dash if none of its mutants can be distinguished."""
    scores = [
        "-" if row[score] is None else f"{row[score]} %"
        for score in ("score_of_features", "score", "score_of_everything")
    ]
    interval = "-" if row["interval"] is None else "{} to {} %".format(*row["interval"])
    apart = row["killed"] + row["found"]
    name = "all, weighed" if row["family"] == ALL else f"`{row['family']}`"
    open_ = (row["equivalent"], row["undecided"], row["not_run"])
    return name, row["made"], row["tried"], apart, *scores[:2], interval, scores[2], *open_


def survivors(sample: Sample) -> Iterator[str]:
    """Yield the mutants that only an exploration or a search noticed."""
    only_searched = [fate for fate in sample.fates if fate.result is Result.FOUND]
    if only_searched:
        yield "Survivors, which only random commands noticed, and what has become of them:\n"
        yield "".join(f"- `{fate.id}`: {became(fate)}\n" for fate in only_searched)


def became(fate: Fate) -> str:
    """Return what notices a survivor since the audit, or why nothing does."""
    if fate.since:
        return f"since noticed by “{fate.since}”."
    return fate.why or "open."


def undecided(sample: Sample) -> Iterator[str]:
    """Yield the mutants that the search gave up, how far it came, and the equivalent ones."""
    left = [fate for fate in sample.fates if fate.result is Result.UNDECIDED]
    if left:
        yield (f"Undecided: in {sample.tries} variants of what the suite sends, the mutant has\n")
        yield "".join(
            f"- {why}: {number} ({contexts(fate for fate in left if fate.why == why)})\n"
            for why, number in Counter(fate.why for fate in left).most_common()
        )
    equal = [fate for fate in sample.fates if fate.result is Result.EQUIVALENT]
    if equal:
        yield "Equivalent, with the reason:\n"
        yield "".join(f"- `{fate.id}`: {fate.why}\n" for fate in equal)


def contexts(fates: Iterable[Fate]) -> str:
    """Return the contexts where mutants differ from the model, with their numbers of mutants."""
    counted = Counter(fate.id.partition("@")[2] or "any context" for fate in fates)
    return ", ".join(f"{context}: {number}" for context, number in counted.most_common())


def draw(plot: Plot) -> str:
    """Return a plot in mermaid's syntax."""
    benchmarks = [each for each in load() if each.section == plot.section]
    figures = [figure for each in benchmarks for figure in each.figures if figure.plot]
    if not figures:
        raise SystemExit(f"no figure of the section {plot.section!r} has a label for a plot")
    labels = ", ".join(f'"{figure.plot}"' for figure in figures)
    values = [number(figure.ours) for figure in figures]
    return (
        f'```mermaid\n{COLOUR}\nxychart-beta\n    title "{plot.title}"\n    x-axis [{labels}]\n'
        f'    y-axis "{plot.unit}" 0 --> {max(values) * 1.1:.0f}\n'
        f"    bar [{', '.join(f'{value:g}' for value in values)}]\n```\n"
    )


if __name__ == "__main__":
    sys.exit(main())
