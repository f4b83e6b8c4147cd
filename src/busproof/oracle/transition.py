"""A transition that the documents allow, and the observation of one that happened."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import Namespace

Rules = tuple[v.RuleId, ...]


@attrs.frozen
class Choice:
    """A choice of the bus that an observer may see: the number of the partition."""

    partition: int


@attrs.frozen(kw_only=True)
class Transition:
    """An allowed answer and the state after it.

    Attributes:
        outcome: the answer that the client sees.
        next: the state after it.
        rules: the rules that decided it, the most specific one first.
        choice: the partition that the bus chose, if it had a choice.
        any_error: whether a refusal may have any error, because the documents name none.
    """

    outcome: v.Outcome
    next: Namespace
    rules: Rules = ()
    choice: Choice | None = None
    any_error: bool = False

    def admits(self, outcome: v.Outcome | None) -> bool:
        """Return whether the observed outcome agrees with this one; `None` agrees with any."""
        if outcome is None:
            return True
        # Where the documents name no error, any refusal is right; otherwise a wrong error is a
        # violation.
        if isinstance(outcome, v.Refused) and isinstance(self.outcome, v.Refused):
            return self.any_error or outcome.error is self.outcome.error
        return outcome == self.outcome


Transitions = Iterator[Transition]


class Observation(NamedTuple):
    """The observed part of a step: the outcome, the witness, both or neither."""

    outcome: v.Outcome | None = None
    witness: v.Witness | None = None


UNOBSERVED = Observation()
_DONE: Final = v.Done()


def done(next_: Namespace, *rules: v.RuleId, choice: Choice | None = None) -> Transition:
    """Return the transition of a request that took effect and has no other result."""
    return Transition(outcome=_DONE, next=next_, rules=rules, choice=choice)


def refusal(
    next_: Namespace, error: v.Error, *rules: v.RuleId, any_error: bool = False
) -> Transition:
    """Return the transition of a request refused with this error, or with any if `any_error`."""
    return Transition(outcome=v.Refused(error=error), next=next_, rules=rules, any_error=any_error)
