"""The clock, and outages of partitions."""

from busproof import vocabulary as v
from busproof.pipeline.bus.arriving import arrival, deliver_arrivals
from busproof.pipeline.bus.entities import entity, owner
from busproof.pipeline.bus.releasing import expire_messages, release
from busproof.pipeline.bus.tables import TABLES
from busproof.pipeline.bus.terms import (
    Expression,
    let,
    refuse,
    row,
    state,
    succeed,
    where,
)

__all__ = ["advance", "bring_up", "take_down"]


def advance() -> Expression:
    """Advance the clock: end locks, activate due messages, and expire messages."""
    later = state(now="s.now + c.duration")
    without = state(sessions=where("s.sessions", "x", "x.until > s.now"))
    steps = [release("b.until <= s.now"), without, _come(), expire_messages(), succeed()]
    body = steps.pop()
    while steps:
        body = let("s", steps.pop(), body)
    return let("s", later, body)


def _come() -> Expression:
    """SCHED-02, SCHED-07: enqueue due messages after those present, the earliest first."""
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
    return let("due", due, f"IF(size(due) = 0, s, {deliver_arrivals(rest, coming)})")


def _switch_partition(after: Expression) -> Expression:
    """Take a partition down or bring it up.

    A queue that does not exist yet may have an outage in any partition that it might get.
    """
    absent = "e IS NULL AND c.partition >= s.most_partitions OR c.partition >= e.partitions"
    body = (
        f"CASE WHEN coalesce({absent}, false) THEN {refuse(v.Error.NOT_FOUND)} "
        f"WHEN e.kind = 'subscription' THEN {refuse(v.Error.INVALID_OPERATION)} "
        f"ELSE {succeed(dark=after)} END"
    )
    return let("q", owner("c.queue"), let("e", entity("q"), body))


def _others() -> Expression:
    return where("s.dark", "d", "d.queue <> q OR d.partition <> c.partition")


def take_down() -> Expression:
    """KEY-03: take a partition down, so that it neither takes nor delivers messages."""
    new = row(TABLES["dark"], queue="q", partition="CAST(c.partition AS BIGINT)")
    return _switch_partition(f"concat({_others()}, array({new}))")


def bring_up() -> Expression:
    """PART-04: bring a partition up, with all its messages."""
    return _switch_partition(_others())
