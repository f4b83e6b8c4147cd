"""What an audit found, read back: which seeded faults the tests of their rules noticed."""

import json
import os
from pathlib import Path

import attrs

from busproof.errors import HistoryError
from busproof.history.codec import structure
from busproof.model.values import RuleId

__all__ = ["Fate", "read_audit"]


@attrs.frozen(kw_only=True)
class Fate:
    """What became of one fault.

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
class _Audit:
    faults: tuple[Fate, ...]


def read_audit(path: str | os.PathLike[str]) -> dict[str, Fate]:
    """The faults by their ids, from what `busproof audit --format json` printed.

    Raises:
        HistoryError: the file cannot be read, or is no such output.
    """
    file = Path(path)
    try:
        found = structure(json.loads(file.read_bytes()), _Audit, "the audit")
    except OSError as error:
        raise HistoryError(f"cannot read the audit {file}: {error.strerror or error}") from None
    except (HistoryError, ValueError, RecursionError) as error:
        raise HistoryError(
            f"{file} is no audit ({error}); busproof audit --format json prints one"
        ) from None
    return {fate.id: fate for fate in found.faults}
