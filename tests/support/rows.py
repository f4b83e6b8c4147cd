"""Rows of parametrized tests that are data: a file beside the tests, with a JSON value a line."""

import json
from pathlib import Path
from typing import Any

from busproof import vocabulary as v
from busproof.history.codec import structure

__all__ = ["command_of", "exchange_of", "rows_of"]


def rows_of(test: str, name: str) -> list[Any]:
    """Return the rows of the file with this name beside a file of tests."""
    file = Path(test).with_name(f"{name}.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def command_of(told: dict[str, Any]) -> v.Command:
    """Return the command that a row tells."""
    return exchange_of(told, {"type": "Done"})[0]


def exchange_of(command: dict[str, Any], outcome: dict[str, Any]) -> tuple[v.Command, v.Outcome]:
    """Return the command and the outcome that a row tells."""
    event = structure({"command": command, "outcome": outcome}, v.Event)
    return event.command, event.outcome
