"""Allure results fit to publish: they name the implementation, but no host, process or path.

This module also collects the results of several runs, which are kept apart by implementation.
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from busproof.errors import HistoryError, UsageError
from busproof.history.conformance import Conformance
from busproof.reports import overview
from busproof.reports.allure_cases import Case, severity, write_cases
from busproof.reports.redaction import redact_text
from busproof.spec import Catalogue

__all__ = [
    "ENVIRONMENT_NAME",
    "RESULTS_NAME",
    "clean_results",
    "collect_results",
    "write_environment",
]

ENVIRONMENT_NAME: Final = "environment.properties"
RESULTS_NAME: Final = "allure-results"
"""Folder of the scenarios' results within the folder of a run."""

_PRIVATE_LABELS: Final = frozenset({"host", "thread"})
_FREE_TEXT: Final = frozenset({"description", "message", "trace"})
_EXAMPLE: Final = "_pytest_bdd_example"
"""Name of a parameter that repeats the row of a scenario outline."""


def clean_results(
    folder: str | os.PathLike[str],
    catalogue: Catalogue | None = None,
) -> tuple[Path, ...]:
    """Remove private details from the results of a finished run.

    The labels `host` and `thread` are removed; descriptions, messages and traces lose this host,
    its user, secrets, addresses and paths. Attachments stay unchanged.

    Args:
        folder: the value of `--alluredir`.
        catalogue: the source of severities, by rule; without it they are unchanged.

    Returns:
        The files that were rewritten.

    Raises:
        HistoryError: a file cannot be read or written, or is not an Allure result.
    """
    place = Path(folder)
    try:
        return tuple(file for file in _results(place) if _clean(file, catalogue))
    except OSError as error:
        reason = error.strerror or str(error)
        raise HistoryError(f"cannot clean the Allure results in {place}: {reason}") from None


def write_environment(folder: Path, run: Conformance) -> None:
    """Write `environment.properties` of a redacted run beside its results.

    Raises:
        HistoryError: the file cannot be written.
    """
    try:
        _replace(folder / ENVIRONMENT_NAME, _properties(_facts(run)))
    except OSError as error:
        reason = error.strerror or str(error)
        raise HistoryError(f"cannot write Allure results into {folder}: {reason}") from None


def collect_results(
    runs: Mapping[str, Conformance], scenarios: Iterable[Path], cases: Iterable[Case], folder: Path
) -> None:
    """Collect the results of several runs and of other checks in a new folder.

    Args:
        runs: the redacted verdicts, by label of the implementation.
        scenarios: folders of cleaned results.
        cases: further results.
        folder: the destination.

    Raises:
        UsageError: the folder already exists, or the package that writes results is missing.
        HistoryError: a result cannot be read or written.
    """
    if folder.exists():
        raise UsageError(f"there is {folder} already; remove it, or name another folder")
    write_cases(cases, folder)
    facts = {name: overview.headline(run.rules) for name, run in runs.items()}
    try:
        for place in scenarios:
            for file in place.iterdir():
                if file.name != ENVIRONMENT_NAME:
                    shutil.copyfile(file, folder / file.name)
        _replace(folder / ENVIRONMENT_NAME, _properties(facts.items()))
    except OSError as error:
        reason = error.strerror or str(error)
        raise HistoryError(f"cannot write Allure results into {folder}: {reason}") from None


def _results(place: Path) -> list[Path]:
    names = ("-result.json", "-container.json")
    return sorted(file for file in place.iterdir() if file.name.endswith(names))


def _clean(file: Path, catalogue: Catalogue | None) -> bool:
    try:
        result = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{file} is not an Allure result ({error}): delete it") from None
    if not isinstance(result, dict):
        raise HistoryError(f"{file} is not an Allure result (it is not an object): delete it")
    public = _public(result)
    if catalogue is not None and "labels" in public:
        public["labels"] = _grade(public["labels"], catalogue)
    if public == result:
        return False
    _replace(file, json.dumps(public))
    return True


def _public(result: dict[str, Any]) -> dict[str, Any]:
    result = {key: _omit_places(key, value) for key, value in result.items()}
    if "labels" in result:
        result["labels"] = [
            label for label in result["labels"] if label.get("name") not in _PRIVATE_LABELS
        ]
    if "parameters" in result:
        result["parameters"] = [
            parameter for parameter in result["parameters"] if parameter.get("name") != _EXAMPLE
        ]
    return result


def _grade(labels: list[dict[str, Any]], catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return the labels, with the severity of the rules that are among them."""
    rules = [label["value"] for label in labels if label.get("name") == "rule"]
    if not rules:
        return labels
    others = [label for label in labels if label.get("name") != "severity"]
    return [*others, {"name": "severity", "value": severity(catalogue, rules)}]


def _omit_places(key: str, value: object) -> object:
    match value:
        case dict():
            return {name: _omit_places(name, item) for name, item in value.items()}
        case list():
            return [_omit_places(key, item) for item in value]
        case str() if key in _FREE_TEXT:
            return redact_text(value)
        case _:
            return value


def _properties(facts: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{_escape(name)}={_escape(value)}\n" for name, value in facts)


def _facts(conformance: Conformance) -> Iterator[tuple[str, str]]:
    subject = conformance.subject
    yield "implementation", f"{subject.name} {subject.version}".strip()
    yield "edition", subject.edition
    yield "tier", str(subject.tier)
    yield "partitions", str(subject.partitions)
    yield "oracle", str(conformance.oracle)
    yield "rules", overview.headline(conformance.rules)
    for verdict, count in overview.tallies(conformance).items():
        yield f"rules {verdict.value}", str(count)


def _escape(text: str) -> str:
    """Escape a text as a key or value of a Java properties file, in ASCII."""
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character in " \\=:#!":
        return f"\\{character}"
    if " " < character <= "~":
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _replace(file: Path, text: str) -> None:
    part = file.with_name(f"{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
