"""`busproof check` on a standalone cluster, over Spark Connect and by spark-submit."""

import contextlib
import io
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs
import pyspark
import pytest
import recorded_cases as cases
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from spark_samples import SMALL

from busproof.cli.main import main
from busproof.history.conformance import Conformance
from busproof.pipeline.java import java_home
from busproof.reports import conformance as reports

pytestmark = [
    pytest.mark.slow,
    pytest.mark.full_size("servers with a Java each: run by the nightly part spark"),
]

HOME: Final = Path(pyspark.__file__).parent
PATIENCE: Final = 900
CONNECT: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"
MASTER: Final = "org.apache.spark.deploy.master.Master"
WORKER: Final = "org.apache.spark.deploy.worker.Worker"
COMMAND: Final = "import sys; from busproof.cli.main import main; sys.exit(main(sys.argv[1:]))"

PATIENT: Final = """
import sys
from busproof.cli.main import main
from busproof.pipeline import session
session._PATIENCE = 300.0
"""
"""The command's start; the executors of a busy machine may take long to come."""

KILLED_LATE: Final = (
    PATIENT
    + """
import time
from pathlib import Path
from busproof.pipeline import checking
kept, calls = checking.kept, []

def waiting(frame):
    found = kept(frame)
    calls.append(frame)
    if len(calls) == 2:  # the lines, and then what the judges said
        Path("judged").touch()
        while not Path("killed").exists():
            time.sleep(0.1)
    return found

checking.kept = waiting
sys.exit(main(sys.argv[1:]))
"""
)
"""The command, which waits after the judging until a worker was killed."""

ASKED: Final = """
import sys
from busproof.errors import SparkError
from busproof.pipeline import session
try:
    session.spark_session(master=sys.argv[1])
except SparkError as error:
    print(error)
"""


def environment() -> dict[str, str]:
    """Return what servers need to find Java, this Python and busproof."""
    java = java_home()
    found = {**os.environ, "SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    # A session in this process points to quiet logs, in which a server's state would be missing.
    found.pop("SPARK_CONF_DIR", None)
    found |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "1g"}
    return found if java is None else {**found, "JAVA_HOME": java}


@attrs.frozen
class Server:
    """A process of a server, and where it writes its log."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """Kill it with its descendants."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def await_line(self, text: str) -> None:
        """Wait until the log has this text."""
        self._await(lambda: text in self.log.read_text())

    def await_port(self, port: int) -> None:
        """Wait until it takes connections."""
        self._await(lambda: is_open(port))

    def _await(self, happened: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not happened():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.2)


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """Servers of a test, which are killed after it."""
    running: list[Server] = []
    yield running
    for server in running:
        server.kill()


def start(servers: list[Server], folder: Path, *words: str) -> Server:
    log = folder / f"server{len(servers)}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(HOME / "bin" / words[0]), *words[1:]],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(),
            cwd=folder,
            start_new_session=True,
        )
    servers.append(Server(process, log))
    return servers[-1]


def is_open(port: int) -> bool:
    with socket.socket() as it:
        return it.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port: int = it.getsockname()[1]
        return port


def master_of(servers: list[Server], folder: Path, workers: int) -> str:
    """Start a cluster and return its address."""
    port = free_port()
    words = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    start(servers, folder, "spark-class", MASTER, *words).await_line("New state: ALIVE")
    address = f"spark://127.0.0.1:{port}"
    for number in range(workers):
        words = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{number}")]
        words += ["--host", "127.0.0.1", "--webui-port", "0", address]
        worker = start(servers, folder, "spark-class", WORKER, *words)
        worker.await_line("Successfully registered with master")
    return address


def settings(**more: str) -> list[str]:
    small = {name: value for name, value in SMALL.items() if name != "spark.driver.memory"}
    return [word for pair in {**small, **more}.items() for word in ("--conf", "=".join(pair))]


def ran(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A history file, in which a scenario breaks LIFE-01."""
    histories = [*cases.clean("round-robin", (1,)), *cases.corrupted("never sent", 4, 1)]
    cases.write(tmp_path / "h.jsonl", histories, cases.header())
    return tmp_path / "h.jsonl"


@pytest.fixture
def local(file: Path) -> Conformance:
    """The verdicts of the local engine."""
    with contextlib.redirect_stdout(io.StringIO()):
        assert 1 == main(["check", str(file), "--report", str(file.parent / "local")])
    return reports.read(file.parent / "local")


def test_master_without_workers_gets_a_sentence(servers: list[Server], tmp_path: Path) -> None:
    ended = ran([sys.executable, "-c", ASKED, master_of(servers, tmp_path, 0)], tmp_path)
    assert "gave no executor within 15 s; start workers there" in ended.stdout, ended.stderr


@pytest.mark.parametrize("is_shared", [True, False], ids=["checkpoint", "without"])
def test_worker_that_is_killed_late(is_shared, servers, file, local) -> None:
    """With a shared checkpoint folder the verdicts are the same; without one, it is a sentence."""
    folder = file.parent
    address = master_of(servers, folder, 2)
    both = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.cores.max": "2",
    }
    shared = {"spark.checkpoint.dir": str(folder / "shared")} if is_shared else {}
    words = ["check", "h.jsonl", "--engine", "spark", "--master", address, "--report", "told"]
    words += ["--violations", "found", *settings(**both, **shared)]
    job = subprocess.Popen(
        [sys.executable, "-c", KILLED_LATE, *words],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + PATIENCE
        while not (folder / "judged").exists():
            assert job.poll() is None, job.communicate()[1]
            assert time.monotonic() < until
            time.sleep(0.2)
        servers[-1].kill()
        (folder / "killed").touch()
        _, said = job.communicate(timeout=PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    if is_shared:
        assert 1 == job.returncode, said
        assert local == reports.read(folder / "told")
        assert [*(folder / "found" / "violations").glob("*.parquet")]
    elif job.returncode != 1:  # what was lost may have been nothing
        assert "Spark broke off: " in said
        assert "Traceback" not in said
        assert "spark.checkpoint.dir" in said


def test_spark_connect_has_all_options(servers, file, local, spark) -> None:
    """Verdicts, violations, a table of other names, and a folder that is followed."""
    folder, port = file.parent, free_port()
    words = ["--class", CONNECT, "--master", "local[1]"]
    words += ["--conf", f"spark.connect.grpc.binding.port={port}", *settings()]
    start(servers, folder, "spark-submit", *words).await_port(port)
    check = [sys.executable, "-m", "busproof", "check", "--engine", "spark"]
    check += ["--remote", f"sc://127.0.0.1:{port}"]
    ended = ran([*check, "h.jsonl", "--violations", "found", "--report", "told"], folder)
    assert 1 == ended.returncode, ended.stderr
    assert local == reports.read(folder / "told")
    assert [*(folder / "found" / "violations").glob("*.parquet")]
    reads_other_names(check, file, local, spark)
    follows_a_folder(check, file, local)


def test_cluster_has_all_options(servers, file, local, spark) -> None:
    """A table of other names, and a folder that is followed, on two workers."""
    small = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.cores.max": "2",
    }
    address = master_of(servers, file.parent, 2)
    check = [sys.executable, "-c", f"{PATIENT}sys.exit(main(sys.argv[1:]))"]
    check += ["check", "--engine", "spark", "--master", address, *settings(**small)]
    reads_other_names(check, file, local, spark)
    follows_a_folder(check, file, local)


def reads_other_names(
    check: list[str], file: Path, local: Conformance, spark: SparkSession
) -> None:
    """Check the history as a table with other names for its columns."""
    folder = file.parent
    with contextlib.redirect_stdout(io.StringIO()):
        main(["check", str(file), "--engine", "spark", "--as-table", str(folder / "table")])
    rows = spark.read.parquet(str(folder / "table")).where("record = 'event'")
    fields = ("called", "returned", "client", "connection", "witness")
    taken = {name: sf.get_json_object("text", f"$.{name}") for name in fields}
    times = [taken[name].cast("long").alias(name) for name in ("called", "returned")]
    texts = [taken[name].alias(name) for name in ("client", "connection")]
    rows.select(
        sf.col("history_id").alias("run"),
        "seq",
        *times,
        *texts,
        sf.get_json_object("text", "$.witness.partition").cast("long").alias("home"),
        sf.get_json_object("text", "$.command").alias("asked"),
        sf.get_json_object("text", "$.outcome").alias("answer"),
    ).write.parquet(str(folder / "mine"))
    (folder / "mine" / "_header.json").write_bytes((folder / "table" / "_header.json").read_bytes())
    (folder / "names.toml").write_text(
        '[columns]\nhistory_id = "run"\ncommand = "asked"\noutcome = "answer"\n'
        '"witness.partition" = "home"\n'
    )
    mapped = ["mine", "--mapping", "names.toml", "--report", "mapped"]
    ended = ran([*check, *mapped], folder)
    assert 1 == ended.returncode, ended.stderr
    found = reports.read(folder / "mapped")
    broken = [rule.id for rule in found.rules if rule.counterexample is not None]
    assert [rule.id for rule in local.rules if rule.counterexample is not None] == broken
    assert local.events == found.events


def follows_a_folder(check: list[str], file: Path, local: Conformance) -> None:
    """Move the history into a folder and follow that."""
    folder = file.parent
    (folder / "coming").mkdir()
    os.utime(file, (time.time() - 60,) * 2)
    file.rename(folder / "coming" / "h.jsonl")
    ended = ran([*check, "--follow", "coming", "--once", "--report", "followed"], folder)
    assert 1 == ended.returncode, ended.stderr
    assert local.rules == reports.read(folder / "followed").rules


def test_spark_submit_runs_the_command(file: Path, local: Conformance) -> None:
    """On the master that it was given."""
    folder = file.parent
    (folder / "command.py").write_text(COMMAND)
    words = [str(HOME / "bin" / "spark-submit"), "--master", "local[1]", *settings(), "command.py"]
    words += ["check", "h.jsonl", "--engine", "spark", "--violations", "found", "--report", "told"]
    ended = ran(words, folder)
    assert 1 == ended.returncode, ended.stderr
    assert local == reports.read(folder / "told")
    assert [*(folder / "found" / "violations").glob("*.parquet")]
