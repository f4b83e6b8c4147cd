"""Builds the source distribution and the wheel into dist/, the same bytes wherever it is done.

`make dist` runs it. The time of the last commit, or SOURCE_DATE_EPOCH, stands in both; who built
them, where, when and under which umask does not. The wheel is built from what the source
distribution has, in a folder of its own.
"""

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST = 315_619_200
"""A day after the first of 1980, with which the times of zip files begin."""


def epoch() -> int:
    """Seconds since 1970 that the files bear: SOURCE_DATE_EPOCH, else the last commit's.

    Where there is no history that git reads, it is the oldest time that a wheel can tell.
    """
    named = os.environ.get("SOURCE_DATE_EPOCH")
    if named is None:
        git = shutil.which("git")
        log = [git or "git", "log", "-1", "--format=%ct"]
        try:
            named = subprocess.run(  # noqa: S603 - a fixed command
                log, cwd=ROOT, capture_output=True, check=True, text=True
            ).stdout
        except (OSError, subprocess.CalledProcessError):
            return OLDEST
    try:
        return int(named)
    except ValueError:
        sys.exit(f"tools/dist.py: SOURCE_DATE_EPOCH is {named!r}; give seconds since 1970")


def build(kind: str, source: Path, folder: Path, when: int) -> Path:
    """Build a `sdist` or a `wheel` of a folder into another one; the file."""
    command = [sys.executable, "-m", "build", "--quiet", "--no-isolation", f"--{kind}"]
    subprocess.run(  # noqa: S603 - a fixed command
        [*command, "--outdir", str(folder), str(source)],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(when)},
        check=True,
    )
    (file,) = folder.iterdir()
    return file


def evened(archive: Path, when: int) -> bytes:
    """A .tar.gz with the same files, without what differs from machine to machine."""
    plain = io.BytesIO()
    with (
        tarfile.open(archive) as old,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            told = tarfile.TarInfo(member.name)
            told.type, told.size, told.mtime = member.type, member.size, when
            told.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(told, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(plain.getvalue(), mtime=when)


def main() -> None:
    """Build both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outdir", type=Path, default=ROOT / "dist")
    folder: Path = parser.parse_args().outdir
    when = epoch()
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as scratch:
        raw, unpacked, built = (Path(scratch, name) for name in ("raw", "unpacked", "built"))
        for each in (raw, unpacked, built):
            each.mkdir()
        sdist = build("sdist", ROOT, raw, when)
        sdist.write_bytes(evened(sdist, when))
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (source,) = unpacked.iterdir()
        wheel = build("wheel", source, built, when)
        folder.mkdir(parents=True, exist_ok=True)
        for file in (sdist, wheel):
            shutil.copyfile(file, folder / file.name)


if __name__ == "__main__":
    main()
