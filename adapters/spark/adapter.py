"""Adapter for the bus on Spark, which folds commands in bulk before their answers are needed.

A rehearsal (`rehearsal.py`) has recorded the commands that the scenarios will issue if this bus
answers as the reference model does. The first `start` folds all of them in one job. An answer is
taken from that job if exactly these commands preceded it; otherwise the command is folded when it
is issued.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from busproof import __version__
from busproof import vocabulary as v
from busproof.adapters.spark.namespaces import REHEARSED, Commands, digests, read_answer
from busproof.errors import AdapterError, SparkError
from busproof.pipeline.bus.bulk import SEQUENCES, answer_sequences
from busproof.pipeline.bus.folding import COMMANDS
from busproof.pipeline.session import spark_error_line, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BULK_SETTINGS", "CAPABILITIES", "SETTINGS", "SparkAdapter"]

CAPABILITIES: Final = frozenset(
    {
        v.Capability.WITNESS,
        v.Capability.OUTAGES,
        v.Capability.TRANSACTIONS,
        v.Capability.SESSIONS,
        v.Capability.DUPLICATE_DETECTION,
        v.Capability.PEEK,
        v.Capability.PEEK_FROM,
        v.Capability.PEEK_LOCK,
        v.Capability.REGULAR_QUEUES,
        v.Capability.TOPICS,
        v.Capability.FORWARDING,
        v.Capability.NEXT_SESSION,
        v.Capability.SESSION_STATE,
        v.Capability.SESSION_LISTING,
        v.Capability.DEAD_LETTER,
        v.Capability.DEAD_LETTER_REASONS,
        v.Capability.LOCK_RENEWAL,
        v.Capability.DEFERRAL,
        v.Capability.SCHEDULING,
        v.Capability.SEQUENCE_NUMBERS,
        v.Capability.MANAGEMENT,
        v.Capability.SIZES,
        v.Capability.API_VERSIONS,
        v.Capability.AVAILABILITY,
        v.Capability.TIME_TO_LIVE,
        v.Capability.DISPOSABLE_NAMESPACE,
        v.Capability.LEGACY_ENTITIES,
        v.Capability.LIMITS,
        v.Capability.BATCHES,
        v.Capability.RECEIVE_BATCHES,
    }
)
"""Capabilities of the bus on Spark."""

SETTINGS: Final = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.debug.maxToStringFields": "0",
    "spark.sql.files.maxPartitionBytes": "4m",
    "spark.sql.files.openCostInBytes": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.subexpressionElimination.enabled": "false",
}
"""Spark options for many small jobs in sequence: light compilation and no replanning.

Each task reads the plan of all commands anew, which takes as long as folding some thousands.
"""

BULK_SETTINGS: Final = {
    **SETTINGS,
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    "spark.sql.files.maxPartitionBytes": "128m",
}
"""Spark options for one long job: full compilation, and one task per core."""


class SparkAdapter:
    """A bus with a table of namespaces, and an expression that folds commands into each.

    Args:
        master: the Spark master; by default all cores of this machine.
    """

    def __init__(self, master: str | None = None) -> None:
        self._master = master
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._spark: SparkSession | None = None
        self._one: DataFrame | None = None
        self._answers: dict[bytes, Any] = {}
        self._namespace: Commands | None = None

    @property
    def declaration(self) -> v.Declaration:
        """The capabilities of the bus on Spark, on an exact virtual clock."""
        return v.Declaration(
            implementation=v.Implementation(
                name="busproof on Spark", version=__version__, language="Spark SQL"
            ),
            capabilities=CAPABILITIES,
        )

    def start(self, profile: v.Profile) -> None:
        """Begin with an empty namespace; the first time, start Spark and fold the rehearsal."""
        if self._spark is None:
            try:
                self._spark = spark_session(master=self._master, conf=SETTINGS)
            except SparkError as error:
                raise AdapterError(str(error)) from None
            self._folder = tempfile.TemporaryDirectory(prefix="busproof-spark-")
            self._fold_rehearsal()
        self._namespace = Commands(profile)

    def hear(self, commands: Sequence[v.Command], connection: str) -> None:
        """Fold these commands together, unless their answers are already known."""
        namespace = self._start()
        requests = [namespace.referring(command, connection) for command in commands]
        together = [*namespace.requests, *requests]
        if any(request["command"]["type"] not in COMMANDS for request in requests):
            return
        if any(digest not in self._answers for digest in digests(namespace.state, together)):
            self._fold_one(namespace.state, together)

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Return the answer that Spark has computed for this command after the previous ones."""
        namespace = self._start()
        if type(command).__name__ not in COMMANDS:
            return v.Observed(v.Unsupported(detail=f"no expression for {type(command).__name__}"))
        namespace.add(command, connection)
        if namespace.digest not in self._answers:
            self._fold_one(namespace.state, namespace.requests)
        observation = read_answer(self._answers[namespace.digest])
        namespace.saw(observation.outcome)
        return observation

    def stop(self) -> None:
        """Forget the namespace, but keep Spark running for the next one."""
        self._namespace = None

    def _start(self) -> Commands:
        if self._namespace is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        return self._namespace

    def _fold_rehearsal(self) -> None:
        """Fold all rehearsed commands in one job, on all cores."""
        path = os.environ.get(REHEARSED)
        if path is None or not Path(path).exists():
            return
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        self._keep(self._read("rehearsed.json", rows), rows)

    def _fold_one(self, state: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        """Fold the commands of one namespace, by a plan that is made only once."""
        rows = [{"state": state, "requests": requests}]
        frame = self._read("one.json", rows, self._one)
        self._one = frame
        self._keep(frame, rows)

    def _read(
        self, name: str, rows: list[dict[str, Any]], plan: "DataFrame | None" = None
    ) -> "DataFrame":
        """Write rows to the file that a plan reads; Spark opens it anew for each run."""
        if self._folder is None or self._spark is None:
            raise AssertionError("Spark is started with the first namespace")
        path = Path(self._folder.name, name)
        with path.open("w", encoding="utf-8") as file:
            for number, row in enumerate(rows):
                file.write(json.dumps({"seed": number, **row}) + "\n")
        return plan or answer_sequences(self._spark.read.schema(SEQUENCES).json(str(path)))

    def _keep(self, frame: "DataFrame", rows: list[dict[str, Any]]) -> None:
        """Run a plan, and store its answers for these rows."""
        try:
            answered = frame.collect()
        except Exception as error:
            cause = spark_error_line(error)
            if cause is None:
                raise
            raise AdapterError(f"Spark failed: {cause}") from error
        for answer in answered:
            row = rows[answer.seed]
            keys = digests(row["state"], row["requests"])
            self._answers.update(zip(keys, json.loads(answer.told)["told"], strict=True))
