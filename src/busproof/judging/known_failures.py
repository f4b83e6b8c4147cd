"""Rules that an implementation is known to break: they run, and must fail.

The list is a YAML file::

    known_failures:
      - rule: KEY-08
        reason: The bus takes the session's id and drops the key.
        link: https://example.org/bus/issues/17
        expires: 2027-01-31

A rule in the list is neither shown nor violated, but a known failure. An entry excuses one rule and
nothing else. A rule that passes or does not exist, and an entry that has expired, make the list
stale, so that no entry stays longer than it is needed.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final

import attrs
import yaml

from busproof.errors import HistoryError, SpecificationError, UsageError
from busproof.history.conformance import (
    Conformance,
    ExitCode,
    KnownFailure,
    RuleVerdict,
    Standing,
    Verdict,
    is_asked_for,
)
from busproof.spec import Catalogue
from busproof.spec.reading import Fields, read_file

__all__ = ["marked", "read_known_failures", "write_known_failures"]

_FIELD: Final = "known_failures"

_STALE: Final = frozenset({Standing.PASSED, Standing.UNKNOWN, Standing.EXPIRED})

_KEPT: Final = frozenset({Standing.FAILED, Standing.NOT_TRIED, Standing.NOT_ASKED_FOR})

_HEAD: Final = """\
# Rules that this implementation is known to break, for `busproof run --known-failures`.
# Each of them runs and must fail. Say why in `reason`, add a `link`, and remove an entry once its
# rule passes; `expires` is the last day of an entry, and may be left out.
"""


def read_known_failures(path: Path) -> tuple[KnownFailure, ...]:
    """Return the entries of a list of known failures.

    Raises:
        UsageError: the file cannot be read or is not such a list; the message names the entry, the
            field, its value and the allowed values.
    """
    try:
        fields = read_file(Path(), str(path))
        entries = fields.entries_if_any(_FIELD, "rule")
        fields.end()
        known = tuple(_entry(entry) for entry in entries)
    except SpecificationError as error:
        raise UsageError(str(error)) from None
    rules = [entry.rule for entry in known]
    for rule in rules:
        if rules.count(rule) > 1:
            raise UsageError(f"{path}: {rule} stands in {rules.count(rule)} entries; keep one.")
    return known


def _entry(fields: Fields) -> KnownFailure:
    expires = fields.date_or_none("expires")
    known = KnownFailure(
        rule=fields.text("rule"),
        reason=fields.text("reason"),
        link=fields.text_or_none("link") or "",
        expires="" if expires is None else expires.isoformat(),
    )
    fields.end()
    return known


def write_known_failures(
    conformance: Conformance, path: Path, today: date, expires: date
) -> tuple[KnownFailure, ...]:
    """Write a list of the rules that a run found broken; write no file if it found none.

    An entry of the run's own list is kept if its rule failed again or was not tried.

    Raises:
        HistoryError: the file cannot be written.
    """
    kept = {
        known_failure.rule: known_failure
        for known_failure in conformance.known_failures
        if known_failure.standing in _KEPT
    }
    fresh = {
        rule.id: KnownFailure(
            rule=rule.id, reason=_reason(rule, today), expires=expires.isoformat()
        )
        for rule in conformance.rules
        if rule.verdict is Verdict.VIOLATED
    }
    entries = tuple(sorted((fresh | kept).values(), key=lambda entry: entry.rule))
    if entries:
        _write(path, _HEAD + _as_yaml(entries))
    return entries


def _reason(rule: RuleVerdict, today: date) -> str:
    observed = "" if rule.counterexample is None else f"; seen: {rule.counterexample.seen}"
    return f"failed on {today.isoformat()}{observed}"


def _as_yaml(entries: Sequence[KnownFailure]) -> str:
    listed = [
        {
            "rule": entry.rule,
            "reason": entry.reason,
            **({"link": entry.link} if entry.link else {}),
            **({"expires": date.fromisoformat(entry.expires)} if entry.expires else {}),
        }
        for entry in entries
    ]
    return yaml.safe_dump({_FIELD: listed}, sort_keys=False, allow_unicode=True, width=100)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"cannot write {path}: {error.strerror or error}") from None


def marked(
    conformance: Conformance, known: Sequence[KnownFailure], catalogue: Catalogue, today: date
) -> Conformance:
    """Return the verdicts with known failures distinguished from other violations.

    An entry still counts on its last day. If its rule was not fully judged, the entry excuses
    nothing and is reported as a problem, because the rule had to fail.
    """
    verdicts = {rule.id: rule for rule in conformance.rules}
    entries = tuple(
        attrs.evolve(entry, standing=_standing(entry, verdicts.get(entry.rule), today))
        if _is_asked_for(entry, conformance, catalogue)
        else attrs.evolve(entry, standing=Standing.NOT_ASKED_FOR)
        for entry in known
    )
    failed = {entry.rule: entry for entry in entries if entry.standing is Standing.FAILED}
    rules = tuple(
        rule
        if rule.id not in failed
        else attrs.evolve(
            rule, verdict=Verdict.KNOWN_FAILURE, cause=f"known: {failed[rule.id].reason}"
        )
        for rule in conformance.rules
    )
    held_to_list = attrs.evolve(
        conformance,
        rules=rules,
        known_failures=entries,
        problems=(*conformance.problems, *_problems(entries, verdicts, catalogue)),
    )
    return attrs.evolve(held_to_list, exit_code=_exit_code(held_to_list))


def _is_asked_for(known: KnownFailure, conformance: Conformance, catalogue: Catalogue) -> bool:
    """Return whether an entry counts in a run limited to some rules; an unknown rule's does."""
    there = any(rule.id == known.rule for rule in catalogue.rules if rule.shown_by != "never")
    judged = any(rule.id == known.rule for rule in conformance.rules)
    return judged or not there or is_asked_for(known.rule, conformance.only)


def _standing(known: KnownFailure, rule: RuleVerdict | None, today: date) -> Standing:
    if rule is None:
        return Standing.UNKNOWN
    if known.expires and date.fromisoformat(known.expires) < today:
        return Standing.EXPIRED
    if rule.verdict is Verdict.VIOLATED:
        return Standing.FAILED
    return Standing.PASSED if rule.verdict is Verdict.SHOWN else Standing.NOT_TRIED


def _problems(
    entries: Sequence[KnownFailure], verdicts: dict[str, RuleVerdict], catalogue: Catalogue
) -> list[str]:
    sentences = {
        Standing.PASSED: "passed: remove its entry from the list of known failures",
        Standing.UNKNOWN: "is in the list of known failures, but {why}: remove its entry",
        Standing.EXPIRED: "is in the list of known failures until {until}, which has passed: "
        "renew the entry with a reason, or remove it",
        Standing.NOT_TRIED: "is a known failure and was {verdict} here: it had to fail",
    }
    return [
        f"{entry.rule} "
        + sentences[entry.standing].format(
            why=_unknown(entry.rule, catalogue),
            until=entry.expires,
            verdict=verdicts[entry.rule].verdict.value if entry.rule in verdicts else "",
        )
        for entry in entries
        if entry.standing in sentences
    ]


def _unknown(rule: str, catalogue: Catalogue) -> str:
    try:
        return f"no scenario shows it ({catalogue.rule(rule).why_never})"
    except UsageError:
        return "there is no such rule"


def _exit_code(conformance: Conformance) -> ExitCode:
    """Return the exit code: stale before violated before incomplete."""
    if any(known_failure.standing in _STALE for known_failure in conformance.known_failures):
        return ExitCode.STALE
    if conformance.counted(Verdict.VIOLATED):
        return ExitCode.VIOLATION
    unfinished = (Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE, Verdict.ERRORED)
    if conformance.problems or any(conformance.counted(verdict) for verdict in unfinished):
        return ExitCode.INCOMPLETE
    return ExitCode.OK
