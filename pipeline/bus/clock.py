"""Time that passes, and partitions that come and go."""

from busproof.pipeline.bus.arriving import arrival, arrived
from busproof.pipeline.bus.entities import entity, owner
from busproof.pipeline.bus.releasing import died, released
from busproof.pipeline.bus.tables import TABLES
from busproof.pipeline.bus.terms import (
    Expression,
    done,
    let,
    refused,
    row,
    state,
    where,
)
from busproof.vocabulary.values import Error

__all__ = ["advance", "bring_up", "take_down"]


def advance() -> Expression:
    """Time passes: locks end, what is due arrives, what has outlived its time to live dies."""
    later = state(now="s.now + c.duration")
    without = state(sessions=where("s.sessions", "x", "x.until > s.now"))
    steps = [released("b.until <= s.now"), without, _come(), died(), done()]
    body = steps.pop()
    while steps:
        body = let("s", steps.pop(), body)
    return let("s", later, body)


def _come() -> Expression:
    """SCHED-02, SCHED-07: what is due arrives behind what is there, the earliest first."""
    due = where("s.planned", "x", "x.due <= s.now")
    earlier = (
        "CASE WHEN x.due < y.due THEN -1 WHEN x.due > y.due THEN 1 "
        "WHEN x.sequence_number < y.sequence_number THEN -1 ELSE 1 END"
    )
    going = arrival(
        queue="x.queue", partition="x.partition", message="x.message", at="x.due", checked="true"
    )
    rest = state(planned=where("s.planned", "x", "x.due > s.now"))
    coming = f"transform(array_sort(due, (x, y) -> {earlier}), x -> {going})"
    return let("due", due, f"IF(size(due) = 0, s, {arrived(rest, coming)})")


def _switched(after: Expression) -> Expression:
    """A partition goes down or comes up; of a queue that is not there, the one it would have."""
    absent = "e IS NULL AND c.partition >= s.most_partitions OR c.partition >= e.partitions"
    body = (
        f"CASE WHEN coalesce({absent}, false) THEN {refused(Error.NOT_FOUND)} "
        f"WHEN e.kind = 'subscription' THEN {refused(Error.INVALID_OPERATION)} "
        f"ELSE {done(dark=after)} END"
    )
    return let("q", owner("c.queue"), let("e", entity("q"), body))


def _others() -> Expression:
    return where("s.dark", "d", "d.queue <> q OR d.partition <> c.partition")


def take_down() -> Expression:
    """KEY-03: the partition takes nothing and gives nothing."""
    new = row(TABLES["dark"], queue="q", partition="CAST(c.partition AS BIGINT)")
    return _switched(f"concat({_others()}, array({new}))")


def bring_up() -> Expression:
    """PART-04: the partition is there again, with all that it held."""
    return _switched(_others())
