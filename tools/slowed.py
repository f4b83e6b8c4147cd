"""Run a command as on a slow or a busy machine: `slowed.py [--share 0.4] [--load 8] COMMAND…`.

With `--share`, the command and all that it starts have this part of each core: by the quota of a
control group where one can be made, otherwise beside busy loops of equal priority. With `--load`,
so many busy loops run beside it. The exit code is the command's.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

GROUPS: Final = Path("/sys/fs/cgroup")
PERIOD: Final = 100_000
"""Microseconds within which a quota holds."""
MORE_PROCESSES: Final = 4
"""How many processes `make test` has more than there are cores."""
LOOP: Final = "while True: pass"
TRIES: Final = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description="Run a command as on a slow or a busy machine.")
    parser.add_argument("--share", type=float, help="the part of each core that it has, as in 0.4")
    parser.add_argument("--load", type=int, default=0, help="busy loops beside it")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command, with its arguments")
    args = parser.parse_args(arguments)
    if not args.command:
        parser.error("no command; name one, as in: slowed.py --share 0.4 make test")
    if args.share is not None and not 0 < args.share < 1:
        parser.error(f"--share is {args.share}, and must be more than 0 and less than 1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        group, loops = None, args.load
        if args.share is not None:
            try:
                group = stack.enter_context(made_group(args.share))
            except OSError as error:
                loops += loops_for(args.share)
                print(f"slowed: no control group ({error}): {loops} busy loops instead")
        stack.enter_context(busy(loops))
        return run(args.command, group)


def loops_for(share: float) -> int:
    """Return how many busy loops leave this part of each core to the processes of `make test`."""
    return round((cores() + MORE_PROCESSES) * (1 - share) / share)


def cores() -> int:
    """Return how many cores this machine has."""
    return os.cpu_count() or 1


@contextmanager
def made_group(share: float) -> Iterator[Path]:
    """Make a control group with a quota, of the second version or the first; remove it in the end.

    Raises:
        OSError: none can be made here.
    """
    quota = int(share * cores() * PERIOD)
    is_second = (GROUPS / "cgroup.controllers").exists()
    group = (GROUPS if is_second else GROUPS / "cpu") / f"busproof-slowed-{os.getpid()}"
    group.mkdir()
    try:
        if is_second:
            (group / "cpu.max").write_text(f"{quota} {PERIOD}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        yield group
    finally:
        for _ in range(TRIES):
            with suppress(OSError):  # a process of it has not quite ended
                group.rmdir()
                break
            time.sleep(0.1)


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Have so many busy loops until the end of the block."""
    processes = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(command: Sequence[str], group: Path | None) -> int:
    """Run a command in a control group, and return its exit code."""

    def join() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    try:
        process = subprocess.Popen(command, preexec_fn=join)  # noqa: PLW1509 - no thread runs here
    except OSError as error:
        print(f"slowed: {command[0]}: {error.strerror}", file=sys.stderr)
        return 2
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        return 130


if __name__ == "__main__":
    sys.exit(main())
