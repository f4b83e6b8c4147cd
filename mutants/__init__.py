"""Mutants of the reference model: each breaks one rule, and a test of that rule must kill it.

A mutant is the model with one of its functions replaced, together with the shortest run of commands
that shows the fault; there is a module a family.
"""

from typing import Final

from busproof.mutants import deferral, keys, locks, messages, scheduling, sessions, transactions
from busproof.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *keys.MUTANTS,
    *deferral.MUTANTS,
    *locks.MUTANTS,
    *messages.MUTANTS,
    *scheduling.MUTANTS,
    *sessions.MUTANTS,
    *transactions.MUTANTS,
)
"""Every mutant, by the family of its rule."""
