"""Whether a history has an explanation: an execution of the reference model that gives its answers.

Independent parts of a history are searched one by one, because a choice of one says nothing about
another. What a bus decides once for everything, its readings, must agree between the parts; if the
parts disagree, the whole history is searched at once.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.coverage.across import Across
from busproof.judging.garbage import seldom_collected
from busproof.judging.liveness import Patience
from busproof.judging.replay.evidence import independent_parts
from busproof.judging.replay.long_histories import KEEPS
from busproof.judging.replay.recollection import Before
from busproof.judging.replay.search import Ended, Executed, Search
from busproof.model.rules import NO_FAULT, Families

__all__ = [
    "LONGEST",
    "Ended",
    "Explanation",
    "explain",
    "explain_to_go_on",
    "explanation_by",
    "hasty_budget",
    "proper_budget",
    "too_many_executions",
]

LONGEST: Final = 100_000
"""Number of events up to which a history is searched anew from its beginning, in 4 KB for each."""

STEPS_AT_LEAST: Final = 300
STEPS_AN_EVENT: Final = 2
"""Budget of a hasty search, which finds most executions and most proofs that there is none."""

PROPER: Final = 5
"""How many such budgets it is worth to be sure before there is no verdict."""
PROPER_AT_LEAST: Final = 6_000
"""Steps that it is worth in a short history, too."""


@attrs.frozen(kw_only=True)
class Explanation:
    """Result of a replay.

    Attributes:
        ended: whether there is an execution, or surely none, or none was found within the budget.
        execution: the steps of the execution, by independent part, as far as they can be undone;
            empty if there is none.
        decided: for each event, in the order of recording, the rules that it shows.
        stuck_at: if there is none, the index of the event that fitted nowhere.
        readings: what the bus decides once, as the execution has it: ambiguity to reading.
        steps: how many events were executed.
    """

    ended: Ended
    execution: tuple[Executed, ...] = ()
    decided: Sequence[tuple[v.RuleId, ...]] = ()
    stuck_at: int | None = None
    readings: dict[str, str] = attrs.field(factory=dict)
    steps: int = 0

    @property
    def is_found(self) -> bool:
        """Whether an execution explains the history, so that nothing was violated."""
        return self.ended is Ended.EXPLAINED

    @property
    def evidence(self) -> Counter[v.RuleId]:
        """Rule to the number of events that show it."""
        return Counter(rule for rules in self.decided for rule in rules)


@seldom_collected()
def explain(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    replaced: Families = NO_FAULT,
    *,
    steps: int | None = None,
    forgiven: int | None = None,
    before: Before | None = None,
) -> Explanation:
    """Look for an execution of the model that gives the recorded answers.

    Args:
        events: all events of a scenario, in the order of their recording.
        profile: the profile of the namespace.
        observability: what the observer sees.
        replaced: families of a mutant; none for the model.
        steps: the budget of each search; by default it grows with the events.
        forgiven: the index of the first event at which nothing is overdue, however late.
        before: what may have been there before, if the history begins in the middle.
    """
    patience = Patience(events, forgiven)
    spent = 0
    executed: list[Executed] = []
    readings: dict[str, str] = {}
    agree = True
    parts = independent_parts(events)
    for indices in parts:
        some = [events[index] for index in indices]
        search = Search(some, profile, observability, replaced, patience.of(indices), before)
        search.expects_delays = forgiven is not None
        ended = search.run(steps)
        spent += search.steps
        if ended is not Ended.EXPLAINED:
            return Explanation(ended=ended, stuck_at=indices[search.stuck_at], steps=spent)
        executed += [attrs.evolve(one, index=indices[one.index]) for one in search.execution]
        for name, reading in search.namespace.readings.items():
            agree = agree and readings.setdefault(name, reading) == reading
    if agree:
        execution = _with_rules_across(events, executed)
        return Explanation(
            ended=Ended.EXPLAINED,
            execution=execution,
            decided=_rules_by_event(execution),
            readings=readings,
            steps=spent,
        )
    search = Search(events, profile, observability, replaced, patience, before)
    search.expects_delays = forgiven is not None
    ended = search.run(steps)
    found = ended is Ended.EXPLAINED
    execution = _with_rules_across(events, search.execution) if found else ()
    return Explanation(
        ended=ended,
        execution=execution,
        decided=_rules_by_event(execution),
        stuck_at=None if found else search.stuck_at,
        readings=dict(search.namespace.readings),
        steps=spent + search.steps,
    )


def _rules_by_event(execution: Sequence[Executed]) -> tuple[tuple[v.RuleId, ...], ...]:
    """Return the rules that each event shows, in the order of recording."""
    shown: dict[int, tuple[v.RuleId, ...]] = {}
    for one in execution:
        # An advance of the clock is in each part, and shows nothing.
        shown[one.index] = one.rules or shown.get(one.index, ())
    return tuple(shown[index] for index in range(len(shown)))


def _with_rules_across(
    events: Sequence[v.Event], execution: Sequence[Executed]
) -> tuple[Executed, ...]:
    """Add the rules that only events of independent parts show together."""
    across = Across()
    known = {one.index: one.rules for one in execution}
    shown = {index: across.shown(known.get(index, ()), event) for index, event in enumerate(events)}
    # An advance of the clock is in each part.
    return tuple(
        attrs.evolve(one, rules=shown.pop(one.index, one.rules))
        if shown.get(one.index, one.rules) != one.rules
        else one
        for one in execution
    )


def explain_to_go_on(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    steps: int,
    forgiven: int | None = None,
    *,
    expects_delays: bool = False,
) -> tuple[Explanation, Search | None]:
    """Look for an execution that can be continued with further events.

    Args:
        events: all events so far.
        profile: the profile of the namespace.
        observability: what the observer sees.
        steps: the budget of each search.
        forgiven: the index of the first event at which nothing is overdue, however late.
        expects_delays: whether what is missing is most likely still under way.

    Returns:
        The result, and the search that found it. Part by part it is easier to find an execution,
        and to prove that there is none; but no single search can then go on.
    """
    patience = Patience(events, forgiven)
    search = Search(events, profile, observability, patience=patience, keeps=KEEPS)
    search.expects_delays = expects_delays or forgiven is not None
    ended = search.run(steps)
    if ended is Ended.EXPLAINED:
        return explanation_by(search), search
    if ended is Ended.IMPOSSIBLE or len(independent_parts(events)) == 1:
        nothing = Explanation(ended=ended, stuck_at=search.stuck_at, steps=search.steps)
        return nothing, None
    return explain(events, profile, observability, steps=steps, forgiven=forgiven), None


def explanation_by(search: Search) -> Explanation:
    """Return the explanation that a search of all events has found."""
    return Explanation(
        ended=Ended.EXPLAINED,
        execution=search.execution,
        decided=search.trail.decided,
        readings=dict(search.namespace.readings),
        steps=search.steps,
    )


def hasty_budget(events: int) -> int:
    """Return the steps after which a hasty search of this many events gives up."""
    return STEPS_AT_LEAST + STEPS_AN_EVENT * events


def proper_budget(events: int) -> int:
    """Return the steps after which there is no verdict on a history of this many events."""
    return max(PROPER * hasty_budget(events), PROPER_AT_LEAST)


def too_many_executions(events: int) -> str:
    """Return why there is no verdict if no search finds an execution or proves that there is none.

    Args:
        events: how many events can be explained.
    """
    return (
        "too many executions of the model are possible to try them all; "
        f"none was found that goes on after {events} events"
    )
