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
from busproof.judging.coverage.across import shown_across
from busproof.judging.garbage import seldom_collected
from busproof.judging.liveness import Patience
from busproof.judging.replay.evidence import independent_parts, messages_of, views_of
from busproof.judging.replay.recollection import Before
from busproof.judging.replay.search import Ended, Executed, Search
from busproof.model.rules import NO_FAULT, Families

__all__ = [
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
    "too_long",
    "too_many_alike",
]

LONGEST: Final = 20_000
"""Number of events up to which a history is replayed; beyond it the oracle decides."""

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
        execution: the steps of the execution, by independent part; empty if there is none.
        stuck_at: if there is none, the index of the event that fitted nowhere.
        readings: what the bus decides once, as the execution has it: ambiguity to reading.
        steps: how many events were executed.
    """

    ended: Ended
    execution: tuple[Executed, ...] = ()
    stuck_at: int | None = None
    readings: dict[str, str] = attrs.field(factory=dict)
    steps: int = 0

    @property
    def is_found(self) -> bool:
        """Whether an execution explains the history, so that nothing was violated."""
        return self.ended is Ended.EXPLAINED

    @property
    def decided(self) -> tuple[tuple[v.RuleId, ...], ...]:
        """For each event, in the order of recording, the rules that it shows."""
        shown: dict[int, tuple[v.RuleId, ...]] = {}
        for one in self.execution:
            # An advance of the clock is in each part, and shows nothing.
            shown[one.index] = one.rules or shown.get(one.index, ())
        return tuple(shown[index] for index in range(len(shown)))

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
        return Explanation(
            ended=Ended.EXPLAINED,
            execution=_with_rules_across(events, executed),
            readings=readings,
            steps=spent,
        )
    search = Search(events, profile, observability, replaced, patience, before)
    ended = search.run(steps)
    found = ended is Ended.EXPLAINED
    return Explanation(
        ended=ended,
        execution=_with_rules_across(events, search.execution) if found else (),
        stuck_at=None if found else search.stuck_at,
        readings=dict(search.namespace.readings),
        steps=spent + search.steps,
    )


def _with_rules_across(
    events: Sequence[v.Event], execution: Sequence[Executed]
) -> tuple[Executed, ...]:
    """Add the rules that only events of independent parts show together."""
    more = shown_across(events, {one.index: one.rules for one in execution})
    if not more:
        return tuple(execution)
    added = []
    for one in execution:
        # An advance of the clock is in each part.
        rules = more.pop(one.index, ())
        rules = tuple(dict.fromkeys((*one.rules, *rules)))
        added.append(attrs.evolve(one, rules=rules))
    return tuple(added)


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
    search = Search(events, profile, observability, patience=Patience(events, forgiven))
    steps = hasty_budget(len(events))
    ended = search.run(steps)
    if ended is Ended.EXPLAINED:
        return explanation_by(search, events), search
    if ended is Ended.IMPOSSIBLE:
        nothing = Explanation(ended=ended, stuck_at=search.stuck_at, steps=search.steps)
        return nothing, None
    return explain(events, profile, observability, steps=steps, forgiven=forgiven), None


def explanation_by(search: Search, events: Sequence[v.Event]) -> Explanation:
    """Return the explanation that a search of all events has found."""
    return Explanation(
        ended=Ended.EXPLAINED,
        execution=_with_rules_across(events, search.execution),
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


def is_replayed(observability: v.Observability, events: int) -> bool:
    """Return whether a replay can decide: it needs every event of a history, and not too many."""
    complete = not observability.partial and not observability.left_out
    return complete and events <= LONGEST


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


def too_long() -> str:
    """Return why there is no verdict on a history that is too long for a replay."""
    return (
        f"messages look alike, and histories of more than {LONGEST:,} events are not replayed; "
        "different bodies or MessageIds would distinguish them"
    )


def look_alike(events: Sequence[v.Event]) -> bool:
    """Return whether some messages of a history can only be told apart by their numbers."""
    sent = Counter(
        attrs.evolve(message, size=None, stands_in=False, time_to_live=None)
        for event in events
        for message in messages_of(event.command)
    )
    return any(count > 1 for count in sent.values())
