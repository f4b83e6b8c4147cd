"""Judging of events one by one, by one of the two oracles."""

from collections import Counter

import attrs

from busproof import vocabulary as v
from busproof.history.records import Oracle
from busproof.judging.decided import Decided
from busproof.judging.lagging import Lag
from busproof.judging.liveness import Patience
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept
from busproof.oracle.transition import Transition

__all__ = ["STATES_LIMIT", "Judge", "Violation", "observability_for", "too_many_states"]

STATES_LIMIT = 512
"""Maximum number of possible states; with more the verdict is `inconclusive`, never a pass."""


@attrs.frozen(kw_only=True)
class Violation:
    """An event that the documents do not allow.

    Attributes:
        index: its index among the judged events.
        rules: the rules that it breaks, the most relevant first.
        allowed: the answers that would have been allowed; empty if none can be compared.
        why: an explanation, if more than this one event is wrong.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[Transition, ...]
    why: str = ""


def observability_for(observability: v.Observability, oracle: Oracle) -> v.Observability:
    """Return the observability that an oracle assumes: the client oracle sees no partitions."""
    if oracle is Oracle.STRICT:
        return observability
    return attrs.evolve(observability, partitions=False)


class Judge:
    """Judge of events in their order, from an empty namespace on; each event is judged once.

    Attributes:
        decided: for each event that was allowed, the rules that decided it.
        violation: the first event that is not allowed; no later event is judged.
        overdue: the first event at which a message or a right description was overdue, although
            each answer was allowed.
        exhausted: why judging stopped without a verdict; empty if it did not.
    """

    def __init__(self, profile: v.Profile, observability: v.Observability) -> None:
        self._possible: tuple[Namespace, ...] = (fresh_namespace(profile, observability),)
        self._patience = Patience()
        self._lag = Lag()
        self.decided = Decided()
        self.violation: Violation | None = None
        self.overdue: Violation | None = None
        self.exhausted = ""

    @property
    def evidence(self) -> Counter[v.RuleId]:
        """Rule to the number of events that it decided."""
        return self.decided.evidence()

    def saw(self, event: v.Event) -> Violation | None:
        """Judge the next event; return the violation if the event is one."""
        if self.violation is not None or self.exhausted:
            return None
        accepted = accept(self._possible, event)
        index = len(self.decided)
        if not accepted.possible:
            self.violation = Violation(index=index, rules=accepted.rules, allowed=accepted.allowed)
        elif len(accepted.possible) > STATES_LIMIT:
            self.exhausted = too_many_states(index + 1)
        else:
            self.decided.append(accepted.rules)
            self._possible = accepted.possible
            self._look_for_overdue(event, index)
        return self.violation

    def _look_for_overdue(self, event: v.Event, index: int) -> None:
        if self.overdue is not None:
            return
        waited = self._patience.saw(event, self._possible)
        late = self._lag.saw(event, self._possible) or waited
        if late is not None:
            self.overdue = Violation(index=index, rules=late.rules, allowed=(), why=late.why)


def too_many_states(event: int) -> str:
    """Return why there is no verdict after the event of this number, counted from 1."""
    return (
        f"more than {STATES_LIMIT} states remained possible after event {event}; "
        "a witness, or a --reading, would distinguish them"
    )
