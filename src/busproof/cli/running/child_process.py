"""A child process: its output is logged, and Ctrl-C stops it in an orderly way."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["VOICE", "Watched", "terminable"]

VOICE: Final = "busproof: "
"""Prefix of lines for the user; indented lines after such a line belong to it."""

POLL: Final = 0.05
PATIENCE: Final = 5.0
"""Time for a child to stop its adapter and close its history after each signal, in seconds."""

_CHUNK: Final = 65536
_LONGEST_LINE: Final = 1 << 20
_BROKEN: Final = "INTERNALERROR> "
_OWN_GROUP: Final = 0 if os.name == "posix" else None
"""A process group for the child, so that Ctrl-C reaches only the parent, which stops the child."""


class Watched:
    """A child process and its output.

    Args:
        command: the program and its arguments.
        environment: the whole environment of the process.
        log: a file for its output, as far as there is room on the disk.
    """

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            env=environment,
            process_group=_OWN_GROUP,
        )
        self._listener = _Listener(self._child, log)

    def wait(self, each_time: Callable[[], None]) -> bool:
        """Wait for the end, calling `each_time` often; return whether the user interrupted."""
        interrupted = False
        with terminable():
            try:
                self._listener.start()
                self._until_end(each_time)
            except KeyboardInterrupt:
                interrupted = True
                _stop(self._child)
        # Processes that the child leaves behind may keep its output open for ever.
        self._listener.join(PATIENCE)
        return interrupted

    def _until_end(self, each_time: Callable[[], None]) -> None:
        ended = False
        while not ended:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(POLL)
                ended = True
            each_time()

    @property
    def code(self) -> int:
        """Exit code of the child; negative after a signal."""
        return self._child.wait()

    @property
    def messages(self) -> tuple[str, ...]:
        """Messages of the child for the user."""
        return tuple(self._listener.messages)

    @property
    def broke(self) -> str:
        """The reason why the child stopped, as far as it is known."""
        if self._listener.broke:
            return self._listener.broke
        if self.code >= 0:
            return f"exit code {self.code} after {self._listener.last!r}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-self.code).name}"
        return f"killed by signal {-self.code}"


class _Listener(threading.Thread):
    """A thread that writes the child's output to its log, and keeps messages for the user.

    It reads from a pipe, because with a file a full disk would swallow the message about it.
    """

    def __init__(self, child: "subprocess.Popen[bytes]", log: Path) -> None:
        super().__init__(daemon=True)
        if child.stdout is None:
            raise AssertionError("the output is a pipe")
        self._stream = child.stdout
        self._log: Path | None = log
        self._speaking = False
        self.messages: list[str] = []
        self.broke = ""
        self.last = ""

    def run(self) -> None:
        """Read until the pipe is closed."""
        rest = b""
        while chunk := os.read(self._stream.fileno(), _CHUNK):
            self._keep(chunk)
            *lines, rest = (rest[:_LONGEST_LINE] + chunk).split(b"\n")
            for line in lines:
                self._hear(line.decode("utf-8", "replace").rstrip("\r"))
        self._hear(rest.decode("utf-8", "replace"))

    def _keep(self, chunk: bytes) -> None:
        if self._log is None:
            return
        try:
            with self._log.open("ab", buffering=0) as file:
                file.write(chunk)
        except OSError:
            self._log = None

    def _hear(self, line: str) -> None:
        if line.startswith(VOICE):
            self.messages.append(line.removeprefix(VOICE))
            self._speaking = True
        elif self._speaking and line.startswith("  "):
            self.messages[-1] += f"\n{line.removeprefix('  ')}"
        else:
            self._speaking = False
        if line.strip():
            self.last = line.strip()
        if line.startswith(_BROKEN) and line.removeprefix(_BROKEN).strip():
            self.broke = line.removeprefix(_BROKEN).strip()


@contextmanager
def terminable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C inside the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """Ask the child to end, twice, then kill it; another Ctrl-C shortens the wait."""
    for ask in (_interrupt, _interrupt, _kill):
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            ask(child)
            child.wait(PATIENCE)
            return


def _interrupt(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        child.send_signal(signal.SIGINT)


def _kill(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        if _OWN_GROUP is None:
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
