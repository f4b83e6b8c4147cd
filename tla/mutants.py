"""Mutants of the specs: each breaks one rule, and a check has to fail on it.

A mutant replaces one piece of text in one module, and runs one configuration that is reduced to the
property that has to fail. Otherwise the killer would be the violation that TLC finds first.
"""

from difflib import get_close_matches
from typing import Final

import attrs

from busproof.errors import HistoryError, SpecificationError, TlcError, UsageError
from busproof.history.codec import structure
from busproof.tla.checking import compare_run, task_of
from busproof.tla.graphs.compare import compare_graph
from busproof.tla.graphs.graph import Graph
from busproof.tla.hashes import sources_hash
from busproof.tla.manifest import (
    SUCCESS,
    Configuration,
    Kind,
    Manifest,
    read_toml,
    vary_configuration,
)
from busproof.tla.tlc import Progress, Task, run

__all__ = ["Fate", "Mutant", "choose_mutants", "hash_of", "load_mutants", "try_mutant"]

GRAPH: Final = "graph"
KILLERS: Final = ("invariant", "property", "refinement", "liveness", GRAPH)


@attrs.frozen(kw_only=True)
class Mutant:
    """A mutant of a spec.

    Attributes:
        name: its name, which no other mutant has.
        rule: the id of the rule that it breaks.
        module: the module that it changes.
        old: the replaced text, which occurs exactly once in the module.
        new: the text in its place.
        killed_by: the name of the invariant or property that has to fail. If the killer is a
            graph, the name is only for display.
        killer: the kind of check that has to fail: an invariant, a property, a refinement,
            liveness, or `graph`, the comparison of the spec's states with the model's.
        configuration: the name of the configuration that has to kill it.
    """

    name: str
    rule: str
    module: str
    old: str
    new: str
    killer: str = attrs.field(validator=attrs.validators.in_(KILLERS))
    configuration: str
    killed_by: str = ""


@attrs.frozen(kw_only=True)
class Fate:
    """Result of running a mutant.

    Attributes:
        mutant: the mutant.
        killed: whether the expected killer noticed it.
        killer: the check that failed, or what happened instead.
        sources: the hash of everything that the result depends on.
        seconds: duration of the run.
    """

    mutant: Mutant
    killed: bool
    killer: str
    sources: str
    seconds: float = 0


def load_mutants(manifest: Manifest) -> tuple[Mutant, ...]:
    """Return the mutants in a folder of specs.

    Raises:
        SpecificationError: an entry is broken, or its text does not occur exactly once in its
            module.
    """
    path = manifest.folder / "mutants.toml"
    if not path.exists():
        return ()
    mutants = []
    for entry in read_toml(path).get("mutant", []):
        what = f"{path.name}, mutant {entry.get('name', 'without a name')}"
        try:
            mutant = structure(entry, Mutant, what)
        except (HistoryError, ValueError) as error:
            raise SpecificationError(f"{what}: {error}") from None
        _mutate(manifest, mutant)
        manifest.configuration(mutant.configuration)
        mutants.append(mutant)
    names = [mutant.name for mutant in mutants]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SpecificationError(f"{path.name}: two mutants are called {twice[0]!r}")
    return tuple(mutants)


def choose_mutants(mutants: tuple[Mutant, ...], names: tuple[str, ...]) -> tuple[Mutant, ...]:
    """Return the mutants whose name, module or rule is named; all if nothing is named.

    Raises:
        UsageError: a name matches no mutant.
    """
    for name in names:
        if not any(name in (mutant.name, mutant.module, mutant.rule) for mutant in mutants):
            known = [mutant.name for mutant in mutants]
            close = get_close_matches(name, known, cutoff=0.5)
            hint = f"; nearest: {', '.join(close)}" if close else ""
            raise UsageError(f"there is no mutant, module or rule {name!r} with a mutant{hint}")
    return tuple(
        mutant
        for mutant in mutants
        if not names or any(name in (mutant.name, mutant.module, mutant.rule) for name in names)
    )


def _mutate(manifest: Manifest, mutant: Mutant) -> str:
    path = manifest.folder / f"{mutant.module}.tla"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecificationError(f"mutant {mutant.name}: {path.name}: {error.strerror}") from None
    if (count := text.count(mutant.old)) != 1:
        raise SpecificationError(
            f"mutant {mutant.name}: its old text stands in {path.name} {count} times, and must once"
        )
    return text.replace(mutant.old, mutant.new)


def hash_of(manifest: Manifest, mutant: Mutant) -> str:
    """Return the hash of everything that a mutant's result depends on.

    A recorded result with the same hash is still valid.
    """
    configuration = manifest.configuration(mutant.configuration)
    text = manifest.text(configuration)
    return sources_hash(manifest.folder, configuration.module, text, repr(mutant))


def try_mutant(
    manifest: Manifest,
    mutant: Mutant,
    *,
    progress: Progress | None = None,
    timeout: float | None = None,
    heap: str | None = None,
) -> Fate:
    """Run a mutant; return whether its check killed it.

    Raises:
        TlcError: TLC gave no verdict, for example because the mutant does not parse.
    """
    configuration = manifest.configuration(mutant.configuration)
    task = _task(manifest, configuration, mutant, timeout=timeout, heap=heap)
    graph = Graph()
    try:
        ended = run(task, graph.take if mutant.killer == GRAPH else None, progress)
    except TlcError as error:
        raise TlcError(f"mutant {mutant.name}: {error}") from None
    checked = compare_run(manifest, attrs.evolve(configuration, only=True), ended)
    fate = Fate(
        mutant=mutant,
        killed=False,
        killer="nothing was noticed",
        sources=hash_of(manifest, mutant),
        seconds=ended.seconds,
    )
    if mutant.killer == GRAPH:
        return _judge_by_graph(fate, configuration, graph, checked.deviations)
    name = checked.violated
    if ended.reading.violation == "liveness":
        name = mutant.killed_by
    if checked.result == SUCCESS:
        return fate
    killed = name == mutant.killed_by
    return attrs.evolve(fate, killed=killed, killer=f"{mutant.killer} {name}")


def _task(
    manifest: Manifest,
    configuration: Configuration,
    mutant: Mutant,
    *,
    timeout: float | None,
    heap: str | None,
) -> Task:
    task = task_of(manifest, configuration, timeout=timeout, heap=heap)
    text = (manifest.folder / configuration.config).read_text(encoding="utf-8")
    if mutant.killer != GRAPH:
        heading = "INVARIANT" if mutant.killer == "invariant" else "PROPERTY"
        config = vary_configuration(configuration, text, (f"{heading} {mutant.killed_by}",))
    else:
        config = manifest.text(configuration)
    alone = mutant.killer in (GRAPH, "liveness") or configuration.kind is Kind.LIVENESS
    return attrs.evolve(
        task,
        config=config,
        name=f"{configuration.name} with {mutant.name}",
        files={f"{mutant.module}.tla": _mutate(manifest, mutant)},
        workers=1 if alone else task.workers,
        coverage=False,
        brief=True,
    )


def _judge_by_graph(
    fate: Fate, configuration: Configuration, graph: Graph, deviations: tuple[str, ...]
) -> Fate:
    """Return the result of a graph mutant: killed by the model, or by the pinned numbers."""
    setting = configuration.graph
    if setting is not None:
        comparison = compare_graph(graph, configuration, first=True)
        if comparison.disagreeing or comparison.deviations:
            return attrs.evolve(fate, killed=True, killer="graph: the model disagrees")
    if deviations:
        return attrs.evolve(fate, killed=True, killer=f"graph: {deviations[0]}")
    return fate
