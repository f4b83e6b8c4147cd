"""A child process: lines in and out with deadlines, its log, and its end.

The child runs in a separate session and is killed with its whole process group. Its streams are
polled, so that nothing that it does or fails to do can block busproof.
"""

import os
import re
import select
import signal
import subprocess
import tempfile
import time
import weakref
from contextlib import suppress
from typing import Final

import attrs

from busproof.history.lines import LIMIT, excerpt

__all__ = ["FAREWELL", "Broken", "Child", "Deadline"]

FAREWELL: Final = 2.0
"""Maximum time for a child process to end, in seconds."""

_CHUNK: Final = 65536
_TAIL_LINES: Final = 20
_TAIL_WIDTH: Final = 200
_CONTROL: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Broken(Exception):
    """The child process misbehaves; the sentence continues after its name."""


@attrs.frozen
class Deadline:
    """The moment `seconds` after the creation of this object."""

    seconds: float
    _made: float = attrs.field(factory=time.monotonic, init=False)

    def left(self) -> float:
        """Return the seconds until the deadline; 0 if it has passed."""
        return max(0.0, self._made + self.seconds - time.monotonic())

    def __str__(self) -> str:
        return f"{self.seconds:g} s"


class Child:
    """A child process with deadlines for its lines, and a log of its standard error."""

    def __init__(self, arguments: list[str]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the child lives
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._log.close()
            raise Broken(_not_started(arguments[0], error)) from None
        self._kill = weakref.finalize(self, _kill, self._process)
        self._pending = bytearray()
        self._has_answered = False
        self._in, self._out = _descriptors(self._process)

    def check_silence(self, name: str) -> None:
        """Raise `Broken` if the child wrote anything without a request, or has ended.

        What it writes before its first answer is taken for that answer, however early it comes: so
        the same program gets the same sentence on a slow machine.

        Args:
            name: the request that comes next; a child that has ended before its first one never
                answered it.
        """
        if not self._pending and _ready(self._out, select.POLLIN, Deadline(0)):
            when = "between two requests" if self._has_answered else f"before it answered {name}"
            self._pending += self._chunk(when)
        if self._pending and self._has_answered:
            raise Broken(
                f"wrote a line that nobody asked for, {excerpt(bytes(self._pending))}: it must "
                "write one line for each request, and its log to standard error"
            )

    def send(self, line: bytes, name: str, deadline: Deadline) -> None:
        """Write a request; raise `Broken` if the child does not read it by the deadline."""
        rest = memoryview(line)
        while rest:
            if not _ready(self._in, select.POLLOUT, deadline):
                raise Broken(f"did not read {name} within {deadline}: it must read its input")
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                ending = self._ending()
                missed = "read" if self._process.poll() is None else "answered"
                raise Broken(f"{ending} before it {missed} {name}") from None

    def receive(self, name: str, deadline: Deadline) -> bytes:
        """Return the next line without its end; raise `Broken` if it is late."""
        searched = 0
        while (end := self._pending.find(b"\n", searched)) < 0 and len(self._pending) <= LIMIT:
            searched = len(self._pending)
            if not _ready(self._out, select.POLLIN, deadline):
                raise Broken(f"did not answer {name} within {deadline}: {self._hint()}")
            self._pending += self._chunk(f"before it answered {name}")
        if end < 0 or end > LIMIT:
            raise Broken(f"answered {name} with a line of more than {LIMIT} bytes")
        self._has_answered = True
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line

    def await_end(self, deadline: Deadline) -> None:
        """Raise `Broken` if the process still runs at the deadline."""
        try:
            self._process.wait(deadline.left())
        except subprocess.TimeoutExpired:
            raise Broken("answered bye and went on running: it must end by itself") from None

    def end(self) -> str:
        """Kill the process if it still runs, free its resources, and return the end of its log."""
        self._kill()
        with self._log:
            return _tail(self._log.fileno())

    def _chunk(self, when: str) -> bytes:
        chunk = os.read(self._out, _CHUNK)
        if not chunk:
            cut = " in the middle of a line" if self._pending else ""
            raise Broken(f"{self._ending()}{cut} {when}")
        return chunk

    def _hint(self) -> str:
        if self._process.poll() is not None:
            return f"it {self._ending()}, and a process that it left behind holds its output"
        if self._pending:
            return f"its line has no end, {excerpt(bytes(self._pending))}"
        return "it must flush each answer; --timeout gives it longer"

    def _ending(self) -> str:
        try:
            code = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return "closed its standard input or output"
        if code >= 0:
            return f"ended with exit code {code}"
        with suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
        return f"was killed by signal {-code}"


def _not_started(program: str, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"cannot be started: {program} was not found, or what its first line names"
    if isinstance(error, PermissionError):
        return f"cannot be started: {program} must be a file that may be executed (chmod +x)"
    return f"cannot be started: {(isinstance(error, OSError) and error.strerror) or error}"


def _descriptors(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both streams are pipes")
    os.set_blocking(process.stdin.fileno(), False)
    return process.stdin.fileno(), process.stdout.fileno()


def _ready(descriptor: int, wanted: int, deadline: Deadline) -> bool:
    poll = select.poll()
    poll.register(descriptor, wanted)
    return bool(poll.poll(deadline.left() * 1000))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(FAREWELL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _tail(log: int) -> str:
    size = os.fstat(log).st_size
    text = os.pread(log, _CHUNK, max(0, size - _CHUNK)).decode("utf-8", "replace")
    lines = [_CONTROL.sub("", line)[:_TAIL_WIDTH] for line in text.splitlines()[-_TAIL_LINES:]]
    return "\n".join(f"  {line}" for line in lines)
