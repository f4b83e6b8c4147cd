"""Coverage goals: situations that a run has to reach before its passes mean much.

A goal is a situation that tests its rules thoroughly. If a run explores and never reaches an
applicable goal, the rules of the goal count as not shown. A goal never requires behaviour that is
optional for a bus.

To add a goal, add its line to `GOALS`: the situation in words, its rules, and a test of events.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.applicability import Terms

__all__ = ["GOALS", "Goal", "Met", "counted", "met", "missed"]

LARGE: Final = 100_000_000
"""Size in bytes of a message that every tier accepts if it has room."""

Reaches = Callable[[Sequence[v.Event], int, tuple[v.RuleId, ...]], bool]
"""Predicate: whether the event at this index, decided by these rules, reaches the goal."""


@attrs.frozen
class Goal:
    """A situation that a run has to reach.

    Attributes:
        name: the situation, in words.
        rules: the rules that it tests.
        reaches: the predicate for an event that reaches it.
        when: the predicate for an event that shows that the goal can be reached; `None` if it
            always can be.
    """

    name: str
    rules: tuple[v.RuleId, ...]
    reaches: Reaches
    when: Reaches | None = None


@attrs.frozen
class _Came:
    """Predicate for events of this kind that this rule decided."""

    command: type | tuple[type, ...]
    outcome: type | tuple[type, ...]
    rule: v.RuleId

    def __call__(
        self, events: Sequence[v.Event], place: int, decided: tuple[v.RuleId, ...]
    ) -> bool:
        """Return whether the event at this place is one of them."""
        # Few events are decided by the rule, and a compressed event is found less quickly.
        if self.rule not in decided:
            return False
        event = events[place]
        return isinstance(event.command, self.command) and isinstance(event.outcome, self.outcome)


def _dead_letter(events: Sequence[v.Event], place: int, _decided: tuple[v.RuleId, ...]) -> bool:
    """Match the receipt of a message from a dead-letter queue."""
    command, outcome = events[place].command, events[place].outcome
    if not isinstance(command, v.Receive) or not isinstance(outcome, v.Received):
        return False
    return command.queue.endswith(v.DEAD_LETTERS)


def _several_committed(
    events: Sequence[v.Event], place: int, _decided: tuple[v.RuleId, ...]
) -> bool:
    last = events[place]
    if not isinstance(last.command, v.CommitTransaction) or not isinstance(last.outcome, v.Done):
        return False
    name, sent = last.command.transaction, 0
    for index in range(place - 1, -1, -1):
        command, done = events[index].command, isinstance(events[index].outcome, v.Done)
        if isinstance(command, v.Send) and command.transaction == name and done:
            sent += 1
        elif isinstance(command, v.BeginTransaction) and command.transaction == name and done:
            break
        if sent > 1:
            return True
    return False


def _several_peeked(events: Sequence[v.Event], place: int, _decided: tuple[v.RuleId, ...]) -> bool:
    outcome = events[place].outcome
    return isinstance(outcome, v.Peeked) and len(outcome.messages) > 1


def _large_taken(events: Sequence[v.Event], place: int, _decided: tuple[v.RuleId, ...]) -> bool:
    """Match a large message that was accepted; a bus need not do so, and a few fill a partition."""
    command, outcome = events[place].command, events[place].outcome
    large = isinstance(command, v.Send) and (command.message.size or 0) >= LARGE
    return large and isinstance(outcome, v.Done)


_LONG_KEYS: Final = ("LIMIT-08", "LIMIT-10", "LIMIT-12")


def _beyond(events: Sequence[v.Event], place: int, decided: tuple[v.RuleId, ...]) -> bool:
    """Match the refusal of a message because one of its keys is too long."""
    too_long = any(rule in decided for rule in _LONG_KEYS)
    return too_long and isinstance(events[place].outcome, v.Refused)


GOALS: Final = (
    Goal("a keyed send at a dead partition", ("KEY-03",), _Came(v.Send, v.Refused, "KEY-03")),
    Goal("a key after its partition's outage", ("KEY-20",), _Came(v.Send, v.Done, "KEY-20")),
    Goal("a send around a dead partition", ("KEY-15",), _Came(v.Send, v.Done, "KEY-15")),
    Goal("keys that differ", ("KEY-08",), _Came(v.Send, v.Refused, "KEY-08")),
    Goal("a dropped duplicate", ("KEY-11",), _Came(v.Send, v.Done, "KEY-11")),
    Goal("a message received again", ("LIFE-04",), _Came(v.Receive, v.Received, "LIFE-04")),
    Goal("an expired lock", ("LIFE-05",), _Came(v.Receive, v.Received, "LIFE-05")),
    Goal(
        "a settlement with a lost lock",
        ("LIFE-06",),
        _Came((v.Complete, v.Abandon), v.Refused, "LIFE-06"),
    ),
    Goal("several messages in one peek", ("LIFE-07",), _several_peeked),
    Goal("a session held by another", ("LIFE-10",), _Came(v.AcceptSession, v.Refused, "LIFE-10")),
    Goal("two keys in a transaction", ("TXN-04",), _Came(v.Send, v.Refused, "TXN-04")),
    Goal("two sessions in a transaction", ("TXN-08",), _Came(v.Send, v.Refused, "TXN-08")),
    Goal("several messages in a commit", ("TXN-02", "TXN-12"), _several_committed),
    Goal("a dead letter", ("DLQ-02", "DLQ-07"), _dead_letter),
    Goal(
        "a deferred message", ("DEFER-02",), _Came(v.ReceiveDeferred, v.ReceivedSeveral, "DEFER-02")
    ),
    Goal("a scheduled message", ("SCHED-02",), _Came(v.Receive, v.Received, "SCHED-02")),
    Goal("a cancelled message", ("SCHED-03",), _Came(v.CancelScheduled, v.Done, "SCHED-03")),
    Goal("an expired message", ("TTL-01",), _Came(v.Receive, v.Empty, "TTL-01")),
    Goal("copies that are taken apart", ("TOPIC-02",), _Came(v.Receive, v.Received, "TOPIC-02")),
    Goal("a message kept out by a filter", ("FILTER-04",), _Came(v.Receive, v.Empty, "FILTER-04")),
    Goal("a third hop", ("FWD-16",), _Came(v.Receive, v.Received, "FWD-16")),
    Goal("a full partition", ("SIZE-07",), _Came(v.Send, v.Refused, "SIZE-07"), _large_taken),
    Goal("a full entity", ("SIZE-11",), _Came(v.Send, v.Refused, "SIZE-11"), _large_taken),
    Goal(
        "one partitioned queue too many",
        ("QUOTA-02",),
        _Came(v.CreateQueue, v.Refused, "QUOTA-02"),
        _Came(v.CreateQueue, v.Done, "QUOTA-01"),
    ),
    Goal("a key that is too long", _LONG_KEYS, _beyond),
    Goal("messages rolled back", ("TXN-13",), _Came(v.RollBackTransaction, v.Done, "TXN-13")),
    Goal(
        "a batch that arrives",
        ("BATCH-01",),
        _Came((v.Receive, v.ReceiveBatch), (v.Received, v.ReceivedSeveral), "BATCH-01"),
    ),
    Goal(
        "several received at once",
        ("BATCH-12",),
        _Came(v.ReceiveBatch, v.ReceivedSeveral, "BATCH-12"),
    ),
    Goal("a settlement in a commit", ("LOCK-11",), _Came(v.CommitTransaction, v.Done, "LOCK-11")),
)
"""All goals, by the family of their rules."""


@attrs.define
class Met:
    """Goals that a run reached, and goals that it could have reached.

    Attributes:
        times: name of a goal to the number of events that reached it.
        avoidable: names of the goals with a `when`, for which an event has shown that they can be
            reached.
    """

    times: dict[str, int] = attrs.field(factory=dict)
    avoidable: dict[str, bool] = attrs.field(factory=dict)

    def add(self, other: "Met") -> None:
        """Add the goals of another run."""
        for name, number in other.times.items():
            self.times[name] = self.times.get(name, 0) + number
        self.avoidable |= other.avoidable


@lru_cache(maxsize=4096)
def _within_reach(decided: tuple[v.RuleId, ...]) -> tuple[Goal, ...]:
    """Return the goals that an event decided by these rules may reach, or show to be reachable."""
    return tuple(
        goal
        for goal in GOALS
        if any(
            test is not None and (not isinstance(test, _Came) or test.rule in decided)
            for test in (goal.reaches, goal.when)
        )
    )


def met(events: Sequence[v.Event], decided: Sequence[tuple[v.RuleId, ...]]) -> Met:
    """Return the goals that the events of a run reached.

    Args:
        events: the events in the order of judging.
        decided: for each event, the rules that decided it.
    """
    goals = Met()
    for place, rules in enumerate(decided):
        for goal in _within_reach(rules):
            if goal.reaches(events, place, rules):
                goals.times[goal.name] = goals.times.get(goal.name, 0) + 1
            if goal.when is not None and goal.when(events, place, rules):
                goals.avoidable[goal.name] = True
    return goals


def counted(goals: Met, terms: Terms) -> dict[str, int]:
    """Return the name of each applicable goal, with the number of events that reached it."""
    catalogue = terms.catalogue
    times = {
        goal.name: goals.times.get(goal.name, 0)
        for goal in GOALS
        if not any(terms.inapplicable(catalogue.rule(rule)) for rule in goal.rules)
    }
    needed = {goal.name for goal in GOALS if goal.when is not None} - goals.avoidable.keys()
    return {name: number for name, number in times.items() if number or name not in needed}


def missed(times: Mapping[str, int]) -> dict[v.RuleId, str]:
    """Return the rules of goals that were never reached, each with its first such goal."""
    never = [goal for goal in GOALS if times.get(goal.name) == 0]
    return {rule: goal.name for goal in reversed(never) for rule in goal.rules}
