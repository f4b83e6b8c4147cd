"""Which entity a request means, and what of it can be reached."""

from busproof.pipeline.bus.terms import DEAD, Expression, let, one, refused, where
from busproof.vocabulary.values import Error

__all__ = ["down", "entity", "is_down", "of_queue", "owner"]


def owner(path: Expression) -> Expression:
    """The name of the entity that this path leads into."""
    return f"IF(endswith({path}, {DEAD}), left({path}, length({path}) - length({DEAD})), {path})"


def entity(name: Expression, state: Expression = "s") -> Expression:
    """The entity of this name; null if there is none."""
    return one(f"{state}.entities", "known", f"known.name = {name}")


def down(of: Expression = "e", state: Expression = "s") -> Expression:
    """The partitions of an entity that are unavailable."""
    dark = where(f"{state}.dark", "d", f"d.queue = {of}.place AND d.partition < {of}.partitions")
    return f"transform({dark}, d -> d.partition)"


def is_down(partition: Expression, unavailable: Expression = "unavailable") -> Expression:
    """Return whether a partition is among those that are unavailable."""
    return f"array_contains({unavailable}, {partition})"


def of_queue(body: Expression, *, to_topics: bool = False) -> Expression:
    """What is asked of the entity `e`, by its path `q`; `grave` if of its dead-letter queue.

    `unavailable` are its partitions that are down. MGMT-10: nothing is asked of what is not there;
    a topic is sent to, its subscriptions are received from.
    """
    misled = "e.kind = 'subscription' AND NOT grave" if to_topics else "e.kind = 'topic'"
    asked = (
        f"CASE WHEN e IS NULL THEN {refused(Error.NOT_FOUND)} "
        f"WHEN {misled} THEN {refused(Error.INVALID_OPERATION)} "
        f"ELSE {let('unavailable', down(), body)} END"
    )
    found = let("e", entity(owner("q")), let("grave", f"endswith(q, {DEAD})", asked))
    return let("q", "c.queue", found)
