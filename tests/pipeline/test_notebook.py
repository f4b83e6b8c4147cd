"""The example notebook: it was run to its end, and runs again."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "how-to" / "check-in-a-notebook.ipynb"
TEXT = NOTEBOOK.read_text(encoding="utf-8")
CELLS = [each for each in json.loads(TEXT)["cells"] if each["cell_type"] == "code"]


def test_every_cell_was_run_and_none_failed() -> None:
    """With three pictures, and nothing of the machine where it ran."""
    assert [*range(1, len(CELLS) + 1)] == [each["execution_count"] for each in CELLS]
    outputs = [output for each in CELLS for output in each["outputs"]]
    assert "error" not in {each["output_type"] for each in outputs}
    assert 3 == sum("image/png" in each.get("data", {}) for each in outputs)
    assert [] == [folder for folder in ("home", "root", "tmp", "work") if f"/{folder}/" in TEXT]


@pytest.mark.full_size("a run of the suite and a Spark: run by the nightly part spark")
def test_notebook_runs_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Cell by cell; those that draw only where matplotlib is."""
    monkeypatch.chdir(tmp_path)
    draws = importlib.util.find_spec("matplotlib") is not None
    names: dict[str, Any] = {}
    for each in CELLS:
        source = "".join(each["source"])
        is_last = source.strip() == "spark.stop()"  # the session belongs to all tests
        if not is_last and (draws or "picture" not in each["metadata"].get("tags", ())):
            exec(source, names)  # noqa: S102 - our own notebook
    assert names["checked"].violations.count() > 0
