"""Allure results made fit to publish: no host, no process, no paths; and who was judged."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from busproof.errors import HistoryError
from busproof.history.conformance import Conformance
from busproof.reports import overview
from busproof.reports.redaction import redacted, redacted_text

__all__ = ["ENVIRONMENT_NAME", "cleaned"]

ENVIRONMENT_NAME: Final = "environment.properties"

_PRIVATE_LABELS: Final = frozenset({"host", "thread"})
_FREE_TEXT: Final = frozenset({"description", "message", "trace"})
_EXAMPLE: Final = "_pytest_bdd_example"
"""A parameter that repeats what an outline's row says in parameters of its own."""


def cleaned(
    folder: str | os.PathLike[str], conformance: Conformance | None = None
) -> tuple[Path, ...]:
    """Clean the results of a run that has ended.

    The labels `host` and `thread` go; descriptions, messages and traces lose this host, its user,
    secrets, addresses and paths. Attachments stay as they are.

    Args:
        folder: what `--alluredir` named.
        conformance: the verdicts of the run, for `environment.properties`; without them that file
            is not written.

    Returns:
        The files that were rewritten.

    Raises:
        HistoryError: a file cannot be read or written, or is no Allure result.
    """
    place = Path(folder)
    try:
        changed = tuple(file for file in _results(place) if _clean(file))
        if conformance is not None:
            _replace(place / ENVIRONMENT_NAME, _environment(redacted(conformance)))
    except OSError as error:
        reason = error.strerror or str(error)
        raise HistoryError(f"cannot clean the Allure results in {place}: {reason}") from None
    return changed


def _results(place: Path) -> list[Path]:
    names = ("-result.json", "-container.json")
    return sorted(file for file in place.iterdir() if file.name.endswith(names))


def _clean(file: Path) -> bool:
    try:
        result = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{file} is no Allure result ({error}): delete it") from None
    if not isinstance(result, dict):
        raise HistoryError(f"{file} is no Allure result (it is no object): delete it")
    public = _public(result)
    if public == result:
        return False
    _replace(file, json.dumps(public))
    return True


def _public(result: dict[str, Any]) -> dict[str, Any]:
    result = {key: _without_places(key, value) for key, value in result.items()}
    if "labels" in result:
        result["labels"] = [
            label for label in result["labels"] if label.get("name") not in _PRIVATE_LABELS
        ]
    if "parameters" in result:
        result["parameters"] = [
            parameter for parameter in result["parameters"] if parameter.get("name") != _EXAMPLE
        ]
    return result


def _without_places(key: str, value: object) -> object:
    match value:
        case dict():
            return {name: _without_places(name, each) for name, each in value.items()}
        case list():
            return [_without_places(key, each) for each in value]
        case str() if key in _FREE_TEXT:
            return redacted_text(value)
        case _:
            return value


def _environment(conformance: Conformance) -> str:
    return "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in _facts(conformance))


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


def _escaped(text: str) -> str:
    """Text as Java reads a key or a value of a properties file, in ASCII."""
    return "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
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
