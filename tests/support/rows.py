"""Rows of parametrized tests that are data: a file beside the tests, with a JSON value a line."""

import json
from pathlib import Path
from typing import Any

__all__ = ["rows_of"]


def rows_of(test: str, name: str) -> list[Any]:
    """Return the rows of the file with this name beside a file of tests."""
    file = Path(test).with_name(f"{name}.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
