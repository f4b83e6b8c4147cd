"""Mutants that are right for one message, and wrong late, beside others or after something else."""

from typing import Final

from busproof.mutants.mutant import Mutant
from busproof.mutants.situations import late, mixed, readings, room, together

__all__ = ["MUTANTS"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *mixed.MUTANTS,
    *late.MUTANTS,
    *readings.MUTANTS,
    *room.MUTANTS,
    *together.MUTANTS,
)
