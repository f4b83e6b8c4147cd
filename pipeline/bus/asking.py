"""Run the fold on Spark for one bus, with one compiled plan for each type of command.

Analysing and planning an expression costs far more than running it, so each plan is made once. It
reads one line from a file; each request rewrites the file, and Spark opens it anew for each run.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from busproof.pipeline.bus.folding import COMMANDS, SCHEMA, folded
from busproof.pipeline.bus.terms import let, state

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Asking", "plan"]


def plan(frame: "DataFrame", *kinds: str) -> "DataFrame":
    """Return one JSON line for each bus of the frame: the outcomes, and the state as text."""
    kept = state("after", told="slice(after.told, 1, 0)")
    both = f"named_struct('told', after.told, 'state', to_json({kept}))"
    after = let("after", folded(kinds or tuple(COMMANDS)), both)
    return frame.selectExpr(f"to_json({after}) AS after")


class Asking:
    """A bus on Spark that runs commands one after another; the caller keeps its state."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._folder = tempfile.TemporaryDirectory(prefix="busproof-spark-")
        self._plans: dict[str, DataFrame] = {}

    def ask(self, before: str, requests: Sequence[dict[str, Any]]) -> tuple[str, list[Any]]:
        """Return the state after these requests, all of one type, and their outcomes."""
        kind = requests[0]["command"]["type"]
        file = Path(self._folder.name, f"{kind}.json")
        line = f'{{"state": {before}, "requests": {json.dumps(requests)}}}\n'
        file.write_text(line, encoding="utf-8")
        if kind not in self._plans:
            read = self._spark.read.schema(SCHEMA).json(str(file))
            self._plans[kind] = plan(read, kind)
        (row,) = self._plans[kind].collect()
        after = json.loads(row.after)
        return after["state"], after["told"]

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()
