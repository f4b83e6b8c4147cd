"""What graphs and mutants have shown, as data: read without Java, void when specs change."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from busproof.errors import SpecificationError
from busproof.tla import paths
from busproof.tla.hashes import sources_hash
from busproof.tla.manifest import Kind, Manifest, Size
from busproof.tla.mutants import Fate, Mutant, hash_of
from busproof.tla.running import Ran

__all__ = ["changed", "load_evidence", "record_graphs", "record_mutants", "stale"]

FILE: Final = "evidence.json"
FORMAT: Final = 1


def load_evidence(folder: Path) -> dict[str, Any]:
    """What was recorded: `graphs` and `mutants`, each by name.

    Raises:
        SpecificationError: the file cannot be read.
    """
    path = folder / FILE
    empty: dict[str, Any] = {"format": FORMAT, "graphs": {}, "mutants": {}}
    if not path.exists():
        return empty
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecificationError(f"{path.name} cannot be read: {error}") from None
    if found.get("format") != FORMAT:
        raise SpecificationError(f"{path.name} has format {found.get('format')!r}, not {FORMAT}")
    return found


def record_graphs(manifest: Manifest, found: Sequence[Ran]) -> None:
    """Keep what the graphs that agree have shown; forget graphs that there are no more."""
    kept = load_evidence(manifest.folder)
    for ran in found:
        if ran.passed and ran.comparison is not None and ran.checked is not None:
            kept["graphs"][ran.configuration.name] = {
                "sources": ran.sources,
                "states": ran.checked.distinct,
                "edges": ran.checked.generated - ran.configuration.initial,
                "rules": dict(sorted(ran.rules.items())),
            }
    names = {each.name for each in manifest.configurations if each.kind is Kind.GRAPH}
    kept["graphs"] = {name: each for name, each in sorted(kept["graphs"].items()) if name in names}
    _write(manifest.folder, kept)
    _record_paths(manifest, found)


def _record_paths(manifest: Manifest, found: Sequence[Ran]) -> None:
    """Keep the paths of graphs of the gate's size; larger ones would take too long to run."""
    path = manifest.folder / paths.FILE
    suites = {each.configuration: each for each in paths.load_suites(path)}
    for ran in found:
        setting = ran.configuration.graph
        small = ran.configuration.size is Size.GATE and ran.comparison is not None
        # What the client oracle is compared with is refined by what the model is.
        small = small and setting is not None and setting.beside == "model"
        if ran.passed and small and ran.graph is not None and setting is not None:
            name = ran.configuration.name
            suites[name] = paths.covering(ran.graph, name, ran.sources, setting)
    strict = {
        each.name for each in manifest.configurations if each.graph and each.graph.beside == "model"
    }
    kept = [suites[name] for name in sorted(suites) if name in strict]
    if kept:
        paths.write_suites(path, kept)


def record_mutants(manifest: Manifest, found: Sequence[Fate]) -> None:
    """Keep which mutants died, and by what."""
    kept = load_evidence(manifest.folder)
    for fate in found:
        kept["mutants"].pop(fate.mutant.name, None)
        if fate.killed:
            kept["mutants"][fate.mutant.name] = {
                "sources": fate.sources,
                "rule": fate.mutant.rule,
                "killer": fate.mutant.killer,
                "told": fate.told,
            }
    kept["mutants"] = dict(sorted(kept["mutants"].items()))
    _write(manifest.folder, kept)


def _write(folder: Path, kept: dict[str, Any]) -> None:
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")


def changed(manifest: Manifest, mutants: tuple[Mutant, ...]) -> tuple[Mutant, ...]:
    """The mutants of which nothing is recorded that still holds."""
    recorded = load_evidence(manifest.folder)["mutants"]
    return tuple(
        each
        for each in mutants
        if recorded.get(each.name, {}).get("sources") != hash_of(manifest, each)
    )


def stale(manifest: Manifest, mutants: tuple[Mutant, ...]) -> tuple[str, ...]:
    """The names of graphs and mutants whose record rests on other sources than there are now."""
    recorded = load_evidence(manifest.folder)["graphs"]
    graphs = [
        each.name
        for each in manifest.configurations
        if each.graph is not None
        and recorded.get(each.name, {}).get("sources")
        != sources_hash(manifest.folder, each.module, manifest.text(each))
    ]
    return (*graphs, *(each.name for each in changed(manifest, mutants)))
