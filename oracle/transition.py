"""One step that the documents allow, and what was seen of the step that was taken."""

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import Namespace

__all__ = ["NOTHING_SEEN", "Choice", "Sighting", "Transition", "done", "refusal"]


@attrs.frozen
class Choice:
    """What the bus was free to choose: the partition, by its number."""

    partition: int


@attrs.frozen(kw_only=True)
class Transition:
    """One allowed answer and what it leads to.

    Attributes:
        outcome: what the client sees.
        next: the state after it.
        rules: the rules that decided it, the most specific one first.
        choice: what the bus chose, where it had a choice.
        any_error: whether a refusal may carry any error, the documents naming none.
        forbids: for a refused impossibility, nothing; see `step.judged`.
    """

    outcome: v.Outcome
    next: Namespace
    rules: tuple[v.RuleId, ...] = ()
    choice: Choice | None = None
    any_error: bool = False

    def admits(self, outcome: v.Outcome | None) -> bool:
        """Whether this is what was seen (`None`: nothing was said of the outcome)."""
        if outcome is None:
            return True
        if isinstance(outcome, v.Refused) and isinstance(self.outcome, v.Refused):
            return self.any_error or outcome.error is self.outcome.error
        return outcome == self.outcome


@attrs.frozen
class Sighting:
    """What is known of a step: its outcome, its witness, both or nothing."""

    outcome: v.Outcome | None = None
    witness: v.Witness | None = None


NOTHING_SEEN = Sighting()


def done(next_: Namespace, *rules: v.RuleId, choice: Choice | None = None) -> Transition:
    """The request took effect."""
    return Transition(outcome=v.Done(), next=next_, rules=rules, choice=choice)


def refusal(
    next_: Namespace, error: v.Error, *rules: v.RuleId, any_error: bool = False
) -> Transition:
    """The request was refused, with this error or, if `any_error`, with whichever."""
    return Transition(outcome=v.Refused(error=error), next=next_, rules=rules, any_error=any_error)
