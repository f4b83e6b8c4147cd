"""Build the source distribution and the wheel into dist/, with the same bytes on every machine.

`make dist` runs this. Both contain the time of the last commit, or SOURCE_DATE_EPOCH, but not the
user, the machine, the time of the build or the umask. The wheel is built from the source
distribution, in a separate folder.
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
"""A day after the start of 1980, the earliest time in a zip file; in seconds since 1970."""


def epoch() -> int:
    """Return the time for all files, in seconds since 1970.

    It is SOURCE_DATE_EPOCH, or the time of the last commit. Without a git history, it is the
    earliest time that a wheel can store.
    """
    named = os.environ.get("SOURCE_DATE_EPOCH")
    if named is None:
        git = shutil.which("git")
        log = [git or "git", "log", "-1", "--format=%ct"]
        try:
            named = subprocess.run(log, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return OLDEST
    try:
        return int(named)
    except ValueError:
        sys.exit(f"tools/dist.py: SOURCE_DATE_EPOCH is {named!r}; give seconds since 1970")


def build(kind: str, source: Path, folder: Path, when: int) -> Path:
    """Build an sdist or a wheel from a source folder; return the file."""
    command = [sys.executable, "-m", "build", "--quiet", "--no-isolation", f"--{kind}"]
    subprocess.run(
        [*command, "--outdir", str(folder), str(source)],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(when)},
        check=True,
    )
    (file,) = folder.iterdir()
    return file


def evened(archive: Path, when: int) -> bytes:
    """Return a .tar.gz with the same files, but without traces of the machine."""
    plain = io.BytesIO()
    with (
        tarfile.open(archive) as old,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda getmember: getmember.name):
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.size, entry.mtime = member.type, member.size, when
            entry.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(entry, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(plain.getvalue(), mtime=when)


def main() -> None:
    """Build both distributions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outdir", type=Path, default=ROOT / "dist")
    folder: Path = parser.parse_args().outdir
    when = epoch()
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as scratch:
        raw, unpacked, built = (Path(scratch, name) for name in ("raw", "unpacked", "built"))
        for directory in (raw, unpacked, built):
            directory.mkdir()
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
