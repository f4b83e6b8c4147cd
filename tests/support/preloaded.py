"""Commands forked from a process that has imported what they need.

`python -m busproof` and the features of a run take most of a second of processor time for imports
alone, and tests start them by the hundred. `popen` starts such a command in a tenth of it: a real
process with its own arguments, environment, folder, streams, signals and exit code, whose memory is
a copy of the preloaded one. A command that needs another search path, hash seed or program is
started as usual, and so is every command where the system has no `pidfd_open`.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final, NoReturn

__all__ = ["Forked", "popen", "run", "run_new"]

IMPORTED: Final = (
    *("pytest", "yaml", "gherkin.parser", "unittest", "pdb"),
    *("pytest_bdd.cucumber_json", "pytest_bdd.generation", "pytest_bdd.gherkin_terminal_reporter"),
    *("busproof.cli.main", "busproof.cli.serve", "busproof.cli.run"),
    *("busproof.cli.running.session", "busproof.exploration.explorer"),
    *("busproof.adapters.finding", "busproof.adapters.model", "busproof.history.files"),
    *("busproof.judging.driver", "busproof.judging.verdicts", "busproof.reports.terminal"),
    *("busproof.broker.server", "busproof.broker.storage.startup", "busproof.broker.bus"),
    *("busproof.broker.admin.endpoint", "busproof.broker.configuration.emulator"),
)
"""Modules without plugins of pytest and steps, which pytest has to import, to rewrite asserts."""

FEATURES: Final = ("keys.feature", "situations.feature")
"""Features that pytest-bdd has read: those of KEY-08, the rule of most runs of the tests."""

READ_AT_START: Final = ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONOPTIMIZE")
"""Variables that an interpreter reads only when it starts."""

ENVIRONMENT: Final = dict(os.environ)
"""Environment of the preloaded process: none of a test, which may start it."""

LARGEST: Final = 1 << 20


class Forked:
    """Process that was forked, with what tests use of `subprocess.Popen`.

    Args:
        pid: its id.
        status: descriptor that gives its exit code once it has ended.
        streams: its output and its errors, as far as they are pipes.
    """

    def __init__(self, pid: int, status: int, streams: Sequence[IO[Any] | None]) -> None:
        self.pid = pid
        self.stdout, self.stderr = streams
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """Return the exit code, or `None` while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return its exit code; negative after a signal."""
        if self.returncode is None:
            ready, _, _ = select.select([self._status], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = int(os.read(self._status, 99))
            os.close(self._status)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """Read the pipes to their ends, wait, and return output and errors."""
        deadline = None if timeout is None else time.monotonic() + timeout
        texts: dict[str, Any] = {"stdout": None, "stderr": None}
        pipes = {name: pipe for name in texts if (pipe := getattr(self, name)) is not None}

        def read(name: str) -> None:
            texts[name] = pipes[name].read()

        # Both at once, because the process waits where one is full.
        threads = [Thread(target=read, args=(name,), daemon=True) for name in pipes]
        for thread in threads:
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join(None if deadline is None else max(0, deadline - time.monotonic()))
            if thread.is_alive():
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return texts["stdout"], texts["stderr"]

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def popen(command: Sequence[str], **options: Any) -> "Forked | subprocess.Popen[Any]":
    """Start `python -m MODULE ARGUMENTS…` as `subprocess.Popen` does, by a fork if possible."""
    module = _module(command)
    environment = options.get("env") or os.environ
    if module is None or not _as_here(environment) or not hasattr(os, "pidfd_open"):
        return subprocess.Popen(command, **options)
    streams: list[IO[Any] | None] = []
    theirs = [os.open(os.devnull, os.O_RDONLY)]
    for name in ("stdout", "stderr"):
        asked = options.get(name)
        if asked == subprocess.PIPE:
            reading, writing = os.pipe()
            theirs.append(writing)
            streams.append(_opened(reading, text=options.get("text", False)))
        else:
            theirs.append(os.dup(theirs[1]) if asked == subprocess.STDOUT else _given(asked))
            streams.append(None)
    status, ended = os.pipe()
    theirs.append(ended)
    request = {
        "module": module[0],
        "arguments": module[1],
        "safe": "-P" in command,
        "environment": dict(environment),
        "folder": str(options.get("cwd") or os.getcwd()),  # noqa: PTH109 - as a text
        "group": options.get("process_group") == 0,
    }
    try:
        pid = _parent().start(request, theirs)
    finally:
        for each in theirs:
            os.close(each)
    return Forked(pid, status, streams)


def run(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run such a command to its end, as `run_new` does, by a fork if possible."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = popen(command, **pipes, **options)
    out, err = process.communicate()
    return subprocess.CompletedProcess(list(command), process.wait(), out, err)


def run_new(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run any command to its end in a process that begins with nothing."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def _module(command: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the module that a command runs, and its arguments."""
    program, *rest = map(str, command)
    rest = rest[1:] if rest[:1] == ["-P"] else rest
    if program != sys.executable or rest[:1] != ["-m"]:
        return None
    return rest[1], rest[2:]


def _as_here(environment: Any) -> bool:
    return all(environment.get(name) == ENVIRONMENT.get(name) for name in READ_AT_START)


def _given(asked: Any) -> int:
    if asked is None:
        raise ValueError("a stream must be given: the preloaded process has others than the test")
    if asked == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_WRONLY)
    return os.dup(asked if isinstance(asked, int) else asked.fileno())


def _opened(descriptor: int, *, text: bool) -> IO[Any]:
    return open(descriptor) if text else open(descriptor, "rb", buffering=0)


class _Parent:
    """The preloaded process, as seen from the tests."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                cwd="/",
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(self, request: dict[str, Any], descriptors: list[int]) -> int:
        """Fork, and return the process id."""
        socket.send_fds(self._connection, [json.dumps(request).encode()], descriptors)
        return int(self._connection.recv(99))

    def end(self) -> None:
        """End it; what it has forked goes on."""
        self._connection.close()
        self._process.wait()


@functools.cache
def _parent() -> _Parent:
    parent = _Parent()
    atexit.register(parent.end)
    return parent


def _serve(connection: socket.socket) -> dict[str, Any]:
    """Fork for each request; return the request in the child."""
    children: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([connection, *children], [], [])
        for each in set(ready) & children.keys():
            pid, status = children.pop(each)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os.write(status, str(code).encode())
            os.close(status)
            os.close(each)
        if connection not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(connection, LARGEST, 4)
        if not message:
            os._exit(0)
        *streams, status = descriptors
        if (pid := os.fork()) == 0:
            connection.close()
            for each, (_, other) in children.items():
                os.close(each)
                os.close(other)
            os.close(status)
            for target, stream in enumerate(streams):
                os.dup2(stream, target)
                os.close(stream)
            request: dict[str, Any] = json.loads(message)
            return request
        for stream in streams:
            os.close(stream)
        children[os.pidfd_open(pid)] = pid, status
        connection.send(str(pid).encode())


def _run(request: dict[str, Any]) -> NoReturn:
    """Become the command."""
    if request["group"]:
        os.setpgid(0, 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    if request["module"] == "pytest":
        # What was imported before is not rewritten: a preloaded process alone is warned of that.
        hook: Any = importlib.import_module("_pytest.assertion.rewrite").AssertionRewritingHook
        hook._warn_already_imported = lambda *_: None
    if not request["safe"]:
        sys.path.insert(0, request["folder"])  # as -m does, where -P does not forbid it
    sys.argv = [request["module"], *request["arguments"]]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    sys.exit(0)


def _main() -> NoReturn:
    for name in IMPORTED:
        with suppress(ImportError):  # of an extra that is not here
            importlib.import_module(name)
    importlib.import_module("busproof.spec").load()
    features = Path(importlib.import_module("busproof").__file__ or "").parent / "features"
    for name in FEATURES:
        importlib.import_module("pytest_bdd.feature").get_feature(str(features), name)
    gc.collect()
    gc.freeze()
    _run(_serve(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    _main()
