"""Readers for the JSON output of an audit and of a check of the specs."""

import json
import os
from pathlib import Path
from typing import Any, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import structure

__all__ = ["Checked", "Fate", "read_audit", "read_modelcheck"]


@attrs.frozen(kw_only=True)
class Fate:
    """The result of one mutant.

    Attributes:
        id: the id of the mutant.
        rule: the rule that it breaks.
        result: `killed`, `silent` or `equivalent`.
        killed_by: the scenarios that killed it.
        commands: the length of the shortest counterexample.
        content: how many characters it has, written as commands.
        violated: every rule that was found violated.
        is_judged: whether the judge accuses the counterexample, too, and not only a step.
        scenarios_by_step: the scenarios that only a step of theirs fails.
        why: the reason why it was not killed.
    """

    id: str
    rule: v.RuleId
    result: str = attrs.field(validator=attrs.validators.in_(("killed", "silent", "equivalent")))
    killed_by: tuple[str, ...] = ()
    commands: int = 0
    content: int = 0
    violated: tuple[v.RuleId, ...] = ()
    is_judged: bool = True
    scenarios_by_step: tuple[str, ...] = ()
    why: str = ""


@attrs.frozen(kw_only=True)
class Checked:
    """The result of one configuration of the specs.

    Attributes:
        name: the name of the configuration.
        kind: the purpose of the configuration, such as `invariant`.
        passed: whether everything was as expected.
        error: the reason why TLC reached no verdict.
        deviations: differences from the expected result.
        trace: TLC's counterexample, step by step.
        scenario: the counterexample as Gherkin.
    """

    name: str
    kind: str
    passed: bool
    error: str = ""
    deviations: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    scenario: str = ""


@attrs.frozen(kw_only=True)
class _Audit:
    faults: tuple[Fate, ...]


@attrs.frozen(kw_only=True)
class _Modelcheck:
    configurations: tuple[Checked, ...]


Printed = TypeVar("Printed", _Audit, _Modelcheck)


def read_audit(path: str | os.PathLike[str]) -> dict[str, Fate]:
    """Return the mutants by id, from the output of `busproof audit --format json`.

    Raises:
        HistoryError: the file cannot be read, or is not such output.
    """
    return {fate.id: fate for fate in _read(Path(path), _Audit, "audit").faults}


def read_modelcheck(path: str | os.PathLike[str]) -> tuple[Checked, ...]:
    """Return the configurations, from the output of `busproof modelcheck --format json`.

    Raises:
        HistoryError: the file cannot be read, or is not such output.
    """
    return _read(Path(path), _Modelcheck, "modelcheck").configurations


def _read(file: Path, kind: type[Printed], command: str) -> Printed:
    try:
        value = _omit_figures(json.loads(file.read_bytes()))
        return structure(value, kind, f"what {command} printed")
    except OSError as error:
        raise HistoryError(f"cannot read {file}: {error.strerror or error}") from None
    except (HistoryError, ValueError, RecursionError) as error:
        raise HistoryError(
            f"{file} is not what busproof {command} --format json prints: {error}"
        ) from None


def _omit_figures(value: Any) -> Any:
    """Return parsed JSON without the counts and times of its configurations."""
    match value:
        case {"configurations": [*results]} if all(isinstance(one, dict) for one in results):
            fields = {field.name for field in attrs.fields(Checked)}
            kept = [{name: one[name] for name in one if name in fields} for one in results]
            return {"configurations": kept}
        case _:
            return value
