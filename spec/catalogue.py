"""The catalogue: all rules, editions and ambiguities, with queries of them."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Protocol, TypeVar

import attrs

from busproof.errors import UsageError
from busproof.spec.terms import TIERS
from busproof.spec.values import (
    Ambiguity,
    Change,
    Citation,
    Diff,
    Edition,
    Family,
    Release,
    Rule,
    Source,
    Statement,
)

__all__ = ["Catalogue"]


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


_T = TypeVar("_T", bound=_Identified)


@attrs.frozen(kw_only=True)
class Catalogue:
    """All rules for a bus, loaded from a folder and checked.

    Attributes:
        families: the families of rules, in the order of the rules.
        rules: the rules, by family and number.
        ambiguities: the ambiguities, in the order of the register.
        editions: the editions of the article, oldest first.
        default_edition: the id of the edition that applies if a run names none.
        sources: the sources other than editions.
        statements: the statements of the documents, in our words and in the order of the article.
        releases: the versions of the catalogue, newest first.
    """

    families: tuple[Family, ...]
    rules: tuple[Rule, ...]
    ambiguities: tuple[Ambiguity, ...]
    editions: tuple[Edition, ...]
    default_edition: str
    sources: tuple[Source, ...]
    statements: tuple[Statement, ...]
    releases: tuple[Release, ...]

    @property
    def version(self) -> str:
        """The version of the catalogue, that of its newest release."""
        return self.releases[0].version

    def link(self, citation: Citation) -> str | None:
        """Return the current address of a citation; `None` if it is not known."""
        if citation.source in self._editions:
            return self._editions[citation.source].link_to(citation.anchor)
        source = self._sources.get(citation.source)
        return None if source is None else source.link

    def english(self, citation: Citation) -> str | None:
        """Return the address of the English text of a citation, as near to its date as is known."""
        address = self.english_text(citation.source)
        return f"{address}#{citation.anchor}" if address and citation.anchor else address

    def english_text(self, source: str) -> str | None:
        """Return the address of an edition or source in English; `None` if it is not known.

        For an edition without a snapshot, this is the address of the article as it is today.
        """
        cited = self._editions.get(source) or self._sources.get(source)
        if cited is None or cited.snapshot is not None:
            return None if cited is None or cited.snapshot is None else cited.snapshot.link
        if isinstance(cited, Source):
            return cited.link
        return next((edition.link for edition in self.editions if edition.language == "en"), None)

    def says(self, rule: Rule) -> tuple[Statement, ...]:
        """Return the statements of the documents that a rule covers, in our words."""
        return tuple(statement for statement in self.statements if statement.id in rule.covers)

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return _by_id(self.sources)

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        return _by_id(self.rules)

    @cached_property
    def _ambiguities(self) -> dict[str, Ambiguity]:
        return _by_id(self.ambiguities)

    @cached_property
    def _editions(self) -> dict[str, Edition]:
        return _by_id(self.editions)

    def rule(self, rule: str) -> Rule:
        """Return the rule with this id.

        Raises:
            UsageError: there is no such rule.
        """
        return _find("rule", rule, self._rules, "`busproof rules` lists all")

    def edition(self, edition: str) -> Edition:
        """Return the edition with this id.

        Raises:
            UsageError: there is no such edition.
        """
        return _find("edition", edition, self._editions, f"use one of {', '.join(self._editions)}")

    def ambiguity(self, ambiguity: str) -> Ambiguity:
        """Return the entry of the register with this id.

        Raises:
            UsageError: there is no such entry.
        """
        advice = "`busproof rules --ambiguities` lists all"
        return _find("ambiguity", ambiguity, self._ambiguities, advice)

    def family(self, family: str) -> Family:
        """Return the family with this id.

        Raises:
            UsageError: there is no such family.
        """
        families = _by_id(self.families)
        return _find("family", family, families, f"use one of {', '.join(families)}")

    def concerning(self, rules: Collection[str]) -> tuple[Ambiguity, ...]:
        """Return the entries of the register about at least one of these rules."""
        return tuple(
            ambiguity
            for ambiguity in self.ambiguities
            if any(rule in rules for rule in ambiguity.rules)
        )

    def readings(self, overrides: Mapping[str, str]) -> dict[str, str]:
        """Return the reading of every ambiguity: the default, unless `overrides` names another.

        Raises:
            UsageError: an ambiguity or a reading does not exist, or no run can distinguish the
                reading from the default.
        """
        for name, reading in overrides.items():
            ambiguity = self.ambiguity(name)
            if reading not in ambiguity.readings:
                allowed = ", ".join(ambiguity.readings)
                raise UsageError(f"{name} has no reading {reading!r}; allowed: {allowed}.")
            if reading not in ambiguity.choices:
                raise UsageError(
                    f"{name} is on record only, and a run cannot be held to {reading!r}: "
                    f"{ambiguity.out_of_reach}; leave it out, or at {ambiguity.default}."
                )
        return {
            ambiguity.id: overrides.get(ambiguity.id, ambiguity.default)
            for ambiguity in self.ambiguities
        }

    def in_force(self, edition: str, tier: str) -> frozenset[str]:
        """Return the ids of the rules in force for this tier in this edition.

        Rules that no edition states are in force in all of them.

        Raises:
            UsageError: there is no such edition or tier.
        """
        known = self.edition(edition).id
        if tier not in TIERS:
            raise UsageError(f"No tier is called {str(tier)!r}; use one of {', '.join(TIERS)}.")
        return frozenset(
            rule.id for rule in self.rules if known in rule.editions and tier in rule.tiers
        )

    def silent(self, edition: str, tier: str) -> frozenset[str]:
        """Return the ids of the rules that are not in force, and so allow and forbid nothing.

        Raises:
            UsageError: there is no such edition or tier.
        """
        return frozenset(self._rules) - self.in_force(edition, tier)

    def check_partitioned(self, edition: str) -> None:
        """PREM-14: check that an edition knows partitioned namespaces.

        Raises:
            UsageError: it does not.
        """
        knowing = self.rule("PREM-14").editions
        if edition not in knowing:
            raise UsageError(
                f"edition {edition} knows no partitioned namespaces; leave out the namespace's "
                f"partitions, or choose one of {', '.join(knowing)}"
            )

    def diff(self, a: str, b: str) -> Diff:
        """Return the differences between the editions `a` and `b`.

        Raises:
            UsageError: there is no such edition.
        """
        a, b = self.edition(a).id, self.edition(b).id
        return Diff(
            a=a,
            b=b,
            only_in_a=self._only_in(a, b),
            only_in_b=self._only_in(b, a),
            changed=tuple(_changes(self.rules, a, b)),
            gone=self._statements_only_in(a, b),
            new=self._statements_only_in(b, a),
        )

    def _statements_only_in(self, one: str, other: str) -> tuple[Statement, ...]:
        return tuple(
            statement
            for statement in self.statements
            if one in statement.editions and other not in statement.editions
        )

    def _only_in(self, one: str, other: str) -> tuple[str, ...]:
        return tuple(
            rule.id for rule in self.rules if one in rule.editions and other not in rule.editions
        )


def _by_id(items: Iterable[_T]) -> dict[str, _T]:
    return {item.id: item for item in items}


def _find(kind: str, wanted: str, known: Mapping[str, _T], advice: str) -> _T:
    if wanted in known:
        return known[wanted]
    nearest = {name.upper(): name for name in known}
    close = [nearest[name] for name in get_close_matches(wanted.upper(), nearest, cutoff=0.6)]
    hint = f"nearest: {', '.join(close)}; " if close else ""
    raise UsageError(f"There is no {kind} {wanted!r}; {hint}{advice}.")


def _changes(rules: Iterable[Rule], a: str, b: str) -> Iterable[Change]:
    for rule in rules:
        in_a, in_b = rule.cited_in(a), rule.cited_in(b)
        if in_a and in_b and _wordings_of(in_a) != _wordings_of(in_b):
            yield Change(rule=rule.id, in_a=in_a, in_b=in_b)


def _wordings_of(citations: Iterable[Citation]) -> set[tuple[str | None, str | None]]:
    return {(citation.anchor, citation.remark) for citation in citations}
