"""Judging of events one by one: an execution of the reference model is continued with each.

Where it cannot go on, another one is looked for. The bus is accused only if there surely is none; a
search that gives up proves nothing, and leaves no verdict.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.packed import PackedEvents
from busproof.history.records import Oracle
from busproof.judging.diagnosis.diagnosis import diagnosis_of_last
from busproof.judging.diagnosis.overdue import overdue_at
from busproof.judging.liveness import Patience
from busproof.judging.replay.explanation import (
    LONGEST,
    Explanation,
    explain,
    explain_to_go_on,
    explanation_by,
    hasty_budget,
    proper_budget,
    too_many_executions,
)
from busproof.judging.replay.long_histories import KEEPS, too_far_back
from busproof.judging.replay.search import Ended, Search
from busproof.judging.violation import Violation

__all__ = ["Judge", "observability_for"]

ATTEMPTS: Final = 30
"""Maximum number of steps to go on with an execution before a new one is looked for."""


def observability_for(observability: v.Observability, oracle: Oracle) -> v.Observability:
    """Return the observability that an oracle assumes: the client oracle sees no partitions."""
    if oracle is Oracle.STRICT:
        return observability
    return attrs.evolve(observability, partitions=False)


class Judge:
    """Judge of events in their order, from an empty namespace on; each event is judged once.

    Args:
        profile: the profile of the namespace.
        observability: what the observer sees.

    Attributes:
        violation: the first event that is not allowed; no later event is judged.
        overdue: the first event at which a message or a right description was overdue, although
            each answer so far is allowed.
        exhausted: why judging stopped without a verdict; empty if it did not.
        steps: how many steps of the model its searches took, about one for each event that they
            explain at once; without those that a diagnosis takes.
    """

    def __init__(self, profile: v.Profile, observability: v.Observability) -> None:
        self._profile = profile
        self._observability = observability
        self._count = 0
        self._events = PackedEvents()
        self._forgiven: int | None = None
        self._expects_delays = False
        # What explains all events so far: a search that can go on, or an explanation part by part.
        self._search: Search | None = Search((), profile, observability, keeps=KEEPS)
        self._explanation = Explanation(ended=Ended.EXPLAINED)
        self.violation: Violation | None = None
        self.overdue: Violation | None = None
        self.exhausted = ""
        self.steps = 0

    def saw(self, event: v.Event) -> Violation | None:
        """Judge the next event; return the violation if the event is one."""
        if self.violation is not None or self.exhausted:
            return None
        self._count += 1
        self._events.append(event)
        search = self._search
        if self._count > LONGEST and search is not None and search.has_forgotten:
            # Nobody will search them anew.
            self._events = PackedEvents()
        if search is not None:
            before = search.steps
            has_gone_on = self._goes_on(search, event)
            self.steps += search.steps - before
            if has_gone_on:
                return None
        self._look_for_another(hasty_budget(self._count))
        if not self._explanation.is_found:
            self._decide(search)
        return self.violation

    @property
    def decided(self) -> Sequence[tuple[v.RuleId, ...]]:
        """For each event that was allowed, the rules that it shows."""
        if self.violation is not None or self.exhausted:
            return self._decisions_before
        if self._search is not None:
            self._explanation = explanation_by(self._search)
        return self._explanation.decided

    @cached_property
    def _decisions_before(self) -> Sequence[tuple[v.RuleId, ...]]:
        """For each event before the last one, the rules that it shows."""
        if self._search is not None:
            return explanation_by(self._search).decided
        before = self._events[:-1]
        steps = proper_budget(len(before))
        found, _ = explain_to_go_on(
            before, self._profile, self._observability, steps, self._forgiven
        )
        return found.decided if found.is_found else [()] * len(before)

    @property
    def evidence(self) -> Counter[v.RuleId]:
        """Rule to the number of events that show it."""
        return Counter(rule for rules in self.decided for rule in rules)

    def _goes_on(self, search: Search, event: v.Event) -> bool:
        """Go on with the execution; return whether there is nothing more to do for this event."""
        search.add(event)
        if search.run(ATTEMPTS) is Ended.EXPLAINED:
            return True
        if not search.has_forgotten:
            return False
        if search.run_again(hasty_budget(len(search.kept))) is Ended.EXPLAINED:
            return True
        if self._count <= LONGEST:
            return False
        search.leave_out_last()
        self.exhausted = too_far_back(search)
        return True

    def _look_for_another(self, steps: int) -> None:
        self._explanation, self._search = explain_to_go_on(
            self._events,
            self._profile,
            self._observability,
            steps,
            self._forgiven,
            expects_delays=self._expects_delays,
        )
        self._expects_delays = self._search is not None and self._search.expects_delays
        self.steps += self._explanation.steps

    def _decide(self, before: Search | None) -> None:
        """Decide about the last event, which a hasty search could not explain.

        Args:
            before: the search that has explained the events before, if it can go on.
        """
        if self._forgiven is None:
            patience = Patience(self._events)
            if patience.ended and self._forgives(patience):
                return
        if self._explanation.ended is Ended.GAVE_UP:
            self._look_longer(before)
        if self._explanation.ended is Ended.GAVE_UP:
            self.exhausted = too_many_executions(self._count - 1)
        elif self._explanation.ended is Ended.IMPOSSIBLE:
            found = diagnosis_of_last(self._events, self._profile, self._observability)
            self.violation = Violation(
                index=found.index, rules=found.rules, allowed=found.allowed, places=found.places
            )

    def _look_longer(self, before: Search | None) -> None:
        """Go on with the execution of the events before, or look for another one, for longer."""
        if before is not None and before.run(hasty_budget(self._count)) is Ended.EXPLAINED:
            self._search = before
            self._explanation = explanation_by(before)
        else:
            self._look_for_another(proper_budget(self._count))

    def _forgives(self, patience: Patience) -> bool:
        """Look for an execution in which something comes too late, now or ever.

        Returns:
            Whether there is one; then there is a verdict about what is overdue, or none at all.
        """
        events = self._events
        last = self._count - 1
        punctual = self._explanation
        for self._forgiven in (last, 0):
            self._look_for_another(hasty_budget(self._count))
            if self._explanation.is_found:
                break
        else:
            self._forgiven = None
            self._explanation = punctual
            return False
        if punctual.ended is Ended.GAVE_UP:
            punctual = explain(events, self._profile, self._observability)
            self.steps += punctual.steps
        if punctual.ended is Ended.GAVE_UP:
            self.exhausted = too_many_executions(last)
        elif punctual.is_found:
            self._explanation = punctual
            self._search = self._forgiven = None
        else:
            self.overdue = overdue_at(events, patience, self._profile, self._observability)
        return True
