"""Recorded results of checks, of graph comparisons and of mutants.

Other commands read them without Java. A record is void once the sources that it depends on have
changed.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import SpecificationError
from busproof.tla.graphs import paths
from busproof.tla.hashes import sources_hash
from busproof.tla.manifest import Configuration, Kind, Manifest, Size
from busproof.tla.mutants import Fate, Mutant, hash_of
from busproof.tla.running import Ran

__all__ = [
    "load_evidence",
    "record_configurations",
    "record_mutants",
    "select_configurations",
    "select_mutants",
    "stale",
]

FILE: Final = "evidence.json"
FORMAT: Final = 2


def load_evidence(folder: Path) -> dict[str, Any]:
    """Return the recorded results: `checks`, `graphs` and `mutants`, each by name.

    Raises:
        SpecificationError: the file cannot be read.
    """
    path = folder / FILE
    empty: dict[str, Any] = {"format": FORMAT, "checks": {}, "graphs": {}, "mutants": {}}
    if not path.exists():
        return empty
    try:
        evidence: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecificationError(f"{path.name} cannot be read: {error}") from None
    if evidence.get("format") != FORMAT:
        raise SpecificationError(f"{path.name} has format {evidence.get('format')!r}, not {FORMAT}")
    return evidence


def record_configurations(manifest: Manifest, runs: Sequence[Ran]) -> None:
    """Record the configurations that passed, and drop the records of removed ones."""
    kept = load_evidence(manifest.folder)
    for ran in runs:
        name = ran.configuration.name
        if ran.configuration.kind is not Kind.GRAPH:
            kept["checks"].pop(name, None)
            if ran.passed:
                kept["checks"][name] = {"sources": _hash_of(manifest, ran.configuration)}
        elif ran.passed and ran.comparison is not None and ran.checked is not None:
            kept["graphs"][name] = {
                "sources": ran.sources,
                "states": ran.checked.distinct,
                "edges": ran.checked.generated - ran.configuration.initial,
                "rules": dict(sorted(ran.rules.items())),
            }
    for kind in ("checks", "graphs"):
        names = {
            configuration.name
            for configuration in manifest.configurations
            if (configuration.kind is Kind.GRAPH) is (kind == "graphs")
        }
        kept[kind] = {name: entry for name, entry in sorted(kept[kind].items()) if name in names}
    _write(manifest.folder, kept)
    _record_paths(manifest, runs)


def _hash_of(manifest: Manifest, configuration: Configuration) -> str:
    """Return the hash of everything that a configuration's result depends on, except TLC itself."""
    expected = attrs.evolve(configuration, seconds=0, title="")
    text = manifest.text(configuration)
    return sources_hash(manifest.folder, configuration.module, text, repr(expected))


def select_configurations(
    manifest: Manifest, configurations: tuple[Configuration, ...]
) -> tuple[Configuration, ...]:
    """Return the graphs, and the configurations that have no valid record.

    Graphs are compared every time, because a record does not depend on the sources of the model.
    """
    recorded = load_evidence(manifest.folder)["checks"]
    return tuple(
        configuration
        for configuration in configurations
        if configuration.kind is Kind.GRAPH
        or recorded.get(configuration.name, {}).get("sources") != _hash_of(manifest, configuration)
    )


def _record_paths(manifest: Manifest, runs: Sequence[Ran]) -> None:
    """Save the paths of graphs in the gate; those of larger graphs would take too long to run."""
    path = manifest.folder / paths.FILE
    suites = {load_suite.configuration: load_suite for load_suite in paths.load_suites(path)}
    for ran in runs:
        setting = ran.configuration.graph
        small = ran.configuration.size is Size.GATE and ran.comparison is not None
        # A graph that is compared with the oracle gets no paths: the specs that refine its spec
        # have some.
        small = small and setting is not None and setting.beside == "model"
        if ran.passed and small and ran.graph is not None and setting is not None:
            name = ran.configuration.name
            suites[name] = paths.covering(ran.graph, name, ran.sources, setting)
    strict = {
        configuration.name
        for configuration in manifest.configurations
        if configuration.graph and configuration.graph.beside == "model"
    }
    kept = [suites[name] for name in sorted(suites) if name in strict]
    if kept:
        paths.write_suites(path, kept)


def record_mutants(manifest: Manifest, fates: Sequence[Fate]) -> None:
    """Record the mutants that were killed, each with its killer."""
    kept = load_evidence(manifest.folder)
    for fate in fates:
        kept["mutants"].pop(fate.mutant.name, None)
        if fate.killed:
            kept["mutants"][fate.mutant.name] = {
                "sources": fate.sources,
                "rule": fate.mutant.rule,
                "killer": fate.mutant.killer,
                "told": fate.killer,
            }
    kept["mutants"] = dict(sorted(kept["mutants"].items()))
    _write(manifest.folder, kept)


def _write(folder: Path, kept: dict[str, Any]) -> None:
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")


def select_mutants(manifest: Manifest, mutants: tuple[Mutant, ...]) -> tuple[Mutant, ...]:
    """Return the mutants that have no valid record."""
    recorded = load_evidence(manifest.folder)["mutants"]
    return tuple(
        mutant
        for mutant in mutants
        if recorded.get(mutant.name, {}).get("sources") != hash_of(manifest, mutant)
    )


def stale(manifest: Manifest, mutants: tuple[Mutant, ...]) -> tuple[str, ...]:
    """Return the names of all checks, graphs and mutants that have no valid record."""
    recorded = load_evidence(manifest.folder)["graphs"]
    checks = [
        configuration.name
        for configuration in select_configurations(manifest, manifest.configurations)
        if configuration.kind is not Kind.GRAPH
    ]
    graphs = [
        configuration.name
        for configuration in manifest.configurations
        if configuration.graph is not None
        and recorded.get(configuration.name, {}).get("sources")
        != sources_hash(manifest.folder, configuration.module, manifest.text(configuration))
    ]
    return (
        *checks,
        *graphs,
        *(mutant.name for mutant in select_mutants(manifest, mutants)),
    )
