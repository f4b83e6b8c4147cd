"""Cost of checking the specs: reading and comparing edges, and busproof's runner beside TLC alone.

Reading and comparing are measured in this process's processor time. busproof's runner and TLC take
turns in one run and are measured in the processor time of their processes, so that other load
matters little. The sizes compared are those of the gate and of the nightly run, as pinned in the
manifest.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import at_least, parser, report

from busproof.tla.checking import task_of
from busproof.tla.graphs.compare import compare_graph
from busproof.tla.graphs.graph import Graph
from busproof.tla.java import find_jar, find_java
from busproof.tla.manifest import SUCCESS, Configuration, Manifest, Size, load
from busproof.tla.tlc import run

EDGES_A_SECOND, GATE_EDGES, FULL_EDGES, FULL_STATES = 4_000, 20_000, 700_000, 3_000_000
BESIDE_TLC = 0.7
"""Minimum share of TLC's states per second; busproof also counts actions and shows progress."""

TURNS = 3


def edges_a_second(manifest: Manifest, configuration: Configuration) -> float:
    """Return the edges per second that are read and compared, the best of a few turns."""
    lines: list[str] = []
    run(task_of(manifest, configuration), lines.append)
    rates = []
    for _ in range(TURNS):
        begun = time.process_time()
        graph = Graph()
        for line in lines:
            graph.take(line)
        comparison = compare_graph(graph, configuration)
        rates.append(graph.edges / (time.process_time() - begun))
        assert not comparison.disagreeing
    return max(rates)


def tlc_alone(manifest: Manifest, configuration: Configuration) -> float:
    """Return the processor time of TLC alone, started as by a user, without -tool, in seconds."""
    task = task_of(manifest, configuration)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for source in manifest.folder.glob("*.tla"):
            (folder / source.name).write_bytes(source.read_bytes())
        (folder / "Run.cfg").write_text(task.config)
        command = [str(find_java()), "-XX:+UseSerialGC", f"-Djava.io.tmpdir={folder}"]
        command += ["-cp", str(find_jar()), "tlc2.TLC", "-deadlock", "-workers", "1"]
        command += ["-metadir", str(folder / "states"), "-config", "Run.cfg", task.module.stem]
        begun = _children()
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        return _children() - begun


def _children() -> float:
    """Return the processor time of all child processes that have ended, in seconds."""
    used = os.times()
    return used.children_user + used.children_system


def beside_tlc(manifest: Manifest, configuration: Configuration) -> float:
    """Return the ratio of busproof's states per processor second to TLC's, each at its fastest."""
    ours, alone = [], []
    for _ in range(TURNS):
        alone.append(tlc_alone(manifest, configuration))
        begun = _children()
        run(task_of(manifest, configuration, workers=1, timeout=3600))
        ours.append(_children() - begun)
    return min(alone) / min(ours)


def main() -> int:
    """Print the table, or with --json the figures and whether their bounds hold."""
    options = parser(__doc__)
    arguments = options.parse_args()
    manifest = load()
    gate, full = manifest.of_size(Size.GATE), manifest.of_size(Size.FULL)
    graphs = [configuration for configuration in gate if configuration.graph is not None]
    largest = max(graphs, key=lambda graph: graph.distinct)
    plain = [
        configuration
        for configuration in gate
        if configuration.graph is None and configuration.expect == SUCCESS
    ]
    spec = max(plain, key=lambda configuration: configuration.distinct)
    figures = [
        at_least(
            "edges a second, read and compared", edges_a_second(manifest, largest), EDGES_A_SECOND
        ),
        at_least("states a CPU second beside TLC alone", beside_tlc(manifest, spec), BESIDE_TLC),
        at_least("edges compared at the gate", _edges(gate), GATE_EDGES),
        at_least("edges compared at full size", _edges(full), FULL_EDGES),
        at_least("distinct states at full size", _states(full), FULL_STATES),
    ]
    if not arguments.json:
        print(f"graph: {largest.name}; spec: {spec.name}")
    return report(figures, as_json=arguments.json)


def _states(configurations: tuple[Configuration, ...]) -> int:
    """Return the number of distinct states, without graphs, whose states mostly repeat others."""
    return sum(
        configuration.distinct for configuration in configurations if configuration.graph is None
    )


def _edges(configurations: tuple[Configuration, ...]) -> int:
    return sum(
        configuration.graph.edges
        for configuration in configurations
        if configuration.graph is not None
    )


if __name__ == "__main__":
    sys.exit(main())
