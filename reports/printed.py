"""What an audit and a check of the specs printed as JSON, read back."""

import json
import os
from pathlib import Path
from typing import Any, TypeVar

import attrs

from busproof.errors import HistoryError
from busproof.history.codec import structure
from busproof.vocabulary.values import RuleId

__all__ = ["Checked", "Fate", "read_audit", "read_modelcheck"]


@attrs.frozen(kw_only=True)
class Fate:
    """What became of one seeded fault.

    Attributes:
        id: of the fault.
        rule: the rule that it breaks.
        result: `killed`, `silent` or `equivalent`.
        killed_by: the scenarios that noticed.
        commands: how many commands the shortest counterexample has.
        violated: every rule that was found violated.
        why: why it was not noticed.
    """

    id: str
    rule: RuleId
    result: str = attrs.field(validator=attrs.validators.in_(("killed", "silent", "equivalent")))
    killed_by: tuple[str, ...] = ()
    commands: int = 0
    violated: tuple[RuleId, ...] = ()
    why: str = ""


@attrs.frozen(kw_only=True)
class Checked:
    """What one configuration of the specs came to.

    Attributes:
        name: of the configuration.
        kind: what it is for, such as `invariant`.
        passed: whether all was as it is pinned.
        error: what kept TLC from a verdict.
        deviations: what was otherwise than it is pinned.
        trace: what TLC printed of a counterexample, a step each.
        scenario: the same as Gherkin.
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
    """The faults by their ids, from what `busproof audit --format json` printed.

    Raises:
        HistoryError: the file cannot be read, or is no such output.
    """
    return {fate.id: fate for fate in _read(Path(path), _Audit, "audit").faults}


def read_modelcheck(path: str | os.PathLike[str]) -> tuple[Checked, ...]:
    """The configurations, from what `busproof modelcheck --format json` printed.

    Raises:
        HistoryError: the file cannot be read, or is no such output.
    """
    return _read(Path(path), _Modelcheck, "modelcheck").configurations


def _read(file: Path, kind: type[Printed], command: str) -> Printed:
    try:
        value = _without_figures(json.loads(file.read_bytes()))
        return structure(value, kind, f"what {command} printed")
    except OSError as error:
        raise HistoryError(f"cannot read {file}: {error.strerror or error}") from None
    except (HistoryError, ValueError, RecursionError) as error:
        raise HistoryError(
            f"{file} is not what busproof {command} --format json prints: {error}"
        ) from None


def _without_figures(value: Any) -> Any:
    """The same without what is only counted and timed of configurations."""
    match value:
        case {"configurations": [*each]} if all(isinstance(one, dict) for one in each):
            told = {field.name for field in attrs.fields(Checked)}
            kept = [{name: one[name] for name in one if name in told} for one in each]
            return {"configurations": kept}
        case _:
            return value
