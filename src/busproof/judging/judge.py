"""Judging of events one by one: an execution of the reference model is continued with each.

Where no execution is found, the oracle is asked for a second opinion: the bus is accused only if
both say that an answer is impossible, or if the oracle says so and the replay has found nothing
within its budget.
"""

from collections import Counter
from collections.abc import Sequence
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
    budget_of,
    explain,
    explain_to_go_on,
    explanation_by,
    hasty_budget,
    is_doubtful,
    is_replayed,
    too_late,
    too_many_alike,
)
from busproof.judging.replay.long_histories import KEEPS, too_far_back
from busproof.judging.replay.search import Ended, Search
from busproof.judging.second_opinion import SecondOpinion
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
    """

    def __init__(self, profile: v.Profile, observability: v.Observability) -> None:
        self._profile = profile
        self._observability = observability
        self._count = 0
        self._events = PackedEvents()
        self._forgiven: int | None = None
        self._search: Search | None = Search((), profile, observability, keeps=KEEPS)
        self._explanation = Explanation(ended=Ended.EXPLAINED)
        self._opinion: SecondOpinion | None = None
        self._is_decided_by_oracle = not is_replayed(observability)
        self.violation: Violation | None = None
        self.overdue: Violation | None = None
        self.exhausted = ""

    def saw(self, event: v.Event) -> Violation | None:
        """Judge the next event; return the violation if the event is one."""
        if self.violation is not None or self.exhausted:
            return None
        self._count += 1
        self._events.append(event)
        if self._count > LONGEST and self._search is not None and self._search.has_forgotten:
            # Nobody will search them anew.
            self._events = PackedEvents()
        if not self._is_decided_by_oracle:
            self._replay(event)
        if self._is_decided_by_oracle:
            self._ask_again()
        return self.violation

    @property
    def is_unexplained(self) -> bool:
        """Whether the oracle alone allows the events."""
        return self._is_decided_by_oracle and self.violation is None and not self.exhausted

    @property
    def is_explained(self) -> bool:
        """Whether an execution of the model explains all events so far."""
        return not self._is_decided_by_oracle

    @property
    def decided(self) -> Sequence[tuple[v.RuleId, ...]]:
        """For each event that was allowed, the rules that it shows."""
        if self._is_decided_by_oracle:
            return self._second_opinion().decided
        return self._found.decided

    @property
    def evidence(self) -> Counter[v.RuleId]:
        """Rule to the number of events that show it."""
        return Counter(rule for rules in self.decided for rule in rules)

    @property
    def _found(self) -> Explanation:
        """The explanation of all events so far."""
        if self._search is not None:
            self._explanation = explanation_by(self._search)
        return self._explanation

    def _replay(self, event: v.Event) -> None:
        """Go on with the execution, or look for another one; without one the oracle decides."""
        search = self._search
        if search is not None:
            search.add(event)
            if search.run(ATTEMPTS) is Ended.EXPLAINED:
                return
            if search.has_forgotten:
                budget = hasty_budget(len(search.kept))
                if search.run_again(budget) is Ended.EXPLAINED:
                    return
                if self._count > LONGEST:
                    search.leave_out_last()
                    self.exhausted = too_far_back(search)
                    return
        self._look_for_another()
        if not self._explanation.is_found and self._forgiven is None:
            patience = Patience(self._events)
            if patience.ended:
                self._forgive(patience)
        self._is_decided_by_oracle = not self._explanation.is_found

    def _look_for_another(self) -> None:
        self._explanation, self._search = explain_to_go_on(
            self._events, self._profile, self._observability, self._forgiven
        )

    def _forgive(self, patience: Patience) -> None:
        """Look for an execution in which something comes too late, now or ever."""
        events = self._events
        last = len(self._events) - 1
        punctual = self._explanation
        for self._forgiven in (last, 0):
            self._look_for_another()
            if self._explanation.is_found:
                break
        else:
            self._forgiven = None
            return
        if punctual.ended is Ended.GAVE_UP:
            punctual = explain(events, self._profile, self._observability)
        if punctual.ended is Ended.GAVE_UP:
            self.exhausted = too_late(punctual.steps)
        elif punctual.is_found:
            self._explanation = punctual
            self._search = self._forgiven = None
        else:
            self.overdue = overdue_at(events, patience, self._profile, self._observability)

    def _second_opinion(self) -> SecondOpinion:
        """Return the oracle, after all events so far."""
        if self._opinion is None:
            self._opinion = SecondOpinion(self._profile, self._observability)
        opinion = self._opinion
        opinion.hear(self._events[len(opinion.decided) :])
        return opinion

    def _ask_again(self) -> None:
        """Let the oracle decide the last event; what it accuses is replayed once more."""
        opinion = self._second_opinion()
        self.exhausted = opinion.exhausted
        accused = opinion.violation
        if accused is None:
            return
        if is_replayed(self._observability):
            self._replay_accused(accused)
        else:
            self.violation = accused

    def _replay_accused(self, accused: Violation) -> None:
        """Look longer for an execution before the bus is accused."""
        if self._explanation.ended is Ended.GAVE_UP:
            self._explanation = explain(
                self._events,
                self._profile,
                self._observability,
                steps=budget_of(self._events),
                forgiven=self._forgiven,
            )
        if self._explanation.is_found:
            self._is_decided_by_oracle = False
        else:
            self._accuse(accused)

    def _accuse(self, accused: Violation) -> None:
        """Accuse the bus of the last event, or end without a verdict.

        The oracle may be wrong about an earlier event, which an execution has explained. Then only
        a proof of the replay counts.
        """
        last = len(self._events) - 1
        explanation = self._explanation
        is_wrong = accused.index < last
        is_last = is_wrong or explanation.stuck_at == last
        if explanation.ended is Ended.IMPOSSIBLE and is_last:
            found = diagnosis_of_last(self._events, self._profile, self._observability)
            more = () if is_wrong else accused.rules
            rules = tuple(dict.fromkeys((*found.rules, *more)))
            self.violation = Violation(
                index=last, rules=rules, allowed=found.allowed, places=found.places
            )
        elif is_wrong or is_doubtful(explanation, self._events):
            self.exhausted = too_many_alike(explanation.steps)
        else:
            self.violation = accused
