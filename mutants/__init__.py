"""Mutants of the reference model: each breaks one rule, and a test of that rule must kill it.

A mutant is the model with one of its functions replaced, together with the shortest run of commands
that shows the fault; there is a module a family.
"""

from typing import Final

    batches,
    dead_letters,
    duplicates,
    expiry,
    keys,
    management,
    partitions,
    premium,
    topic_management,
)
from busproof.mutants import (
from busproof.mutants import deferral, keys, locks, messages, scheduling, sessions, transactions
from busproof.mutants import keys, limits, management, premium, sizes, topic_management
from busproof.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *batches.MUTANTS,
    *dead_letters.MUTANTS,
    *deferral.MUTANTS,
    *duplicates.MUTANTS,
    *expiry.MUTANTS,
    *keys.MUTANTS,
    *locks.MUTANTS,
    *management.MUTANTS,
    *messages.MUTANTS,
    *partitions.MUTANTS,
    *premium.MUTANTS,
    *limits.MUTANTS,
    *scheduling.MUTANTS,
    *sessions.MUTANTS,
    *sizes.MUTANTS,
    *topic_management.MUTANTS,
    *transactions.MUTANTS,
)
"""Every mutant, by the family of its rule."""
