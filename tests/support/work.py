"""How much work something is, in units that are the same on every machine.

No test holds a limit in seconds that the product must beat: a slow or busy machine would fail it.
Which of these to use when:

- `count_calls` counts the functions that are called, of Python and built in: the same number in
  each run. It is for what is done in Python, and the first choice. It does not see how long one
  built-in call is, such as a sort, a regular expression or a parser in C.
- `measure_growth` says how many times as long something large takes as something small, measured
  by turns: for "in linear time" and "the same however many there are".
- `measure_passes` says how many passes of a calibration loop take as long as something does, and
  `process_passes` the same of another process. It sees everything, and is not exact: the limit is
  at least half more than what is usual, and `check` measures again before it fails.
- `watch_loop` measures each callback and each iteration of an event loop in passes: for "others
  have turns meanwhile". It counts the product's own slices of processor time in passes, too.

One pass takes one millisecond on the machine of the documents (docs/security.md).

What another thread or process does at some time is waited for with `until`, never slept for.
A limit on time that only ends a hanging test is `PATIENCE`.
"""

import asyncio
import cProfile
import functools
import gc
import os
import statistics
import struct
import sys
import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
import pytest

__all__ = [
    "PATIENCE",
    "TURN",
    "LoopWatch",
    "check",
    "count_calls",
    "do_pass",
    "in_passes",
    "measure_growth",
    "measure_pace",
    "measure_passes",
    "process_passes",
    "seconds_of_process",
    "until",
    "watch_loop",
]

TURN: Final = 50
"""Passes at most that one client's work takes before all others have a turn."""
PATIENCE: Final = 240.0
"""Seconds after which a test that hangs is ended, however slow and busy the machine is."""
TRIES: Final = 3
CHECKS: Final = 9
"""Measurements of which one has to be within a limit; most tests need the first alone."""
LITTLE: Final = 10
"""Passes that are far from any limit."""
THINGS: Final = 3_000
MILLISECOND: Final = 0.001


@attrs.define
class _Thing:
    number: int
    body: bytes
    seen: str | None = None

    def look(self, table: dict[int, str]) -> str | None:
        self.seen = table.get(self.number & 63)
        return self.seen


def do_pass() -> int:
    """Do one pass: objects, calls, dictionaries and bytes, as the broker has them."""
    table = {number: str(number) for number in range(64)}
    kept = []
    for number in range(THINGS):
        thing = _Thing(number, b"x" * (number & 31))
        if thing.look(table) is not None:
            kept.append(struct.pack(">BI", 1, number) + thing.body)
    return len(b"".join(kept))


def _seconds(act: Callable[[], object]) -> float:
    """The processor time of this thread, without looks for garbage that others left."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        before = time.thread_time()
        act()
        return time.thread_time() - before
    finally:
        if was_on:
            gc.enable()


def measure_pace() -> float:
    """Return the seconds of processor time that a pass takes now."""
    return min(_seconds(do_pass) for _ in range(3))


_first_pace: Final = functools.cache(measure_pace)


def in_passes(seconds: float) -> float:
    """Return how many passes take as long as what was measured just now.

    What is not little is compared with a usual pass of now, too: the machine may have become slower
    since the first, and what else runs on it slows each pass by another amount.
    """
    pace = _first_pace()
    if seconds < LITTLE * pace:
        return seconds / pace
    return seconds / max(pace, statistics.median(_seconds(do_pass) for _ in range(5)))


def measure_passes(act: Callable[[], object]) -> float:
    """Return how many passes take as long as this does."""
    return in_passes(_seconds(act))


def until(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so, and return whether it is; who waits for ever fails."""
    end = time.monotonic() + PATIENCE
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def check(most: float, measure: Callable[[], float]) -> None:
    """Fail if none of `CHECKS` measurements is at most this; the first that is, is enough.

    What the machine does besides makes a measurement larger, never smaller.
    """
    found: list[float] = []
    while not found or (found[-1] > most and len(found) < CHECKS):
        found.append(measure())
    assert found[-1] <= most, f"at most {most:,}, but {[round(each, 2) for each in found]}"


def measure_growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """Return how many times as long the large one takes: the best of each of three, by turns."""
    taken = [(_seconds(small), _seconds(large)) for _ in range(TRIES)]
    return min(each for _, each in taken) / max(min(each for each, _ in taken), 1e-6)


def count_calls(act: Callable[[], object]) -> int:
    """Return how many functions this thread calls, of Python and built in; resumptions count."""
    profile = cProfile.Profile(subcalls=False)
    profile.enable()
    try:
        act()
    finally:
        profile.disable()
    return sum(each.callcount for each in profile.getstats())


def seconds_of_process(process_id: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def process_passes(process_id: int, most: float) -> Iterator[None]:
    """Fail if another process does more than this many passes within the block.

    For what would otherwise go on without end: the limit is many times what is usual.
    """
    before = seconds_of_process(process_id)
    yield
    passes = in_passes(seconds_of_process(process_id) - before)
    assert passes <= most, f"at most {most:,} passes, but {passes:,.0f}"


@attrs.define
class LoopWatch:
    """The most that was done at a time, in passes, and by what."""

    callback: float = 0.0
    """By one callback."""
    iteration: float = 0.0
    """By all callbacks of an iteration: the longest that one who is not served yet waits."""
    name: str = ""
    """The dearest callback."""

    def forget(self) -> None:
        """Begin anew."""
        self.callback = self.iteration = 0.0
        self.name = ""


@contextmanager
def watch_loop() -> Iterator[LoopWatch]:
    """Watch the event loops of this thread; the product's turns are as long as in the documents."""
    from busproof.broker import due_timers
    from busproof.broker.amqp import turns

    watch = LoopWatch()
    run, run_once = asyncio.events.Handle._run, BaseEventLoop._run_once  # type: ignore[attr-defined]
    each: list[tuple[float, asyncio.Handle]] = []
    """The callbacks of this iteration."""

    def run_timed(handle: asyncio.Handle) -> None:
        before = time.thread_time()
        run(handle)
        each.append((time.thread_time() - before, handle))

    def run_once_timed(loop: BaseEventLoop) -> None:
        each.clear()
        run_once(loop)
        if each:
            seconds, dearest = max(each, key=lambda one: one[0])
            together = sum(one for one, _ in each)
            iteration = in_passes(together)
            callback = iteration * seconds / together if together else 0.0
            watch.iteration = max(watch.iteration, iteration)
            if callback > watch.callback:
                watch.callback, watch.name = callback, str(dearest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.events.Handle, "_run", run_timed)
        patch.setattr(BaseEventLoop, "_run_once", run_once_timed)
        for module, name in ((turns, "TURN"), (due_timers, "SLICE")):
            patch.setattr(module, name, getattr(module, name) / MILLISECOND * _first_pace())
        gc.collect()
        gc.disable()
        try:
            yield watch
        finally:
            gc.enable()


if __name__ == "__main__":
    sys.stdout.write(f"a pass takes {measure_pace() / MILLISECOND:.2f} ms here\n")
