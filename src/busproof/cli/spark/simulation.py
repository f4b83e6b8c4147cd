"""Comparison of the bus on Spark with the model, by many random sequences in one job.

Spark answers every sequence. Other processes judge the answers with the model, given the partitions
that Spark chose. Differences are shrunk by running fewer commands on Spark again.
"""

import gc
import json
import multiprocessing
import shutil
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from busproof import vocabulary as v
from busproof.adapters.spark import SparkAdapter, fresh, read_answer, request
from busproof.errors import HistoryError
from busproof.history.records import Oracle
from busproof.history.render.events import event_words
from busproof.history.replay import CommandFile, RecordedCommand, numbered, resolved, write_commands
from busproof.judging.applicability import Terms
from busproof.judging.judge import Judge
from busproof.judging.sequences import sequence
from busproof.judging.shrinking import minimised
from busproof.judging.simplifying import Spent
from busproof.judging.violation import Violation, compare_answers
from busproof.pipeline.bus.bulk import SEQUENCES, answer_sequences
from busproof.pipeline.bus.mutants import MUTANTS
from busproof.spec import load

if TYPE_CHECKING:
    from multiprocessing.pool import Pool as _Pool

    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Difference",
    "Simulation",
    "applicable_rules",
    "find_noticed",
    "find_seldom",
    "save_difference",
    "simulate",
]

_NAMES: Final = tuple(fault.name for fault in MUTANTS)
_COMMANDS: Final = "commands.parquet"
_OUTCOMES: Final = "outcomes.parquet"
_IN_A_FILE: Final = 100
"""Number of sequences in a Parquet file."""

_FIRST_SEEDS: Final = 24
_MORE_SEEDS: Final = 5
"""Number of sequences for each fault at first, and the factor for faults that none has shown."""

_AT_ONCE: Final = 8
"""Number of sequences that a process judges between reports."""

_SMALLER: Final = 150
"""Maximum number of tries to shrink a difference."""

_SELDOM: Final = 0.001
"""Minimum share of all commands that a rule must decide to count as tested."""

_Run = tuple[int, str | None]
"""The seed of a sequence, and the name of the bus's mutant, if any."""


@attrs.frozen(kw_only=True)
class Difference:
    """The first answer in a sequence that the model does not allow.

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
    """The result of a simulation: its size, differences, and how often each rule decided."""

    sequences: int
    commands: int
    differences: tuple[Difference, ...]
    decided: Counter[v.RuleId]
    undecided: int = 0


def simulate(
    spark: "SparkSession", profile: v.Profile, seeds: Sequence[int], length: int, folder: Path
) -> Simulation:
    """Run one sequence for each seed, and judge Spark's answers.

    Args:
        spark: the session that folds the sequences.
        profile: the profile of the bus.
        seeds: the seeds, one per sequence.
        length: number of commands in a sequence, not counting those that create its entities.
        folder: the folder for the sequences and outcomes, as Parquet.

    Raises:
        HistoryError: the folder cannot be written.
    """
    return _run_sequences(spark, profile, [(seed, None) for seed in seeds], length, folder)


def find_noticed(
    spark: "SparkSession",
    profile: v.Profile,
    seeds: Sequence[int],
    length: int,
    folder: Path,
    names: Sequence[str] = _NAMES,
) -> dict[str, Difference]:
    """Return the faults whose answers the model does not allow, each with the first such answer.

    A fault that a few sequences show is not tried with the others.
    """
    by_mutant: dict[str, Difference] = {}
    start = 0
    number = _FIRST_SEEDS
    while start < len(seeds) and (left := [name for name in names if name not in by_mutant]):
        some = seeds[start : start + number]
        runs = [(seed, name) for name in left for seed in some]
        for difference in _run_sequences(spark, profile, runs, length, folder).differences:
            by_mutant.setdefault(difference.mutant or "", difference)
        start += number
        number *= _MORE_SEEDS
    return by_mutant


def _run_sequences(
    spark: "SparkSession", profile: v.Profile, runs: Sequence[_Run], length: int, folder: Path
) -> Simulation:
    """Write the sequences, fold them, and judge the answers in one process per core."""
    with multiprocessing.get_context("spawn").Pool() as pool:
        kinds = _write_sequences(spark, pool, profile, runs, length, folder / _COMMANDS)
        frame = spark.read.schema(SEQUENCES).parquet(str(folder / _COMMANDS))
        mutated = any(mutant is not None for _, mutant in runs)
        # A mutant may replace an expression of any command, so the plan needs all commands.
        answers = (
            answer_sequences(frame, mutated=True)
            if mutated
            else answer_sequences(frame, kinds=kinds)
        )
        answers.write.mode("overwrite").parquet(str(folder / _OUTCOMES))
        rows = [row.asDict() for row in spark.read.parquet(str(folder / _OUTCOMES)).collect()]
        return _judge_outcomes(pool, profile, rows, length)


def applicable_rules(profile: v.Profile) -> list[v.RuleId]:
    """Return the rules that the bus on Spark can give evidence about."""
    terms = Terms(
        catalogue=load(),
        profile=profile,
        capabilities=frozenset(SparkAdapter().declaration.capabilities),
        oracle=Oracle.STRICT,
    )
    return [rule.id for rule in terms.catalogue.rules if not terms.inapplicable(rule)]


def find_seldom(simulation: Simulation, rules: Sequence[v.RuleId]) -> list[v.RuleId]:
    """Return the rules that decided fewer than one command in a thousand."""
    least = simulation.commands * _SELDOM
    return [rule for rule in rules if simulation.decided[rule] < least]


def _write_sequences(
    spark: "SparkSession",
    pool: "_Pool",
    profile: v.Profile,
    runs: Sequence[_Run],
    length: int,
    folder: Path,
) -> list[str]:
    """Write the sequences as Parquet; return the types of their commands."""
    schema = to_arrow_schema(spark.createDataFrame([], SEQUENCES).schema)
    write = partial(_write_some, schema, profile, length)
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        some = (
            (folder / f"part-{start:08}.parquet", runs[start : start + _IN_A_FILE])
            for start in range(0, len(runs), _IN_A_FILE)
        )
        return sorted(set().union(*pool.imap_unordered(write, some)))
    except OSError as error:
        raise HistoryError(f"cannot write {folder}: {error.strerror}") from None


def _write_some(
    schema: pa.Schema, profile: v.Profile, length: int, some: tuple[Path, Sequence[_Run]]
) -> set[str]:
    path, runs = some
    state = fresh(profile)
    rows = []
    kinds = set()
    for seed, mutant in runs:
        commands = sequence(seed, length, profile.partitions)
        kinds |= {type(recorded.command).__name__ for recorded in commands}
        rows.append(_row(seed, mutant, state, commands))
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return kinds


def _row(
    seed: int, mutant: str | None, state: dict[str, Any], commands: Sequence[RecordedCommand]
) -> dict[str, Any]:
    """Return a sequence in the schema `SEQUENCES`."""
    requests = [request(command.command, command.connection) for command in commands]
    return {"seed": seed, "mutant": mutant, "state": state, "requests": requests}


def _judge_outcomes(
    pool: "_Pool", profile: v.Profile, rows: list[dict[str, Any]], length: int
) -> Simulation:
    """Judge all outcomes with the model."""
    rows.sort(key=lambda row: (row["mutant"] or "", row["seed"]))
    decided: Counter[v.RuleId] = Counter()
    differences = []
    commands = 0
    undecided = 0
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
    judge, violation, event = _judge_sequence(profile, commands, json.loads(row["told"])["told"])
    gc.enable()
    difference = None
    if violation is not None and event is not None:
        difference = _difference(row["seed"], row["mutant"], violation, event)
    return len(commands), judge.evidence, difference, bool(judge.exhausted)


def _difference(seed: int, mutant: str | None, violation: Violation, event: v.Event) -> Difference:
    _, allowed = compare_answers(violation, event)
    return Difference(
        seed=seed,
        mutant=mutant,
        place=violation.index + 1,
        rules=violation.rules,
        detail=f"{event_words(event)}; allowed: {' or '.join(allowed[:3]) or '?'}",
    )


def _judge_sequence(
    profile: v.Profile, commands: Sequence[RecordedCommand], answers: Sequence[dict[str, Any]]
) -> tuple[Judge, Violation | None, v.Event | None]:
    """Judge a sequence; return the judge, the violation, if any, and the last judged event."""
    judge = Judge(profile, SparkAdapter().declaration.observability)
    tokens: dict[int, str] = {}
    event = None
    violation = None
    now = 0
    for recorded, answer in zip(commands, answers, strict=True):
        observation = read_answer(answer)
        command = resolved(recorded.command, tokens) or recorded.command
        if isinstance(observation.outcome, v.Received) and observation.outcome.message.lock_token:
            tokens[recorded.number] = observation.outcome.message.lock_token
        if isinstance(command, v.AdvanceClock):
            now += command.duration
        event = v.Event(
            called=now,
            returned=now,
            client=recorded.connection,
            connection=recorded.connection,
            command=command,
            outcome=observation.outcome,
            witness=observation.witness,
        )
        violation = judge.saw(event) or judge.overdue
        if violation is not None or judge.exhausted:
            break
    return judge, violation, event


def save_difference(
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
        _, violation, _ = _judge_sequence(profile, commands, again.ask(commands))
        return violation is not None and difference.rules[0] in violation.rules

    whole = sequence(difference.seed, length, profile.partitions)[: difference.place]
    small = numbered(minimised(whole, differs))
    path = folder / f"commands-{difference.seed}.json"
    write_commands(path, CommandFile(rule=difference.rules[0], profile=profile, commands=small))
    return path


class _Again:
    """A runner of single sequences, by one prepared plan over a file of one line."""

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
        line = json.dumps(_row(0, self._mutant, fresh(self._profile), commands))
        try:
            self._file.write_text(line + "\n", encoding="utf-8")
        except OSError as error:
            raise HistoryError(f"cannot write {self._file}: {error.strerror}") from None
        if self._plan is None:
            read = self._spark.read.schema(SEQUENCES).json(str(self._file))
            self._plan = answer_sequences(read, mutated=self._mutant is not None)
        (row,) = self._plan.collect()
        answers: list[dict[str, Any]] = json.loads(row.told)["told"]
        return answers
