"""Processor time and memory of this process and its descendants. Linux only."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

__all__ = ["METER", "Meter", "cost", "most_memory"]

_STARTED: Final = 19
_OWN_TIMES: Final = slice(11, 13)
"""Fields of `/proc/PID/stat`, counted after the name: processor times without children."""

_BETWEEN_READINGS: Final = 0.5

T = TypeVar("T")


class Meter:
    """Processor time of this process and its descendants, including those that have ended.

    Spark's Python daemon does not wait for its children, so the kernel adds their time to no other
    process, and idle children end after a minute. So all processes are read regularly, and the last
    reading of each counts.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[tuple[int, str], int] = {}
        threading.Thread(target=self._keep_reading, daemon=True).start()

    def seconds(self) -> float:
        """Return the processor time so far, in seconds."""
        with self._lock:
            for number, fields in _mine().items():
                # A process id may be used again, but not with the same start time.
                self._read[number, fields[_STARTED]] = sum(map(int, fields[_OWN_TIMES]))
            return sum(self._read.values()) / os.sysconf("SC_CLK_TCK")

    def _keep_reading(self) -> None:
        while True:
            self.seconds()
            time.sleep(_BETWEEN_READINGS)


def _mine() -> dict[int, list[str]]:
    """Return the kernel's figures for this process and its descendants, by process id."""
    figures = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            figures[int(place.parent.name)] = place.read_text().rpartition(")")[2].split()
    parents = {number: int(fields[1]) for number, fields in figures.items()}
    return {
        number: fields
        for number, fields in figures.items()
        if os.getpid() in (number, *_above(number, parents))
    }


METER: Final = Meter()


def most_memory() -> float:
    """Return the maximum memory of any Python process of an executor so far, in MB."""
    most = 0
    for number in _mine():
        with suppress(OSError):
            command = Path(f"/proc/{number}/cmdline").read_bytes()
            status = Path(f"/proc/{number}/status").read_text()
            if b"pyspark.daemon" in command:
                most = max(most, int(status.partition("VmHWM:")[2].split()[0]))
    return most / 1024


def _above(number: int, parents: dict[int, int]) -> Iterator[int]:
    while (number := parents.get(number, 0)) > 1:
        yield number


def cost(act: Callable[[], T]) -> tuple[float, T]:
    """Return the processor time of an action in seconds, and its result."""
    before = METER.seconds()
    result = act()
    return METER.seconds() - before, result
