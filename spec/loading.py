"""Loading of a catalogue from its folder: rules, ambiguities, sources and versions."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from busproof.errors import SpecificationError
from busproof.spec import checks, terms
from busproof.spec.catalogue import Catalogue
from busproof.spec.reading import Fields, read_file
from busproof.spec.values import (
    Ambiguity,
    Citation,
    Edition,
    Family,
    Release,
    Rule,
    Said,
    Snapshot,
    Source,
    Statement,
)

__all__ = ["load", "read_citation"]

_OWN: Final = Path(__file__).parent
_LONGEST_TITLE: Final = 60
_MOST: Final = 999


def load(folder: Path | None = None) -> Catalogue:
    """Load the catalogue in `folder`; without it busproof's own, which is read only once.

    Raises:
        SpecificationError: an entry is broken or contradicts another; the message names file,
            entry, field, value and the allowed values.
    """
    return _own() if folder is None else _load_folder(folder)


@cache
def _own() -> Catalogue:
    return _load_folder(_OWN)


def _load_folder(folder: Path) -> Catalogue:
    editions, sources, default = _origins(read_file(folder, "sources.yaml"))
    known = checks.Origins(editions=editions, sources=sources)
    families, rules = _families(folder, known)
    ambiguities = _register(folder, known, rules)
    return Catalogue(
        families=families,
        rules=rules,
        ambiguities=ambiguities,
        editions=editions,
        default_edition=default,
        sources=sources,
        statements=_statements(read_file(folder, "statements.yaml"), known.edition_ids),
        releases=_releases(read_file(folder, "changes.yaml")),
    )


def _statements(top: Fields, editions: tuple[str, ...]) -> tuple[Statement, ...]:
    """Return the statements, with their editions; the places in these are for tests only."""
    return tuple(
        _statement(name, entry, editions) for name, entry in top.named_entries("statements").items()
    )


def _statement(name: str, entry: Fields, editions: tuple[str, ...]) -> Statement:
    entry.texts("in")
    made_by = entry.texts("editions", editions)
    apart = entry.entry_or_none("apart")
    if apart is not None:
        made_by += tuple(edition for edition in editions if apart.texts_or_none(edition))
        apart.end()
    statement = Statement(
        id=name,
        says=entry.text("says"),
        editions=tuple(edition for edition in editions if edition in made_by),
    )
    entry.end()
    return statement


def _releases(top: Fields) -> tuple[Release, ...]:
    releases = tuple(_release(fields) for fields in top.entries("releases", "version"))
    top.end()
    checks.check_unique(top, "version", [release.version for release in releases])
    numbers = [tuple(map(int, release.version.split("."))) for release in releases]
    if numbers != sorted(numbers, reverse=True):
        raise top.wrong("releases", releases[0].version, "the newest version first")
    return releases


def _release(fields: Fields) -> Release:
    release = Release(
        version=checks.matching(fields, "version", r"\d{1,4}\.\d{1,4}\.\d{1,4}"),
        dated=checks.matching(fields, "dated", r"\d{4}-\d\d-\d\d"),
        sha256=checks.matching(fields, "sha256", r"[0-9a-f]{64}"),
        changes=fields.texts("changes"),
    )
    fields.end()
    return release


def _origins(top: Fields) -> tuple[tuple[Edition, ...], tuple[Source, ...], str]:
    editions = tuple(_edition(fields) for fields in top.entries("editions", "id"))
    known = [edition.id for edition in editions]
    sources = tuple(_source(fields, known) for fields in top.entries("sources", "id"))
    default = top.choice("default", known)
    top.end()
    checks.check_unique(
        top, "id", [edition.id for edition in editions] + [source.id for source in sources]
    )
    checks.check_unique(top, "mark", [edition.mark for edition in editions])
    checks.check_unique(top, "order", [str(edition.order) for edition in editions])
    return tuple(sorted(editions, key=lambda edition: edition.order)), sources, default


def _edition(fields: Fields) -> Edition:
    edition = Edition(
        id=checks.matching(fields, "id", r"[a-z]{2}-(\d{4}-\d\d|undated)"),
        mark=checks.matching(fields, "mark", r"[A-Z]"),
        order=fields.number("order", 1, _MOST),
        language=checks.matching(fields, "language", r"[a-z]{2}"),
        translation=fields.choice("translation", terms.TRANSLATIONS),
        dated=checks.date_or_none(fields, "dated"),
        handed_off=checks.date_or_none(fields, "handed_off"),
        sha256=checks.matching_or_none(fields, "sha256", r"[0-9a-f]{64}"),
        anchored_by=fields.choice("anchored_by", terms.ANCHORED_BY),
        anchors=fields.texts("anchors"),
        link=_link(fields),
        snapshot=_snapshot(fields),
        note=fields.text_or_none("note"),
    )
    fields.end()
    named = edition.translation == "original" and edition.snapshot is not None
    if edition.sha256 is None and not named:
        raise fields.wrong("sha256", None, "a SHA-256, or the snapshot of an original")
    return edition


def _source(fields: Fields, editions: list[str]) -> Source:
    source = Source(
        id=checks.matching(fields, "id", r"facts(-[a-z0-9]+)+"),
        kind=fields.choice("kind", terms.SOURCE_KINDS),
        title=fields.text("title"),
        as_of=checks.matching(fields, "as_of", r"\d{4}(-\d\d(-\d\d)?)?"),
        status=fields.choice("status", terms.STATUSES),
        link=_link(fields),
        beside=checks.choice_or_none(fields, "beside", editions),
        snapshot=_snapshot(fields),
    )
    fields.end()
    return source


def _snapshot(fields: Fields) -> Snapshot | None:
    entry = fields.entry_or_none("snapshot")
    if entry is None:
        return None
    snapshot = Snapshot(
        repository=checks.matching(entry, "repository", r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+"),
        path=checks.matching(entry, "path", r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*"),
        commit=checks.matching(entry, "commit", r"[0-9a-f]{40}"),
        dated=checks.date_or_none(entry, "dated"),
    )
    entry.end()
    return snapshot


def _link(fields: Fields) -> str | None:
    return checks.matching_or_none(fields, "link", r"https://[a-z.]+/[A-Za-z0-9/_.-]+")


def _families(folder: Path, known: checks.Origins) -> tuple[tuple[Family, ...], tuple[Rule, ...]]:
    families: list[Family] = []
    rules: list[Rule] = []
    for name in _files(folder, "rules"):
        family, of_family = _family(read_file(folder, name), Path(name).stem, known)
        families.append(family)
        rules += of_family
    return tuple(families), tuple(rules)


def _files(folder: Path, kind: str) -> list[str]:
    names = sorted(path.name for path in (folder / kind).glob("*.yaml"))
    if not names:
        raise SpecificationError(
            f"{kind}/: there is no file of {kind}; a catalogue needs at least one."
        )
    return [f"{kind}/{name}" for name in names]


def _family(top: Fields, stem: str, known: checks.Origins) -> tuple[Family, list[Rule]]:
    family = Family(id=top.choice("family", [stem]), title=top.text("title"))
    rules = [_rule(fields, family, known) for fields in top.entries("rules", "id")]
    top.end()
    checks.check_unique(top, "id", [rule.id for rule in rules])
    return family, rules


def _rule(fields: Fields, family: Family, known: checks.Origins) -> Rule:
    rule_id = checks.rule_id(fields, family.id)
    citations = tuple(read_citation(entry, known) for entry in fields.entries("citations"))
    outside = known.is_outside(citations)
    rule = Rule(
        id=rule_id,
        title=fields.text("title"),
        statement=_one_line(fields.text("statement")),
        modality=fields.choice("modality", terms.MODALITIES),
        shown_by=fields.choice("shown_by", terms.SHOWN_BY),
        why_never=_one_line_or_none(fields.text_or_none("why_never")),
        status=fields.choice("status", terms.STATUSES),
        tiers=fields.texts("tiers", terms.TIERS),
        error=checks.choice_or_none(fields, "error", (terms.ANY_ERROR, *terms.ERRORS)),
        needs=fields.texts("needs"),
        unless=fields.texts_or_none("unless"),
        oracles=fields.texts("oracles", terms.ORACLES),
        covers=fields.texts("covers"),
        citations=citations,
        editions=known.edition_ids if outside else known.stating(citations),
        outside=outside,
    )
    fields.end()
    checks.check_rule(fields, rule, longest_title=_LONGEST_TITLE)
    return rule


def read_citation(fields: Fields, known: checks.Origins) -> Citation:
    """Read a citation.

    Raises:
        SpecificationError: it names no source, or no section of an edition.
    """
    source, anchor = known.place(fields)
    citation = Citation(source=source, anchor=anchor, remark=fields.text_or_none("remark"))
    fields.end()
    return citation


def _register(
    folder: Path, known: checks.Origins, rules: tuple[Rule, ...]
) -> tuple[Ambiguity, ...]:
    """Return the entries of all files of the register, by the number of their question."""
    tops = [read_file(folder, name) for name in _files(folder, "ambiguities")]
    rule_ids = [rule.id for rule in rules]
    ambiguities = [ambiguity for top in tops for ambiguity in _ambiguities(top, known, rule_ids)]
    checks.check_unique(
        Fields("ambiguities", {}), "id", [ambiguity.id for ambiguity in ambiguities]
    )
    checks.check_conditions(rules, ambiguities)
    return tuple(sorted(ambiguities, key=lambda ambiguity: ambiguity.number))


def _ambiguities(top: Fields, known: checks.Origins, rule_ids: list[str]) -> list[Ambiguity]:
    entries = top.entries("ambiguities", "id")
    ambiguities = [_ambiguity(fields, known, rule_ids) for fields in entries]
    top.end()
    return ambiguities


def _ambiguity(fields: Fields, known: checks.Origins, rule_ids: list[str]) -> Ambiguity:
    readings = fields.named_texts("readings")
    ambiguity = Ambiguity(
        id=checks.matching(fields, "id", r"[A-Z]+(-[A-Z]+)*"),
        number=fields.number("number", 1, _MOST),
        question=_one_line(fields.text("question")),
        said=tuple(_said(entry, known) for entry in fields.entries("said")),
        readings=readings,
        default=fields.choice("default", readings),
        why=_one_line(fields.text("why")),
        told_apart_by=_one_line(fields.text("told_apart_by")),
        rules=fields.texts("rules", rule_ids),
        out_of_reach=_one_line_or_none(fields.text_or_none("out_of_reach")),
    )
    fields.end()
    checks.check_ambiguity(fields, ambiguity)
    return ambiguity


def _said(fields: Fields, known: checks.Origins) -> Said:
    source, anchor = known.place(fields)
    statement = Said(source=source, anchor=anchor, what=fields.text("what"))
    fields.end()
    return statement


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _one_line_or_none(text: str | None) -> str | None:
    return None if text is None else _one_line(text)
