"""Comparison of the bus on Spark with the model, on many random sequences in one job.

Spark answers every sequence, and the model judges each in other processes, from the answers and
partitions. Differences are shrunk by running them on Spark again.
"""

import gc
import json
import multiprocessing
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.spark import SparkAdapter, fresh, observed, request
from busproof.errors import HistoryError
from busproof.history.records import Oracle
from busproof.history.replay import CommandFile, RecordedCommand, numbered, resolved, write_commands
from busproof.judging.applicability import Terms
from busproof.judging.judge import Judge, Violation
from busproof.judging.sequences import sequence
from busproof.judging.shrinking import Spent, minimised
from busproof.pipeline.bus.bulk import SEQUENCES, told
from busproof.pipeline.bus.mutants import MUTANTS
from busproof.spec import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Difference",
    "Simulation",
    "applicable",
    "noticed",
    "saved",
    "seldom",
    "simulated",
]

_NAMES: Final = tuple(fault.name for fault in MUTANTS)
_COMMANDS: Final = "commands.parquet"
_OUTCOMES: Final = "outcomes.parquet"
_AT_ONCE: Final = 8
"""Sequences that a process judges between reports."""

_SMALLER: Final = 150
"""Tries to shrink each difference."""

_SELDOM: Final = 0.001
"""Share of all commands that a rule must decide to count as tested."""


@attrs.frozen(kw_only=True)
class Difference:
    """The first answer of a sequence that the model does not allow.

    Attributes:
        seed: seed of the sequence.
        mutant: the fault of the bus on Spark, if any.
        place: position of the command, from 1.
        rules: broken rules, the most likely cause first.
        detail: the command and its answer.
    """

    seed: int
    mutant: str | None = None
    place: int
    rules: tuple[v.RuleId, ...]
    detail: str


@attrs.frozen(kw_only=True)
class Simulation:
    """Result of a simulation: size, differences, and how often each rule decided."""

    sequences: int
    commands: int
    differences: tuple[Difference, ...]
    decided: Counter[v.RuleId]
    undecided: int = 0


def simulated(
    spark: "SparkSession", profile: v.Profile, seeds: Sequence[int], length: int, folder: Path
) -> Simulation:
    """Run one sequence for each seed and judge Spark's answers.

    Args:
        spark: where the sequences are folded.
        profile: what the bus is held to.
        seeds: one of each sequence.
        length: commands of a sequence, after those that create what it is about.
        folder: for the sequences and the outcomes, as Parquet.

    Raises:
        HistoryError: the folder cannot be written.
    """
    rows = ((seed, None, sequence(seed, length, profile.partitions)) for seed in seeds)
    frame = _written(spark, profile, rows, folder)
    answers = told(frame)
    answers.write.mode("overwrite").parquet(str(folder / _OUTCOMES))
    return _judged(spark, profile, folder / _OUTCOMES, length)


def noticed(
    spark: "SparkSession",
    profile: v.Profile,
    seeds: Sequence[int],
    length: int,
    folder: Path,
    names: Sequence[str] = _NAMES,
) -> dict[str, Difference]:
    """Return the faults that the model distinguishes, each with its first difference."""
    rows = (
        (seed, name, sequence(seed, length, profile.partitions)) for name in names for seed in seeds
    )
    frame = _written(spark, profile, rows, folder)
    answers = told(frame, mutated=True)
    answers.write.mode("overwrite").parquet(str(folder / _OUTCOMES))
    by_mutant: dict[str, Difference] = {}
    for difference in _judged(spark, profile, folder / _OUTCOMES, length).differences:
        by_mutant.setdefault(difference.mutant or "", difference)
    return by_mutant


def applicable(profile: v.Profile) -> list[v.RuleId]:
    """Return the rules that the bus on Spark can show."""
    terms = Terms(
        catalogue=load(),
        profile=profile,
        capabilities=frozenset(SparkAdapter().declaration.capabilities),
        oracle=Oracle.STRICT,
    )
    return [rule.id for rule in terms.catalogue.rules if not terms.inapplicable(rule)]


def seldom(simulation: Simulation, rules: Sequence[v.RuleId]) -> list[v.RuleId]:
    """Return the rules that decided fewer than one command in a thousand."""
    least = simulation.commands * _SELDOM
    return [rule for rule in rules if simulation.decided[rule] < least]


def _written(
    spark: "SparkSession",
    profile: v.Profile,
    rows: Iterable[tuple[int, str | None, tuple[RecordedCommand, ...]]],
    folder: Path,
) -> "DataFrame":
    """Write the sequences as Parquet and return Spark's view of them."""
    lines = folder / "commands.jsonl"
    _write_lines(lines, profile, rows)
    table = str(folder / _COMMANDS)
    spark.read.schema(SEQUENCES).json(str(lines)).write.mode("overwrite").parquet(table)
    lines.unlink()
    return spark.read.parquet(table)


def _write_lines(
    path: Path,
    profile: v.Profile,
    rows: Iterable[tuple[int, str | None, tuple[RecordedCommand, ...]]],
) -> None:
    state = fresh(profile)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for seed, mutant, commands in rows:
                requests = [request(command.command, command.connection) for command in commands]
                row = {"seed": seed, "mutant": mutant, "state": state, "requests": requests}
                file.write(json.dumps(row) + "\n")
    except OSError as error:
        raise HistoryError(f"cannot write {path}: {error.strerror}") from None


def _judged(spark: "SparkSession", profile: v.Profile, outcomes: Path, length: int) -> Simulation:
    """Judge all outcomes with the model, in one process per core."""
    rows = [row.asDict() for row in spark.read.parquet(str(outcomes)).collect()]
    rows.sort(key=lambda row: (row["mutant"] or "", row["seed"]))
    decided: Counter[v.RuleId] = Counter()
    differences, commands, undecided = [], 0, 0
    with multiprocessing.get_context("spawn").Pool() as pool:
        judge = partial(_verdict, profile, length)
        for count, evidence, difference, exhausted in pool.imap(judge, rows, chunksize=_AT_ONCE):
            commands += count
            undecided += exhausted
            decided.update(evidence)
            if difference is not None:
                differences.append(difference)
    return Simulation(
        sequences=len(rows),
        commands=commands,
        differences=tuple(differences),
        decided=decided,
        undecided=undecided,
    )


def _verdict(
    profile: v.Profile, length: int, row: dict[str, Any]
) -> tuple[int, Counter[v.RuleId], Difference | None, bool]:
    gc.disable()
    commands = sequence(row["seed"], length, profile.partitions)
    judge, event = _heard(profile, commands, json.loads(row["told"])["told"])
    gc.enable()
    difference = None
    if judge.violation is not None and event is not None:
        difference = _difference(row["seed"], row["mutant"], judge.violation, event)
    return len(commands), judge.evidence, difference, bool(judge.exhausted)


def _difference(seed: int, mutant: str | None, violation: Violation, event: v.Event) -> Difference:
    allowed = [str(answer.outcome) for answer in violation.allowed[:3]]
    return Difference(
        seed=seed,
        mutant=mutant,
        place=violation.index + 1,
        rules=violation.rules,
        detail=f"{event.command} was told {event.outcome}; allowed: {' or '.join(allowed) or '?'}",
    )


def _heard(
    profile: v.Profile, commands: Sequence[RecordedCommand], answers: Sequence[dict[str, Any]]
) -> tuple[Judge, v.Event | None]:
    """Return the judge after the last allowed event, and the last event."""
    judge = Judge(profile, SparkAdapter().declaration.observability)
    tokens: dict[int, str] = {}
    event = None
    for recorded, answer in zip(commands, answers, strict=True):
        observation = observed(answer)
        command = resolved(recorded.command, tokens) or recorded.command
        if isinstance(observation.outcome, v.Received) and observation.outcome.message.lock_token:
            tokens[recorded.number] = observation.outcome.message.lock_token
        event = v.Event(
            client=recorded.connection,
            connection=recorded.connection,
            command=command,
            outcome=observation.outcome,
            witness=observation.witness,
        )
        if judge.saw(event) is not None or judge.exhausted:
            break
    return judge, event


def saved(
    spark: "SparkSession", profile: v.Profile, difference: Difference, length: int, folder: Path
) -> Path:
    """Shrink a difference by running it on Spark again; write it for `busproof run --replay`.

    Raises:
        HistoryError: the folder cannot be written.
    """
    again = _Again(spark, profile, difference.mutant, folder / "again.jsonl")
    left = _SMALLER

    def differs(candidate: Sequence[RecordedCommand]) -> bool:
        nonlocal left
        if left == 0:
            raise Spent
        left -= 1
        commands = numbered(candidate)
        judge, _ = _heard(profile, commands, again.ask(commands))
        return judge.violation is not None and difference.rules[0] in judge.violation.rules

    whole = sequence(difference.seed, length, profile.partitions)[: difference.place]
    small = numbered(minimised(whole, differs))
    path = folder / f"commands-{difference.seed}.json"
    write_commands(path, CommandFile(rule=difference.rules[0], profile=profile, commands=small))
    return path


class _Again:
    """Runs single sequences by one prepared plan over a file of one line."""

    def __init__(
        self, spark: "SparkSession", profile: v.Profile, mutant: str | None, file: Path
    ) -> None:
        self._profile = profile
        self._mutant = mutant
        self._file = file
        self._spark = spark
        self._plan: DataFrame | None = None

    def ask(self, commands: Sequence[RecordedCommand]) -> list[dict[str, Any]]:
        """Return the answer to each command."""
        _write_lines(self._file, self._profile, [(0, self._mutant, tuple(commands))])
        if self._plan is None:
            read = self._spark.read.schema(SEQUENCES).json(str(self._file))
            self._plan = told(read, mutated=self._mutant is not None)
        (row,) = self._plan.collect()
        answers: list[dict[str, Any]] = json.loads(row.told)["told"]
        return answers
