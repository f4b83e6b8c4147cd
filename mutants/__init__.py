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
    keys,
    limits,
    locks,
    management,
    messages,
    partitions,
    premium,
    scheduling,
    sessions,
    sizes,
    topic_management,
    topic_requests,
    transactions,
)
from busproof.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *batches.MUTANTS,
    *dead_letters.MUTANTS,
    *deferral.MUTANTS,
    *duplicates.MUTANTS,
    *expiry.MUTANTS,
    *keys.MUTANTS,
    *limits.MUTANTS,
    *locks.MUTANTS,
    *management.MUTANTS,
    *messages.MUTANTS,
    *partitions.MUTANTS,
    *premium.MUTANTS,
    *scheduling.MUTANTS,
    *sessions.MUTANTS,
    *sizes.MUTANTS,
    *topic_management.MUTANTS,
    *topic_requests.MUTANTS,
    *transactions.MUTANTS,
)
"""Every mutant, by the family of its rule."""
