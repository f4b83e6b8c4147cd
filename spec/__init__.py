"""The rule catalogue: rules, where they are stated, and what the documents leave open."""

from busproof.spec.catalogue import Catalogue
from busproof.spec.documents import verify_documents
from busproof.spec.levels import Level, Levels, load_levels
from busproof.spec.loading import load
from busproof.spec.observed import Observation, Origin, load_observations, observed_about
from busproof.spec.values import (
    Ambiguity,
    Change,
    Citation,
    Diff,
    Edition,
    Family,
    Release,
    Rule,
    Said,
    Snapshot,
    Source,
    Statement,
)
from busproof.spec.views import view_ambiguity, view_diff, view_release, view_rule

__all__ = [
    "Ambiguity",
    "Catalogue",
    "Change",
    "Citation",
    "Diff",
    "Edition",
    "Family",
    "Level",
    "Levels",
    "Observation",
    "Origin",
    "Release",
    "Rule",
    "Said",
    "Snapshot",
    "Source",
    "Statement",
    "load",
    "load_levels",
    "load_observations",
    "observed_about",
    "verify_documents",
    "view_ambiguity",
    "view_diff",
    "view_release",
    "view_rule",
]
