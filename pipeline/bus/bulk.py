"""Very many buses folded in one job, each with its own commands, and its own fault if need be."""

from typing import TYPE_CHECKING, Final

from busproof.pipeline.bus.folding import SCHEMA, folded
from busproof.pipeline.bus.mutants import guarded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SEQUENCES", "told"]

SEQUENCES: Final = f"seed BIGINT, mutant STRING, {SCHEMA}"
"""One row a sequence; `mutant` names the fault that its bus has, null for none."""


def told(sequences: "DataFrame", *, mutated: bool = False) -> "DataFrame":
    """For each sequence what was told of its commands in their order, as a text of JSON.

    Args:
        sequences: in the schema `SEQUENCES`.
        mutated: whether faults are looked for; the plan is larger then.
    """
    fold = folded(referring=True)
    after = guarded(fold) if mutated else fold
    return sequences.selectExpr(
        "seed", "mutant", f"to_json(named_struct('told', {after}.told)) AS told"
    )
