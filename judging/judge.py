"""Judging of events by one of the two oracles."""

from collections import Counter

import attrs

from busproof import vocabulary as v
from busproof.history.records import Oracle
from busproof.judging.liveness import Patience
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept
from busproof.oracle.transition import Transition

__all__ = ["STATES_LIMIT", "Judge", "Violation", "observability_for"]

STATES_LIMIT = 512
"""Maximum number of possible states; beyond it the verdict is `inconclusive`, never a pass."""


@attrs.frozen(kw_only=True)
class Violation:
    """An event that no rule allows.

    Attributes:
        index: its index among the judged events.
        rules: the rules that it breaks, the most relevant first.
        allowed: the allowed answers; empty if none is comparable.
        why: the explanation, if it concerns more than this one event.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[Transition, ...]
    why: str = ""


def observability_for(observability: v.Observability, oracle: Oracle) -> v.Observability:
    """Return the observability for an oracle: the client oracle ignores partitions."""
    if oracle is Oracle.STRICT:
        return observability
    return attrs.evolve(observability, partitions=False)


class Judge:
    """A judge of events one after another, from an empty namespace.

    Attributes:
        evidence: rule id to how many events it has decided.
        violation: the event that no rule allows; nothing is judged after it.
        exhausted: why judging stopped without a verdict, if it did.
    """

    def __init__(self, profile: v.Profile, observability: v.Observability) -> None:
        self._possible: tuple[Namespace, ...] = (fresh_namespace(profile, observability),)
        self._judged = 0
        self.evidence: Counter[v.RuleId] = Counter()
        self.violation: Violation | None = None
        self.exhausted = ""
        self._patience = Patience()

    def saw(self, event: v.Event) -> Violation | None:
        """Judge one event; return the violation, if it is one."""
        if self.violation is not None or self.exhausted:
            return None
        accepted = accept(self._possible, event)
        if not accepted.possible:
            self.violation = Violation(
                index=self._judged, rules=accepted.rules, allowed=accepted.allowed
            )
            return self.violation
        self._take(accepted)
        return None

    def overdue(self, event: v.Event) -> Violation | None:
        """Return the violation if a message is overdue, now that a receiver has waited long enough.

        Call it for each event, after judging it.
        """
        overdue = self._patience.saw(event, self._possible)
        if overdue is None:
            return None
        return Violation(index=self._judged - 1, rules=overdue.rules, allowed=(), why=overdue.why)

    def _take(self, accepted: Acceptance) -> None:
        for rule in accepted.rules:
            self.evidence[rule] += 1
        self._possible = accepted.possible
        self._judged += 1
        if len(self._possible) > STATES_LIMIT:
            self.exhausted = (
                f"more than {STATES_LIMIT} states remained possible after event {self._judged}; "
                "a witness, or a --reading, would distinguish them"
            )
