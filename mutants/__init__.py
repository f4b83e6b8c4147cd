"""Mutants of the reference model: each breaks one rule, and a test of that rule must kill it.

A mutant is the model with one of its functions replaced, together with the shortest run of commands
that shows the fault; there is a module a family.
"""

from typing import Final

from busproof.mutants import (
    batches,
    dead_letters,
    deferral,
    duplicates,
    expiry,
    features,
    filters,
    forwarding,
    keys,
    limits,
    locks,
    management,
    messages,
    partitions,
    premium,
    quotas,
    scheduling,
    sessions,
    situations,
    sizes,
    subscription_rules,
    subscriptions,
    topic_management,
    topic_requests,
    topics,
    transactions,
    transfers,
)
from busproof.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *batches.MUTANTS,
    *dead_letters.MUTANTS,
    *deferral.MUTANTS,
    *duplicates.MUTANTS,
    *expiry.MUTANTS,
    *features.MUTANTS,
    *filters.MUTANTS,
    *forwarding.MUTANTS,
    *keys.MUTANTS,
    *limits.MUTANTS,
    *locks.MUTANTS,
    *management.MUTANTS,
    *messages.MUTANTS,
    *partitions.MUTANTS,
    *premium.MUTANTS,
    *quotas.MUTANTS,
    *scheduling.MUTANTS,
    *sessions.MUTANTS,
    *situations.MUTANTS,
    *sizes.MUTANTS,
    *subscription_rules.MUTANTS,
    *subscriptions.MUTANTS,
    *topic_management.MUTANTS,
    *topic_requests.MUTANTS,
    *topics.MUTANTS,
    *transactions.MUTANTS,
    *transfers.MUTANTS,
)
"""Every mutant, by the family of its rule."""
