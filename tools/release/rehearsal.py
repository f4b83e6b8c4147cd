"""Rehearse a release: build it from a clean clone, serve it, and play three strangers.

    tools/release/rehearsal.py [--keep FOLDER]

`make release-rehearsal` runs this. What a release publishes is built from the last commit and
served by this machine: a package index, a git repository and the documents. Then three
strangers begin with nothing but that address: one installs the package and follows the tutorial,
one has a workflow that uses the action, and one tests code on the embedded broker. What the package
depends on comes from the index that pip is configured with.

The table has a row for each part, and the exit code is 1 if one failed. The folder of a failed
rehearsal stays, with the output of each part.
"""

import argparse
import contextlib
import functools
import http.server
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import yaml

ROOT: Final = Path(__file__).resolve().parents[2]
BLOCK: Final = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VIOLATED: Final = re.compile(r"busproof run .*faulty:.*")
"""Commands of the tutorial that end with exit code 1, as it says."""

PASSED: Final = "passed"

LOCKS: Final = ("base", "amqp", "report", "spark", "tla")
"""Locks of what users install: each gets a bill of materials."""


class Failed(Exception):
    """A part of the rehearsal failed; the message says how."""


class Row(NamedTuple):
    """What became of a part; times are in seconds, of the clock and of all processors together."""

    name: str
    outcome: str
    elapsed: float
    processors: float


class Stopwatch:
    """The time since it was made; of processors, that of programs that have ended."""

    def __init__(self) -> None:
        self._elapsed = time.monotonic()
        self._processors = self._spent()

    def stop(self, name: str, outcome: str = PASSED) -> Row:
        """Return a row with the times so far."""
        elapsed = time.monotonic() - self._elapsed
        return Row(name, outcome, elapsed, self._spent() - self._processors)

    @staticmethod
    def _spent() -> float:
        times = os.times()
        return times.children_user + times.children_system


class Rehearsal:
    """The folder of a rehearsal, and what its parts share.

    Attributes:
        folder: the folder with all that is made.
        clone: the clean clone.
        dist: the distributions and the bills of materials.
        address: the address of the web server.
        rows: the parts so far.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.dist = folder / "dist"
        self.web = folder / "web"
        self.address = ""
        self.rows: list[Row] = []
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        self.package, self.version = str(project["name"]), str(project["version"])
        identity = tomllib.loads((Path(__file__).parent / "identity.toml").read_text("utf-8"))
        self.repository = str(identity["now"]["repository"])
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "VIRTUAL_ENV") and not name.startswith("GIT_")
        }

    def do(self, name: str, part: Callable[[], None]) -> None:
        """Do a part, and note its outcome."""
        watch = Stopwatch()
        outcome = PASSED
        try:
            part()
        except (Failed, OSError, subprocess.SubprocessError) as error:
            outcome = f"failed: {error}"
        row = watch.stop(name, outcome)
        self.rows.append(row)
        print(f"{row.elapsed:6.1f} s  {name}: {outcome}", flush=True)

    def run(
        self,
        command: list[str],
        folder: Path,
        variables: Mapping[str, str] | None = None,
        codes: tuple[int, ...] = (0,),
    ) -> str:
        """Run a command and return its output.

        Raises:
            Failed: its exit code is another one; the output is in the folder's `log.txt`.
        """
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**self.environment, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(f"$ {shlex.join(command)}\n{ended.stdout}\n-> {ended.returncode}\n\n")
        if ended.returncode not in codes:
            last = " / ".join(ended.stdout.strip().splitlines()[-2:])
            raise Failed(f"{shlex.join(command)[:80]} ended with {ended.returncode}: {last}")
        return ended.stdout

    # What is built.

    def take_clone(self) -> None:
        """Clone the last commit, and tag it as the release will be."""
        self.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(self.clone)], self.folder)
        self.run(["git", "tag", "--force", f"v{self.version}"], self.clone)

    def build_twice(self) -> None:
        """Build both distributions twice, and compare their bytes."""
        built = []
        for folder in (self.dist, self.folder / "again"):
            command = [sys.executable, "tools/dist.py", "--outdir", str(folder)]
            self.run(command, self.clone)
            shutil.rmtree(self.clone / "build", ignore_errors=True)
            built.append({file.name: file.read_bytes() for file in folder.iterdir()})
        first, second = built
        if first != second or len(first) != 2:
            raise Failed(f"{sorted(first)} were not built alike twice")

    def write_bills(self) -> None:
        """Write a bill of materials (CycloneDX) of each lock, checked against its schema."""
        for lock in LOCKS:
            bill = self.dist / f"{self.package}-{self.version}-{lock}.cdx.json"
            command = [sys.executable, "-m", "cyclonedx_py", "requirements", "--validate"]
            command += ["--output-reproducible", "--pyproject", "pyproject.toml"]
            self.run([*command, "-o", str(bill), f"requirements/{lock}.lock"], self.clone)

    def compare_licences(self) -> None:
        """List the licences of all packages, as the documents have them."""
        found = self.run([sys.executable, "tools/licences.py"], self.clone)
        if found != (self.clone / "docs" / "licences.md").read_text(encoding="utf-8"):
            raise Failed("docs/licences.md is not what make licences writes")

    def follow_containerfile(self) -> None:
        """Check and serve what the container's file names, on this machine."""
        test = "tests/broker/serving/test_container.py"
        self.run([sys.executable, "-m", "pytest", "-q", test], self.clone)

    def build_site(self) -> None:
        """Build the documents into the folder of the web server."""
        mermaid = self.clone / "tools" / "mermaid"
        npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        self.run(npm, mermaid)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir"]
        self.run([*command, str(self.web / "site")], self.clone, {"NO_MKDOCS_2_WARNING": "1"})

    def rename_all(self) -> None:
        """Give a clone another identity, and find nothing of the old one in it or its wheel."""
        other = self.folder / "renamed"
        self.run(["git", "clone", "--quiet", str(self.clone), str(other)], self.folder)
        file = other / "tools" / "release" / "identity.toml"
        head, _, becomes = file.read_text(encoding="utf-8").partition("[becomes]")
        becomes = becomes.replace("busproof/busproof", "ada/engine").replace("false", "true")
        becomes = re.sub(r'^package = ".*"', 'package = "engine"', becomes, flags=re.MULTILINE)
        file.write_text(f"{head}[becomes]{becomes}", encoding="utf-8")
        self.run([sys.executable, "tools/release/identity.py"], other)
        places = [":!CHANGELOG.md", ":!tools/release", ":!tests/test_identity.py"]
        self.run(["git", "grep", "-n", "busproof/busproof", "--", *places], other, codes=(1,))
        command = [sys.executable, "-m", "build", "--quiet", "--no-isolation", "--wheel"]
        self.run([*command, "--outdir", str(other / "dist")], other)
        if not list((other / "dist").glob("engine-*.whl")):
            raise Failed("the wheel still has the old name")

    # What is served.

    def lay_out(self) -> None:
        """Put the index and the repository into the folder of the web server."""
        index = self.web / "simple" / self.package
        index.mkdir(parents=True)
        for file in self.dist.iterdir():
            if not file.name.endswith(".cdx.json"):
                shutil.copyfile(file, index / file.name)
        bare = self.web / "git" / "busproof.git"
        clone = ["git", "clone", "--quiet", "--bare", str(self.clone), str(bare)]
        self.run(clone, self.folder)
        self.run(["git", "update-server-info"], bare)

    def visit_site(self) -> None:
        """Read the documents' first page, the tutorial and the search index."""
        for page in ("index.html", "tutorial.html", "search/search_index.json"):
            with urllib.request.urlopen(f"{self.address}/site/{page}") as answer:  # noqa: S310 - ours
                if b"busproof" not in answer.read():
                    raise Failed(f"{page} is empty")

    # The strangers.

    def environment_of(self, home: Path) -> dict[str, str]:
        """Return the variables of a stranger: a new virtual environment, and one more index."""
        self.run([sys.executable, "-m", "venv", str(home / ".venv")], home)
        configured = self.run([sys.executable, "-m", "pip", "config", "list"], home)
        others = re.findall(r"extra-index-url='(.*)'", configured)
        return {
            "PATH": f"{home / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_EXTRA_INDEX_URL": " ".join([*others, f"{self.address}/simple"]),
            "PIP_QUIET": "1",
        }

    def follow_tutorial(self) -> None:
        """Install the package, and run each command of tutorial.md as it stands there."""
        home = self.home("tutorial")
        variables = self.environment_of(home)
        text = (self.clone / "docs" / "tutorial.md").read_text(encoding="utf-8")
        environment, activate, *commands = "".join(BLOCK.findall(text)).splitlines()
        if not environment.endswith("-m venv .venv") or not activate.startswith(". .venv"):
            raise Failed(f"the tutorial begins with {environment!r} and {activate!r}")
        watch = Stopwatch()
        for line in commands:
            codes = (1,) if VIOLATED.match(line) else (0,)
            self.run(["bash", "-c", line], home, variables, codes)
            if line.endswith("--name first"):
                self.rows.append(watch.stop("from pip install to the first whole verdict"))

    def run_workflow(self) -> None:
        """Run the workflow of the package in examples, with the action from the git server."""
        home = self.home("workflow")
        variables = self.environment_of(home)
        package = home / "repository"
        shutil.copytree(self.clone / "examples" / "python-package", package)
        for file in (package / ".github" / "workflows").glob("*.yml"):
            jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
            for step in (step for job in jobs.values() for step in job["steps"]):
                if "run" in step:
                    self.run(["bash", "-eo", "pipefail", "-c", step["run"]], package, variables)
                elif step["uses"].startswith(f"{self.repository}@"):
                    self.use_action(step, home, package, variables)
        if not list(package.glob("reports/runs/*/conformance.html")):
            raise Failed("the workflow left no page")

    def use_action(
        self, step: Mapping[str, object], home: Path, package: Path, variables: Mapping[str, str]
    ) -> None:
        """Fetch the action at its tag, and run its steps."""
        _, _, tag = str(step["uses"]).partition("@")
        action = home / "action"
        source = f"{self.address}/git/busproof.git"
        # A plain web server has no shallow clones.
        self.run(["git", "clone", "--quiet", "--branch", tag, source, str(action)], home)
        given = step.get("with", {})
        if not isinstance(given, dict):
            raise Failed("the action has no inputs")
        words = [word for name in given for word in ("--with", f"{name}={given[name]}")]
        python = str(home / ".venv" / "bin" / "python")
        command = [sys.executable, str(action / "tools" / "run_action.py"), "--python", python]
        self.run([*command, *words], package, variables)

    def test_on_broker(self) -> None:
        """Test the code in examples/embedded-broker on the fixtures, as its README says."""
        home = self.home("fixture")
        variables = self.environment_of(home)
        project = home / "project"
        shutil.copytree(self.clone / "examples" / "embedded-broker", project)
        readme = (project / "README.md").read_text(encoding="utf-8")
        for line in "".join(BLOCK.findall(readme)).splitlines():
            self.run(["bash", "-c", line], project, variables)

    def home(self, name: str) -> Path:
        """Make and return the folder of a stranger."""
        home = self.folder / name
        home.mkdir()
        return home


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write no line for each request."""


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder within the block; yield its address."""
    folder.mkdir(exist_ok=True)
    handler = functools.partial(_Silent, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def rehearse(folder: Path) -> list[Row]:
    """Do all parts; return their rows."""
    it = Rehearsal(folder)
    it.do("a clean clone, tagged", it.take_clone)
    it.do("sdist and wheel, twice the same bytes", it.build_twice)
    it.do("bills of materials (CycloneDX)", it.write_bills)
    it.do("licences, as documented", it.compare_licences)
    it.do("container image, its file followed here", it.follow_containerfile)
    it.do("documentation site", it.build_site)
    it.do("another identity reaches every file", it.rename_all)
    with serve(it.web) as it.address:
        it.do("index and git repository, served", it.lay_out)
        it.do("documentation, read from its server", it.visit_site)
        it.do("stranger 1: pip install, and the tutorial", it.follow_tutorial)
        it.do("stranger 2: a workflow with the action", it.run_workflow)
        it.do("stranger 3: code tested on the fixtures", it.test_on_broker)
    return it.rows


def main() -> int:
    """Rehearse, print the table, and return 1 if a part failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="an empty folder for all that is made; it stays")
    keep: Path | None = parser.parse_args().keep
    folder = keep or Path(tempfile.mkdtemp(prefix="busproof-rehearsal-"))
    folder.mkdir(exist_ok=True)
    rows = rehearse(folder.resolve())
    print(
        f"\n{table(rows)}\n\n{os.cpu_count()} cores; load, all programs: {os.getloadavg()[2]:.0f}"
    )
    failed = [row.name for row in rows if row.outcome != PASSED]
    if failed:
        print(f"\n{len(failed)} of {len(rows)} parts failed; {folder / 'log.txt'} has their output")
    elif keep is None:
        shutil.rmtree(folder)
    return 1 if failed else 0


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| part | outcome | seconds | seconds of processors |", "| --- | --- | ---: | ---: |"]
    for name, outcome, elapsed, processors in rows:
        lines.append(f"| {name} | {outcome} | {elapsed:.0f} | {processors:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
