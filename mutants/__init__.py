"""Mutants of the reference model: each breaks one rule, and a test of that rule must kill it.

A mutant is the model with one of its functions replaced, together with the shortest run of commands
that shows the fault. A module is named after the family of its rules.
"""

from typing import Final

from busproof.mutants import (
    batches,
    batches_received,
    dead_letters,
    deferral,
    duplicates,
    expiry,
    features,
    forwarding,
    forwarding_setups,
    keys,
    keys_order,
    keys_outages,
    locks,
    locks_in_transactions,
    locks_of_several,
    messages,
    partitions,
    partitions_peeks,
    scheduling,
    sequence_numbers,
    session_states,
    sessions,
    situations,
    transactions,
    transfers,
)
from busproof.mutants.management import (
    limits,
    management,
    management_descriptions,
    management_updates,
    premium,
    quotas,
    sizes,
)
from busproof.mutants.mutant import Mutant
from busproof.mutants.topics import (
    filters,
    subscription_rules,
    subscription_rules_actions,
    subscriptions,
    topic_management,
    topic_requests,
    topics,
    topics_receives,
)

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *batches.MUTANTS,
    *batches_received.MUTANTS,
    *dead_letters.MUTANTS,
    *deferral.MUTANTS,
    *duplicates.MUTANTS,
    *expiry.MUTANTS,
    *features.MUTANTS,
    *filters.MUTANTS,
    *forwarding.MUTANTS,
    *forwarding_setups.MUTANTS,
    *keys.MUTANTS,
    *keys_order.MUTANTS,
    *keys_outages.MUTANTS,
    *limits.MUTANTS,
    *locks.MUTANTS,
    *locks_in_transactions.MUTANTS,
    *locks_of_several.MUTANTS,
    *management.MUTANTS,
    *management_updates.MUTANTS,
    *management_descriptions.MUTANTS,
    *messages.MUTANTS,
    *sequence_numbers.MUTANTS,
    *partitions.MUTANTS,
    *partitions_peeks.MUTANTS,
    *premium.MUTANTS,
    *quotas.MUTANTS,
    *scheduling.MUTANTS,
    *sessions.MUTANTS,
    *session_states.MUTANTS,
    *situations.MUTANTS,
    *sizes.MUTANTS,
    *subscription_rules.MUTANTS,
    *subscription_rules_actions.MUTANTS,
    *subscriptions.MUTANTS,
    *topic_management.MUTANTS,
    *topic_requests.MUTANTS,
    *topics.MUTANTS,
    *topics_receives.MUTANTS,
    *transactions.MUTANTS,
    *transfers.MUTANTS,
)
"""Every mutant, by the family of its rule."""
