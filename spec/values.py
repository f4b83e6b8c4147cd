"""Values of a catalogue: editions, sources, rules, ambiguities, differences."""

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
    """A text in a public repository on GitHub, in the state of one commit.

    Attributes:
        repository: the repository's owner and name.
        path: the path of the file.
        commit: the commit, in hexadecimal.
        dated: the date in the text; `None` if the edition or source has the date.
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
    """One state of the article on partitioned entities, in one language.

    Attributes:
        id: language and date, such as `de-2021-04`.
        mark: one letter that stands for it in tables.
        order: position among the editions, 1 for the oldest.
        language: the code of the language, two letters.
        translation: `machine` or `human`; `original` if the text is not translated.
        dated: its date; `None` if it has none.
        handed_off: when it was given to translators; `None` if unknown.
        sha256: the hash of the document, in hexadecimal; `None` if a commit identifies it.
        anchored_by: how its sections are found (`terms.ANCHORED_BY`).
        anchors: the anchors of its headings, in document order.
        link: the article's current address in that language; its text may have changed since.
        snapshot: the English article of its date, or the nearest one in a public repository.
        note: a remark for readers of its citations; `None` if there is none.
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
        """Return the address of a section, or of the article if the section has none."""
        if self.link is None or anchor is None or not self.has_named_sections:
            return self.link
        return f"{self.link}#{anchor}"

    @property
    def has_named_sections(self) -> bool:
        """Whether sections of the article have addresses in this language."""
        return self.anchored_by != "heading"


@attrs.frozen(kw_only=True)
class Source:
    """A source that is not an edition of the article.

    Attributes:
        id: its id, which begins with `facts-`.
        kind: its kind (`terms.SOURCE_KINDS`).
        title: the title of the page, or what it is about.
        as_of: the year, month or day of the state that was read.
        status: the status of its statements.
        link: its current address; `None` if unknown.
        beside: the id of the edition that it belongs to; `None` if it belongs to all of them.
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
        dated: its date, such as `2027-01-31`.
        sha256: the hash of its rules and its register, in hexadecimal.
        changes: the differences from the version before, one sentence each.
    """

    version: str
    dated: str
    sha256: str
    changes: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Citation:
    """A place in the documents that states a rule.

    Attributes:
        source: the id of an edition or of another source.
        anchor: the anchor of the section; `None` for a source that is not an edition.
        remark: how the wording differs there; a remark that begins with "slip" is about a
            translation error.
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
        editions: the ids of the editions that make it, oldest first.
    """

    id: str
    says: str
    editions: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Family:
    """A family of rules: those on one subject, in one file."""

    id: str
    title: str


@attrs.frozen(kw_only=True)
class Rule:
    """A rule for implementations: a requirement, a prohibition or a permission.

    Attributes:
        id: family and number, such as `KEY-03`.
        title: a title short enough for a table.
        statement: the rule, in our own words.
        modality: `must`, `must-not`, `may`, `should` or `informative`.
        shown_by: `always` (the situation arose and the rule held), `allowed` (the situation arose
            and the answer was permitted) or `never`.
        why_never: why it cannot be shown; `None` unless `shown_by` is `never`.
        status: `documented`, `observed` or `inferred`.
        tiers: the tiers in which it holds.
        error: the error of the refusal that it requires or permits; `any` if the documents do not
            name it, `None` if it is not about a refusal.
        needs: the capabilities that it requires; `a|b` means either of the two.
        unless: what keeps its situation from arising: a capability, or `AMBIGUITY=reading`.
        oracles: the oracles that can judge it, of `strict` and `client`.
        covers: the ids of the statements that it tests.
        citations: the places that state it.
        editions: the editions in which it is in force, oldest first.
        outside: whether neither an edition states it nor a page that belongs to one; then it is in
            force in all.
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
        """The id of the rule's family, the part of its id before the number."""
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
    """The statement of one source on an ambiguity; `anchor` is `None` if it has no sections."""

    source: str
    anchor: str | None
    what: str


@attrs.frozen(kw_only=True)
class Ambiguity:
    """A question that the documents leave open or answer in two ways.

    Attributes:
        id: its id, such as `ROUND-ROBIN`.
        number: the number of its entry in the list of open questions, 1 to 33.
        question: the open question.
        said: the statements of the sources.
        readings: the name of each reading to its meaning, in the order of the register.
        default: the name of the reading that applies unless a profile names another.
        why: why this reading is the default.
        told_apart_by: the experiment whose outcome differs between the readings.
        rules: the ids of the rules that it concerns.
        out_of_reach: why no run can distinguish the readings; `None` if a run can.
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
        """The readings that a run can choose: only the default if no run can distinguish them."""
        return tuple(self.readings) if self.out_of_reach is None else (self.default,)


@attrs.frozen(kw_only=True)
class Change:
    """A rule that two editions cite from different sections, or with different remarks."""

    rule: str
    in_a: tuple[Citation, ...]
    in_b: tuple[Citation, ...]


@attrs.frozen(kw_only=True)
class Diff:
    """The differences between two editions, `a` and `b`; rules from other sources never differ.

    Attributes:
        a: the id of the one edition.
        b: the id of the other edition.
        only_in_a: the ids of rules that only `a` states.
        only_in_b: the ids of rules that only `b` states.
        changed: the rules that both state, and that are cited differently.
        gone: the statements that `a` makes and `b` does not.
        new: the statements that `b` makes and `a` does not.
    """

    a: str
    b: str
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    changed: tuple[Change, ...]
    gone: tuple[Statement, ...]
    new: tuple[Statement, ...]
