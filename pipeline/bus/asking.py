"""Asking the fold on Spark for one bus at a time, with one compiled plan for each kind of command.

To analyse and plan an expression costs far more than to run it, so a plan is made once: it reads
one line from a file, and each question writes the file anew. Spark opens it for each run.
"""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from busproof.pipeline.bus.folding import COMMANDS, SCHEMA, folded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Asking", "plan"]


def plan(frame: "DataFrame", *kinds: str) -> "DataFrame":
    """For each bus of the frame its state after its requests, as a line of JSON."""
    after = folded(kinds or tuple(COMMANDS))
    return frame.selectExpr(f"to_json({after}) AS after")


class Asking:
    """A bus on Spark that is asked one command after another; its state is kept here between."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._folder = tempfile.TemporaryDirectory(prefix="busproof-spark-")
        self._plans: dict[str, DataFrame] = {}

    def ask(self, state: dict[str, Any], request: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        """The state after this request, and what was told of it."""
        kind = request["command"]["type"]
        file = Path(self._folder.name, f"{kind}.json")
        file.write_text(
            json.dumps({"state": state, "requests": [request]}) + "\n", encoding="utf-8"
        )
        if kind not in self._plans:
            read = self._spark.read.schema(SCHEMA).json(str(file))
            self._plans[kind] = plan(read, kind)
        (row,) = self._plans[kind].collect()
        after = json.loads(row.after)
        (told,) = after.pop("told")
        return {**after, "told": []}, told

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()
