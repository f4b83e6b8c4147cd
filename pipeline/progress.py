"""Progress of a long Spark job, for the reader of a notebook or a log."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["progress", "to_stderr"]

_EVERY: Final = 10.0
"""Seconds between two sentences."""


def to_stderr(sentence: str) -> None:
    """Write a sentence to the standard error, which a notebook shows below the cell."""
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201 - this is the terminal


@contextmanager
def progress(
    spark: "SparkSession", say: Callable[[str], None] | None, every: float = _EVERY
) -> Iterator[None]:
    """Report now and then how long the jobs within take, and how many of their tasks are done.

    Args:
        spark: the session; over Spark Connect, tasks are not counted.
        say: receives each sentence; `None` for silence.
        every: seconds between two sentences.
    """
    if say is None:
        yield
        return
    over, start = threading.Event(), time.monotonic()

    def report() -> None:
        while not over.wait(every):
            say(f"Judging: {time.monotonic() - start:.0f} s{_tasks(spark)}")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()


def _tasks(spark: "SparkSession") -> str:
    """Return how many tasks of the stages that run now are done; nothing where that is unknown."""
    try:
        tracker: Any = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except Exception:  # noqa: BLE001 - Spark Connect and a stopped session raise errors of many kinds
        return ""
    known = [stage for stage in stages if stage is not None]
    done, planned = (
        sum(stage.numCompletedTasks for stage in known),
        sum(stage.numTasks for stage in known),
    )
    return f", {done} of {planned} tasks" if known else ""
