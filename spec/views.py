"""The catalogue as plain values for JSON; the keys are part of the command line's interface."""

from collections.abc import Iterable
from typing import Any

import attrs

from busproof.spec.catalogue import Catalogue
from busproof.spec.observed import Observation, observed_about
from busproof.spec.values import Ambiguity, Citation, Diff, Release, Rule

__all__ = ["view_ambiguity", "view_diff", "view_release", "view_rule"]


def view_rule(catalogue: Catalogue, rule: Rule) -> dict[str, Any]:
    """Return a rule with its citations; missing fields are `null`.

    `says` has the statements of the documents, in our words. Each citation has the address of an
    English text. `observed` has what the real service was seen to do about it, with links.
    """
    citations = [
        attrs.asdict(citation) | {"english": catalogue.english(citation)}
        for citation in rule.citations
    ]
    return attrs.asdict(rule) | {
        "citations": citations,
        "says": [say.says for say in catalogue.says(rule)],
        "observed": [_view_observation(each) for each in observed_about(catalogue, rule.id)],
    }


def _view_observation(observation: Observation) -> dict[str, Any]:
    return {
        "id": observation.id,
        "summary": observation.summary,
        "tier": observation.tier,
        "about": list(observation.about),
        "links": [source.link for source in observation.sources],
    }


def view_ambiguity(ambiguity: Ambiguity) -> dict[str, Any]:
    """Return an entry of the register; its readings are in the register's order."""
    return attrs.asdict(ambiguity)


def view_diff(diff: Diff) -> dict[str, Any]:
    """Return the differences between two editions, with the names of both."""
    return {
        "a": diff.a,
        "b": diff.b,
        "only_in_a": list(diff.only_in_a),
        "only_in_b": list(diff.only_in_b),
        "gone": [attrs.asdict(statement) for statement in diff.gone],
        "new": [attrs.asdict(statement) for statement in diff.new],
        "changed": [
            {"id": change.rule, "a": _places(change.in_a), "b": _places(change.in_b)}
            for change in diff.changed
        ],
    }


def view_release(release: Release) -> dict[str, Any]:
    """Return a version of the catalogue with its changes."""
    return attrs.asdict(release)


def _places(citations: Iterable[Citation]) -> list[dict[str, Any]]:
    return [attrs.asdict(citation) for citation in citations]
