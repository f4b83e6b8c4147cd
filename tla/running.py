"""Runs of configurations and mutants, one after the other; a failed run does not end the others."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import attrs

from busproof.errors import TlcError
from busproof.tla.checking import Checked, check_configuration
from busproof.tla.graphs.compare import compare_graph
from busproof.tla.graphs.comparison import Comparison
from busproof.tla.graphs.graph import Graph, explore_graph
from busproof.tla.hashes import sources_hash
from busproof.tla.manifest import SUCCESS, Configuration, Kind, Manifest, Setting
from busproof.tla.messages import Reading
from busproof.tla.mutants import Fate, Mutant, try_mutant

__all__ = ["Limits", "Ran", "configurations", "mutants_tried"]

Progress = Callable[[str, Reading, float], None]


@attrs.frozen(kw_only=True)
class Limits:
    """The user's limits for each run; `None` means the manifest's."""

    workers: int | None = None
    timeout: float | None = None
    heap: str | None = None


@attrs.frozen(kw_only=True)
class Ran:
    """Result of running a configuration, with or without a verdict.

    Attributes:
        configuration: the configuration.
        checked: the result of TLC; `None` if it gave no verdict.
        comparison: for a graph, its comparison with the counterpart.
        graph: for a graph, the graph itself.
        comparing: how many seconds the comparison took.
        error: why there is no verdict; empty if there is one.
        sources: the hash of the sources that decided the result.
        setting: the setting for replaying its steps on the model; `None` if there is none.
    """

    configuration: Configuration
    checked: Checked | None = None
    comparison: Comparison | None = None
    graph: Graph | None = None
    comparing: float = 0
    error: str = ""
    sources: str = ""
    setting: Setting | None = None

    @property
    def deviations(self) -> tuple[str, ...]:
        """The differences from the manifest; empty if there are none, or no verdict."""
        deviations = () if self.checked is None else self.checked.deviations
        if self.comparison is not None and self.comparison.disagreeing:
            number = self.comparison.disagreeing
            answers = "answer" if number == 1 else "answers"
            sentence = f"the model disagrees with the graph on {number:,} {answers}"
            deviations = (*deviations, sentence)
        elif self.comparison is not None:
            deviations = (*deviations, *self.comparison.deviations)
        return deviations

    @property
    def passed(self) -> bool:
        """Whether there is a verdict and it matches the manifest."""
        return self.checked is not None and not self.deviations

    @property
    def rules(self) -> Counter[str]:
        """Rule id to how many edges of a compared graph the rule decided."""
        counted: Counter[str] = Counter()
        if self.comparison is not None:
            for (rule, _), number in self.comparison.rules.items():
                counted[rule] += number
        return counted


def configurations(
    manifest: Manifest,
    chosen: Sequence[Configuration],
    limits: Limits,
    progress: Progress | None = None,
) -> Iterator[Ran]:
    """Run each configuration; yield an error for one that TLC cannot check."""
    for configuration in chosen:
        try:
            yield _ran(manifest, configuration, limits, progress)
        except TlcError as error:
            yield Ran(configuration=configuration, error=str(error))


def _ran(
    manifest: Manifest, configuration: Configuration, limits: Limits, progress: Progress | None
) -> Ran:
    def tell(reading: Reading, seconds: float) -> None:
        if progress is not None:
            progress(configuration.name, reading, seconds)

    sources = sources_hash(manifest.folder, configuration.module, manifest.text(configuration))
    if configuration.kind is not Kind.GRAPH:
        outcome = check_configuration(
            manifest,
            configuration,
            workers=limits.workers,
            timeout=limits.timeout,
            heap=limits.heap,
            progress=tell,
        )
        return Ran(
            configuration=configuration,
            checked=outcome,
            sources=sources,
            setting=manifest.setting(configuration),
        )
    graph, outcome = explore_graph(
        manifest, configuration, progress=tell, timeout=limits.timeout, heap=limits.heap
    )
    setting = configuration.graph
    ran = Ran(
        configuration=configuration, checked=outcome, graph=graph, sources=sources, setting=setting
    )
    if outcome.result != SUCCESS or setting is None:
        return ran
    begun = time.monotonic()
    comparison = compare_graph(graph, configuration)
    return attrs.evolve(ran, comparison=comparison, comparing=time.monotonic() - begun)


def mutants_tried(
    manifest: Manifest,
    chosen: Sequence[Mutant],
    limits: Limits,
    progress: Progress | None = None,
) -> Iterator[Fate]:
    """Run each mutant; one without a verdict counts as not killed, with the reason."""
    for mutant in chosen:

        def tell(reading: Reading, seconds: float, name: str = mutant.name) -> None:
            if progress is not None:
                progress(name, reading, seconds)

        try:
            yield try_mutant(
                manifest, mutant, progress=tell, timeout=limits.timeout, heap=limits.heap
            )
        except TlcError as error:
            yield Fate(mutant=mutant, killed=False, killer=str(error), sources="")
