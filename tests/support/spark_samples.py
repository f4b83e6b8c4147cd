"""Histories that Spark has read and checked, for tests."""

from pathlib import Path

import recorded_cases as cases
from corrupting import CORRUPTIONS
from pyspark.sql import DataFrame, SparkSession

from busproof.history.records import Header
from busproof.pipeline.checking import Checked, check
from busproof.pipeline.reading import Read, read_lines
from busproof.pipeline.rules import RULES
from busproof.pipeline.terms import Held
from busproof.spec import load

SMALL = {
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""For tables of some thousand rows, of which compiling a plan would take most of the time."""


SHOWN_BY_WORK = frozenset(
    {
        "KEY-02", "KEY-04", "KEY-05", "KEY-06", "KEY-07", "KEY-10", "LIFE-01", "LIFE-03", "LIFE-07",
        "LIFE-12", "SESS-04", "TXN-12", "TXN-13",
    }
)  # fmt: skip
"""Rules whose situations arise wherever clients work for a while."""


def at_work() -> frozenset[str]:
    """The rules that histories of clients at work show best: those, and what changes break."""
    broken = (rules for rules, _ in CORRUPTIONS.values())
    return RULES & SHOWN_BY_WORK.union({"LOCK-06"}, *broken)


def held() -> Held:
    """What the histories of clients at work are held to."""
    return Held.of(load(), cases.header())


def by_history(found: DataFrame, read: Read) -> dict[str, set[str]]:
    """The name of each history that something was found in, to the rules that it breaks."""
    assert read.scenarios is not None
    named = found.join(read.scenarios.select("history_id", "scenario"), "history_id")
    told: dict[str, set[str]] = {}
    for row in named.select("scenario", "rule").distinct().collect():
        told.setdefault(row["scenario"], set()).add(row["rule"])
    return told


class Sample:
    """Histories that were written, read and checked."""

    def __init__(
        self,
        spark: SparkSession,
        path: Path,
        histories: list[cases.Case],
        first: Header | None = None,
        rules: frozenset[str] | None = None,
    ) -> None:
        first = first or cases.header()
        cases.write(path, histories, first)
        self.path = path
        self.cases = histories
        self.read = read_lines(spark, [str(path)])
        self.rules = RULES if rules is None else rules
        self.checked: Checked = check(self.read, Held.of(load(), first), self.rules)
        broken = any(each.violations for each in self.checked.rules.values())
        self.found = by_history(self.checked.violations, self.read) if broken else {}
