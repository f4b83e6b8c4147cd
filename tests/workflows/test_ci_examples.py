"""What the files of examples/ci say, done on this machine, on the bus of README.md.

`pip` does nothing: all is installed already. test_schemas.py and actionlint read the files.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from busproof.history.conformance import ExitCode

pytestmark = pytest.mark.slow

FULL: Final = os.environ.get("BUSPROOF_SIZE") == "full"

ROOT: Final = Path(__file__).parent.parent.parent
CI: Final = ROOT / "examples" / "ci"
EDITION: Final = "en-2026-02"
TIER: Final = "standard"
RUN: Final = Path("reports", "runs", f"{EDITION}-{TIER}")

VARIABLES: Final = {
    "ADAPTER": "mybus:make",
    "EDITION": EDITION,
    "TIER": TIER,
    "PROFILE": "smoke",
}


def load(name: str) -> dict[str, Any]:
    """Return the content of one of the files."""
    content: dict[str, Any] = yaml.safe_load((CI / name).read_text(encoding="utf-8"))
    return content


CHECK: Final = """\
                if message.session_id and message.partition_key not in (None, message.session_id):
                    return Refused(error=Error.INVALID_OPERATION)
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the `busproof` of this environment, and a `pip` that does nothing."""
    folder = tmp_path_factory.mktemp("tools")
    for name, script in {"pip": "", "busproof": f'{sys.executable} -m busproof "$@"'}.items():
        (folder / name).write_text(f"#!/bin/bash\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def conforms(request: pytest.FixtureRequest, tmp_path: Path) -> bool:
    """Write the bus of README.md, or one that lacks a check, and return whether it conforms."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    bus = re.search(r"^```python mybus.py\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert CHECK in bus[1]
    text = bus[1] if request.param else bus[1].replace(CHECK, "")
    (tmp_path / "mybus.py").write_text(text, encoding="utf-8")
    return bool(request.param)


def execute(
    script: str, folder: Path, tools: Path, variables: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a script as a host of CI would, on this machine."""
    return subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **variables, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def gitlab_scripts() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the scripts of both jobs with their variables."""
    content = load(".gitlab-ci.yml")
    profiles = {rule["variables"]["PROFILE"] for rule in content["workflow"]["rules"]}
    assert {"smoke", "ci", "thorough"} == profiles
    (matrix,) = content["verdict"]["parallel"]["matrix"]
    assert EDITION in matrix["EDITION"]
    assert TIER in matrix["TIER"]
    assert set(VARIABLES) == {*content["verdict"]["variables"], *matrix, "PROFILE"}
    yield "\n".join(content["verdict"]["script"]), VARIABLES
    yield "\n".join(content["page"]["script"]), {}


def azure_scripts(staged: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the scripts of both jobs with their variables, in upper case as Azure gives them."""
    verdict, page = load("azure-pipelines.yml")["jobs"]
    assert {"edition": EDITION, "tier": TIER} in verdict["strategy"]["matrix"].values()
    staging = {"BUILD_ARTIFACTSTAGINGDIRECTORY": str(staged)}
    for step in verdict["steps"]:
        if "bash" in step:
            yield step["bash"], VARIABLES | staging
    for step in page["steps"]:
        if "bash" in step:
            yield step["bash"], {"PIPELINE_WORKSPACE": str(staged.parent)}


EACH = [pytest.param(True, id="conforming"), pytest.param(False, id="faulty")]
"""At the gate one of them on each host: the next test has all exit codes."""


@pytest.mark.parametrize("conforms", EACH if FULL else EACH[:1], indirect=True)
def test_gitlab_jobs_fail_for_a_violation_alone_and_leave_their_page(tmp_path, tools, conforms):
    verdict, page = gitlab_scripts()
    ended = execute(verdict[0], tmp_path, tools, verdict[1])
    assert (0 if conforms else 1) == ended.returncode, ended.stderr
    for name in ("conformance.json", "conformance.html", "junit.xml"):
        assert (tmp_path / RUN / name).stat().st_size, name
    assert 0 == execute(page[0], tmp_path, tools, page[1]).returncode
    assert (tmp_path / "conformance.html").stat().st_size


@pytest.mark.parametrize("conforms", EACH if FULL else EACH[1:], indirect=True)
def test_azure_jobs_fail_for_a_violation_alone_and_leave_their_page(tmp_path, tools, conforms):
    staged = tmp_path / "pipeline" / "verdict"
    ended = [
        execute(script, tmp_path, tools, variables) for script, variables in azure_scripts(staged)
    ]
    codes = [each.returncode for each in ended]
    assert [0, 0 if conforms else 1, 0, 0, 0] == codes, [each.stderr for each in ended]
    assert (staged / "conformance.json").stat().st_size
    assert (staged / "failures").exists() is not conforms
    assert (tmp_path / "conformance.html").stat().st_size


@pytest.mark.parametrize("code", ExitCode)
def test_job_ends_as_its_run_and_an_incomplete_run_is_a_warning(tmp_path, code) -> None:
    """GitLab reads the exit code from the file, Azure a line of the output."""
    assert 3 == load(".gitlab-ci.yml")["verdict"]["allow_failure"]["exit_codes"]
    (tmp_path / RUN).mkdir(parents=True)
    for name, script in {"pip": "", "busproof": f'[ "$1" != run ] || exit {code:d}'}.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / name).chmod(0o755)
    verdict, _ = gitlab_scripts()
    assert code == execute(verdict[0], tmp_path, tmp_path, verdict[1]).returncode
    script = next(text for text, _ in azure_scripts(tmp_path) if "busproof run" in text)
    ended = execute(script, tmp_path, tmp_path, VARIABLES)
    assert (0 if code == 3 else code) == ended.returncode
    assert ("result=SucceededWithIssues" in ended.stdout) is (code == 3)
