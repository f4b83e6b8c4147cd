"""Files for hosts of CI fit the schemas of the programs that read them."""

from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

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


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.name)
def test_file_fits_the_schema_of_the_program_that_reads_it(file: Path) -> None:
    from check_jsonschema import main  # a second that only the process of these tests takes

    ended = CliRunner().invoke(main, ["--builtin-schema", *SCHEMAS[file], str(file)])
    assert 0 == ended.exit_code, ended.output
