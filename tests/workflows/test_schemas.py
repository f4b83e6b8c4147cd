"""Files for hosts of CI fit the schemas of the programs that read them."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parent.parent.parent
CI: Final = ROOT / "examples" / "ci"

SCHEMAS: Final = {
    ROOT / "action.yml": ("vendor.github-actions",),
    CI / ".github/workflows/conformance.yml": ("vendor.github-workflows",),
    CI / ".gitlab-ci.yml": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
    CI / "azure-pipelines.yml": (
        *("vendor.azure-pipelines", "--data-transform", "azure-pipelines"),
        *("--regex-variant", "nonunicode"),  # one of its patterns is none by the stricter reading
    ),
}
"""Files, with the schema of the program that reads each."""


def check(file: Path, schema: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    """Check a file against the schema of its program."""
    name, *options = schema
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", name, *options]
    return subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.name)
def test_file_fits_the_schema_of_the_program_that_reads_it(file: Path) -> None:
    ended = check(file, SCHEMAS[file])
    assert 0 == ended.returncode, ended.stdout
