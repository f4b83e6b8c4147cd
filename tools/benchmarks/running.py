"""Cost of a run: beside the bare loop, by one and two workers, of few commands, of a small bus.

The bare loop sends the commands of the run's own history to the model, and judges each answer once.
All costs are processor times of the processes and their children; they are compared within one
call of this program. The clock is only printed. What Python compiles is kept, as it is for users.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, at_most, parser, report

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history.files import load, read, scenarios
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import Judge, observability_for
from busproof.judging.verdicts import conformance
from busproof.spec import load as load_catalogue

SEED = "7"
README = Path(__file__).parents[2] / "README.md"
DECODING = 20_000
"""Lines of the history that are read to compare reading with `json.loads`."""


def run(folder: Path, name: str, *options: str) -> tuple[float, float]:
    """Return the processor seconds and the seconds by the clock of one `busproof run`."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun, used = time.monotonic(), _of_children()
    subprocess.run(
        [sys.executable, "-m", "busproof", "run", "--name", name, *options],
        cwd=folder,
        check=False,
        capture_output=True,
        env=environment,
    )
    return _of_children() - used, time.monotonic() - begun


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@seldom_collected()
def bare_loop(history: Path) -> tuple[float, int]:
    """Return the processor seconds to send and judge a history's commands, and their number."""
    recorded = load(history)
    header = recorded.header
    observability = v.observability_from(header.clock, header.slack, header.capabilities)
    if header.oracle is None:
        raise AssertionError("a run names its oracle")
    observability = observability_for(observability, header.oracle)
    adapter, number = ModelAdapter(), 0
    scenarios = [tuple(scenario.events) for scenario in recorded.scenarios]
    begun = time.process_time()
    for events in scenarios:
        adapter.start(header.profile)
        judge = Judge(header.profile, observability)
        for event in events:
            observed = adapter.do(event.command, event.connection)
            judge.saw(
                v.Event(
                    client=event.client,
                    connection=event.connection,
                    called=event.called,
                    returned=event.returned,
                    command=event.command,
                    outcome=observed.outcome,
                    witness=observed.witness,
                )
            )
            number += 1
    return time.process_time() - begun, number


def reading(history: Path, folder: Path) -> float:
    """Return how many times as long reading a history takes as `json.loads` on its lines.

    Neither keeps what it reads: to make room for it would cost as much as `json.loads`.
    """
    lines = history.read_bytes().splitlines(keepends=True)[:DECODING]
    few = folder / "few.jsonl"
    few.write_bytes(b"".join(lines))
    plain, ours = [], []
    with seldom_collected():
        for _ in range(5):
            begun = time.process_time()
            for line in lines:
                json.loads(line)
            plain.append(time.process_time() - begun)
            begun = time.process_time()
            for _scenario in scenarios(read(few)):
                pass
            ours.append(time.process_time() - begun)
    return min(ours) / min(plain)


def bus_of_readme() -> str:
    """Return the adapter that the README shows."""
    text = README.read_text(encoding="utf-8")
    start = text.index("\n", text.index("```python mybus.py")) + 1
    return text[start : text.index("```", start)]


def main() -> int:
    """Measure, and print the figures."""
    arguments = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "mybus.py").write_text(bus_of_readme(), encoding="utf-8")
        run(folder, "warm", "--rule", "KEY-08")
        one = run(folder, "one", "--seed", SEED, "--jobs", "1")
        two = run(folder, "two", "--seed", SEED, "--jobs", "2")
        few = run(folder, "few", "--rule", "KEY-08")
        small = run(folder, "small", "--adapter", "mybus:make")
        runs = folder / "reports" / "runs"
        history = runs / "two" / "history.jsonl"
        bare, commands = bare_loop(history)
        same = history.read_bytes() == (runs / "one" / "history.jsonl").read_bytes()
        ratio = reading(history, folder)
        judged = conformance(load(runs / "small" / "history.jsonl"), load_catalogue())
    figures = [
        Figure("events of a default run", commands),
        at_most("run / bare loop, processor time", min(one[0], two[0]) / bare, 2.5, target=1.5),
        Figure("run, processor seconds", two[0]),
        Figure("bare loop, processor seconds", bare),
        Figure("run by two workers, seconds by the clock", two[1]),
        Figure("two workers / one, by the clock", two[1] / one[1]),
        at_most("histories of one and two workers that differ", float(not same), 0),
        Figure("scenarios that passed on README's bus", judged.scenarios.get("passed", 0)),
        at_most("README's bus, processor seconds", small[0], 9, target=6),
        at_most("busproof run --rule KEY-08, processor seconds", few[0], 3, target=1.5),
        at_most("reading a history / json.loads", ratio, 4, target=3),
    ]
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
