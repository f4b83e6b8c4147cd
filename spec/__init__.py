"""The rule catalogue: rules, where they are stated, and what the documents leave open."""

from busproof.spec.catalogue import Catalogue
from busproof.spec.documents import verify_documents
from busproof.spec.levels import Level, Levels, load_levels
from busproof.spec.loading import load
from busproof.spec.namespaces import (
    Named,
    NamespaceDiff,
    compare_namespaces,
    name_namespace,
    view_namespace_diff,
)
from busproof.spec.observed import (
    Evidence,
    Observation,
    Origin,
    load_evidence,
    load_observations,
    observed_about,
    observed_readings,
)
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
    "Evidence",
    "Family",
    "Level",
    "Levels",
    "Named",
    "NamespaceDiff",
    "Observation",
    "Origin",
    "Release",
    "Rule",
    "Said",
    "Snapshot",
    "Source",
    "Statement",
    "compare_namespaces",
    "load",
    "load_evidence",
    "load_levels",
    "load_observations",
    "name_namespace",
    "observed_about",
    "observed_readings",
    "verify_documents",
    "view_ambiguity",
    "view_diff",
    "view_namespace_diff",
    "view_release",
    "view_rule",
]
