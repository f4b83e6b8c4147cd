"""A broker that may open few files: it refuses connections, and goes on."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from proton import Message
from work import PATIENCE, process_passes, until

from . import raw
from .conftest import FREE, Served, running, written

pytestmark = pytest.mark.slow

FEW = 128
LOOP = 1_000
"""Passes that a broker does not need here, and burns if it loops for ever."""


@contextmanager
def started(soft: int, hard: int, folder: Path) -> Iterator[Served]:
    """A broker that begins with these limits of open files."""
    limited = (
        "import os, resource, sys; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard})); "
        "os.execv(sys.executable, [sys.executable, '-m', 'busproof', 'serve', *sys.argv[1:]])"
    )
    config = written(folder, Queues=[{"Name": "q"}])
    options = (*FREE, "--config", config, "--store", str(folder / "store"))
    process = subprocess.Popen(
        [sys.executable, "-c", limited, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield running(process)
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_many_idle_connections_leave_files_for_everything_else(tmp_path: Path) -> None:
    """Health is answered, a message is stored; afterwards new clients are taken again."""
    with started(FEW, FEW, tmp_path) as served:
        assert "only 88 connections are possible" in served.said
        with process_passes(served.process.pid, LOOP):
            with ExitStack() as crowd, raw.logged_in(served.port) as connection:
                sender = connection.create_sender("q")
                for _ in range(200):
                    with suppress(OSError):
                        address = ("127.0.0.1", served.port)
                        crowd.enter_context(socket.create_connection(address, timeout=PATIENCE))
                for _ in range(5):
                    assert served.is_healthy
                    sender.send(Message(b"stored", inferred=True))
            with raw.logged_in(served.port) as connection:
                connection.create_sender("q").send(Message(b"again", inferred=True))
        served.process.terminate()
        _, said = served.process.communicate(timeout=PATIENCE)
        assert 1 <= said.count("connections are refused") <= 5, said
        assert len(said.splitlines()) < 20, said


def test_idle_http_connections_leave_files_too(tmp_path: Path) -> None:
    with started(FEW, FEW, tmp_path) as served, process_passes(served.process.pid, LOOP):
        port = urlsplit(served.admin).port
        with ExitStack() as crowd, raw.logged_in(served.port) as connection:
            sender = connection.create_sender("q")
            for _ in range(200):
                with suppress(OSError):
                    address = ("127.0.0.1", port)
                    crowd.enter_context(socket.create_connection(address, timeout=PATIENCE))
            for _ in range(5):
                sender.send(Message(b"stored", inferred=True))

        def is_answered() -> bool:
            # The broker may not have noticed yet that they are gone.
            with suppress(OSError):
                return served.is_healthy
            return False

        assert until(is_answered)


@pytest.mark.needs("many-files")
def test_limit_of_open_files_is_raised_as_far_as_it_is_needed(tmp_path: Path) -> None:
    """From the soft limit that many systems set to what 6,000 connections need."""
    with started(256, 7_000, tmp_path) as served:
        limits = Path(f"/proc/{served.process.pid}/limits").read_text()
        soft = limits.partition("Max open files")[2].split()[0]
        assert int(soft) == 6_040
        assert "connections are possible" not in served.said
