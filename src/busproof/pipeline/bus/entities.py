"""Lookup of the entity of a request, and of its unavailable partitions."""

from busproof import vocabulary as v
from busproof.pipeline.bus.terms import DEAD, Expression, let, one, refuse, where

__all__ = ["down", "entity", "is_down", "owner", "run_on_queue"]


def owner(path: Expression) -> Expression:
    """Return the name of the entity at a path, or of the owner of a dead-letter queue."""
    return f"IF(endswith({path}, {DEAD}), left({path}, length({path}) - length({DEAD})), {path})"


def entity(name: Expression, state: Expression = "s") -> Expression:
    """Return the entity with this name; null if there is none."""
    return one(f"{state}.entities", "known", f"known.name = {name}")


def down(of: Expression = "e", state: Expression = "s") -> Expression:
    """Return the unavailable partitions of an entity."""
    dark = where(f"{state}.dark", "d", f"d.queue = {of}.place AND d.partition < {of}.partitions")
    return f"transform({dark}, d -> d.partition)"


def is_down(partition: Expression, unavailable: Expression = "unavailable") -> Expression:
    """Return whether a partition is unavailable."""
    return f"array_contains({unavailable}, {partition})"


def run_on_queue(body: Expression, *, to_topics: bool = False) -> Expression:
    """MGMT-10: run a request on the entity `e` at the path `q`, or refuse it.

    In the body, `is_dlq` says whether the path is a dead-letter queue, and `unavailable` has the
    partitions that are down. Requests to a missing entity, sends to a subscription, and other
    requests to a topic are refused.
    """
    misled = "e.kind = 'subscription' AND NOT is_dlq" if to_topics else "e.kind = 'topic'"
    answer = (
        f"CASE WHEN e IS NULL THEN {refuse(v.Error.NOT_FOUND)} "
        f"WHEN {misled} THEN {refuse(v.Error.INVALID_OPERATION)} "
        f"ELSE {let('unavailable', down(), body)} END"
    )
    with_entity = let("e", entity(owner("q")), let("is_dlq", f"endswith(q, {DEAD})", answer))
    return let("q", "c.queue", with_entity)
