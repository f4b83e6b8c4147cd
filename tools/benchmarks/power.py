"""Share of seeded faults that each way of exploring notices, by processor seconds.

Faults are drawn from the list; each is explored until one rule is broken or the time is over:
by random commands without any aim, by the exploration of a run, and by combinations of operations
and circumstances. With `--scenarios` the scenarios of the features run on each, too. Nothing is
shrunk. The seconds are of one processor, so that a busy machine changes little.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Final

import attrs
from figures import Figure, at_least, parser, report

from busproof import vocabulary as v
from busproof.adapters.faults import adapter_of
from busproof.exploration.combinations.cells import plan_cells
from busproof.exploration.combinations.search import Combinations
from busproof.exploration.explorer import Exploration
from busproof.exploration.machine import terms_of
from busproof.exploration.search import Search
from busproof.exploration.sizes import SIZES, Size
from busproof.history.records import EXPLORATION, Started
from busproof.history.replay import resolved
from busproof.judging.sequences import sequence
from busproof.mutants import MUTANTS, Mutant
from busproof.spec import load

SIZE: Final = attrs.evolve(SIZES["ci"], rules=1)
MOMENTS: Final = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Processor seconds at which the shares are told."""
LENGTH: Final = 50

Way = Callable[[Mutant], Iterator[Search]]
"""Explores a bus bit by bit; after each bit it yields what has been found."""


def by_chance(mutant: Mutant) -> Iterator[Search]:
    """Send commands without any aim."""
    bus = adapter_of(mutant)
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


def by_exploration(mutant: Mutant) -> Iterator[Search]:
    """Explore as a run does."""
    bus = adapter_of(mutant)
    size: Size = attrs.evolve(SIZE, sequences=10_000)
    search = Exploration(bus, terms_of(bus), size=size, start=1, write=_forget)
    for number in range(1_000):
        search.run_round(number)
        yield search


def by_combinations(mutant: Mutant) -> Iterator[Search]:
    """Try operations in circumstances."""
    bus = adapter_of(mutant)
    search = Combinations(bus, terms_of(bus), size=SIZE, write=_forget)
    for cell in plan_cells(100_000, 1):
        search.send(cell)
        yield search


WAYS: Final[dict[str, Way]] = {
    "random commands": by_chance,
    "exploration": by_exploration,
    "combinations": by_combinations,
}


def _forget(record: object) -> None:
    del record


def seconds_to_notice(way: Way, mutant: Mutant, most: float) -> float | None:
    """Return the processor seconds until a rule is broken; `None` if none is."""
    begun = time.process_time()
    for search in way(mutant):
        spent = time.process_time() - begun
        if search.failures:
            return spent
        if spent > most:
            break
    return None


def by_scenarios(mutant: Mutant) -> tuple[bool, float]:
    """Return whether the scenarios notice a fault, and their processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "busproof", "run", "--adapter", f"faulty:{mutant.id}"]
        ended = subprocess.run(
            [*command, "--only", "features", "--jobs", "1"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended.returncode == 1, spent


def draw_faults(number: int) -> list[Mutant]:
    """Return so many faults that a default run on the Standard tier can notice."""
    catalogue = load()
    there = [
        mutant
        for mutant in MUTANTS
        if not (mutant.equivalent or mutant.readings)
        and catalogue.default_edition in catalogue.rule(mutant.rule).editions
        and v.Tier.STANDARD in catalogue.rule(mutant.rule).tiers
    ]
    return Random(5).sample(there, number)  # noqa: S311 - repeatable choices, not secrets


def main() -> int:
    """Print the shares, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    options.add_argument("--faults", type=int, default=20)
    options.add_argument("--seconds", type=float, default=6.0, help="for each fault and way")
    options.add_argument("--scenarios", action="store_true")
    arguments = options.parse_args()
    faults = draw_faults(arguments.faults)
    moments = [*(moment for moment in MOMENTS if moment < arguments.seconds), arguments.seconds]
    figures: list[Figure] = []
    noticed: dict[str, set[str]] = {}
    for name, way in WAYS.items():
        found = {mutant.id: seconds_to_notice(way, mutant, arguments.seconds) for mutant in faults}
        spent = {fault: seconds for fault, seconds in found.items() if seconds is not None}
        noticed[name] = set(spent)
        for moment in moments:
            share = sum(seconds <= moment for seconds in spent.values()) / len(faults)
            figures.append(Figure(f"{name}, {moment:g} s", share))
    if arguments.scenarios:
        results = [by_scenarios(mutant) for mutant in faults]
        middle = sum(seconds for _, seconds in results) / len(results)
        share = sum(is_noticed for is_noticed, _ in results) / len(results)
        figures.append(Figure(f"scenarios, {middle:.0f} s", share))
    together = noticed["exploration"] | noticed["combinations"]
    figures.append(
        at_least("exploration and combinations together", len(together) / len(faults), 0.85)
    )
    return report(figures, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
