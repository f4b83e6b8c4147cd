"""Make a virtual environment with the packages of a lock: `environment.py HOME LOCK...`.

`make run` and `make test` call this. It needs only Python and its venv module.

A lock pins every package with its version and hashes, so pip has nothing to resolve: it installs
with `--no-deps`, and `pip check` verifies afterwards that the lock is complete. Without `--no-deps`
older versions of pip ignore the pin of a requirement with an extra, and refuse a valid lock as soon
as the index has a newer release.

The stamp `HOME/.installed` is written last and has a digest of the inputs, so that an unfinished
environment never passes for a complete one. A second call in the same checkout waits for the first.
"""

import argparse
import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

BUILT_HERE: Final = {
    "python-qpid-proton": "a C compiler (apt-get install gcc libc6-dev python3-dev pkg-config "
    "libssl-dev)",
}
"""Packages that may have no wheel for this machine, and the tools that build them.

Without these tools the packages are left out, and the tests that need them are skipped.
"""

REQUIRE_ALL: Final = "BUSPROOF_REQUIRE_ALL"
"""Environment variable; if it is set, no package may be left out and no test skipped."""

STAMP: Final = ".installed"
LEFT_OUT: Final = "left out:"
SECONDS_BETWEEN_LINES: Final = 10

UNREACHABLE: Final = re.compile(
    r"WARNING: Retrying|NewConnectionError|Max retries exceeded|NameResolutionError|"
    r"Temporary failure in name|Network is unreachable|ConnectTimeout|ReadTimeout|ProxyError"
)


class InstallError(Exception):
    """The environment could not be made; the message is one sentence for the user."""


def main() -> int:
    """Make the environment unless it is current; return the exit code."""
    parser = argparse.ArgumentParser(description="Make a virtual environment from locks.")
    parser.add_argument("home", type=Path, help="the environment's folder")
    parser.add_argument("locks", nargs="+", help="names of locks in requirements/")
    parser.add_argument("--index", help="another package index than the one pip is set up for")
    parser.add_argument(
        "--no-project", action="store_true", help="install the packages of the locks only"
    )
    args = parser.parse_args()
    try:
        with only_one_at_a_time(args.home):
            make(args.home, args.locks, index=args.index, project=not args.no_project)
    except InstallError as error:
        print(f"make: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"make: {args.home} could not be made: {reason(error)}", file=sys.stderr)
        return 1
    return 0


def reason(error: OSError) -> str:
    """Return why a file could not be written, and what to do about it."""
    if error.errno == errno.ENOSPC:
        return f"the disk is full ({free(ROOT)} free); it needs about 2 GB"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{error.filename or ROOT} cannot be written; use a checkout that can"
    return f"{error.strerror} ({error.filename})"


def free(folder: Path) -> str:
    """Return the free space on the disk of a folder."""
    return f"{shutil.disk_usage(folder).free / 1e9:.1f} GB"


@contextlib.contextmanager
def only_one_at_a_time(home: Path) -> Iterator[None]:
    """Hold the environment's lock file; wait while another process holds it."""
    with home.with_name(f"{home.name}.lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{home}: another process is making it; waiting", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make(home: Path, locks: list[str], *, index: str | None, project: bool) -> None:
    """Make the environment, unless the existing one is current."""
    wanted = digest(locks)
    if is_made(home, wanted):
        return
    begun = time.monotonic()
    (home / STAMP).unlink(missing_ok=True)
    print(f"{home}: installing {', '.join(locks)}; this takes some two minutes", flush=True)
    run([sys.executable, "-m", "venv", "--clear", str(home)], "the environment", {})
    pip = Pip(home, index)
    left_out = [name for lock in locks for name in pip.install(ROOT / "requirements" / lock)]
    if project:
        pip.run("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    pip.check(left_out)
    stamp = home / f"{STAMP}.new"
    stamp.write_text("\n".join([wanted, *(f"{LEFT_OUT} {name}" for name in left_out), ""]))
    stamp.rename(home / STAMP)
    print(f"{home}: made in {time.monotonic() - begun:.0f} s", flush=True)


def digest(locks: list[str]) -> str:
    """Return a digest of everything that the environment depends on."""
    digested = hashlib.sha256(f"{sys.version} {ROOT} {locks}".encode())
    for path in [ROOT / "pyproject.toml", *(lock_file(name) for name in locks), Path(__file__)]:
        digested.update(path.read_bytes())
    return digested.hexdigest()


def lock_file(name: str) -> Path:
    """Return the file of a lock."""
    return ROOT / "requirements" / f"{name}.lock"


def is_made(home: Path, wanted: str) -> bool:
    """Return whether the environment is complete and current, as far as this machine allows."""
    try:
        made, *left_out = (home / STAMP).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return False
    return made == wanted and not (left_out and (can_compile() or requires_all()))


def can_compile() -> bool:
    """Return whether this machine can build C extensions for this Python."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    return shutil.which(os.environ.get("CC", "cc")) is not None and header.exists()


def requires_all() -> bool:
    """Return whether all packages are required."""
    return bool(os.environ.get(REQUIRE_ALL))


class Pip:
    """The pip of an environment; it prints progress, and errors as one sentence."""

    def __init__(self, home: Path, index: str | None) -> None:
        self._command = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        self._settings = {"PIP_INDEX_URL": index} if index else {}

    def install(self, lock: Path) -> list[str]:
        """Install the packages of a lock; return those that had to be left out."""
        lock = lock.with_suffix(".lock")
        whole, apart = divided(lock.read_text(encoding="utf-8"))
        self._install_pinned(whole, lock)
        left_out = []
        for name, pin in apart.items():
            try:
                self._install_pinned(pin, lock)
            except InstallError as error:
                lacked = f"{name} has no wheel for this machine, and building it needs"
                if can_compile() or requires_all():
                    raise InstallError(f"{error} ({lacked} {BUILT_HERE[name]})") from None
                print(f"left out: {lacked} {BUILT_HERE[name]}", flush=True)
                left_out.append(name)
        return left_out

    def _install_pinned(self, pins: str, lock: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            pinned = Path(scratch) / lock.name
            pinned.write_text(pins, encoding="utf-8")
            self.run("install", "--no-deps", "--require-hashes", "--requirement", str(pinned))

    def check(self, left_out: list[str]) -> None:
        """Check that no installed package lacks another one.

        Raises:
            InstallError: the lock is incomplete.
        """
        ended = subprocess.run(
            [*self._command, "check"], capture_output=True, text=True, check=False
        )
        lines = ended.stdout.splitlines() if ended.returncode else []
        lacking = [line for line in lines if not any(name in line for name in left_out)]
        if lacking:
            raise InstallError(f"a lock is not complete: {lacking[0]}; `make lock` pins anew")

    def run(self, *arguments: str) -> None:
        """Run pip; print its progress, but not its output."""
        run([*self._command, *arguments], "the packages", self._settings)


def divided(lock: str) -> tuple[str, dict[str, str]]:
    """Split a lock into the packages with wheels and those that may have to be built, by name."""
    pins = re.findall(r"^[^\s#].*\n(?:[ \t].*\n)*", lock, re.MULTILINE)
    named = [(re.split(r"[=\s]", pin, maxsplit=1)[0], pin) for pin in pins]
    whole = "".join(pin for name, pin in named if name not in BUILT_HERE)
    return whole, {name: pin for name, pin in named if name in BUILT_HERE}


def run(command: list[str], what: str, settings: Mapping[str, str]) -> None:
    """Run a command of the installation, and print its progress now and then.

    Raises:
        InstallError: the command failed.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **settings}
        )
        while process.returncode is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_BETWEEN_LINES)
            output.seek(0)
            log = output.read()
            fetched = len(re.findall("^Collecting ", log, re.MULTILINE))
            if process.returncode is None and fetched:
                print(f"  {fetched} packages fetched", flush=True)
    if process.returncode:
        raise InstallError(f"{what} could not be installed: {why(log)}")


def why(log: str) -> str:
    """Return the cause of a failure, according to pip's output."""
    if UNREACHABLE.search(log):
        return "no package index can be reached; is there a network, and is pip set up for it?"
    if "No space left on device" in log:
        return f"the disk is full ({free(ROOT)} free); it needs about 2 GB"
    if "DO NOT MATCH THE HASHES" in log:
        files = re.findall(r"^ {4}(\S+) from ", log, re.MULTILINE)
        return f"the index has another file of {' '.join(files) or 'a package'} than the lock"
    lines = re.findall(r"^ERROR: (.*)$", log, re.MULTILINE) or log.strip().splitlines()
    return lines[-1] if lines else "no reason was given"


if __name__ == "__main__":
    sys.exit(main())
