"""Every rule that has a query, and each of them by itself.

`key_03_violations(history, config)` and its like take a history in the published schema and its
config (`entities` makes one), and give the violations of that rule.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from pyspark.sql import DataFrame

from busproof.pipeline import (
    rules_by_number,
    rules_copies,
    rules_dead_letters,
    rules_deferral,
    rules_graves,
    rules_held,
    rules_keys,
    rules_lifetimes,
    rules_limits,
    rules_locks,
    rules_messages,
    rules_numbers,
    rules_order,
    rules_scheduling,
    rules_sends,
    rules_sessions,
    rules_sizes,
    rules_transactions,
    rules_waiting,
)
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Query, violations
from busproof.pipeline.terms import Held

__all__ = ["QUERIES", "RULES", "by_frame", "missing_columns", "violations_of"]

QUERIES: Final[tuple[Query, ...]] = (
    *rules_by_number.QUERIES,
    *rules_copies.QUERIES,
    *rules_dead_letters.QUERIES,
    *rules_deferral.QUERIES,
    *rules_graves.QUERIES,
    *rules_held.QUERIES,
    *rules_keys.QUERIES,
    *rules_lifetimes.QUERIES,
    *rules_limits.QUERIES,
    *rules_locks.QUERIES,
    *rules_messages.QUERIES,
    *rules_numbers.QUERIES,
    *rules_order.QUERIES,
    *rules_scheduling.QUERIES,
    *rules_sends.QUERIES,
    *rules_sessions.QUERIES,
    *rules_sizes.QUERIES,
    *rules_transactions.QUERIES,
    *rules_waiting.QUERIES,
)

RULES: Final = frozenset(query.rule for query in QUERIES)
"""The rules that this engine judges."""


def missing_columns(rule: str, absent: frozenset[str]) -> frozenset[str]:
    """The columns without which none of the rule's queries can be asked."""
    lacks = [query.needs & absent for query in QUERIES if query.rule == rule]
    return frozenset() if not all(lacks) else frozenset().union(*lacks)


def violations_of(rule: str, history: DataFrame, config: DataFrame, held: Held) -> DataFrame:
    """The violations of one rule; raises `KeyError` for a rule that has no query."""
    mine = [query for query in QUERIES if query.rule == rule]
    if not mine:
        raise KeyError(rule)
    frames = Frames(history, config, held)
    found = violations(mine[0], frames)
    for query in mine[1:]:
        found = found.unionByName(violations(query, frames))
    return found


def by_frame(
    frames: Frames, rules: Collection[str] = RULES, absent: frozenset[str] = frozenset()
) -> Iterator[tuple[DataFrame, list[Query]]]:
    """Each frame that these rules are asked of, with their queries.

    They are not made one table: each task of that would have to unpack the plans of all frames,
    which costs more than what it computes.
    """
    asked: dict[Callable[[Frames], DataFrame], list[Query]] = {}
    for query in QUERIES:
        if query.rule in rules and not query.needs & absent:
            asked.setdefault(query.frame, []).append(query)
    for frame, queries in asked.items():
        yield frame(frames), queries


def _alone(rule: str) -> Callable[[DataFrame, DataFrame, Held], DataFrame]:
    def violations_alone(history: DataFrame, config: DataFrame, held: Held) -> DataFrame:
        return violations_of(rule, history, config, held)

    violations_alone.__name__ = f"{rule.lower().replace('-', '_')}_violations"
    violations_alone.__doc__ = f"{rule}: what breaks it."
    return violations_alone


_BY_NAME: Final[Mapping[str, Callable[[DataFrame, DataFrame, Held], DataFrame]]] = {
    f"{rule.lower().replace('-', '_')}_violations": _alone(rule) for rule in sorted(RULES)
}


def __getattr__(name: str) -> Callable[[DataFrame, DataFrame, Held], DataFrame]:
    try:
        return _BY_NAME[name]
    except KeyError:
        raise AttributeError(name) from None
