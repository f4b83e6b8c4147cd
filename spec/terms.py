"""The vocabulary of a catalogue: the allowed values of its fields."""

from typing import Final

__all__ = [
    "ANCHORED_BY",
    "ANY_ERROR",
    "CAPABILITIES",
    "ERRORS",
    "MODALITIES",
    "ORACLES",
    "PARTITIONED_PREMIUM",
    "SHOWN_BY",
    "SOURCE_KINDS",
    "STATEMENTS",
    "STATUSES",
    "TIERS",
    "TRANSLATIONS",
]

PARTITIONED_PREMIUM: Final = "partitioned-premium"
"""A Premium namespace that was created with partitions, which all of its entities have."""
TIERS: Final = ("basic", "standard", "premium", PARTITIONED_PREMIUM)
"""Where a rule can hold; `premium` is a Premium namespace without partitions."""
STATUSES: Final = ("documented", "observed", "inferred")
ORACLES: Final = ("strict", "client")
TRANSLATIONS: Final = ("machine", "human", "original")
SOURCE_KINDS: Final = ("public-documentation", "issue-tracker")

ANCHORED_BY: Final = ("name", "heading", "markdown")
"""How a document's sections are found: by named anchors, by the slug of the English heading in a
text of two languages, or by the slug of a Markdown heading.
"""

SHOWN_BY: Final = ("always", "allowed", "never")

MODALITIES: Final = {
    "must": ("always", "never"),
    "must-not": ("always", "never"),
    "may": ("allowed", "never"),
    "should": ("allowed", "never"),
    "informative": ("never",),
}
"""The modalities, and how a rule with each can be shown."""

ANY_ERROR: Final = "any"
"""A refusal of undocumented kind."""

ERRORS: Final = (
    "invalid-operation",
    "unavailable",
    "not-found",
    "already-exists",
    "lock-lost",
    "session-cannot-be-locked",
    "session-lock-lost",
    "quota-exceeded",
    "message-not-found",
    "message-too-large",
    "entity-disabled",
    "other",
)
"""The refusals of the vocabulary; a test keeps both the same."""

CAPABILITIES: Final = (
    "witness",
    "outages",
    "transactions",
    "sessions",
    "duplicate-detection",
    "peek",
    "peek-lock",
    "regular-queues",
    "client-library",
    "sequence-numbers",
    "management",
    "api-versions",
    "availability",
    "disposable-namespace",
    "entity-status",
    "dead-letter",
    "transfer-dead-letter",
    "deferral",
    "scheduling",
    "time-to-live",
    "batches",
    "receive-batches",
    "settle-batches",
    "prefetch",
    "peek-from",
    "timestamps",
    "topics",
    "topic-management",
    "filters",
    "sql-filters",
    "rule-actions",
    "forwarding",
    "redirection",
    "dead-letter-forwarding",
    "lock-renewal",
    "renew-locks",
    "delete-batch",
    "next-session",
    "session-state",
    "session-listing",
    "transactional-settlement",
    "legacy-entities",
    "limits",
    "sizes",
    "amqp",
)
"""Capabilities that an adapter can declare; a test keeps both the same."""

STATEMENTS: Final = {"A": 14, "B": 14, "C": 19, "D": 8, "E": 3, "F": 14, "G": 9, "H": 3}
"""Number of statements of the documents in each section of the checklist."""
