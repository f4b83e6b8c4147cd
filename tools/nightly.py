"""The checks at full size, as tasks of doit: `make nightly` and `make nightly-status`.

Each part is a task, and its steps are its subtasks. A step runs if it has not passed yet, or if its
command or a file that it depends on has changed since then. What it prints is kept in
`reports/nightly/`; doit's record of what has passed is beside it, `reports/nightly.sqlite3`.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs
from doit.exceptions import TaskFailed
from doit.tools import config_changed

from busproof.spec import load

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "reports" / "nightly"
BIN: Final = Path(sys.executable).parent

PRODUCT: Final = (
    "pyproject.toml",
    "requirements",
    "src",
    *sorted(path.name for path in (ROOT / "src" / "busproof").iterdir() if path.is_symlink()),
)
"""Files that every step depends on: the package, with the rooms that it links to, and its locks."""

DOIT_CONFIG: Final = {
    "backend": "sqlite3",
    "dep_file": str(ROOT / "reports" / "nightly.sqlite3"),
    "continue": True,
    "verbosity": 2,
}


@attrs.frozen
class Step:
    """A command of a part.

    Attributes:
        name: the name in the results.
        command: the command line, which runs in the folder of the checkout.
        files: files that the result depends on, besides the package.
    """

    name: str
    command: str
    files: tuple[str, ...] = ()


def tests(*paths: str, leave_out: tuple[str, ...] = (), only: str = "", jobs: int = 4) -> Step:
    """Return a step that runs tests at full size, or only those with a word in their names."""
    ignored = " ".join(f"--ignore={path}" for path in leave_out)
    what = " ".join((*paths, *(("-k", only) if only else ())))
    command = f"{BIN / 'python'} -m pytest -q -n {jobs} {what} {ignored}"
    return Step(f"tests of {what}", command.strip(), ("tests", "docs", "tools"))


def benchmark(name: str, arguments: str = "") -> Step:
    """Return a step that runs a benchmark."""
    command = f"{BIN / 'python'} tools/benchmarks/{name}.py {arguments}"
    return Step(f"{name} {arguments}".strip(), command.strip(), ("tools/benchmarks",))


def busproof(arguments: str) -> Step:
    """Return a step that runs busproof."""
    return Step(f"busproof {arguments}", f"{BIN / 'busproof'} {arguments}")


def slowed(options: str) -> Step:
    """Return a step that runs the gate's tests as on a slow or a busy machine."""
    command = f"env BUSPROOF_SIZE=gate {BIN / 'python'} tools/slowed.py {options} make test"
    return Step(f"make test, {options}", command, ("tests", "docs", "tools"))


SEARCHED: Final = (
    "tests/judging/test_soundness.py",
    "tests/judging/test_overlapping_histories.py",
    "tests/judging/test_one_queue.py",
    "tests/judging/test_pairs_of_readings.py",
)
ON_ANY_BUS: Final = "tests/steps/test_features_are_sound.py"
ON_OTHER_TERMS: Final = "tests/cli/test_terms.py"
PARTS: Final[dict[str, tuple[Step, ...]]] = {
    "tests": (
        tests("tests/vocabulary", "tests/filters", "tests/model"),
        tests("tests/spec", "tests/history", "tests/reports"),
        tests(
            "tests/adapters",
            "tests/mutants",
            leave_out=("tests/adapters/amqp", "tests/adapters/http"),
        ),
        tests("tests/judging", leave_out=SEARCHED),
        tests("tests/steps", "tests/exploration", leave_out=(ON_ANY_BUS,)),
        tests("tests/tla"),
        tests("tests/browser", "tests/workflows"),
    ),
    "commands": (
        tests("tests/cli", leave_out=(ON_OTHER_TERMS,)),
        Step(
            "tests of documents and packaging",
            f"{BIN / 'python'} -m pytest -q -n 4 "
            + " ".join(
                sorted(
                    str(path.relative_to(ROOT))
                    for path in ROOT.glob("tests/test_*.py")
                    if path.name != "test_environment.py"
                )
            ),
            ("tests", "docs", "tools", "examples", "README.md", "Makefile", ".ci"),
        ),
    ),
    "terms": (tests(ON_OTHER_TERMS),),
    "features": tuple(tests(ON_ANY_BUS, only=edition.id, jobs=2) for edition in load().editions),
    "audit": (
        busproof("audit --matrix full"),
        busproof("audit --generated --sample 15 --minutes 20"),
    ),
    "faults-1": (benchmark("exploring_faults", "--third 1"),),
    "faults-2": (benchmark("exploring_faults", "--third 2"),),
    "faults-3": (benchmark("exploring_faults", "--third 3"),),
    "modelcheck": (
        busproof("modelcheck --size full"),
        busproof("modelcheck --mutants"),
        Step("paths of the specs on the model", f"{BIN / 'python'} tools/paths_on_model.py"),
    ),
    "exploration": (*(tests(path) for path in SEARCHED), benchmark("exploring")),
    "spark": (tests("tests/pipeline", jobs=3),),
    "broker": (
        tests("tests/broker"),
        tests("tests/recorder"),
        tests("tests/clients"),
        tests("tests/adapters/amqp", "tests/adapters/http"),
    ),
    "clients": (
        Step("clients tried", f"{BIN / 'python'} tools/clients_tried.py", ("tools",)),
        *(
            Step(
                f"live tests of azure-servicebus, {part}",
                f"{BIN / 'python'} tools/live_tests_of_sdk.py {part}",
                ("tools",),
            )
            for part in ("administration", "data")
        ),
    ),
    "clients-judged": (
        Step(
            "clients judged",
            f"{BIN / 'python'} tools/clients_judged.py",
            ("tools", "examples/clients"),
        ),
    ),
    "benchmarks": tuple(
        benchmark(path.stem)
        for path in sorted(ROOT.glob("tools/benchmarks/*.py"))
        if path.stem not in ("exploring", "exploring_faults", "soak")
    ),
    "soak": (benchmark("soak"),),
    "slow": (slowed("--share 0.4"),),
    "busy": (slowed("--load 8"),),
    "pythons": (
        Step("make pythons", "make pythons", (".ci", "examples", "Makefile")),
        tests("tests/test_environment.py"),
    ),
}


def make_tasks() -> Iterator[dict[str, Any]]:
    """Yield the steps of all parts, each as doit describes a task."""
    for part, steps in PARTS.items():
        yield {"basename": part, "name": None, "doc": f"{len(steps)} steps"}
        for step in steps:
            yield {
                "basename": part,
                "name": step.name,
                "actions": [(run, [part, step])],
                "file_dep": [
                    name for files in (*PRODUCT, *step.files) for name in list_files(files)
                ],
                "uptodate": [config_changed(step.command.replace(str(BIN), ""))],
            }


def task_parts() -> Iterator[dict[str, Any]]:
    """Return the tasks; doit looks for functions of such a name."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    # What has passed is written at the end, which a terminated doit would not reach.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return make_tasks()


@cache
def list_files(files: str) -> list[str]:
    """Return the paths of the files in a folder that git knows or would add."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", files]
    names = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in names.split("\0") if name]
    return [str(path) for path in paths if path.is_file() and not path.is_symlink()]


def run(part: str, step: Step) -> dict[str, int] | TaskFailed:
    """Run a step; print its output and keep it; return its seconds, or that it failed."""
    environment = {**os.environ, "BUSPROOF_SIZE": "full", "PATH": f"{BIN}:{os.environ['PATH']}"}
    # Bytecode is kept: hundreds of processes import the same modules.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    output = RESULTS / (re.sub(r"\W+", "-", f"{part} {step.name}") + ".txt")
    begun = time.monotonic()
    with (
        output.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            shlex.split(step.command),
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101 - a pipe was requested
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                file.write(line)
        except KeyboardInterrupt:
            process.terminate()
            sys.exit(f"{part}: broken off; the same command goes on from here")
    seconds = round(time.monotonic() - begun)
    print(f"{part}: {step.name}: exit code {process.returncode} after {seconds} s")
    if process.returncode != 0:
        return TaskFailed(f"{step.name} failed; its output is in {output}")
    return {"seconds": seconds}
