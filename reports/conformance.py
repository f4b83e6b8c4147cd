"""The conformance report of a run: `conformance.json` for programs, `conformance.md` for people."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from busproof.errors import HistoryError
from busproof.history.conformance import Conformance
from busproof.reports.document import conformance_of, view
from busproof.reports.markdown import page
from busproof.reports.redaction import redact
from busproof.spec import Catalogue, load

__all__ = ["JSON_NAME", "MARKDOWN_NAME", "read", "write"]

JSON_NAME: Final = "conformance.json"
MARKDOWN_NAME: Final = "conformance.md"


def write(
    conformance: Conformance, folder: str | os.PathLike[str], catalogue: Catalogue | None = None
) -> None:
    """Write both forms of the report, without host, user, secrets, addresses and paths.

    Args:
        conformance: all verdicts of the run.
        folder: the run's; it is created if it is missing.
        catalogue: the source of the rules' statements; by default the installed one.

    Raises:
        HistoryError: a file cannot be written; an existing one is then unchanged.
    """
    clean = redact(conformance)
    texts = {
        JSON_NAME: json.dumps(view(clean), indent=2) + "\n",
        MARKDOWN_NAME: page(clean, catalogue or load()),
    }
    for name, text in texts.items():
        _replace(Path(folder) / name, text)


def read(path: str | os.PathLike[str]) -> Conformance:
    """Return the verdicts of a `conformance.json`, or of the run folder that has one.

    Raises:
        HistoryError: the file cannot be read or is not such a report.
    """
    file = Path(path)
    file = file / JSON_NAME if file.is_dir() else file
    try:
        return conformance_of(json.loads(file.read_bytes()))
    except OSError as error:
        raise HistoryError(f"cannot read the report {file}: {_reason(error)}") from None
    except HistoryError as error:
        raise HistoryError(f"{file} is not a conformance report: {error}") from None
    except (ValueError, RecursionError) as error:
        raise HistoryError(
            f"{file} is not a conformance report: it is not JSON ({error})"
        ) from None


def _replace(file: Path, text: str) -> None:
    part = file.with_name(f"{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(text.encode("utf-8", "backslashreplace"))
        part.replace(file)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise HistoryError(f"cannot write the report {file}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
