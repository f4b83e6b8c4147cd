"""Run the checks at full size, part by part: `nightly.py [PART]`, `nightly.py --status`.

Each part is a list of steps. `reports/nightly/PART.json` has the result of each step with a digest
of the files that it depends on, so an interrupted part continues with its next step. Without PART,
only steps run whose results are missing, failed or out of date. `make nightly` and `make
nightly-status` call this.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.spec import load

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "reports" / "nightly"
BIN: Final = Path(sys.executable).parent
LONGEST: Final = 45 * 60
"""Maximum time for a part on two cores, in seconds."""

PRODUCT: Final = (
    "pyproject.toml",
    "requirements",
    "src",
    *sorted(path.name for path in (ROOT / "src" / "busproof").iterdir() if path.is_symlink()),
)
"""Files that every step depends on: the package, with the rooms that it links to, and its locks."""

FIGURE: Final = re.compile(
    r"^(?P<figure>\S.*): (?P<value>[\d,.]+)"
    r"(?: \(at (?:most|least) (?P<bound>[\d,.]+)(?:; target (?P<target>[\d,.]+))?"
    r"(?P<missed>, which does not hold)?\))?$",
    re.MULTILINE,
)
"""Pattern of a line that `tools/benchmarks/figures` prints."""


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


def main() -> int:
    """Run parts, or print the table; return 1 if a part failed."""
    parser = argparse.ArgumentParser(description="Run the checks at full size, part by part.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--status", action="store_true", help="print what is known of each part")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; parts: {', '.join(PARTS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if not args.status:
            for part in args.parts or PARTS:
                run_part(part, again=bool(args.parts))
        print_table()
        parts = args.parts or PARTS
        return 0 if args.status or all(state(part) == "passed" for part in parts) else 1
    except KeyboardInterrupt:
        print("\nbroken off; the same command goes on from here", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"nightly: {error.filename or RESULTS}: {error.strerror}", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        print(f"nightly: {shlex.join(error.cmd[:2])}: {error.stderr.strip()}", file=sys.stderr)
    return 1


def run_part(part: str, *, again: bool) -> None:
    """Run those steps of a part whose results are missing, failed or out of date.

    Args:
        part: the name of the part.
        again: whether to run all steps again if the part has passed.
    """
    kept = known(part)
    if again and state(part) == "passed":
        kept = {}
    for step in PARTS[part]:
        current = digest(step)
        before = kept.get(step.name)
        if before is not None and before["passed"] and before["digest"] == current:
            continue
        print(f"== {part}: {step.name}", flush=True)
        kept[step.name] = result(step, current)
        write(part, kept)


def result(step: Step, current: str) -> dict[str, Any]:
    """Run a step, print its output, and return its result."""
    environment = {**os.environ, "BUSPROOF_SIZE": "full", "PATH": f"{BIN}:{os.environ['PATH']}"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = time.monotonic()
    process = subprocess.Popen(
        shlex.split(step.command),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines = []
    assert process.stdout is not None  # noqa: S101 - a pipe was requested
    try:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    code = process.wait()
    text = "".join(lines)
    return {
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "digest": current,
        "seconds": round(time.monotonic() - begun),
        "passed": code == 0,
        "exit_code": code,
        "figures": list(figures(text)),
        "failed": failures(text) if code else [],
    }


def figures(text: str) -> Iterator[dict[str, Any]]:
    """Yield the figures that a step has printed, each with its bound."""
    for match in FIGURE.finditer(text):
        yield {
            "figure": match["figure"],
            "value": _number(match["value"]),
            "bound": _number(match["bound"]),
            "target": _number(match["target"]),
            "holds": match["missed"] is None,
        }


def _number(text: str | None) -> float | None:
    return None if text is None else float(text.replace(",", ""))


def failures(text: str) -> list[str]:
    """Return the failures: the names of tests and bounds, or else the last lines."""
    named = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    named += [match["figure"] for match in FIGURE.finditer(text) if match["missed"]]
    return named or text.strip().splitlines()[-3:]


def digest(step: Step) -> str:
    """Return a digest of the files that a step's result depends on."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run(
        [*git, *PRODUCT, *step.files], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    digested = hashlib.sha256(step.command.replace(str(BIN), "").encode())
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            digested.update(name.encode() + path.read_bytes())
    return digested.hexdigest()


def commit() -> str:
    """Return the current commit."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def known(part: str) -> dict[str, dict[str, Any]]:
    """Return the results of a part by step; none if the file cannot be read.

    Results of steps that the part no longer has are left out.
    """
    names = {step.name for step in PARTS[part]}
    try:
        steps = json.loads((RESULTS / f"{part}.json").read_text())["steps"]
        return {name: step for name, step in steps.items() if name in names}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write(part: str, steps: dict[str, dict[str, Any]]) -> None:
    """Write the results of a part atomically."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    content = {
        "part": part,
        "commit": commit(),
        "seconds": sum(step["seconds"] for step in steps.values()),
        "failed": [name for name, step in steps.items() if not step["passed"]],
        "steps": steps,
    }
    scratch = RESULTS / f"{part}.json.new"
    scratch.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    scratch.replace(RESULTS / f"{part}.json")


def state(part: str) -> str:
    """Return the state of a part: passed, failed, out of date, broken off or not run."""
    kept = known(part)
    if not kept:
        return "not run"
    if len(kept) < len(PARTS[part]):
        return "broken off"
    results = [(kept.get(step.name), step) for step in PARTS[part]]
    if any(step is not None and not step["passed"] for step, _ in results):
        return "failed"
    if any(step is None or step["digest"] != digest(of) for step, of in results):
        return "out of date"
    return "passed"


def print_table() -> None:
    """Print for each part the state, commit, age, minutes and failed steps."""
    now = datetime.datetime.now(datetime.UTC)
    print(f"{'part':<12} {'result':<12} {'commit':<10} {'age':>8} {'minutes':>8}  failed")
    for part in PARTS:
        kept = known(part).values()
        dates = [datetime.datetime.fromisoformat(step["date"]) for step in kept]
        age = f"{(now - min(dates)).total_seconds() / 3600:.1f} h" if dates else "-"
        commits = ",".join(sorted({step["commit"] for step in kept})) or "-"
        seconds = sum(step["seconds"] for step in kept)
        minutes = f"{seconds / 60:.0f}{'!' if seconds > LONGEST else ''}" if kept else "-"
        failed = "; ".join(name for name, step in known(part).items() if not step["passed"])
        print(f"{part:<12} {state(part):<12} {commits:<10} {age:>8} {minutes:>8}  {failed}")


if __name__ == "__main__":
    sys.exit(main())
