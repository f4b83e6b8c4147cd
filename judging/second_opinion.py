"""The oracle's opinion on events one by one, for histories that the replay does not explain.

It also tells what is overdue: a message or a right description that has not come after two minutes,
although each answer was allowed.
"""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.decided import Decided
from busproof.judging.lagging import CHANGES_NOTHING, Lag
from busproof.judging.liveness import BOUND, FEW, Patience
from busproof.judging.violation import Violation
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept

__all__ = ["STATES_LIMIT", "SecondOpinion", "Waits", "too_many_states"]

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
        overdue: the first event at which something was overdue, although each answer was allowed.
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
            self._look_for_overdue(event, index)

    def _look_for_overdue(self, event: v.Event, index: int) -> None:
        if self.overdue is not None:
            return
        waited = self._patience.saw(event, self._possible)
        late = self._lag.saw(event, self._possible) or waited
        if late is not None:
            self.overdue = Violation(index=index, rules=late.rules, allowed=(), why=late.why)


class Waits:
    """Whether events waited so long that something may be overdue.

    That is seen without a belief. Most histories never wait, and need no second opinion.

    Attributes:
        told_late: the indices of descriptions long after the last change.
        are_long: whether somebody asked in vain again and again, for a message or a description.
    """

    def __init__(self) -> None:
        self._events = self._since = 0
        self._vain: dict[v.Command, list[int]] = {}
        self.told_late: list[int] = []
        self.are_long = False

    def saw(self, event: v.Event) -> None:
        """Note one more event."""
        command = event.command
        outcome = event.outcome
        index = self._events
        self._events += 1
        if not isinstance(command, CHANGES_NOTHING):
            self._since = event.called if event.returned is None else event.returned
        if isinstance(outcome, v.Described | v.TopicDescribed):
            if event.called - self._since >= BOUND:
                self.told_late.append(index)
        elif isinstance(command, v.GetQueue | v.GetTopic) or (
            isinstance(command, v.Receive) and isinstance(outcome, v.Empty)
        ):
            times = self._vain.setdefault(command, [])
            times.append(event.called)
            self.are_long = self.are_long or (
                len(times) >= FEW and event.called - times[0] >= BOUND
            )
        elif not isinstance(command, v.AdvanceClock):
            self._vain.clear()


def too_many_states(event: int) -> str:
    """Return why there is no verdict after the event of this number, counted from 1."""
    return (
        f"more than {STATES_LIMIT} states remained possible after event {event}; "
        "a witness, or a --reading, would distinguish them"
    )
