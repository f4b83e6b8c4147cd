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
from busproof.judging.replay.evidence import independent_parts, messages_of
from busproof.judging.replay.search import Ended, Executed, Search
from busproof.model.rules import NO_FAULT, Families

__all__ = [
    "Continued",
    "Ended",
    "Explanation",
    "budget_of",
    "explain",
    "is_doubtful",
    "is_replayed",
    "is_worth_a_replay",
    "too_many_alike",
]

LONGEST: Final = 20_000
"""Number of events up to which a history is replayed; beyond it the oracle decides alone."""

LONG: Final = 2_000
"""Number of events up to which each accusation is replayed."""

STEPS_AT_LEAST: Final = 1_000
STEPS_AN_EVENT: Final = 5
"""Budget where the oracle's word counts if it is spent."""

STEPS_A_NEW_EVENT: Final = 500
"""Maximum number of steps to go on with an execution before a new one is looked for."""


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
) -> Explanation:
    """Look for an execution of the model that gives the recorded answers.

    Args:
        events: all events of a scenario, in the order of their recording.
        profile: the profile of the namespace.
        observability: what the observer sees.
        replaced: families of a mutant; none for the model.
        steps: the budget of each search; by default it grows with the events.
    """
    spent = 0
    executed: list[Executed] = []
    readings: dict[str, str] = {}
    agree = True
    parts = independent_parts(events)
    for indices in parts:
        search = Search([events[index] for index in indices], profile, observability, replaced)
        ended = search.run(steps)
        spent += search.steps
        if ended is not Ended.EXPLAINED:
            return Explanation(ended=ended, stuck_at=indices[search.stuck_at], steps=spent)
        executed += [
            Executed(indices[one.index], one.choices, one.rules) for one in search.execution
        ]
        for name, reading in search.namespace.readings.items():
            agree = agree and readings.setdefault(name, reading) == reading
    if agree:
        return Explanation(
            ended=Ended.EXPLAINED,
            execution=_with_rules_across(events, executed),
            readings=readings,
            steps=spent,
        )
    search = Search(events, profile, observability, replaced)
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
        added.append(Executed(one.index, one.choices, rules))
    return tuple(added)


class Continued:
    """Replay of a history that goes on: an execution that explains it is continued with each event.

    Args:
        events: the events so far.
        profile: the profile of the namespace.
        observability: what the observer sees.

    Attributes:
        explanation: the result for the events so far.
    """

    def __init__(
        self, events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
    ) -> None:
        self._events = list(events)
        self._profile = profile
        self._observability = observability
        self._search: Search | None = None
        self.explanation = self._begin()

    def saw(self, event: v.Event) -> Ended:
        """Replay one more event; return whether the history still has an explanation."""
        self._events.append(event)
        if self._search is not None:
            self._search.add(event)
            if self._search.run(STEPS_A_NEW_EVENT) is Ended.EXPLAINED:
                return Ended.EXPLAINED
        self.explanation = self._begin()
        return self.explanation.ended

    @property
    def shown(self) -> tuple[v.RuleId, ...]:
        """The rules that the newest event shows by itself; none if nothing explains it."""
        return () if self._search is None else self._search.shown

    def _begin(self) -> Explanation:
        search = Search(self._events, self._profile, self._observability)
        steps = budget_of(self._events)
        if search.run(steps) is Ended.EXPLAINED:
            self._search = search
            return Explanation(
                ended=Ended.EXPLAINED,
                execution=_with_rules_across(self._events, search.execution),
                readings=dict(search.namespace.readings),
                steps=search.steps,
            )
        # Part by part it is easier to find an execution, and to prove that there is none.
        self._search = None
        return explain(self._events, self._profile, self._observability, steps=steps)


def budget_of(events: Sequence[v.Event]) -> int | None:
    """Return the steps that an accusation is worth; `None` for the usual ones.

    Without messages that look alike the oracle's word counts if the replay gives up, so a long
    search would only delay it.
    """
    return None if look_alike(events) else STEPS_AT_LEAST + STEPS_AN_EVENT * len(events)


def is_replayed(observability: v.Observability, events: int) -> bool:
    """Return whether a replay can decide: it needs every event of a history, and not too many."""
    complete = not observability.partial and not observability.left_out
    return complete and events <= LONGEST


def is_worth_a_replay(events: Sequence[v.Event]) -> bool:
    """Return whether an accusation after these events is to be replayed.

    That of a long history takes a long time, and without messages that look alike the oracle's word
    is as good.
    """
    return len(events) <= LONG or look_alike(events)


def is_doubtful(explanation: Explanation, events: Sequence[v.Event]) -> bool:
    """Return whether an accusation is doubtful: messages look alike, and the replay gave up."""
    return explanation.ended is Ended.GAVE_UP and look_alike(events)


def too_many_alike(explanation: Explanation) -> str:
    """Return why there is no verdict on messages that look alike."""
    return (
        "messages look alike, and neither an execution that explains the answers nor the proof "
        f"that there is none was found in {explanation.steps} steps; different bodies or "
        "MessageIds would distinguish them"
    )


def look_alike(events: Sequence[v.Event]) -> bool:
    """Return whether some messages of a history can only be told apart by their numbers."""
    sent = Counter(
        attrs.evolve(message, size=None, stands_in=False, time_to_live=None)
        for event in events
        for message in messages_of(event.command)
    )
    return any(count > 1 for count in sent.values())
