"""A transition that the documents allow, and the observation of one that happened."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import Namespace

Rules = tuple[v.RuleId, ...]


@attrs.frozen
class Choice:
    """A choice of the bus: the number of the partition."""

    partition: int


@attrs.frozen(kw_only=True)
class Transition:
    """An allowed answer and the state after it.

    Attributes:
        outcome: the client's view.
        next: the state after it.
        rules: the rules that decided it, the most specific one first.
        choice: the choice of the bus, if it had one.
        any_error: whether a refusal may have any error, because the documents name none.
    """

    outcome: v.Outcome
    next: Namespace
    rules: Rules = ()
    choice: Choice | None = None
    any_error: bool = False

    def admits(self, outcome: v.Outcome | None) -> bool:
        """Return whether this matches the observation (`None`: the outcome was not observed)."""
        if outcome is None:
            return True
        if isinstance(outcome, v.Refused) and isinstance(self.outcome, v.Refused):
            return self.any_error or outcome.error is self.outcome.error
        return outcome == self.outcome


Transitions = Iterator[Transition]


class Observation(NamedTuple):
    """Observation of a step: its outcome, its witness, both or nothing."""

    outcome: v.Outcome | None = None
    witness: v.Witness | None = None


UNOBSERVED = Observation()
_DONE: Final = v.Done()


def done(next_: Namespace, *rules: v.RuleId, choice: Choice | None = None) -> Transition:
    """Return a transition for a request that took effect."""
    return Transition(outcome=_DONE, next=next_, rules=rules, choice=choice)


def refusal(
    next_: Namespace, error: v.Error, *rules: v.RuleId, any_error: bool = False
) -> Transition:
    """Return a refusal with this error, or with any error if `any_error`."""
    return Transition(outcome=v.Refused(error=error), next=next_, rules=rules, any_error=any_error)
