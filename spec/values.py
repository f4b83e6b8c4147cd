"""Values of a catalogue: editions, outside sources, rules, ambiguities."""

from collections.abc import Collection, Mapping

import attrs

__all__ = [
    "Ambiguity",
    "Change",
    "Citation",
    "Diff",
    "Edition",
    "Family",
    "Release",
    "Rule",
    "Said",
    "Snapshot",
    "Source",
    "Statement",
]


@attrs.frozen(kw_only=True)
class Snapshot:
    """A text in a public repository on GitHub, as one commit has it.

    Attributes:
        repository: its owner and name.
        path: of the file in it.
        commit: in hexadecimal.
        dated: the date in the text, `None` if its edition or source gives it.
    """

    repository: str
    path: str
    commit: str
    dated: str | None

    @property
    def link(self) -> str:
        """The address of the text."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}"


@attrs.frozen(kw_only=True)
class Edition:
    """One state of the article on partitioned entities.

    Attributes:
        id: language and date, such as `de-2021-04`.
        mark: one letter for tables.
        order: position among the editions, 1 for the oldest.
        language: two letters.
        translation: `machine` or `human`; `original` of a text that is not translated.
        dated: its date, `None` without one.
        handed_off: when its translation was handed off, `None` if unknown.
        sha256: of the document, in hexadecimal; `None` where a commit names it.
        anchored_by: how its sections are found, see `terms.ANCHORED_BY`.
        anchors: of its headings, in document order.
        link: the article's current address in that language; its text may have changed since.
        snapshot: the English article of its date or the nearest one that a public repository has.
        note: a remark for readers of its citations, if any.
    """

    id: str
    mark: str
    order: int
    language: str
    translation: str
    dated: str | None
    handed_off: str | None
    sha256: str | None
    anchored_by: str
    anchors: tuple[str, ...]
    link: str | None
    snapshot: Snapshot | None
    note: str | None

    def link_to(self, anchor: str | None) -> str | None:
        """Return the address of a section, as far as the article still has it."""
        if self.link is None or anchor is None or not self.has_named_sections:
            return self.link
        return f"{self.link}#{anchor}"

    @property
    def has_named_sections(self) -> bool:
        """Whether an address can name a section of the article in its language."""
        return self.anchored_by != "heading"


@attrs.frozen(kw_only=True)
class Source:
    """A source outside the editions.

    Attributes:
        id: begins with `facts-`.
        kind: see `terms.SOURCE_KINDS`.
        title: of the page, or its content.
        as_of: the year, month or day of the state that was read.
        status: of its statements.
        link: its current address, `None` if unknown.
        beside: id of the edition that the page belongs to, `None` if it belongs to all of them.
        snapshot: the state that was read, if a public repository has it.
    """

    id: str
    kind: str
    title: str
    as_of: str
    status: str
    link: str | None
    beside: str | None
    snapshot: Snapshot | None


@attrs.frozen(kw_only=True)
class Release:
    """One version of the catalogue.

    Attributes:
        version: `major.minor.patch`; `changes.yaml` explains the numbers.
        dated: its date, as `2027-01-31`.
        sha256: of its rules and its register, in hexadecimal.
        changes: the differences from the version before, a sentence each.
    """

    version: str
    dated: str
    sha256: str
    changes: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Citation:
    """A place that states a rule.

    Attributes:
        source: id of an edition or of an outside source.
        anchor: of the section; `None` for an outside source.
        remark: how the wording differs there; one that opens with "slip" describes a translation
            error.
    """

    source: str
    anchor: str | None
    remark: str | None


@attrs.frozen(kw_only=True)
class Statement:
    """A statement of the documents, in our words.

    Attributes:
        id: a letter and a number, such as `C6`; rules cover it by this id.
        says: the statement.
        editions: those that make it, oldest first.
    """

    id: str
    says: str
    editions: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Family:
    """A group of rules with one subject, and one file."""

    id: str
    title: str


@attrs.frozen(kw_only=True)
class Rule:
    """A requirement, prohibition or permission for implementations.

    Attributes:
        id: family and number, such as `KEY-03`.
        title: fits a table.
        statement: the rule, in our own words.
        modality: `must`, `must-not`, `may`, `should` or `informative`.
        shown_by: `always` (the situation arose and it held), `allowed` (the situation arose and the
            answer was permitted) or `never`.
        why_never: why it cannot be shown; `None` unless `shown_by` is `never`.
        status: `documented`, `observed` or `inferred`.
        tiers: the tiers in which it holds.
        error: the refusal that it requires or permits, `any` for an undocumented kind, `None`
            without one.
        needs: the capabilities that it requires; `a|b` means either of the two.
        unless: what prevents its situation: a capability, or `AMBIGUITY=reading`.
        oracles: which of `strict` and `client` can judge it.
        covers: the numbered statements that it tests.
        citations: the places that state it.
        editions: the editions in which it is in force, oldest first.
        outside: whether no edition states it, nor a page beside one; it is then in force in all.
    """

    id: str
    title: str
    statement: str
    modality: str
    shown_by: str
    why_never: str | None
    status: str
    tiers: tuple[str, ...]
    error: str | None
    needs: tuple[str, ...]
    unless: tuple[str, ...]
    oracles: tuple[str, ...]
    covers: tuple[str, ...]
    citations: tuple[Citation, ...]
    editions: tuple[str, ...]
    outside: bool

    @property
    def family(self) -> str:
        """The id of the family, the part of the rule's id before the number."""
        return self.id.partition("-")[0]

    def unmet(self, capabilities: Collection[str]) -> tuple[str, ...]:
        """Return the needs that these capabilities do not meet; empty if the rule can be shown."""
        return tuple(
            need
            for need in self.needs
            if not any(alternative in capabilities for alternative in need.split("|"))
        )

    def cited_in(self, edition: str) -> tuple[Citation, ...]:
        """Return the citations of one edition or outside source."""
        return tuple(citation for citation in self.citations if citation.source == edition)


@attrs.frozen(kw_only=True)
class Said:
    """The statement of one source on an ambiguity; `anchor` is `None` for an outside source."""

    source: str
    anchor: str | None
    what: str


@attrs.frozen(kw_only=True)
class Ambiguity:
    """A question that the documents leave open or answer in two ways.

    Attributes:
        id: such as `ROUND-ROBIN`.
        number: of the entry in the list of open questions, 1 to 33.
        question: the open question.
        said: the statements of sources.
        readings: name of each reading and its meaning, in the register's order.
        default: the reading taken where a profile names none.
        why: why that one.
        told_apart_by: the experiment whose outcome differs between the readings.
        rules: ids of the rules that it concerns.
        out_of_reach: why no run can distinguish the readings, if that is so.
    """

    id: str
    number: int
    question: str
    said: tuple[Said, ...]
    readings: Mapping[str, str]
    default: str
    why: str
    told_apart_by: str
    rules: tuple[str, ...]
    out_of_reach: str | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The readings for a run: all, or only the default if none can be distinguished."""
        return tuple(self.readings) if self.out_of_reach is None else (self.default,)


@attrs.frozen(kw_only=True)
class Change:
    """A rule that two editions cite from different sections or with different remarks."""

    rule: str
    in_a: tuple[Citation, ...]
    in_b: tuple[Citation, ...]


@attrs.frozen(kw_only=True)
class Diff:
    """The differences between the editions `a` and `b`; rules of outside sources never differ.

    Attributes:
        a: id of the one edition.
        b: id of the other.
        only_in_a: ids of rules.
        only_in_b: ids of rules.
        changed: rules of both that are cited differently.
        gone: statements that `a` makes and `b` does not.
        new: statements that `b` makes and `a` does not.
    """

    a: str
    b: str
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    changed: tuple[Change, ...]
    gone: tuple[Statement, ...]
    new: tuple[Statement, ...]
