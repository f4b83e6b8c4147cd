"""Mutants of the reference model: each breaks one rule, and a scenario of that rule must kill it.

A mutant is the model with a subclass in the place of one family, which overrides one rule, and the
shortest run of commands that shows the fault. A module is named after the family of its rules.
"""

from typing import Final

from busproof.mutants import (
    added_later,
    batches,
    batches_received,
    dead_letters,
    deferral,
    duplicates,
    expiry,
    forwarding,
    forwarding_setups,
    keys,
    keys_outages,
    locks,
    locks_in_transactions,
    messages,
    partitions,
    partitions_peeks,
    scheduling,
    sequence_numbers,
    session_states,
    sessions,
    transactions,
)
from busproof.mutants.management import (
    limits,
    management,
    management_updates,
    premium,
    quotas,
    sizes,
)
from busproof.mutants.mutant import Mutant, mutants_of
from busproof.mutants.situations import elsewhere, late, mixed
from busproof.mutants.topics import (
    filters,
    subscription_rules,
    topic_management,
    topics,
    topics_receives,
)

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final = mutants_of(
    added_later,
    batches,
    batches_received,
    dead_letters,
    deferral,
    duplicates,
    expiry,
    filters,
    forwarding,
    forwarding_setups,
    keys,
    keys_outages,
    limits,
    locks,
    locks_in_transactions,
    management,
    management_updates,
    messages,
    sequence_numbers,
    partitions,
    partitions_peeks,
    premium,
    quotas,
    scheduling,
    sessions,
    session_states,
    mixed,
    late,
    sizes,
    subscription_rules,
    topic_management,
    topics,
    topics_receives,
    transactions,
    elsewhere,
)
"""Every mutant, by the family of its rule."""
