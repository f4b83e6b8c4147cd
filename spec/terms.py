"""The vocabulary of a catalogue: the values that its fields may have."""

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
"""Tier name for a Premium namespace with partitions, which all of its entities have."""
TIERS: Final = ("basic", "standard", "premium", PARTITIONED_PREMIUM)
"""The tiers in which a rule may hold; `premium` is a Premium namespace without partitions."""
STATUSES: Final = ("documented", "observed", "inferred")
ORACLES: Final = ("strict", "client")
TRANSLATIONS: Final = ("machine", "human", "original")
SOURCE_KINDS: Final = ("public-documentation", "issue-tracker")

ANCHORED_BY: Final = ("name", "heading", "markdown")
"""Ways to find the sections of a document.

They are named anchors, the slug of the English heading in a text of two languages, or the slug of a
Markdown heading.
"""

SHOWN_BY: Final = ("always", "allowed", "never")

MODALITIES: Final = {
    "must": ("always", "never"),
    "must-not": ("always", "never"),
    "may": ("allowed", "never"),
    "should": ("allowed", "never"),
    "informative": ("never",),
}
"""Modality of a rule to the ways in which it can be shown."""

ANY_ERROR: Final = "any"
"""Stands for a refusal whose error the documents do not name."""

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
"""Errors of refusals; a test compares them with the vocabulary's."""

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
    "dead-letter-reasons",
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
    "size-updates",
    "amqp",
    "http",
)
"""Capabilities that an adapter can declare; a test compares them with the vocabulary's."""

STATEMENTS: Final = {"A": 14, "B": 14, "C": 19, "D": 8, "E": 3, "F": 14, "G": 9, "H": 3}
"""Number of statements of the documents, by section of the checklist."""
