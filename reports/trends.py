"""Trends of an implementation's verdicts: a file with a line of JSON for each run."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import structure, unstructure
from busproof.history.conformance import Conformance, Verdict
from busproof.history.lines import decode_line, encode_line
from busproof.reports.document import view
from busproof.reports.overview import terms_words
from busproof.reports.redaction import redact
from busproof.spec import Catalogue

__all__ = ["Entry", "entry_of", "extend", "find_moved", "read_entries", "series"]

SCHEMA: Final = 1
"""Version of the format of a line."""


@attrs.frozen(kw_only=True)
class Entry:
    """One run in the history of runs.

    Attributes:
        schema: version of the format.
        run: an id of the run, computed from its verdicts and their basis.
        at: the time of its recording in UTC, such as `2026-11-22T05:50Z`.
        label: what was run, such as a commit; may be empty.
        name: the name of the implementation.
        adapter: the name of its adapter.
        version: the version of the implementation.
        held_to: the terms of the run, in words; only runs with equal terms are compared.
        verdicts: for each verdict the ids of its rules, separated by spaces.
    """

    schema: int = SCHEMA
    run: str
    at: str
    label: str = ""
    name: str
    adapter: str = ""
    version: str = ""
    held_to: str
    verdicts: dict[str, str]

    def counted(self, verdict: Verdict) -> int:
        """Return how many rules had this verdict."""
        return len(self.verdicts.get(verdict.value, "").split())

    def by_rule(self) -> dict[v.RuleId, str]:
        """Return the verdict on each rule."""
        return {rule: name for name, rules in self.verdicts.items() for rule in rules.split()}


def entry_of(conformance: Conformance, catalogue: Catalogue, at: str, label: str = "") -> Entry:
    """Return the entry of a run; `at` is the time in UTC, such as `2026-11-22T05:50Z`."""
    clean = redact(conformance)
    # A run with equal verdicts at another time counts as the same run.
    timeless = attrs.evolve(clean, at="", seconds=None)
    text = json.dumps(view(timeless), sort_keys=True)
    verdicts = {
        verdict.value: " ".join(rule.id for rule in clean.rules if rule.verdict is verdict)
        for verdict in Verdict
    }
    return Entry(
        run=hashlib.sha256(text.encode()).hexdigest()[:16],
        at=at,
        label=label,
        name=clean.subject.name,
        adapter=clean.subject.adapter,
        version=clean.subject.version,
        held_to=terms_words(clean, catalogue),
        verdicts={verdict: rules for verdict, rules in verdicts.items() if rules},
    )


def read_entries(path: str | os.PathLike[str]) -> tuple[Entry, ...]:
    """Return the runs in the file, oldest first; none if the file does not exist yet.

    Raises:
        HistoryError: the file cannot be read, or a line of it is not such an entry.
    """
    file = Path(path)
    try:
        lines = file.read_bytes().splitlines() if file.exists() else []
    except OSError as error:
        raise HistoryError(f"cannot read the history of runs {file}: {_reason(error)}") from None
    return tuple(
        _entry(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if line.strip()
    )


def extend(path: str | os.PathLike[str], entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Add new entries to the file; return all, oldest first.

    Raises:
        HistoryError: the file cannot be read or written, or a line of it is not such an entry.
    """
    known = read_entries(path)
    runs = {entry.run for entry in known}
    fresh = tuple({entry.run: entry for entry in entries if entry.run not in runs}.values())
    _append(Path(path), fresh)
    return (*known, *fresh)


def _append(file: Path, entries: Iterable[Entry]) -> None:
    """Append entries, even if an editor has removed the last line end."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        cut = file.exists() and file.read_bytes()[-1:] not in (b"\n", b"")
        with file.open("ab") as lines:
            lines.write(b"\n" if cut else b"")
            lines.writelines(encode_line(unstructure(entry, full=True)) for entry in entries)
    except OSError as error:
        raise HistoryError(f"cannot write the history of runs {file}: {_reason(error)}") from None


def series(
    entries: Sequence[Entry], conformance: Conformance, catalogue: Catalogue
) -> tuple[Entry, ...]:
    """Return the runs of this implementation with the same adapter and terms, oldest first."""
    subject, terms = conformance.subject, terms_words(conformance, catalogue)
    about = (subject.name, subject.adapter, terms)
    return tuple(entry for entry in entries if (entry.name, entry.adapter, entry.held_to) == about)


def find_moved(before: Entry, after: Entry) -> tuple[tuple[v.RuleId, str, str], ...]:
    """Return the rules whose verdicts differ: id, verdict before, verdict after.

    A rule that only one of the runs has gets an empty verdict in the other.
    """
    old, new = before.by_rule(), after.by_rule()
    return tuple(
        (rule, old.get(rule, ""), new.get(rule, ""))
        for rule in sorted(old.keys() | new.keys())
        if old.get(rule) != new.get(rule)
    )


def _entry(line: bytes, place: str) -> Entry:
    try:
        entry = structure(decode_line(line), Entry, "the entry")
    except HistoryError as error:
        raise HistoryError(f"{place} is not a run of a history of runs: {error}") from None
    if entry.schema != SCHEMA:
        raise HistoryError(
            f"{place} has schema {entry.schema}, and this busproof reads {SCHEMA}: upgrade busproof"
        )
    return entry


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
