"""pytest plugin and step definitions of the features."""

from typing import Final

STEP_MODULES: Final = (
    "busproof.steps.definitions.setup",
    "busproof.steps.definitions.topics",
    "busproof.steps.definitions.actions",
    "busproof.steps.definitions.forwarding",
    "busproof.steps.definitions.creation",
    "busproof.steps.definitions.management",
    "busproof.steps.definitions.descriptions",
    "busproof.steps.definitions.undeliverable",
    "busproof.steps.definitions.sending",
    "busproof.steps.definitions.receiving",
    "busproof.steps.definitions.batches",
    "busproof.steps.definitions.dead_letters",
    "busproof.steps.definitions.deferral",
    "busproof.steps.definitions.scheduling",
    "busproof.steps.definitions.locks",
    "busproof.steps.definitions.sessions",
    "busproof.steps.definitions.outages_and_clock",
    "busproof.steps.definitions.storage_quota",
    "busproof.steps.definitions.room",
    "busproof.steps.definitions.quotas",
    "busproof.steps.definitions.premium",
    "busproof.steps.definitions.outcomes",
    "busproof.steps.definitions.sequence_numbers",
    "busproof.steps.definitions.partitions",
    "busproof.steps.definitions.peeks",
    "busproof.steps.definitions.situations",
    "busproof.steps.definitions.any_command",
)
"""Modules that define steps, in the order of pytest-bdd's lookup."""
