"""Check of a configuration against its entry in the manifest; any deviation is a failure."""

import re
from collections.abc import Iterator
from typing import Final

import attrs

from busproof.errors import SpecificationError
from busproof.tla.manifest import SUCCESS, Configuration, Kind, Manifest
from busproof.tla.messages import Reading, State
from busproof.tla.tlc import Ended, Progress, Task, run

__all__ = ["Checked", "check_configuration", "compare_run", "properties_of", "task_of"]

_COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_SECTION: Final = re.compile(
    r"\b(SPECIFICATION|INIT|NEXT|VIEW|CONSTANTS?|CONSTRAINTS?|ACTION_CONSTRAINTS?|SYMMETRY"
    r"|INVARIANTS?|PROPERTY|PROPERTIES)\b"
)
_BRIEF: Final = 3
"""Expected duration in seconds, up to which a run uses only Java's first compiler.

In such short runs the optimizing compiler takes a third more time than it saves.
"""

_COVERAGE_COSTS: Final = 100_000
"""Number of distinct states below which a run counts the states of each action.

Counting slows large runs down, and smaller configurations have the same actions.
"""


@attrs.frozen(kw_only=True)
class Checked:
    """Result of checking a configuration, compared with the manifest.

    Attributes:
        configuration: the configuration that was run.
        result: `success`, or the kind of violation.
        violated: the name of the violated property; empty if none is violated.
        distinct: the number of distinct states that TLC reports.
        generated: the number of generated states that TLC reports.
        depth: the depth of the search, or the length of the counterexample.
        seconds: the duration of the run.
        deviations: the differences from the manifest, as sentences; empty if the check passed.
        trace: the states of the counterexample; empty if there is none.
        actions: each action to the numbers of (distinct, generated) states that it produced.
    """

    configuration: Configuration
    result: str
    violated: str = ""
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    seconds: float = 0
    deviations: tuple[str, ...] = ()
    trace: tuple[State, ...] = ()
    actions: dict[str, tuple[int, int]] = attrs.field(factory=dict)

    @property
    def rate(self) -> float:
        """Number of distinct states per second."""
        return self.distinct / self.seconds if self.seconds else 0.0


def check_configuration(
    manifest: Manifest,
    configuration: Configuration,
    *,
    workers: int | None = None,
    timeout: float | None = None,
    heap: str | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Run a configuration, and compare the result with the manifest.

    Raises:
        TlcError: TLC gave no verdict.
    """
    task = task_of(manifest, configuration, workers=workers, timeout=timeout, heap=heap)
    return compare_run(manifest, configuration, run(task, progress=progress))


def task_of(
    manifest: Manifest,
    configuration: Configuration,
    *,
    workers: int | None = None,
    timeout: float | None = None,
    heap: str | None = None,
) -> Task:
    """Return the task for a configuration; it has one worker where TLC is unsound with more."""
    alone = configuration.workers == 1 or _is_temporal(manifest, configuration)
    return Task(
        module=manifest.folder / f"{configuration.module}.tla",
        name=configuration.name,
        config=manifest.text(configuration),
        workers=1 if alone else workers or configuration.workers,
        coverage=configuration.expect == SUCCESS and configuration.distinct < _COVERAGE_COSTS,
        brief=configuration.expect != SUCCESS or configuration.seconds <= _BRIEF,
        timeout=timeout or configuration.timeout,
        heap=heap,
    )


def _is_temporal(manifest: Manifest, configuration: Configuration) -> bool:
    """Return whether a run may check liveness, and so needs a single worker.

    Safety properties of the form `[][A]_v` can be checked with several workers.
    """
    if configuration.kind in (Kind.LIVENESS, Kind.UNFAIR, Kind.GRAPH):
        return True
    return "Fair" in "".join(properties_of(manifest.text(configuration), "SPECIFICATION"))


def properties_of(text: str, *sections: str) -> tuple[str, ...]:
    """Return the names that a configuration file lists in these sections."""
    wanted = {f"{name}{ending}" for name in sections for ending in ("", "S")} | set(sections)
    parts = _SECTION.split(_COMMENT.sub("", text))
    properties: list[str] = []
    for heading, names in zip(parts[1::2], parts[2::2], strict=True):
        if heading in wanted:
            properties += names.split()
    return tuple(properties)


def compare_run(manifest: Manifest, configuration: Configuration, ended: Ended) -> Checked:
    """Return the result of a run, compared with the manifest."""
    reading = ended.reading
    violated = _violated_property(manifest, configuration, reading)
    checked = Checked(
        configuration=configuration,
        result=reading.violation or SUCCESS,
        violated=violated,
        distinct=reading.distinct,
        generated=reading.generated,
        depth=len(reading.trace) if reading.violation else reading.depth,
        seconds=ended.seconds,
        trace=tuple(reading.trace),
        actions=reading.actions,
    )
    return attrs.evolve(checked, deviations=tuple(_deviations(checked)))


def _violated_property(manifest: Manifest, configuration: Configuration, reading: Reading) -> str:
    """Return the name of the violated property.

    TLC does not name a violated liveness property, so the configuration must list only one.
    """
    if reading.violation != "liveness":
        return reading.violated
    names = properties_of(manifest.text(configuration), "PROPERTY", "PROPERTIES")
    if len(names) != 1:
        raise SpecificationError(
            f"{configuration.config}: a liveness violation names no property, so a configuration "
            f"in which one may be violated must list one property, not {len(names)}"
        )
    return names[0]


def _deviations(checked: Checked) -> Iterator[str]:
    expected = configuration = checked.configuration
    if checked.result != SUCCESS and checked.violated != expected.expect:
        name = checked.violated or checked.result
        wanted = "nothing" if expected.expect == SUCCESS else expected.expect
        yield f"{name} is violated ({checked.result}), where {wanted} was to be"
        return
    if checked.result == SUCCESS and expected.expect != SUCCESS:
        yield f"nothing is violated, where {expected.expect} was to be"
    if checked.result != SUCCESS and expected.violation not in ("", checked.result):
        yield f"{checked.violated} fails as {checked.result}, not as {expected.violation}"
    if checked.result == SUCCESS:
        yield from _counts(checked, "distinct", "generated")
        yield from _idle_actions(checked)
    # With several workers, the order of the search and so the reported depth vary.
    if configuration.workers == 1 and configuration.depth:
        yield from _counts(checked, "depth")


def _counts(checked: Checked, *names: str) -> Iterator[str]:
    for name in names:
        actual, pinned = getattr(checked, name), getattr(checked.configuration, name)
        if actual != pinned:
            yield f"{name} is {actual:,}, and the manifest has {pinned:,}"


def _idle_actions(checked: Checked) -> Iterator[str]:
    """Yield a sentence for each action that generates no state, or is wrongly listed as idle.

    An action that never generates a state checks nothing, so the manifest must list it.
    """
    idle = checked.configuration.idle
    for name, (_, generated) in checked.actions.items():
        if not generated and name not in idle and name != "Init":
            yield f"the action {name} generated no state"
        elif generated and name in idle:
            yield f"the action {name} is listed as idle and generated {generated:,} states"
