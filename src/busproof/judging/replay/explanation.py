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
from busproof.judging.replay.evidence import independent_parts, messages_of, views_of
from busproof.judging.replay.long_histories import KEEPS
from busproof.judging.replay.recollection import Before
from busproof.judging.replay.search import Ended, Executed, Search
from busproof.model.rules import NO_FAULT, Families

__all__ = [
    "LONGEST",
    "Ended",
    "Explanation",
    "budget_of",
    "explain",
    "explain_to_go_on",
    "explanation_by",
    "hasty_budget",
    "is_doubtful",
    "is_replayed",
    "look_alike",
    "too_late",
    "too_many_alike",
]

LONGEST: Final = 100_000
"""Number of events up to which a history is searched anew from its beginning, in 4 KB for each."""

STEPS_AT_LEAST: Final = 300
STEPS_AN_EVENT: Final = 2
"""Budget of a search after which the oracle is asked for a second opinion."""

ACCUSED: Final = 3
"""How many such budgets it is worth to be sure before a bus is accused."""


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
            decided=_decided(execution),
            readings=readings,
            steps=spent,
        )
    search = Search(events, profile, observability, replaced, patience, before)
    ended = search.run(steps)
    found = ended is Ended.EXPLAINED
    execution = _with_rules_across(events, search.execution) if found else ()
    return Explanation(
        ended=ended,
        execution=execution,
        decided=_decided(execution),
        stuck_at=None if found else search.stuck_at,
        readings=dict(search.namespace.readings),
        steps=spent + search.steps,
    )


def _decided(execution: Sequence[Executed]) -> tuple[tuple[v.RuleId, ...], ...]:
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
    forgiven: int | None = None,
) -> tuple[Explanation, Search | None]:
    """Look for an execution that can be continued with further events.

    Args:
        events: all events so far.
        profile: the profile of the namespace.
        observability: what the observer sees.
        forgiven: the index of the first event at which nothing is overdue, however late.

    Returns:
        The result, and the search that found it. Part by part it is easier to find an execution,
        and to prove that there is none; but no single search can then go on.
    """
    patience = Patience(events, forgiven)
    search = Search(events, profile, observability, patience=patience, keeps=KEEPS)
    steps = hasty_budget(len(events))
    ended = search.run(steps)
    if ended is Ended.EXPLAINED:
        return explanation_by(search), search
    if ended is Ended.IMPOSSIBLE:
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
    """Return the steps after which a replay of this many events asks for a second opinion."""
    return STEPS_AT_LEAST + STEPS_AN_EVENT * events


def budget_of(events: Sequence[v.Event]) -> int | None:
    """Return the steps that an accusation is worth; `None` for the usual ones.

    Without messages that look alike the oracle's word counts if the replay gives up, so a long
    search would only delay it.
    """
    return None if look_alike(events) else ACCUSED * hasty_budget(len(events))


def is_replayed(observability: v.Observability) -> bool:
    """Return whether a replay can decide: it needs every event of a history."""
    return not observability.partial and not observability.left_out


def is_doubtful(explanation: Explanation, events: Sequence[v.Event]) -> bool:
    """Return whether an accusation is doubtful: messages look alike, and the replay gave up.

    A message that the last answer shows and that nobody has sent looks like none.
    """
    if explanation.ended is not Ended.GAVE_UP or not look_alike(events):
        return False
    sent = {message.body for event in events for message in messages_of(event.command)}
    return all(view.body in sent for view in views_of(events[-1].outcome))


def too_many_alike(steps: int) -> str:
    """Return why there is no verdict on messages that look alike after so many steps."""
    return (
        "messages look alike, and neither an execution that explains the answers nor the proof "
        f"that there is none was found in {steps:,} steps; different bodies or "
        "MessageIds would distinguish them"
    )


def too_late(steps: int) -> str:
    """Return why there is no verdict on answers that may have come too late after so many steps."""
    return (
        "neither an execution in which everything comes in time nor the proof that there is none "
        f"was found in {steps:,} steps"
    )


def look_alike(events: Sequence[v.Event]) -> bool:
    """Return whether some messages of a history can only be told apart by their numbers."""
    sent = Counter(
        attrs.evolve(message, size=None, stands_in=False, time_to_live=None)
        for event in events
        for message in messages_of(event.command)
    )
    return any(count > 1 for count in sent.values())
