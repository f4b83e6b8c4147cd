"""Progress of a long Spark job, for the readers of a notebook or a log."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["progress", "write_to_stderr"]

_EVERY: Final = 10.0
"""Time between two sentences, in seconds."""


def write_to_stderr(sentence: str) -> None:
    """Write a sentence to standard error, which a notebook shows below the cell."""
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201 - this is the terminal


@contextmanager
def progress(
    spark: "SparkSession", say: Callable[[str], None] | None, every: float = _EVERY
) -> Iterator[None]:
    """Report how long the jobs in the block have taken, and how many of their tasks are done.

    Args:
        spark: the session; tasks cannot be counted over Spark Connect.
        say: called with each sentence; `None` for silence.
        every: time between two sentences, in seconds.
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
    """Return how many tasks of the running stages are done; empty if that is unknown."""
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
