"""The oracle's opinion on events one by one, for histories that the replay does not explain."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.decided import Decided
from busproof.judging.violation import Violation
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept

__all__ = ["STATES_LIMIT", "SecondOpinion", "too_many_states"]

STATES_LIMIT: Final = 512
"""Maximum number of possible states; with more the verdict is `inconclusive`, never a pass."""


class SecondOpinion:
    """Judge of events in their order, from an empty namespace on, that keeps what may be true.

    Args:
        profile: the profile of the namespace.
        observability: what the observer sees.

    Attributes:
        decided: for each event that was allowed, the rules that decided it.
        violation: the first event that is not allowed; no later event is judged.
        exhausted: why judging stopped without a verdict; empty if it did not.
    """

    def __init__(self, profile: v.Profile, observability: v.Observability) -> None:
        self._possible: tuple[Namespace, ...] = (fresh_namespace(profile, observability),)
        self.decided = Decided()
        self.violation: Violation | None = None
        self.exhausted = ""

    def hear(self, events: Sequence[v.Event]) -> None:
        """Judge these events, after those that were judged before."""
        for event in events:
            if self.violation is not None or self.exhausted:
                return
            self._saw(event)

    def _saw(self, event: v.Event) -> None:
        accepted = accept(self._possible, event)
        index = len(self.decided)
        if not accepted.possible:
            self.violation = Violation(index=index, rules=accepted.rules, allowed=accepted.outcomes)
        elif len(accepted.possible) > STATES_LIMIT:
            self.exhausted = too_many_states(index + 1)
        else:
            self.decided.append(accepted.rules)
            self._possible = accepted.possible


def too_many_states(event: int) -> str:
    """Return why there is no verdict after the event of this number, counted from 1."""
    return (
        f"more than {STATES_LIMIT} states remained possible after event {event}; "
        "a witness, or a --reading, would distinguish them"
    )
