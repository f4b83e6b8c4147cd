"""Size of the page about many implementations, and the time until it is made and usable.

Ten generated implementations violate a fifth of their rules by runs of a dozen commands: once with
the first 150 rules of the catalogue, where the bounds apply, and once with all rules. The time to
make the page includes the start of the command; a usable page is drawn and can be filtered.
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import attrs
from figures import at_most, parser, report
from playwright.sync_api import Browser, sync_playwright

from busproof import spec
from busproof import vocabulary as v
from busproof.cli.environment import chromium
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    RuleVerdict,
    Subject,
    Verdict,
)
from busproof.reports.conformance import write

IMPLEMENTATIONS: Final = 10
RULES: Final = 150
COMMANDS: Final = 12
SCENARIOS: Final = 8
TURNS: Final = 3
MOST_MB, MOST_BUILDING, MOST_USABLE = 1.5, 3.0, 1.0
VERDICTS: Final = [*[Verdict.SHOWN] * 6, *[Verdict.VIOLATED] * 2, Verdict.NOT_SHOWN]
WATCH: Final = """
new MutationObserver(() => {
  if (document.documentElement?.dataset.ready) window.usable ??= performance.now();
}).observe(document, { attributes: true, subtree: true });
"""
CHOOSE: Final = """() => {
  const begun = performance.now();
  const select = document.querySelector("select[name=verdict]");
  select.value = "violated";
  select.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.getBoundingClientRect();
  return performance.now() - begun;
}"""


def example(number: int) -> Counterexample:
    """Return a counterexample of a dozen commands with distinct bodies and keys."""
    sends = [
        v.Event(
            command=v.Send(
                queue="q",
                message=v.Message(
                    body=f"body {number}-{at}", session_id=f"s{at}", message_id=f"m{at}"
                ),
            ),
            outcome=v.Done(),
        )
        for at in range(COMMANDS - 2)
    ]
    last = v.Event(command=v.Receive(queue="q"), outcome=v.Empty())
    return Counterexample(
        scenario=f"Scenario number {number} of a family",
        events=(v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done()), *sends, last),
        seen="Empty",
        allowed=("Received: body", "Received: another body"),
    )


def implementation(number: int, rules: tuple[spec.Rule, ...]) -> Conformance:
    """Return random verdicts, which are the same each time."""
    chance = random.Random(number)  # noqa: S311 - repeatable choices, not secrets
    verdicts = []
    for place, rule in enumerate(rules):
        verdict = chance.choice(VERDICTS)
        scenarios = chance.sample(range(800), SCENARIOS)
        verdicts.append(
            RuleVerdict(
                id=rule.id,
                title=rule.title,
                verdict=verdict,
                oracle="strict",
                events=chance.randrange(9000),
                cause="" if verdict is Verdict.SHOWN else f"cause number {chance.randrange(40)}",
                scenarios=tuple(
                    f"A scenario of a family, number {scenario}" for scenario in scenarios
                ),
                counterexample=example(place) if verdict is Verdict.VIOLATED else None,
            )
        )
    subject = Subject(
        name=f"Implementation {number}", edition="de-2021-04", tier="standard", partitions=16
    )
    return Conformance(
        subject=subject, oracle="strict", rules=tuple(verdicts), exit_code=ExitCode.VIOLATION
    )


@attrs.frozen
class Measured:
    """A page: its size in MB, and the seconds to make it, to load it, and to apply a filter."""

    size: float
    building: float
    usable: float
    choosing: float


def measured(rules: tuple[spec.Rule, ...], browser: Browser, folder: Path) -> Measured:
    """Measure a page for these rules; return the best of several turns."""
    runs = [folder / f"{len(rules)}-{number}" for number in range(IMPLEMENTATIONS)]
    for number, run in enumerate(runs):
        write(implementation(number, rules), run)
    page = folder / f"{len(rules)}.html"
    command = [sys.executable, "-m", "busproof", "report", *map(str, runs), "-o", str(page)]
    building = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        building.append(time.perf_counter() - begun)
    visits = [_visited(browser, page) for _ in range(TURNS)]
    usable, choosing = (min(times) / 1000 for times in zip(*visits, strict=True))
    return Measured(page.stat().st_size / 1e6, min(building), usable, choosing)


def _visited(browser: Browser, page: Path) -> tuple[float, float]:
    """Return the milliseconds until the page is usable, and those that a filter takes."""
    opened = browser.new_page(viewport={"width": 1600, "height": 900})
    opened.add_init_script(WATCH)
    opened.goto(page.as_uri())
    opened.wait_for_function("window.usable")
    usable, choosing = opened.evaluate("window.usable"), opened.evaluate(CHOOSE)
    opened.close()
    return usable, choosing


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    arguments = options.parse_args()
    browser_path = chromium()
    if browser_path is None:
        print("report_page.py: Chromium is missing (Debian: apt-get install chromium)")
        return 1
    rules = tuple(rule for rule in spec.load().rules if rule.shown_by != "never")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        by_count = {
            len(chosen): measured(chosen, browser, Path(folder))
            for chosen in (rules[:RULES], rules)
        }
        browser.close()
    bounded = by_count[RULES]
    figures = (
        at_most("page, MB", bounded.size, MOST_MB),
        at_most("made, s", bounded.building, MOST_BUILDING),
        at_most("usable, s", bounded.usable, MOST_USABLE),
    )
    if not arguments.json:
        for count, measurement in by_count.items():
            print(
                f"{count} rules beside {IMPLEMENTATIONS}: {measurement.size:.2f} MB, made in "
                f"{measurement.building:.2f} s, usable in {measurement.usable:.2f} s, a filter in "
                f"{measurement.choosing:.3f} s"
            )
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
