"""Judging a run of events against one of the two oracles."""

from collections import Counter

import attrs

from busproof.history.records import Oracle
from busproof.judging.liveness import Patience
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import Acceptance, accept
from busproof.oracle.transition import Transition
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import RuleId

__all__ = ["STATES_LIMIT", "Judge", "Violation", "observability_for"]

STATES_LIMIT = 512
"""States kept possible at once; more of them is `inconclusive`, never a pass."""


@attrs.frozen(kw_only=True)
class Violation:
    """An event that nothing allowed.

    Attributes:
        index: of the event among those judged.
        rules: the rules that it breaks, the one to blame first.
        allowed: what would have been allowed; empty where nothing comparable would.
        why: what is wrong with it, where that is more than this one event.
    """

    index: int
    rules: tuple[RuleId, ...]
    allowed: tuple[Transition, ...]
    why: str = ""


def observability_for(observability: Observability, oracle: Oracle) -> Observability:
    """What the oracle looks at: the client oracle sees no partitions, whatever an adapter tells."""
    if oracle is Oracle.STRICT:
        return observability
    return attrs.evolve(observability, partitions=False)


class Judge:
    """Judges events one after another, from an empty namespace.

    Attributes:
        evidence: rule id to how many events it has decided.
        violation: the event that nothing allowed; nothing is judged after it.
        exhausted: why judging stopped without a verdict, if it did.
    """

    def __init__(self, profile: Profile, observability: Observability) -> None:
        self._possible: tuple[Namespace, ...] = (fresh_namespace(profile, observability),)
        self._judged = 0
        self.evidence: Counter[RuleId] = Counter()
        self.violation: Violation | None = None
        self.exhausted = ""
        self._patience = Patience()

    def saw(self, event: Event) -> Violation | None:
        """Judge one event; the violation, if it is one."""
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

    def overdue(self, event: Event) -> Violation | None:
        """What a receiver would say of waiting so long, if this answer has ended his patience.

        Whoever asks this asks it of each event, once it was judged.
        """
        found = self._patience.saw(event, self._possible)
        if found is None:
            return None
        return Violation(index=self._judged - 1, rules=found.rules, allowed=(), why=found.why)

    def _take(self, accepted: Acceptance) -> None:
        self.evidence.update(accepted.rules)
        self._possible = accepted.possible
        self._judged += 1
        if len(self._possible) > STATES_LIMIT:
            self.exhausted = (
                f"more than {STATES_LIMIT} states remained possible after event {self._judged}; "
                "a witness, or a --reading, would tell them apart"
            )
