"""Many buses in one job, each with its own commands and, optionally, its own mutant."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from busproof.pipeline.bus.folding import COMMANDS, SCHEMA, fold_requests
from busproof.pipeline.bus.mutants import insert_mutants

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SEQUENCES", "answer_sequences"]

SEQUENCES: Final = f"seed BIGINT, mutant STRING, {SCHEMA}"
"""Schema of rows with one sequence each; `mutant` names the mutant to run, null for none."""


def answer_sequences(
    sequences: "DataFrame", *, kinds: Collection[str] = tuple(COMMANDS), mutated: bool = False
) -> "DataFrame":
    """Return the outcomes of each sequence's commands in order, as JSON text.

    Args:
        sequences: rows in the schema `SEQUENCES`.
        kinds: types of the commands in the rows; fewer types make a smaller plan.
        mutated: whether to support mutants, which makes the plan larger.
    """
    fold = fold_requests(kinds, referring=True)
    after = insert_mutants(fold) if mutated else fold
    return sequences.selectExpr(
        "seed", "mutant", f"to_json(named_struct('told', {after}.told)) AS told"
    )
