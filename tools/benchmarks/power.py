"""Share of generated mutants that each part of the suite notices, by processor seconds.

The mutants are drawn from those of the recorded sample that a judge can distinguish from the model
(`busproof audit --generated --record`). Each part of the suite is run on each of them until a
scenario or a sequence fails, or its seconds are over. To compare, commands are sent without any
aim, and by Hypothesis alone, without the prologues and themes of an exploration.

The seconds are of all processors and count from the first scenario on, so that a busy machine
changes little. `--record` writes the curve that docs/results.md shows. It needs `/proc`.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

import attrs
from figures import Figure, at_least, parser, report

from busproof import vocabulary as v
from busproof.adapters.finding import find
from busproof.cli.running.child_run import HISTORY
from busproof.exploration.explorer import Exploration
from busproof.exploration.machine import terms_of
from busproof.exploration.search import Search
from busproof.exploration.sizes import SIZES
from busproof.history.files import load
from busproof.history.records import EXPLORATION, ScenarioVerdict, Started
from busproof.history.replay import resolved
from busproof.judging.sequences import sequence
from busproof.mutants.by_machine.record import Result, load_sample

CURVE: Final = Path(__file__).parent / "power.json"
MOMENTS: Final = (1, 3, 10, 30, 100, 300)
"""Processor seconds at which the shares are told."""
LENGTH: Final = 50
SIZE: Final = attrs.evolve(SIZES["ci"], rules=1, sequences=10_000)
NOTICED: Final = (b'"verdict":"failed"', b'"verdict":"errored"')
"""Ends of scenarios: one that is violated, and one in which the mutant broke off."""
STARTED: Final = b'"record":"started"'
PAUSE: Final = 0.02
"""Seconds between two looks at a history."""

PARTS: Final[dict[str, tuple[str, ...]]] = {
    "features": ("--only", "features"),
    "distilled": ("--only", "distilled"),
    "quick": ("--only", "exploration", "--profile", "quick"),
    "ci": ("--only", "exploration", "--profile", "ci"),
    "thorough": ("--only", "exploration", "--profile", "thorough"),
    "whole run": ("--profile", "thorough"),
}
"""The options of `busproof run` for each part of the suite; a whole run has all of them."""


class Alone(Exploration):
    """An exploration that leaves everything to Hypothesis."""

    def opening(self, ways: tuple[str, ...]) -> str | None:  # noqa: ARG002 - as its base's
        """Return the prologue that sends nothing."""
        return ""

    def _due(self, ways: int) -> int:  # noqa: ARG002 - as its base's
        return 0


def send_at_random(bus: v.Adapter) -> Iterator[Search]:
    """Send commands without any aim."""
    search = Search(bus, terms_of(bus), size=SIZE, write=_forget)
    for number in count():
        run = search._begin(Started(scenario=str(number), feature=EXPLORATION))
        tokens: dict[int, str] = {}
        for recorded in sequence(number, LENGTH, search.terms.profile.partitions):
            command = resolved(recorded.command, tokens)
            event = None if command is None else run.ask(command, recorded.connection)
            if event is not None and isinstance(event.outcome, v.Received):
                tokens[recorded.number] = event.outcome.message.lock_token or ""
        search.closed(run)
        yield search


def leave_to_hypothesis(bus: v.Adapter) -> Iterator[Search]:
    """Send what Hypothesis draws."""
    search = Alone(bus, terms_of(bus), size=SIZE, start=1, write=_forget)
    for number in range(1_000):
        search.run_round(number)
        yield search


COMPARED: Final[dict[str, Callable[[v.Adapter], Iterator[Search]]]] = {
    "random commands": send_at_random,
    "Hypothesis alone": leave_to_hypothesis,
}


def _forget(record: object) -> None:
    del record


def seconds_of_search(way: str, mutant: str, most: float) -> float | None:
    """Return the processor seconds until a search finds a broken rule; `None` if it does not."""
    bus = find(f"generated:{mutant}", timeout=10.0)
    begun = time.process_time()
    for search in COMPARED[way](bus):
        spent = time.process_time() - begun
        if search.failures:
            return spent
        if spent > most:
            break
    return None


def seconds_of_run(part: str, mutant: str, most: float) -> float | None:
    """Return the processor seconds until a part of the suite fails; `None` if it does not."""
    command = [sys.executable, "-m", "busproof", "run", "--adapter", f"generated:{mutant}"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        child = subprocess.Popen(
            [*command, *PARTS[part], "--jobs", "1", "--name", "power"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return _watch(child, Path(folder, "reports", "runs", "power", HISTORY), most)
        finally:
            for pid, _ in _processes(child.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            child.wait()


def _watch(child: subprocess.Popen[bytes], history: Path, most: float) -> float | None:
    begun: float | None = None
    read = 0
    while True:
        is_over = child.poll() is not None
        spent = _processor_seconds(child.pid)
        written = b""
        if history.exists():
            with history.open("rb") as file:
                file.seek(read)
                written = file.read()
                read += written.rfind(b"\n") + 1
        if begun is None and STARTED in written:
            begun = spent
        if any(end in written for end in NOTICED):
            return spent - (begun or 0)
        if is_over or (begun is not None and spent - begun > most):
            return None
        time.sleep(PAUSE)


def _processor_seconds(session: int) -> float:
    """Return the processor seconds of all processes of a session, so far."""
    # Fields 14 to 17 of proc(5); the first two are before the parenthesis.
    ticks = sum(sum(map(int, fields[11:15])) for _, fields in _processes(session))
    return ticks / os.sysconf("SC_CLK_TCK")


def _processes(session: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the processes of a session, with what `/proc` says of each after its name."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            yield int(stat.parent.name), fields


def seconds_apart(way: str, mutant: str, most: float) -> float | None:
    """Return the processor seconds of a way on a mutant, which may loop or end its process."""
    if way in PARTS:
        return seconds_of_run(way, mutant, most)
    command = [sys.executable, __file__, "--way", way, "--mutant", mutant, "--seconds", str(most)]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=20 * most
        )
    except subprocess.TimeoutExpired:
        return None
    seconds: float | None = json.loads(ended.stdout or "null")
    return seconds


def draw_mutants(number: int) -> list[str]:
    """Return so many mutants that a judge can distinguish from the model, of those in force.

    What only scenarios of another tier or edition noticed, a default run cannot notice.
    """
    played = names_played()
    there = [
        fate.id
        for fate in load_sample().fates
        if fate.result is Result.FOUND or (fate.result is Result.KILLED and fate.by in played)
    ]
    return Random(5).sample(there, min(number, len(there)))  # noqa: S311 - repeatable, no secret


def names_played() -> frozenset[str]:
    """Return the names of the scenarios and sequences that a default run plays."""
    names: set[str] = set()
    for only in ("features", "distilled"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "busproof", "run", "--only", only, "--name", "power"]
            subprocess.run(command, cwd=folder, check=False, capture_output=True)
            history = load(Path(folder, "reports", "runs", "power", HISTORY))
        names.update(
            scenario.name
            for scenario in history.scenarios
            if scenario.ended and scenario.ended.verdict is ScenarioVerdict.PASSED
        )
    return frozenset(names)


def share_at(found: Sequence[float | None], moment: float) -> float:
    """Return the share of the mutants that were noticed within so many seconds."""
    return sum(seconds is not None and seconds <= moment for seconds in found) / len(found)


def main() -> int:
    """Print the shares, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    options.add_argument("--mutants", type=int, default=12)
    options.add_argument("--seconds", type=float, default=10.0, help="for each mutant and way")
    options.add_argument("--whole", type=float, default=300.0, help="seconds of a whole run")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--way", choices=(*PARTS, *COMPARED), help="only this one")
    options.add_argument("--mutant", help="print the seconds of the way on this mutant")
    options.add_argument("--record", action="store_true")
    arguments = options.parse_args()
    if arguments.mutant:
        print(json.dumps(seconds_of_search(arguments.way, arguments.mutant, arguments.seconds)))
        return 0
    mutants = draw_mutants(arguments.mutants)
    ways = [arguments.way] if arguments.way else [*COMPARED, *PARTS]
    figures: list[Figure] = []
    curve: dict[str, Any] = {}
    for way in ways:
        most = arguments.whole if way == "whole run" else arguments.seconds

        def seek(mutant: str, way: str = way, most: float = most) -> float | None:
            return seconds_apart(way, mutant, most)

        with ThreadPoolExecutor(arguments.jobs) as pool:
            found = list(pool.map(seek, mutants))
        moments = [moment for moment in MOMENTS if moment <= most]
        curve[way] = {str(moment): round(share_at(found, moment), 3) for moment in moments}
        figures += [Figure(f"{way}, {at} s", share) for at, share in curve[way].items()]
        missed = [mutant for mutant, at in zip(mutants, found, strict=True) if at is None]
        if way == "whole run":
            print(f"missed by a {way}: {', '.join(missed) or 'none'}", file=sys.stderr)
    if {"whole run", "random commands"} <= curve.keys() and arguments.seconds >= 10:
        whole = curve["whole run"]["10"]
        aimless = curve["random commands"]["10"]
        figures.append(at_least("whole run to random commands, 10 s", whole / aimless, 2))
    if "whole run" in curve and arguments.whole >= MOMENTS[-1]:
        figures.append(at_least("whole run within 300 s", curve["whole run"]["300"], 0.97))
    if arguments.record:
        about = {"on": date.today().isoformat(), "mutants": len(mutants), "shares": curve}
        CURVE.write_text(json.dumps(about, indent=2) + "\n")
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
