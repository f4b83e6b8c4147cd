"""Mutants of the reference model: each breaks one rule, and a test of that rule must kill it.

A mutant is the model with one of its functions replaced, together with the shortest run of commands
that shows the fault; there is a module a family.
"""

from typing import Final

from busproof.mutants import deferral, keys, locks, messages, sessions
from busproof.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *keys.MUTANTS,
    *deferral.MUTANTS,
    *locks.MUTANTS,
    *messages.MUTANTS,
    *sessions.MUTANTS,
)
"""Every mutant, by the family of its rule."""
