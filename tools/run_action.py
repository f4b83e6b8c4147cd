"""Run the steps of action.yml on this machine as GitHub would, in the current folder.

    tools/run_action.py --with adapter=shelf --with fail-on=violation

Steps that use third-party actions are named and skipped; all others run. The exit code is that of
the first step that failed. The summary and the outputs go to the files named by GITHUB_STEP_SUMMARY
and GITHUB_OUTPUT, or to the terminal.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parent.parent
EXPRESSION: Final = re.compile(r"\$\{\{ *(.*?) *\}\}")
TERM: Final = re.compile(r"(\S+) *(==|!=) *'([^']*)'")

Values = Mapping[str, str]


def filled(text: str, values: Values) -> str:
    """Return the text with its expressions replaced by their values; unset values are empty."""
    return EXPRESSION.sub(lambda match: values.get(match[1], ""), text)


def applies(condition: str, values: Values, failed: bool) -> bool:
    """Return whether a step runs: its condition holds, and no step failed, unless `always()`."""
    terms = [term.strip() for term in condition.split("&&")] if condition else []
    holds = not failed or "always()" in terms
    for term in terms:
        if term == "always()":
            continue
        match = TERM.fullmatch(term)
        if match is None:
            sys.exit(f"tools/run_action.py: no condition is read here that has {term!r}")
        name, operator, value = match.groups()
        holds = holds and (values.get(name, "") == value) is (operator == "==")
    return holds


def run(step: Mapping[str, Any], values: Values, python: str) -> tuple[int, dict[str, str]]:
    """Run one step; return its exit code and its outputs."""
    variables = {name: filled(str(value), values) for name, value in step.get("env", {}).items()}
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "output")
        output.touch()
        process = subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={
                "GITHUB_STEP_SUMMARY": "/dev/stdout",
                **os.environ,
                **variables,
                "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_OUTPUT": str(output),
            },
            check=False,
        )
        lines = output.read_text(encoding="utf-8").splitlines()
    return process.returncode, dict(line.split("=", 1) for line in lines)


def inputs(action: Mapping[str, Any], settings: list[str]) -> dict[str, str]:
    """Return the value of every input: the given one, or else the default."""
    values = {
        f"inputs.{name}": str(declared["default"]) for name, declared in action["inputs"].items()
    }
    for setting in settings:
        name, _, value = setting.partition("=")
        if f"inputs.{name}" not in values:
            sys.exit(f"tools/run_action.py: the action has no input {name!r}")
        values[f"inputs.{name}"] = value
    return values


def main() -> int:
    """Run all steps; return the exit code of the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--with", dest="given", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--python", default=sys.executable, help="what `python` stands for")
    arguments = parser.parse_args()
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    values = inputs(action, arguments.given) | {"github.action_path": str(ROOT)}
    failed = 0
    for step in action["runs"]["steps"]:
        if not applies(str(step.get("if", "")), values, bool(failed)):
            continue
        if "uses" in step:
            print(f"-- {step['name']}: left out, {step['uses']}", flush=True)
            continue
        print(f"-- {step['name']}", flush=True)
        code, outputs = run(step, values, arguments.python)
        values |= {
            f"steps.{step.get('id')}.outputs.{name}": value for name, value in outputs.items()
        }
        failed = failed or code
    for name, output in action["outputs"].items():
        print(f"{name}={filled(output['value'], values)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
