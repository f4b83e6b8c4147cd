"""Create a quiet Spark session: in a local Java, on a cluster, or over Spark Connect."""

import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from busproof.errors import SparkError, UsageError
from busproof.extras import need
from busproof.pipeline.java import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "settings_from",
    "spark_error_line",
    "spark_session",
    "spark_session_for_now",
]

_ALWAYS: Final = {
    "spark.app.name": "busproof",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of every session, unless the user overrides them."""

_LOCAL: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
    "spark.sql.shuffle.partitions": "16",
    "spark.ui.enabled": "false",
}
"""Further settings of a local session."""

_LEAST_MEMORY: Final = 1
_MOST_MEMORY: Final = 8
"""Bounds in GB for a local Spark, which takes half of the machine's memory."""

_LINES_TOLD: Final = 3

_PATIENCE: Final = 15.0
"""Seconds to wait for a server to answer, and for a cluster to provide an executor.

Spark itself waits for minutes, or without end.
"""
_LOOKS: Final = 0.2
_REMOTE_PORT: Final = 15_002


def spark_error_line(error: Exception) -> str | None:
    """Return an error of Spark or its libraries in one line; `None` for other errors.

    An unconverted Java error begins with lines about the Python call, so a line with an error class
    in brackets is preferred.
    """
    if not type(error).__module__.startswith(("pyspark.", "py4j.", "grpc")):
        return None
    if "No module named 'busproof" in str(error):
        return "the Python of an executor has no busproof; install this version of it there"
    if "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND" in str(error):
        return (
            "an executor was lost with rows that nobody else had; --conf spark.checkpoint.dir=DIR, "
            "a folder that all machines share, keeps them"
        )
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("An error occurred while calling")]
    named = (match[0] for line in lines if (match := re.search(r"\[[A-Z0-9_.]+\] .*", line)))
    return next(named, lines[0] if lines else type(error).__name__)


def settings_from(texts: list[str]) -> dict[str, str]:
    """Return Spark settings from texts such as `spark.a=1`.

    Raises:
        UsageError: a text is not of the form `spark.NAME=VALUE`.
    """
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith("spark."):
            raise UsageError(f"--conf is {text!r}, and must be spark.NAME=VALUE")
        settings[name] = value
    return settings


def spark_session(
    *, master: str | None = None, remote: str | None = None, conf: Mapping[str, str] | None = None
) -> "SparkSession":
    """Return a session with these settings, or the session that is already running.

    Args:
        master: where to run, such as `local[4]` or `spark://HOST:7077`; by default SPARK_MASTER,
            what `spark-submit` was given, or all cores of this machine.
        remote: address of a Spark Connect server, `sc://HOST:PORT`, instead of a master.
        conf: Spark settings, which override the defaults.

    Raises:
        SparkError: there is no Java for Spark, or Spark does not start.
        UsageError: both a master and a remote are given, or Spark is not installed.
    """
    if master is not None and remote is not None:
        raise UsageError("--master and --remote name two places to run; leave one of them out")
    need("spark", "Spark")
    remote = remote or os.environ.get("SPARK_REMOTE")
    settings = {**_ALWAYS, **(conf or {})}
    if remote:
        return _connect(remote, settings)
    submitted = _submitted_master()
    place = master or os.environ.get("SPARK_MASTER") or submitted or "local[*]"
    if _is_local(place) and submitted is None:
        settings = {"spark.driver.memory": f"{_memory()}g", **_LOCAL, **settings}
    return _start(place, settings)


def _submitted_master() -> str | None:
    """Return the master that `spark-submit` was given; `None` if it did not start this process."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    from pyspark import SparkConf, SparkContext  # optional dependency

    SparkContext._ensure_initialized()  # PySpark itself connects to its Java only with a session
    return SparkConf().get("spark.master")


@contextmanager
def spark_session_for_now(
    *, master: str | None = None, remote: str | None = None, conf: Mapping[str, str] | None = None
) -> Iterator["SparkSession"]:
    """Provide a session and stop it at the end; one already running is left as is."""
    need("spark", "Spark")
    from pyspark.sql import SparkSession  # optional dependency

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with _interruptible():
        session = spark_session(master=master, remote=remote, conf=conf)
        _raise_on_interrupt()
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Keep quiet about calls to Java that Ctrl-C breaks off, and restore what Spark replaces."""
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    logging.getLogger().addFilter(_is_not_of_py4j)
    try:
        yield
    finally:
        logging.getLogger().removeFilter(_is_not_of_py4j)
        if in_main:
            signal.signal(signal.SIGINT, handler)


def _raise_on_interrupt() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` and do nothing else.

    Spark's own handler first asks Java to cancel the jobs, over the connection that the interrupted
    call is using, which fails with several tracebacks. Stopping the session cancels them too.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


def _connect(remote: str, settings: Mapping[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession  # optional dependency

    builder = SparkSession.builder.remote(remote)
    if not remote.startswith("local"):
        _check_answers(remote, _REMOTE_PORT)
    else:
        _prepare()
        for name, value in settings.items():
            builder = builder.config(name, value)
    os.environ.pop("SPARK_MASTER", None)
    log = tempfile.TemporaryFile()  # noqa: SIM115 - Java writes to it until it exits
    try:
        with _redirect_stderr(log):
            session = builder.getOrCreate()
            for name, value in settings.items():
                if name.startswith("spark.sql."):
                    session.conf.set(name, value)
            session.range(1).count()
    except Exception as error:  # noqa: BLE001 - gRPC, Java and Spark raise all kinds of errors
        raise SparkError(f"cannot reach Spark at {remote}: {_why(error, log)}") from None
    return session


def _start(master: str, settings: Mapping[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession  # optional dependency

    if master.startswith("spark://"):
        _check_answers(master)
    _prepare()
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    log = tempfile.TemporaryFile()  # noqa: SIM115 - Java writes to it until it exits
    try:
        with _redirect_stderr(log):
            session = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001 - py4j, Java and Spark raise all kinds of errors
        raise SparkError(f"Spark does not start on {master}: {_why(error, log)}") from None
    if master.startswith("spark://"):
        _await_executor(session, master)
    return session


def _check_answers(address: str, usual_port: int | None = None) -> None:
    """Raise `SparkError` if no server of this address takes a connection."""
    whole = address.partition("://")[2].partition("/")[0].partition(";")[0]
    reasons = []
    for place in whole.split(","):  # a master may have others in reserve
        host, _, port = place.rpartition(":") if ":" in place else (place, "", usual_port)
        try:
            socket.create_connection((host.strip("[]"), int(port or 0)), _PATIENCE).close()
        except (OSError, ValueError, OverflowError) as error:
            reasons.append(getattr(error, "strerror", None) or str(error))
        else:
            return
    raise SparkError(f"cannot reach Spark at {address}: {'; '.join(reasons)}; is it running there?")


def _await_executor(session: "SparkSession", master: str) -> None:
    """Wait until the cluster has given an executor; stop the session if it gives none."""
    until = time.monotonic() + _PATIENCE
    context = session.sparkContext._jsc.sc()  # PySpark itself does not know its executors
    while context.getExecutorMemoryStatus().size() < 2:  # one is the driver's
        if time.monotonic() > until:
            session.stop()
            raise SparkError(
                f"{master} gave no executor within {_PATIENCE:.0f} s; start workers there, or ask "
                "for fewer cores and less memory with --conf spark.cores.max=N and "
                "--conf spark.executor.memory=SIZE"
            )
        time.sleep(_LOOKS)


def _prepare() -> None:
    """Point Spark to Java, to this Python, and to log settings that keep it quiet."""
    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = home
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent))


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _memory() -> int:
    """Return the GB of memory that a local Spark may take."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    except (AttributeError, OSError, ValueError):
        whole = 2 * _LEAST_MEMORY
    return max(_LEAST_MEMORY, min(whole // 2, _MOST_MEMORY))


@contextmanager
def _redirect_stderr(log: IO[bytes]) -> Iterator[None]:
    """Redirect stderr to a file; a Java started meanwhile writes there for its lifetime."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _why(error: Exception, log: IO[bytes]) -> str:
    """Return the first line of an error, and the last lines of Java's output."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))
    log_lines: list[str] = []
    with suppress(OSError, ValueError):
        log.seek(0)
        lines = log.read().decode("utf-8", "replace").splitlines()
        log_lines = [line.strip() for line in lines if line.strip()][-_LINES_TOLD:]
    return " | ".join([first, *log_lines])
