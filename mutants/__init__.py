"""Mutants of the reference model: each breaks one rule, and a test of that rule must kill it.

A mutant is the model with one of its functions replaced, together with the shortest run of commands
that shows the fault; there is a module a family.
"""

from typing import Final

from busproof.mutants import keys, limits, management, premium, sizes, topic_management
from busproof.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *keys.MUTANTS,
    *management.MUTANTS,
    *topic_management.MUTANTS,
    *premium.MUTANTS,
    *sizes.MUTANTS,
    *limits.MUTANTS,
)
"""Every mutant, by the family of its rule."""
