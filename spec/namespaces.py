"""Kinds of namespaces, their names, and how the rules of two of them differ."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import UsageError
from busproof.spec import terms
from busproof.spec.catalogue import Catalogue
from busproof.spec.reading import Fields, read_file
from busproof.spec.values import Change, Rule

__all__ = [
    "Answer",
    "Named",
    "NamespaceDiff",
    "NamespaceKind",
    "Subject",
    "compare_namespaces",
    "load_subjects",
    "name_namespace",
    "view_namespace_diff",
]

_OWN: Final = Path(__file__).parent
PARTITIONS: Final = ("2", "4")
"""PREM-14: numbers of partitions that a partitioned Premium namespace may have."""
FORMS: Final = (
    "basic, standard, premium, premium:2 or premium:4 (a partitioned Premium namespace), or an "
    "edition and one of these, such as en-2026-02/premium:4"
)


@attrs.frozen(kw_only=True)
class Named:
    """What the name of a namespace says.

    Attributes:
        edition: the id of the edition; `None` if the name has none.
        tier: `basic`, `standard` or `premium`; `None` if the name is an edition's alone.
        partitions: partitions of the namespace, 1 if it is not partitioned.
    """

    edition: str | None
    tier: str | None
    partitions: int = 1


@attrs.frozen(kw_only=True)
class NamespaceKind:
    """A kind of namespace as one edition describes it.

    Attributes:
        edition: the id of the edition.
        tier: `basic`, `standard` or `premium`.
        partitions: partitions of the namespace, 1 if it is not partitioned.
    """

    edition: str
    tier: str
    partitions: int

    @property
    def kind(self) -> str:
        """The kind as the rules' `tiers` name it."""
        return terms.PARTITIONED_PREMIUM if self.partitions > 1 else self.tier

    @property
    def name(self) -> str:
        """The name that `name_namespace` reads, with the edition."""
        partitions = f":{self.partitions}" if self.partitions > 1 else ""
        return f"{self.edition}/{self.tier}{partitions}"


@attrs.frozen(kw_only=True)
class Answer:
    """What some kinds of namespaces answer on a subject, and the rules that state it."""

    tiers: tuple[str, ...]
    answer: str
    rules: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Subject:
    """A limit, a quota or a request on which kinds of namespaces differ."""

    subject: str
    answers: tuple[Answer, ...]

    def answer_of(self, tier: str, in_force: frozenset[str]) -> Answer | None:
        """Return the answer of a kind, with those of its rules that are in force; `None` if none.

        Args:
            tier: the kind, as the rules' `tiers` name it.
            in_force: the rules that are in force there.
        """
        for answer in self.answers:
            rules = tuple(rule for rule in answer.rules if rule in in_force)
            if tier in answer.tiers and rules:
                return attrs.evolve(answer, rules=rules)
        return None


@attrs.frozen(kw_only=True)
class NamespaceDiff:
    """The differences between two kinds of namespaces, `a` and `b`.

    Attributes:
        only_in_a: the rules that hold only in `a`.
        only_in_b: the rules that hold only in `b`.
        in_both: the number of rules that hold in both.
        subjects: subject to the answers of both; `None` is the one that is silent.
        changed: the rules that hold in both and are cited differently by their two editions.
    """

    a: NamespaceKind
    b: NamespaceKind
    only_in_a: tuple[Rule, ...]
    only_in_b: tuple[Rule, ...]
    in_both: int
    subjects: tuple[tuple[str, Answer | None, Answer | None], ...]
    changed: tuple[Change, ...]


def name_namespace(catalogue: Catalogue, text: str) -> Named:
    """Return what a name says: `[EDITION/]TIER[:PARTITIONS]`, or an edition.

    Raises:
        UsageError: there is no such namespace, or the edition knows no partitioned one.
    """
    editions = [edition.id for edition in catalogue.editions]
    if text in editions:
        return Named(edition=text, tier=None)
    before, slash, rest = text.rpartition("/")
    edition = before if slash else None
    tier, colon, count = rest.partition(":")
    fits = (tier, count) in {("premium", number) for number in PARTITIONS} if colon else True
    is_known = edition is None or edition in editions
    if not is_known or tier not in ("basic", "standard", "premium") or not fits:
        raise UsageError(
            f"there is no namespace {text!r}; use {FORMS}, or an edition: {', '.join(editions)}"
        )
    partitions = int(count) if colon else 1
    chosen = edition or catalogue.default_edition
    if partitions > 1:
        catalogue.check_partitioned(chosen)
    return Named(edition=edition, tier=tier, partitions=partitions)


def kind_named(catalogue: Catalogue, text: str) -> NamespaceKind:
    """Return the kind of a name; the default edition and Standard where it says neither.

    Raises:
        UsageError: there is no such namespace.
    """
    named = name_namespace(catalogue, text)
    return NamespaceKind(
        edition=named.edition or catalogue.default_edition,
        tier=named.tier or "standard",
        partitions=named.partitions,
    )


def compare_namespaces(catalogue: Catalogue, a: str, b: str) -> NamespaceDiff:
    """Return the differences between two kinds of namespaces, given by their names.

    Raises:
        UsageError: one of them does not exist.
    """
    one, other = kind_named(catalogue, a), kind_named(catalogue, b)
    in_one = catalogue.in_force(one.edition, one.kind)
    in_other = catalogue.in_force(other.edition, other.kind)
    both = in_one & in_other
    editions = catalogue.diff(one.edition, other.edition)
    return NamespaceDiff(
        a=one,
        b=other,
        only_in_a=_rules(catalogue, in_one - in_other),
        only_in_b=_rules(catalogue, in_other - in_one),
        in_both=len(both),
        subjects=tuple(_differing(one.kind, in_one, other.kind, in_other)),
        changed=tuple(change for change in editions.changed if change.rule in both),
    )


def _rules(catalogue: Catalogue, ids: frozenset[str]) -> tuple[Rule, ...]:
    return tuple(rule for rule in catalogue.rules if rule.id in ids)


def _differing(
    one: str, in_one: frozenset[str], other: str, in_other: frozenset[str]
) -> Iterable[tuple[str, Answer | None, Answer | None]]:
    for subject in load_subjects():
        answers = subject.answer_of(one, in_one), subject.answer_of(other, in_other)
        first, second = (answer and answer.answer for answer in answers)
        if first != second:
            yield (subject.subject, *answers)


@cache
def load_subjects(folder: Path = _OWN) -> tuple[Subject, ...]:
    """Return the subjects on which kinds of namespaces differ.

    Raises:
        SpecificationError: a field of `subjects.yaml` is wrong.
    """
    top = read_file(folder, "subjects.yaml")
    subjects = tuple(_subject(fields) for fields in top.entries("subjects", "subject"))
    top.end()
    return subjects


def _subject(fields: Fields) -> Subject:
    answers = tuple(_answer(entry) for entry in fields.entries("answers"))
    subject = Subject(subject=fields.text("subject"), answers=answers)
    fields.end()
    return subject


def _answer(fields: Fields) -> Answer:
    answer = Answer(
        tiers=fields.texts("tiers", terms.TIERS),
        answer=fields.text("answer"),
        rules=fields.texts("rules"),
    )
    fields.end()
    return answer


def view_namespace_diff(diff: NamespaceDiff) -> dict[str, Any]:
    """Return the differences between two kinds of namespaces as plain values for JSON."""
    return {
        "a": diff.a.name,
        "b": diff.b.name,
        "only_in_a": [_view_rule(rule) for rule in diff.only_in_a],
        "only_in_b": [_view_rule(rule) for rule in diff.only_in_b],
        "in_both": diff.in_both,
        "subjects": [
            {"subject": subject, "a": _view_answer(a), "b": _view_answer(b)}
            for subject, a, b in diff.subjects
        ],
        "changed": [
            {
                "id": change.rule,
                "a": [attrs.asdict(citation) for citation in change.in_a],
                "b": [attrs.asdict(citation) for citation in change.in_b],
            }
            for change in diff.changed
        ],
    }


def _view_rule(rule: Rule) -> dict[str, str]:
    names = ("id", "title", "modality", "statement")
    return {name: getattr(rule, name) for name in names}


def _view_answer(answer: Answer | None) -> dict[str, Any] | None:
    return None if answer is None else {"answer": answer.answer, "rules": list(answer.rules)}
