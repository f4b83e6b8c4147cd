"""`busproof check --engine spark`: judge histories of any size on Spark, and write the results."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from busproof.cli.began import began_of
from busproof.cli.console import write_aside
from busproof.cli.frame import Options
from busproof.errors import HistoryError, SparkError, UsageError
from busproof.history.codec import unstructure
from busproof.history.conformance import Conformance
from busproof.history.records import Oracle, Record
from busproof.pipeline.checking import Checked, check
from busproof.pipeline.naming import AS_PUBLISHED, Naming, read_naming
from busproof.pipeline.reading import publish_columns
from busproof.pipeline.session import settings_from, spark_error_line, spark_session_for_now
from busproof.pipeline.sources import Source, find_source, write_header

__all__ = ["check_source", "convert_errors", "judge_history", "naming_of"]


def judge_history(args: Options) -> Conformance:
    """Judge a history on Spark, and return the verdicts.

    Raises:
        UsageError: the history does not exist, or an option does not fit it.
        HistoryError: the history cannot be read.
        SparkError: Spark cannot be started, or broke off.
    """
    source = find_source(str(args.history))
    for option, place in (("--as-table", args.as_table), ("--violations", args.violations)):
        if place is not None and place.exists():
            raise UsageError(
                f"{option} is {place}, which is there already; name a folder that is not"
            )
    conf = settings_from(args.conf or [])
    with spark_session_for_now(master=args.master, remote=args.remote, conf=conf) as spark:
        return check_source(spark, source, args).conformance


def check_source(spark: SparkSession, source: Source, args: Options) -> Checked:
    """Judge histories of one implementation, and write the requested files.

    Raises:
        UsageError: the histories have different terms, or terms that are unknown here.
        HistoryError: a history cannot be read, or a file cannot be written.
        SparkError: Spark broke off.
    """
    oracle = None if args.oracle is None else Oracle(args.oracle)
    with convert_errors():
        result = check(
            spark,
            source,
            naming_of(args, source),
            oracle,
            screen=args.screen,
            began=began_of(args),
        )
        _write(result, args)
    return result


@contextlib.contextmanager
def convert_errors() -> Iterator[None]:
    """Convert an error of Spark to a `SparkError` of one line."""
    try:
        yield
    except Exception as error:
        if (cause := spark_error_line(error)) is None:
            raise
        raise SparkError(f"Spark broke off: {cause}") from None


def naming_of(args: Options, source: Source) -> Naming:
    """Return the mapping of a table's columns; raise `UsageError` if the history is not a table."""
    if args.mapping is None:
        return AS_PUBLISHED
    if not source.is_table:
        raise UsageError("--mapping names the columns of a table, and the history is none")
    return read_naming(args.mapping)


def _write(result: Checked, args: Options) -> None:
    if args.violations is not None:
        place = args.violations
        _save(result.violations, place / "violations", args.violations_format)
        _save(result.unusable, place / "quarantine", args.violations_format)
        write_aside(f"Violations: {place}")
    if args.as_table is not None:
        _save(publish_columns(result.rows), args.as_table, "parquet")
        write_header(args.as_table, unstructure(result.header, union=Record))
        write_aside(f"Table: {args.as_table}")
    if args.plan:
        write_aside(_describe_plan(result.plan))


def _save(frame: DataFrame, place: Path, form: str) -> None:
    try:
        frame.write.mode("error").format(form).save(str(place.absolute()))
    except Exception as error:
        if (cause := spark_error_line(error)) is None:
            raise
        raise HistoryError(f"cannot write {place}: {cause}") from None


def _describe_plan(frame: DataFrame) -> str:
    """Return a sentence on how much data the plan shuffles."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        frame.explain("simple")
    plan = output.getvalue()
    exchanges = len(re.findall(r"\bExchange ", plan))
    sorts = len(re.findall(r"\bSort ", plan))
    return f"Plan: {exchanges} exchanges, {sorts} sorts"
