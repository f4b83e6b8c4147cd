"""Checks of entries of the catalogue that concern more than the type of one field."""

import re
from collections.abc import Collection, Iterable

import attrs

from busproof.errors import SpecificationError
from busproof.spec import terms
from busproof.spec.reading import Fields
from busproof.spec.values import Ambiguity, Citation, Edition, Rule, Source

__all__ = [
    "Origins",
    "check_ambiguity",
    "check_conditions",
    "check_rule",
    "check_unique",
    "choice_or_none",
    "date_or_none",
    "matching",
    "rule_id",
]

_FEWEST_READINGS = 2


@attrs.frozen(kw_only=True)
class Origins:
    """Sources that citations may name: the editions, oldest first, and other sources."""

    editions: tuple[Edition, ...]
    sources: tuple[Source, ...]

    @property
    def edition_ids(self) -> tuple[str, ...]:
        """The ids of the editions, oldest first."""
        return tuple(edition.id for edition in self.editions)

    def stating(self, citations: Iterable[Citation]) -> tuple[str, ...]:
        """Return the editions that are cited or whose page is cited, oldest first."""
        cited = {citation.source for citation in citations}
        cited |= {source.beside for source in self.sources if source.id in cited and source.beside}
        return tuple(edition for edition in self.edition_ids if edition in cited)

    def is_outside(self, citations: Iterable[Citation]) -> bool:
        """Return whether a source that belongs to no edition is cited, and no edition is."""
        cited = {citation.source for citation in citations}
        general = any(source.id in cited and not source.beside for source in self.sources)
        return general and not any(edition in cited for edition in self.edition_ids)

    def place(self, fields: Fields) -> tuple[str, str | None]:
        """Read the fields `source` and `anchor`: an edition with a section, or another source.

        Raises:
            SpecificationError: the source is unknown, the edition lacks the section, or a source
                that is not an edition has a section.
        """
        anchors = {edition.id: edition.anchors for edition in self.editions}
        source = fields.choice("source", (*anchors, *(source.id for source in self.sources)))
        if source in anchors:
            return source, fields.choice("anchor", anchors[source])
        anchor = fields.text_or_none("anchor")
        if anchor is not None:
            raise fields.wrong("anchor", anchor, f"none, for {source} is not one of the editions")
        return source, None


def matching(fields: Fields, field: str, pattern: str) -> str:
    """Read a text that matches the pattern as a whole.

    Raises:
        SpecificationError: the text does not match.
    """
    value = fields.text(field)
    if not re.fullmatch(pattern, value):
        raise fields.wrong(field, value, f"what matches {pattern}")
    return value


def matching_or_none(fields: Fields, field: str, pattern: str) -> str | None:
    """Read a text that matches the pattern as a whole, or `None` if the field is missing.

    Raises:
        SpecificationError: the text does not match.
    """
    value = fields.text_or_none(field)
    if value is not None and not re.fullmatch(pattern, value):
        raise fields.wrong(field, value, f"what matches {pattern}")
    return value


def rule_id(fields: Fields, family: str) -> str:
    """Read the field `id` of a rule: its family, a hyphen and two digits.

    Raises:
        SpecificationError: the value has another form, or names another family.
    """
    value = matching(fields, "id", r"[A-Z]+-\d\d")
    if value.partition("-")[0] != family:
        raise fields.wrong("id", value, f"{family}-01 to {family}-99 in this file")
    return value


def date_or_none(fields: Fields, field: str) -> str | None:
    """Read a date as text, or `None` if the field is missing.

    Raises:
        SpecificationError: it is not a date, or has no quotes, so that YAML reads it as no text.
    """
    value = fields.text_or_none(field)
    if value is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        raise fields.wrong(field, value, 'a day in quotes, such as "2021-05-06"')
    return value


def choice_or_none(fields: Fields, field: str, allowed: Collection[str]) -> str | None:
    """Read one of the allowed texts, or `None` if the field is missing.

    Raises:
        SpecificationError: it is another text.
    """
    value = fields.text_or_none(field)
    if value is not None and value not in allowed:
        raise fields.wrong(field, value, ", ".join(allowed))
    return value


def check_unique(top: Fields, field: str, values: Iterable[str]) -> None:
    """Raise an error if two entries of a file have the same value in this field.

    Raises:
        SpecificationError: two entries have the same value.
    """
    earlier: set[str] = set()
    for value in values:
        if value in earlier:
            raise SpecificationError(
                f"{top.where}: {value}: {field}: {value!r} is used twice; give each entry its own."
            )
        earlier.add(value)


def check_rule(fields: Fields, rule: Rule, *, longest_title: int) -> None:
    """Raise an error for a rule whose fields contradict each other, or refer to unknown entries.

    Raises:
        SpecificationError: the rule has such fields.
    """
    if len(rule.title) > longest_title:
        raise fields.wrong("title", rule.title, f"at most {longest_title} characters")
    if not rule.tiers:
        raise fields.wrong("tiers", [], f"at least one of {', '.join(terms.TIERS)}")
    _check_evidence(fields, rule)
    _check_needs(fields, rule)
    _check_covers(fields, rule)
    _check_citations(fields, rule)


def _check_evidence(fields: Fields, rule: Rule) -> None:
    ways = terms.MODALITIES[rule.modality]
    if rule.shown_by not in ways:
        raise fields.wrong("shown_by", rule.shown_by, f"{', '.join(ways)} for {rule.modality!r}")
    never = rule.shown_by == "never"
    if never and rule.why_never is None:
        raise SpecificationError(
            f"{fields.where}: why_never: this field is missing; shown_by 'never' needs a reason."
        )
    if not never and rule.why_never is not None:
        raise fields.wrong("why_never", rule.why_never, "nothing, unless shown_by is 'never'")
    if never and rule.oracles:
        raise fields.wrong("oracles", list(rule.oracles), "[] where shown_by is 'never'")
    if not never and not rule.oracles:
        raise fields.wrong("oracles", [], f"at least one of {', '.join(terms.ORACLES)}")


def _check_needs(fields: Fields, rule: Rule) -> None:
    for need in rule.needs:
        for alternative in need.split("|"):
            if alternative not in terms.CAPABILITIES:
                raise fields.wrong("needs", need, ", ".join(terms.CAPABILITIES))
    for condition in rule.unless:
        if "=" not in condition and condition not in terms.CAPABILITIES:
            allowed = ("AMBIGUITY=reading", *terms.CAPABILITIES)
            raise fields.wrong("unless", condition, ", ".join(allowed))


def check_conditions(rules: Iterable[Rule], register: Iterable[Ambiguity]) -> None:
    """Raise an error for a rule that depends on a reading that the register does not have.

    Raises:
        SpecificationError: there is such a rule.
    """
    readings = {
        entry.id: [f"{entry.id}={reading}" for reading in entry.readings] for entry in register
    }
    for rule in rules:
        for condition in rule.unless:
            name, equals, _ = condition.partition("=")
            if equals and condition not in readings.get(name, ()):
                allowed = readings.get(name) or [f"a reading of {', '.join(sorted(readings))}"]
                raise SpecificationError(
                    f"rules/{rule.family}.yaml: {rule.id}: unless: {condition!r} is not allowed; "
                    f"allowed: {', '.join(allowed)}."
                )


def _check_covers(fields: Fields, rule: Rule) -> None:
    for statement in rule.covers:
        match = re.fullmatch(r"([A-Z])([1-9]\d?)", statement)
        if not match or int(match[2]) > terms.STATEMENTS.get(match[1], 0):
            ranges = (f"{letter}1 to {letter}{last}" for letter, last in terms.STATEMENTS.items())
            raise fields.wrong("covers", statement, ", ".join(ranges))


def _check_citations(fields: Fields, rule: Rule) -> None:
    earlier: set[tuple[str, str | None]] = set()
    for citation in rule.citations:
        place = (citation.source, citation.anchor)
        if place in earlier:
            where = " ".join(part for part in place if part)
            raise fields.wrong("citations", where, "each place once")
        earlier.add(place)


def check_ambiguity(fields: Fields, ambiguity: Ambiguity) -> None:
    """Raise an error for an ambiguity that has no alternatives, or concerns no rules.

    Raises:
        SpecificationError: it has fewer than two readings, or no rule.
    """
    if len(ambiguity.readings) < _FEWEST_READINGS:
        raise fields.wrong("readings", list(ambiguity.readings), "at least two readings")
    if not ambiguity.rules:
        raise fields.wrong("rules", [], "at least one rule")
